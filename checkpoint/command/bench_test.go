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
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/filestore"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/vfs"
)

func benchSite(b *testing.B, start ...string) (*command.Runner, runner.Run) {
	b.Helper()
	a, err := command.New(command.Commands{Start: start, Work: b.TempDir()}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close() })
	return a, runner.Run{Job: "job", Containers: []string{"here"}, Dir: b.TempDir()}
}

func BenchmarkResumeStop(b *testing.B) {
	for _, containers := range []int{1, 8} {
		b.Run(fmt.Sprintf("containers=%d", containers), func(b *testing.B) {
			a, run := benchSite(b, "/bin/sleep", "3600")
			for len(run.Containers) < containers {
				run.Containers = append(run.Containers, "here")
			}
			for b.Loop() {
				run.Attempt++
				if err := a.Resume(context.Background(), run); err != nil {
					b.Fatal(err)
				}
				if err := a.Stop(context.Background(), run); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	// The same without the runner: what the system takes.
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/sleep", "3600")
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			_ = cmd.Process.Kill() // the end is seen below
			_ = cmd.Wait()
		}
	})
}

func BenchmarkSave(b *testing.B) {
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	a, run := benchSite(b, program, "job:train", "1000000000")
	run.Attempt = 1
	if err := a.Resume(context.Background(), run); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := a.Save(context.Background(), run); err != nil {
			b.Fatal(err)
		}
	}
	if err := a.Stop(context.Background(), run); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkProgress(b *testing.B) {
	a, run := benchSite(b, "/bin/sleep", "3600")
	run.Attempt = 1
	if err := a.Resume(context.Background(), run); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Progress(context.Background(), run); err != nil {
			b.Fatal(err)
		}
	}
	if err := a.Stop(context.Background(), run); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAdjust gives a job a container more, and takes it back: save, verify, stop, create, resume and confirm, with the
// journal, the agent's book and the store on the disk. A job below guards has its lease from the agent.
func BenchmarkAdjust(b *testing.B) {
	for _, guarded := range []bool{false, true} {
		b.Run(fmt.Sprintf("guarded=%t", guarded), func(b *testing.B) {
			// Of each kind of effect: how long all have taken, from the record to the reply. The driver calls from one goroutine, and
			// Await has seen its last word.
			spent := map[checkpoint.Action]time.Duration{}
			d := benchDriver(b, guarded, func(t driver.Traced) { spent[t.Effect.Action] += t.Replied.Sub(t.Issued) })
			begin := func(containers int, events ...checkpoint.Event) {
				events = append(events, checkpoint.Adjust{Targets: map[string][]string{"job": slices.Repeat([]string{"here"}, containers)}})
				err := d.Apply(b.Context(), events...)
				if err == nil {
					_, err = d.Await(b.Context(), func(s *driver.State) bool {
						j, _ := s.Job("job")
						return j.Job.Phase == checkpoint.Running && j.Job.Order == 0 && len(j.Job.Containers) == containers
					})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			begin(1, checkpoint.Submit{Job: "job", Demand: apportion.Resources{1}})
			containers := 1
			clear(spent)
			for b.Loop() {
				containers = 3 - containers
				begin(containers)
			}
			// What is left of the whole are the records of the journal between the effects.
			for action, all := range spent {
				b.ReportMetric(all.Seconds()*1000/float64(b.N), string(action)+"-ms")
			}
			s := d.State()
			if j, _ := s.Job("job"); j.Job.Newest().Number == 0 || j.Job.Reason.Constraint != "" {
				b.Errorf("%+v", j)
			}
		})
	}
}

// benchDriver is a driver with one agent, which has room for two containers of a job.
func benchDriver(b *testing.B, guarded bool, trace func(driver.Traced)) *driver.Driver {
	dir, err := os.MkdirTemp("", "adjust-") // short, for a socket
	if err != nil {
		b.Fatal(err)
	}
	var disks []vfs.FS
	for _, name := range []string{"journal", "book", "store", "shared", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			b.Fatal(err)
		}
		disk, err := vfs.NewOS(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		disks = append(disks, disk)
	}
	store, err := filestore.New(disks[2], nil)
	if err != nil {
		b.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	options := &command.Options{Node: "here", Single: true, Acknowledge: true}
	socket := filepath.Join(dir, "s")
	if guarded {
		options.Guard = []string{program, "guard", "-socket", socket, "-start", "5s"}
	}
	argv := []string{program, "job:train", "1000000000"}
	a, err := agent.New(agent.Config{Server: "here", Disk: disks[1], Shared: filepath.Join(dir, "shared"), Restored: filepath.Join(dir, "restored"),
		Store: store, Lease: time.Minute, Runner: func(string, json.RawMessage) (runner.Runner, error) {
			return command.New(command.Commands{Start: argv, Resume: argv, Work: filepath.Join(dir, "work")}, options)
		}})
	if err != nil {
		b.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: guard.Vouching(a)}
	go func() { _ = server.Serve(listener) }() // it ends with Close
	m, j, err := journal.Open(disks[0], checkpoint.Config{Kinds: apportion.Kinds{"slot"}})
	if err != nil {
		b.Fatal(err)
	}
	d, err := driver.New(m, j, driver.Config{Store: store, Grace: 2 * time.Minute}, &driver.Options{Trace: trace})
	if err != nil {
		b.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	b.Cleanup(func() {
		_ = d.Apply(ctx, checkpoint.Cancel{Job: "job"})
		_, _ = d.Await(ctx, func(s *driver.State) bool { j, _ := s.Job("job"); return j.Job.Phase == checkpoint.Ended })
		end()
		if err := errors.Join(<-ended, server.Close(), a.Close(), os.RemoveAll(dir)); err != nil {
			b.Error(err)
		}
	})
	if err := d.Join(ctx, apportion.Server{ID: "here", Capacity: apportion.Resources{2}}, a); err != nil {
		b.Fatal(err)
	}
	return d
}
