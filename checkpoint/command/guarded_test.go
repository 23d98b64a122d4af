//go:build linux

// This file tests processes below guards: they save, stop and end as others do, and end when nobody vouches for them.

package command_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// voucher vouches for attempts up to one, for a time that a test sets.
type voucher struct{ left, newest atomic.Int64 }

func (v *voucher) Vouch(job string, attempt int64) (time.Duration, error) {
	if attempt != v.newest.Load() {
		return 0, fmt.Errorf("attempt %d of %s: %w", attempt, job, checkpoint.ErrFenced)
	}
	return time.Duration(v.left.Load()), nil
}

// guardedSite is a site whose processes run below guards; attempt 1 is vouched for.
func guardedSite(t *testing.T, options command.Options, job string, args ...string) (*site, *voucher) {
	t.Helper()
	v := &voucher{}
	v.left.Store(int64(time.Minute))
	v.newest.Store(1)
	dir := must.Have(os.MkdirTemp("", "guard-"))(t) // short, for a socket
	t.Cleanup(func() { os.RemoveAll(dir) })
	listener := must.Have(net.Listen("unix", filepath.Join(dir, "s")))(t)
	server := &http.Server{Handler: guard.Vouching(v)}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	// Built for the race detector a program sleeps for a second at its end, as long as the guard's own timer leaves it.
	options.Env = append(options.Env, "GORACE=atexit_sleep_ms=0")
	options.Guard = []string{program(t), "guard", "-socket", filepath.Join(dir, "s"), "-start", "2s"}
	return newSite(t, &options, job, args...), v
}

// awaitProgress waits until the progress of a run is as it should be.
func (s *site) awaitProgress(t *testing.T, run runner.Run, want func(runner.Progress) bool) runner.Progress {
	t.Helper()
	for limit := time.Now().Add(long); ; time.Sleep(5 * time.Millisecond) {
		p := must.Have(s.Progress(t.Context(), run))(t)
		if want(p) {
			return p
		}
		if time.Now().After(limit) {
			t.Fatalf("%+v", p)
		}
	}
}

func over(p runner.Progress) bool { return !p.Running }

// A run below a guard is saved by file and by signal, and done when it is.
func TestGuarded(t *testing.T) {
	s, _ := guardedSite(t, command.Options{}, "train", "300")
	run := s.run(1)
	s.resume(t, run)
	saved := must.Have(s.Save(t.Context(), run))(t)
	must.Equal(t, len(saved.Files), 1, saved)
	if p := s.awaitProgress(t, run, over); !p.Done || p.Step != 300 {
		t.Errorf("%+v", p)
	}
}

func TestGuardedSignal(t *testing.T) {
	s, _ := guardedSite(t, command.Options{Signal: syscall.SIGUSR1, Format: format.PyTorch{}}, "signal")
	run := s.run(1)
	s.resume(t, run)
	s.awaitProgress(t, run, func(p runner.Progress) bool { return p.Step == 1 })
	if saved, err := s.Save(t.Context(), run); err != nil || len(saved.Files) != 1 {
		t.Errorf("%+v, %v", saved, err)
	}
}

// Stop ends guards, keepers and all that trainers have started, with grace and without.
func TestGuardedStop(t *testing.T) {
	for _, grace := range []time.Duration{0, 300 * time.Millisecond} {
		s, _ := guardedSite(t, command.Options{Grace: grace}, "forks")
		run := s.run(1)
		s.resume(t, run)
		s.awaitProgress(t, run, func(p runner.Progress) bool { return p.Step == 1 })
		// The trainer holds the run's lock as without a guard: it is found by that when all else is thrown away.
		held := 0
		for _, pid := range s.processes(t)["run-1"] {
			target, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/3", pid))
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if strings.HasSuffix(target, "/held") && !strings.Contains(string(line), "guard") {
				held++
			}
		}
		if held == 0 {
			t.Error("no process of the trainer holds the lock")
		}
		ctx, cancel := context.WithTimeout(t.Context(), long)
		defer cancel()
		must.Do(t, s.Stop(ctx, run))
		if left := s.processes(t); len(left) > 0 {
			t.Errorf("alive: %v", left)
		}
	}
}

// A run ends when nobody vouches for it any more, while nobody asks its runner for anything, and says so.
func TestGuardedLeaseEnds(t *testing.T) {
	s, v := guardedSite(t, command.Options{}, "forks")
	run := s.run(1)
	v.left.Store(int64(500 * time.Millisecond))
	s.resume(t, run)
	s.awaitProgress(t, run, func(p runner.Progress) bool { return p.Step == 1 })
	time.Sleep(time.Second)
	if len(s.processes(t)) == 0 {
		t.Fatal("it has ended while it was vouched for")
	}
	v.left.Store(0)
	began := time.Now()
	for len(s.processes(t)) > 0 {
		if time.Since(began) > long {
			t.Fatalf("alive: %v", s.processes(t))
		}
		time.Sleep(5 * time.Millisecond)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it ended after %v", took)
	}
	if p := s.awaitProgress(t, run, over); !strings.Contains(p.Failed, "ended by its guard: lease") {
		t.Errorf("%+v", p)
	}
}

// A run that nobody vouches for is not started, and one of which no runner saw the end tells it by its guard's record.
func TestGuardedUnwatched(t *testing.T) {
	s, v := guardedSite(t, command.Options{}, "die")
	v.newest.Store(2)
	s.resume(t, s.run(1))
	if p := s.awaitProgress(t, s.run(1), over); !strings.Contains(p.Failed, "exit status 77") {
		t.Errorf("fenced off: %+v", p)
	}
	s.resume(t, s.run(2))
	s.awaitProgress(t, s.run(2), over)
	must.Do(t, os.Remove(filepath.Join(s.work, "job", "run-2", "rank-0.exit")))
	later := must.Have(command.New(command.Commands{Start: []string{"x"}, Work: s.work}, &command.Options{Guard: []string{"x"}}))(t)
	defer later.Close()
	if p, err := later.Progress(t.Context(), s.run(2)); err != nil || p.Failed != "rank 0: exit status 3" {
		t.Errorf("%+v, %v", p, err)
	}
}

// What is wrong with a guard is told before anything begins, or when a process is started.
func TestGuardFaults(t *testing.T) {
	if _, err := command.New(command.Commands{Start: []string{"x"}, Work: t.TempDir()}, &command.Options{Guard: []string{"x"}, Signal: syscall.SIGINT}); err == nil {
		t.Error("a signal that no guard passes on")
	}
	for _, guardArgv := range [][]string{{"/no/guard"}, {"true"}} {
		a := must.Have(command.New(command.Commands{Start: []string{"/no/such"}, Work: t.TempDir()}, &command.Options{Guard: guardArgv}))(t)
		defer a.Close()
		must.Err(t, a.Resume(t.Context(), runner.Run{Job: "j", Attempt: 1, Containers: []string{"a"}, Dir: t.TempDir()}), must.ErrAny, guardArgv)
	}
}
