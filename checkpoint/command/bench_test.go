//go:build linux

// This file measures what the runner adds to a job: starting and ending it, asking for a save that
// takes no time, and a whole adjustment.

package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store/files"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
)

func benchSite(b *testing.B, start ...string) (*command.Runner, runner.Run) {
	b.Helper()
	a := must.Have(command.New(command.Commands{Start: start, Work: b.TempDir()}, nil))(b)
	b.Cleanup(func() { a.Close() })
	return a, runner.Run{Job: "job", Containers: []string{"here"}, Dir: b.TempDir()}
}

func BenchmarkSave(b *testing.B) {
	program := must.Have(os.Executable())(b)
	a, run := benchSite(b, program, "job:train", "1000000000")
	run.Attempt = 1
	must.Do(b, a.Resume(context.Background(), run))
	for b.Loop() {
		must.Have(a.Save(context.Background(), run))(b)
	}
	must.Do(b, a.Stop(context.Background(), run))
}

// BenchmarkAdjust gives a job a container more, and takes it back: save, verify, stop, create, resume and confirm, with the
// journal, the agent's book and the store on the disk, and begin: from the confirmation to the first step. A job below guards has its
// lease from the agent. The small trainer is testdata/trainer, and its guard apportion-guard as it is shipped: what is left is this
// library's. The own one is this test's program, and so is its guard; it takes 3 ms more to start. Milliseconds are medians, since a machine
// that does other things stretches a few adjustments by far.
func BenchmarkAdjust(b *testing.B) {
	for _, guarded := range []bool{false, true} {
		for _, trainer := range []string{"small", "own"} {
			b.Run(fmt.Sprintf("guarded=%t/trainer=%s", guarded, trainer), func(b *testing.B) { benchAdjust(b, trainer, guarded) })
		}
	}
}

func benchAdjust(b *testing.B, trainer string, guarded bool) {
	program := must.Have(os.Executable())(b)
	argv, guardArgv := []string{program, "job:train", "1000000000"}, []string{program, "guard"}
	if trainer == "small" {
		argv, guardArgv = []string{build(b, "./testdata/trainer")}, []string{build(b, "../guard/apportion-guard")}
	}
	if !guarded {
		guardArgv = nil
	}
	// Of each kind of effect: how long each has taken, from the record to the reply. The driver calls from one goroutine, and
	// Await has seen its last word.
	spent := map[string][]time.Duration{}
	note := func(what string, took time.Duration) { spent[what] = append(spent[what], took) }
	d, steps := benchDriver(b, argv, guardArgv, func(t driver.Traced) { note(string(t.Effect.Action), t.Replied.Sub(t.Issued)) })
	begin := func(containers int, events ...checkpoint.Event) {
		events = append(events, checkpoint.Adjust{Targets: map[string][]string{"job": slices.Repeat([]string{"here"}, containers)}})
		began := time.Now()
		err := d.Apply(b.Context(), events...)
		if err == nil {
			_, err = d.Await(b.Context(), func(s *driver.State) bool {
				j, _ := s.Job("job")
				return j.Job.Phase == checkpoint.Running && j.Job.Order == 0 && len(j.Job.Containers) == containers
			})
		}
		confirmed := time.Now()
		if err == nil {
			_, err = steps.Read(make([]byte, 1))
		}
		must.Do(b, err)
		note("begin", time.Since(confirmed))
		note("whole", time.Since(began))
	}
	begin(1, checkpoint.Submit{Job: "job", Demand: apportion.Resources{1}})
	containers := 1
	clear(spent)
	for b.Loop() {
		containers = 3 - containers
		begin(containers)
	}
	// What is left of the whole are the records of the journal between the effects.
	for what, all := range spent {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2].Seconds()*1000, what+"-ms")
	}
	s := d.State()
	if j, _ := s.Job("job"); j.Job.Newest().Number == 0 || j.Job.Reason.Constraint != "" {
		b.Errorf("%+v", j)
	}
}

// build returns a program of this module, made as it is shipped.
func build(b *testing.B, folder string) string {
	program := filepath.Join(b.TempDir(), filepath.Base(folder))
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, text)
	}
	return program
}

// benchDriver is a driver with one agent, which has room for two containers of a job, and the pipe into which the job writes a byte at
// the first step of each attempt.
func benchDriver(b *testing.B, argv, guardArgv []string, trace func(driver.Traced)) (*driver.Driver, *os.File) {
	dir, err := os.MkdirTemp("", "adjust-") // short, for a socket
	if err != nil {
		b.Fatal(err)
	}
	pipe := filepath.Join(dir, "steps")
	must.Do(b, syscall.Mkfifo(pipe, 0o600))
	steps, err := os.OpenFile(pipe, os.O_RDWR, 0) // which waits for nobody
	if err != nil {
		b.Fatal(err)
	}
	var disks []vfs.FS
	for _, name := range []string{"journal", "book", "store", "shared", "work"} {
		must.Do(b, os.Mkdir(filepath.Join(dir, name), 0o700))
		disk := must.Have(vfs.NewOS(filepath.Join(dir, name)))(b)
		disks = append(disks, disk)
	}
	store := must.Have(files.New(disks[2], nil))(b)
	options := &command.Options{Node: "here", Single: true, Acknowledge: true, Env: []string{"PATH=" + os.Getenv("PATH"), "FIRST_STEP=" + pipe}}
	socket := filepath.Join(dir, "s")
	if guardArgv != nil {
		options.Guard = append(guardArgv, "-socket", socket, "-start", "5s")
	}
	a, err := agent.New(agent.Config{Server: "here", Disk: disks[1], Shared: filepath.Join(dir, "shared"), Restored: filepath.Join(dir, "restored"),
		Store: store, Lease: time.Minute, Runner: func(string, json.RawMessage) (runner.Runner, error) {
			return command.New(command.Commands{Start: argv, Resume: argv, Work: filepath.Join(dir, "work")}, options)
		}})
	must.Do(b, err)
	listener := must.Have(net.Listen("unix", socket))(b)
	server := &http.Server{Handler: guard.Vouching(a)}
	go func() { _ = server.Serve(listener) }() // it ends with Close
	m, j, err := journal.Open(disks[0], checkpoint.Config{Kinds: apportion.Kinds{"slot"}})
	must.Do(b, err)
	d := must.Have(driver.New(m, j, driver.Config{Store: store, Grace: 2 * time.Minute}, &driver.Options{Trace: trace}))(b)
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	b.Cleanup(func() {
		_ = d.Apply(ctx, checkpoint.Cancel{Job: "job"})
		_, _ = d.Await(ctx, func(s *driver.State) bool { j, _ := s.Job("job"); return j.Job.Phase == checkpoint.Ended })
		end()
		must.Do(b, errors.Join(<-ended, server.Close(), a.Close(), steps.Close(), os.RemoveAll(dir)))
	})
	must.Do(b, d.Join(ctx, apportion.Server{ID: "here", Capacity: apportion.Resources{2}}, a))
	return d, steps
}
