// This file declares the runner, and implements what all its methods share: the checks of a run and
// which of its ranks are on this node.

package command

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/check"
)

// Runner runs jobs by commands. It is safe for concurrent use. Its state is on the disk: it may be
// killed at any moment, and the next one on the same folder goes on with the processes it finds.
type Runner struct {
	commands Commands
	options  Options
	// It is what bootID returned; a record with another one is of processes that a restart of the machine
	// has ended.
	boot string

	// mu is never held while a disk is waited for: who ends processes needs it.
	mu sync.Mutex
	// children are the processes that this runner started itself, by the file of their record.
	children map[string]*child
	// since is when the first process of the newest run that this runner has started began, by job and in the unit of
	// process.Start: what is older is of no run of the job, since Resume ends all earlier ones first.
	since map[string]uint64
	// table has a lock of its own.
	table processTable
	// reading is held while a log is read, and guards what follows.
	reading sync.Mutex
	// outputs are the logs that were looked at, by name.
	outputs map[string]*output

	closed chan struct{}
	tended sync.WaitGroup
	once   sync.Once
}

// checkRun lists the faults of a run. Names of servers are handed on in a list with commas.
// A fault of the job's name is told alone, all others together.
func checkRun(run *runner.Run) error {
	if err := store.CheckJob(run.Job); err != nil {
		return err
	}
	var faults apportion.Faults
	item := check.Item("job", run.Job, 0)
	if run.Attempt < 1 {
		faults.Add(item, "Attempt", apportion.ErrRange, strconv.FormatInt(run.Attempt, 10))
	}
	if len(run.Containers) == 0 {
		faults.Add(item, "Containers", apportion.ErrEmpty, "")
	}
	// A comma in a name would make two servers of one, in the list that processes are given.
	bad := func(r rune) bool { return r == ',' || unicode.IsControl(r) }
	for i, server := range run.Containers {
		if server == "" || strings.ContainsFunc(server, bad) {
			faults.Add(item, fmt.Sprintf("Containers[%d]", i), apportion.ErrRange, strconv.Quote(server))
		}
	}
	if !filepath.IsAbs(run.Dir) || strings.ContainsRune(run.Dir, 0) {
		faults.Add(item, "Dir", apportion.ErrRange, strconv.Quote(run.Dir)+" is not an absolute path")
	}
	if run.Restore != "" && (!filepath.IsAbs(run.Restore) || strings.ContainsRune(run.Restore, 0)) {
		faults.Add(item, "Restore", apportion.ErrRange, strconv.Quote(run.Restore)+" is not an absolute path")
	}
	return faults.Err()
}

// ranks returns the ranks of the run for which processes run on this node.
// They ascend. On a node that has no container of the run there are none, which is no fault.
func (a *Runner) ranks(run *runner.Run) []int {
	var ranks []int
	for rank, server := range run.Containers {
		// One process stands for all containers, on the node of rank 0.
		if rank > 0 && a.options.Single {
			break
		}
		if a.options.Node == "" || server == a.options.Node {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// pacer waits between two looks at what is waited for: shortly at first, since most of it is there at once, and then longer and
// longer, up to Options.Poll. A watch ends a pause early.
type pacer struct {
	next, longest time.Duration
	// least is how long a pause is at least that follows one which the watch has ended.
	least time.Duration
	// watch is nil where nothing tells of what is waited for.
	watch *watch
	// told says that the watch has ended the pause before this one.
	told bool
}

// firstPause is how many times shorter than Options.Poll the first pause is.
const firstPause = 16

// paced returns the pacer of one wait, which w tells of, if it is not nil.
func (a *Runner) paced(w *watch) *pacer {
	// Who looks rarely, since little is told there, must not sleep over what is.
	return &pacer{next: a.options.Poll / firstPause, longest: a.options.Poll, least: min(a.options.Poll, defaultPoll) / firstPause, watch: w}
}

// pause waits for one interval, or until the watch tells of something, and returns the context's error when it ends.
func (p *pacer) pause(ctx context.Context) error {
	while := p.next
	p.next = min(2*p.next, p.longest)
	if p.watch == nil {
		return sleep(ctx, while)
	}
	// What was told before was not what is waited for, or the first of several files. A job that writes one after the other has this
	// process look no more often than a first pause lets it.
	if p.told {
		if err := sleep(ctx, p.least); err != nil {
			return err
		}
	}
	p.told = p.watch.wait(ctx, while)
	return ctx.Err()
}

// sleep waits for a while, and returns the context's error when it ends first.
func sleep(ctx context.Context, while time.Duration) error {
	// A timer that is stopped is freed at once; time.After would keep it until it fires.
	timer := time.NewTimer(while)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
