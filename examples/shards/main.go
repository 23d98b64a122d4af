// This program resizes a job whose model is on several servers, once through one file and once in shards, [Dorm §III-C2].

// Shards answers: who reads how much of a checkpoint when a job of several servers is resized? Its ranks are processes of this
// program, which the agents start.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/files"
)

func main() {
	if os.Getenv(command.EnvRank) != "" {
		rank()
	}
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shards:", err)
		os.Exit(1)
	}
}

// run prints what the master and each server read while the job goes from four servers to three.
func run(w io.Writer) error {
	// The two runs differ in nothing but who saves and who reads: the same model, servers, store and targets.
	fmt.Fprintf(w, "a model of %d MiB, resized from four servers to three; MiB read by\n          master     a     b     c     d\n", layers*layerBytes>>20)
	for _, sharded := range []bool{false, true} {
		dir, err := os.MkdirTemp("", "shards")
		if err != nil {
			return err
		}
		read, err := resize(dir, sharded)
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return err
		}
		// Manifests and lists of shares count as well; they are too small to be seen in whole MiB.
		fmt.Fprintf(w, "%-9s", map[bool]string{false: "one file", true: "shards"}[sharded])
		for _, who := range []string{"master", "a", "b", "c", "d"} {
			fmt.Fprintf(w, " %5.0f", float64(read[who].Load())/(1<<20))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// resize runs the job on four servers and then on three. It returns the bytes that each has read from the store.
func resize(dir string, sharded bool) (read map[string]*atomic.Int64, err error) {
	// It takes a second. Who waits two minutes for it waits in vain.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	read = map[string]*atomic.Int64{}
	// Each opens the one directory by itself, as on machines that share a file system.
	stored := func(who string) *store.Shards {
		read[who] = new(atomic.Int64)
		s, failed := files.New(meter{disk(dir, "store"), read[who]}, nil)
		err = errors.Join(err, failed)
		return store.NewShards(s)
	}
	machine, records, failed := journal.Open(disk(dir, "journal"), checkpoint.Config{Kinds: apportion.Kinds{"gpu"}})
	if failed != nil {
		return nil, failed
	}
	// Sharded has every server save its share, VerifyOnServers has them compare it: nothing is left for the master to read.
	d, failed := driver.New(machine, records, driver.Config{Store: stored("master"), Grace: time.Hour},
		&driver.Options{Sharded: func(string) bool { return sharded }, VerifyOnServers: sharded, Poll: 10 * time.Millisecond})
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	// The driver's loop is the master: it ends with its context, and its jobs would run on.
	ended := make(chan error, 1)
	running, end := context.WithCancel(ctx)
	go func() { ended <- d.Run(running) }()
	defer func() { end(); err = errors.Join(err, <-ended) }()
	// An agent for each server, with a book, a work folder and an open store of its own: all that they share is on the disk.
	for _, server := range []string{"a", "b", "c", "d"} {
		a, failed := agent.New(agent.Config{Server: server, Disk: disk(dir, "book-"+server), Shared: filepath.Join(dir, "shared"),
			Restored: filepath.Join(dir, "restored-"+server), Store: stored(server), Lease: 30 * time.Minute,
			Runner: func(string, json.RawMessage) (runner.Runner, error) { return ranks(dir, server, sharded) }})
		if err := errors.Join(err, failed); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		if err := d.Join(ctx, apportion.Server{ID: server, Capacity: apportion.Resources{1}}, a); err != nil {
			return nil, err
		}
	}
	events := []checkpoint.Event{checkpoint.Submit{Job: "bert", Demand: apportion.Resources{1}}, target("a", "b", "c", "d")}
	// First the job starts on four servers. Then the fourth is taken away: it is saved, stopped, and resumed on three.
	for _, n := range []int{4, 3} {
		if err := d.Apply(ctx, events...); err != nil {
			return nil, err
		}
		if err := reaches(ctx, d, checkpoint.Running, n); err != nil {
			return nil, err
		}
		events = []checkpoint.Event{target("a", "b", "c")}
	}
	return read, errors.Join(d.Apply(ctx, checkpoint.Cancel{Job: "bert"}), reaches(ctx, d, checkpoint.Ended, 0))
}

// target is the wish for a container on each of some servers.
func target(servers ...string) checkpoint.Event {
	return checkpoint.Adjust{Targets: map[string][]string{"bert": servers}}
}

// reaches waits until the job rests in a phase, with so many containers.
func reaches(ctx context.Context, d *driver.Driver, phase checkpoint.Phase, containers int) error {
	_, err := d.Await(ctx, func(s *driver.State) bool {
		j, ok := s.Job("bert")
		// An order that is not zero is an adjustment that is not begun yet.
		return ok && j.Job.Phase == phase && j.Job.Order == 0 && len(j.Job.Containers) == containers
	})
	return err
}

// ranks returns what runs the ranks of a server. Of a checkpoint in shards each fetches what is its own.
func ranks(dir, server string, sharded bool) (runner.Runner, error) {
	// The environment of a rank says that it is one, see main.
	self, err := os.Executable()
	options := &command.Options{Node: server, Env: []string{wholeVariable + "=yes"}}
	if sharded {
		options.Env = []string{}
		options.Needs = func(run runner.Run, part string) bool {
			// The same rule by which rank says what is its own, with as many ranks as the new run has.
			layer, err := strconv.Atoi(strings.TrimPrefix(part, "layer-"))
			return err == nil && layer%len(run.Containers) == slices.Index(run.Containers, server)
		}
	}
	r, failed := command.New(command.Commands{Start: []string{self}, Work: filepath.Join(dir, "work-"+server)}, options)
	return r, errors.Join(err, failed)
}
