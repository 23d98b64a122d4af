//go:build !js

// This file implements "apportion adjust": the protocol that resizes running jobs, for a master in any language,
// [Dorm] §III-C2.

package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// journalFlag adds -journal and -accept-loss.
func (c *command) journalFlag() {
	c.StringVar(&c.journal, "journal", "",
		"folder that holds the records of the jobs; if there are any, they are taken up. Whoever had\nit before is fenced off")
	c.StringVar(&c.acceptLoss, "accept-loss", "",
		"go on without what the journal of this name has lost. Nothing that was begun before may run\nany more: end it first, or wait until it has ended by itself")
}

// adjustInput is the first line. What is left out has the library's default.
type adjustInput struct {
	Kinds apportion.Kinds `json:"kinds"`
	// Limit is the most jobs that are adjusted at the same time; the next two are counts of tries, below 0: none.
	Limit    int64 `json:"limit,omitempty"`
	Retries  int64 `json:"retries,omitempty"`
	Restarts int64 `json:"restarts,omitempty"`
	Keep     int64 `json:"keep,omitempty"`
	// Timeout is how long an effect may take, and Room how long a job may wait for containers.
	Timeout seconds `json:"timeout,omitempty"`
	Room    seconds `json:"room,omitempty"`
}

// config is the library's.
func (in *adjustInput) config() checkpoint.Config {
	t := time.Duration(in.Timeout)
	return checkpoint.Config{Kinds: in.Kinds, Limit: int(in.Limit), Retries: int(in.Retries), Restarts: int(in.Restarts), Keep: int(in.Keep),
		Timeouts: checkpoint.Timeouts{Save: t, Verify: t, Stop: t, Release: t, Create: t, Resume: t, Confirm: t, Room: time.Duration(in.Room)}}
}

// adjustAnswer answers a line, the first one as well.
type adjustAnswer struct {
	// Line is the number of the line; Epoch that of this master.
	Line  int   `json:"line"`
	Epoch int64 `json:"epoch"`
	// Effects are to be carried out now, in any order; each is answered by a reply, but for prune.
	Effects []checkpoint.Effect `json:"effects"`
	// Jobs are those that the line has changed, and Gone those that it has ended for good. After the first line they are
	// all that are known.
	Jobs []checkpoint.Job `json:"jobs"`
	Gone []string         `json:"gone"`
	// Previous is what runs, for the next decision: "previous" of the input of dorm.
	Previous alloc.Allocation `json:"previous"`
	// Error says why the line was refused; it has changed nothing then.
	Error *failure `json:"error,omitempty"`
}

// adjusting is a run over a stream.
type adjusting struct {
	c         *command
	machine   *checkpoint.Machine
	journal   *journal.Journal
	compactAt int64
}

// compactBytes is the size from which on a journal is written anew.
const compactBytes = 4 << 20

// A line that is refused is answered, and the stream goes on: it may be one job's mistake. What ends it is another master,
// or a disk that takes no records.
func answerAdjust(_ context.Context, c *command) (err error) {
	if c.journal == "" {
		return fmt.Errorf("%w: -journal is needed", errUsage)
	}
	l, err := firstLine(c.in)
	if err != nil {
		return err
	}
	in := &adjustInput{}
	if err := l.read(in, &strictjson.Options{Validate: func() error { config := in.config(); return config.Validate() }}); err != nil {
		return atLine(l.number, err)
	}
	a := &adjusting{c: c, compactAt: compactBytes}
	if err := a.open(in.config()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.journal.Close()) }()
	first := a.machine.Ready()
	if err := a.answer(l.number, first, a.machine.Jobs(), nil); err != nil {
		return err
	}
	for {
		if err := l.next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return atLine(l.number, err)
		}
		if err := a.line(l); err != nil {
			return atLine(l.number, err)
		}
	}
}

// open takes the journal over.
func (a *adjusting) open(config checkpoint.Config) error {
	if err := os.MkdirAll(a.c.journal, 0o700); err != nil {
		return err
	}
	disk, err := vfs.NewOS(a.c.journal)
	if err != nil {
		return err
	}
	if a.machine, a.journal, err = journal.Open(disk, config); err != nil || a.c.acceptLoss == "" {
		return err
	}
	if err := a.machine.AcceptLoss(a.c.acceptLoss, rand.Text()); err != nil {
		return errors.Join(err, a.journal.Close())
	}
	return nil
}

// line takes one line.
func (a *adjusting) line(l *lines) error {
	event, err := a.read(l.text)
	if err == nil {
		err = a.machine.Step(event)
	}
	if errors.Is(err, checkpoint.ErrFenced) || errors.Is(err, checkpoint.ErrBehind) {
		return err
	}
	ready := a.machine.Ready()
	return a.answer(l.number, ready, ready.Record.Jobs, err)
}

// answer makes what has changed durable, and says it then: whoever acts on it can rely on it.
func (a *adjusting) answer(line int, ready checkpoint.Ready, jobs []checkpoint.Job, refused error) error {
	if err := a.journal.Append(ready.Record); err != nil {
		return err
	}
	if a.journal.Bytes() >= a.compactAt {
		if err := a.journal.Compact(a.machine.Snapshot()); err != nil {
			return err
		}
		a.compactAt = max(compactBytes, 2*a.journal.Bytes())
	}
	answer := adjustAnswer{Line: line, Epoch: a.machine.Epoch(), Effects: ready.Effects, Jobs: jobs, Gone: ready.Record.Gone,
		Previous: bridge.Previous(a.machine.Jobs(), a.machine.Servers())}
	answer.Effects, answer.Jobs, answer.Gone = listed(answer.Effects), listed(answer.Jobs), listed(answer.Gone)
	if refused != nil {
		answer.Error = failureOf(refused)
	}
	return a.c.writeLine(answer)
}

// listed returns a list that is not nil.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// totals is an adjustment for whom somebody else places: how many containers each job gets.
type totals struct {
	Totals   map[string]int64 `json:"totals"`
	Deadline time.Time        `json:"deadline,omitzero"`
}

// read reads an event. An adjustment may have totals in place of targets where there is one server, which stands for a
// manager that places containers itself.
func (a *adjusting) read(text []byte) (checkpoint.Event, error) {
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil || keys["totals"] == nil || string(keys["event"]) != `"adjust"` {
		return checkpoint.UnmarshalEvent(text)
	}
	delete(keys, "event")
	rest, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	var t totals
	if err := strictjson.Unmarshal(rest, &t, nil); err != nil {
		return nil, err
	}
	servers := a.machine.Servers()
	if len(servers) != 1 {
		return nil, &apportion.FieldError{Field: "totals", Err: apportion.ErrConflict,
			Detail: fmt.Sprintf("there are %d servers: only where one stands for a manager that places need nobody say where", len(servers))}
	}
	targets := map[string][]string{}
	for _, job := range slices.Sorted(maps.Keys(t.Totals)) {
		n := t.Totals[job]
		if n < 0 || n > bridge.MaxContainers {
			return nil, &apportion.FieldError{Item: apportion.Item{Kind: "job", ID: job}, Field: "totals", Err: apportion.ErrRange, Detail: fmt.Sprint(n)}
		}
		targets[job] = slices.Repeat([]string{servers[0].ID}, int(n))
	}
	return checkpoint.Adjust{Targets: targets, Deadline: t.Deadline}, nil
}
