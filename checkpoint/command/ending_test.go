//go:build linux

// This file tests that processes end whatever becomes of the runner's disk and locks, and whatever a job does to them.

package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/internal/must"
)

// TestStopNeedsNoRecords: a Stop that cannot be written down ends the processes all the same, and is an error.
func TestStopNeedsNoRecords(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, s *site){
		"the folder of the run cannot be read": func(t *testing.T, s *site) {
			folder := filepath.Join(s.work, "job", "run-3")
			must.Do(t, os.RemoveAll(folder))
			mustWrite(t, folder, "no folder")
		},
		"the lock is held": func(t *testing.T, s *site) {
			file := must.Have(os.OpenFile(filepath.Join(s.work, "job", "lock"), os.O_RDWR, 0))(t)
			t.Cleanup(func() { file.Close() })
			must.Do(t, syscall.Flock(int(file.Fd()), syscall.LOCK_EX))
		},
		"the folder is gone": func(t *testing.T, s *site) {
			must.Do(t, os.RemoveAll(filepath.Join(s.work, "job")))
			mustWrite(t, filepath.Join(s.work, "job"), "") // and cannot be made again
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &site{work: t.TempDir(), dir: t.TempDir()} // swept by what is tested
			s.runner(t, nil, "sleep")
			run := s.run(3)
			s.resume(t, run)
			spoil(t, s)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			must.Err(t, s.Stop(ctx, run), must.ErrAny, "stopped, and nobody will know")
			if left := s.processes(t); len(left) > 0 {
				t.Errorf("alive: %v", left)
			}
		})
	}
}

// TestStopSparesLater: a Stop of an earlier attempt ends nothing of a later one, whatever it does before it asks the disk.
func TestStopSparesLater(t *testing.T) {
	s := newSite(t, nil, "sleep")
	s.resume(t, s.run(3))
	must.Err(t, s.Stop(t.Context(), s.run(2)), must.ErrAny, "an old attempt was stopped")
	if left := s.processes(t); len(left["run-3"]) != 1 {
		t.Errorf("alive: %v", left)
	}
}

func mustWrite(t *testing.T, name, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
}

// TestPipesInThePlaceOfRecords: a job that swaps what is its own for pipes is waited for by nobody, and ends.
func TestPipesInThePlaceOfRecords(t *testing.T) {
	s := newSite(t, &command.Options{Poll: time.Millisecond}, "sleep")
	run := s.run(1)
	s.resume(t, run)
	folder := filepath.Join(s.work, "job", "run-1")
	for _, name := range []string{"rank-0.log", "rank-0.json", "held", "own/save-ack", "save-request", "started"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		must.Do(t, syscall.Mkfifo(filepath.Join(folder, name), 0o600))
	}
	within := func(what string, call func(context.Context) error) error {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- call(ctx) }()
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			t.Fatalf("%s waits for a pipe", what)
			return nil
		}
	}
	err := within("progress", func(ctx context.Context) error {
		p, err := s.Progress(ctx, run)
		if !strings.Contains(p.Failed, "not a regular file") {
			t.Errorf("%+v", p)
		}
		return err
	})
	must.Do(t, err)
	must.Err(t, within("save", func(ctx context.Context) error { _, err := s.Save(ctx, run); return err }), must.ErrAny, "it was saved")
	must.Do(t, within("stop", func(ctx context.Context) error { return s.Stop(ctx, run) }))
	if left := s.processes(t); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
}

// TestStopWithoutFirstThread: the system calls a process a zombie whose first thread has ended. While others run it is alive, and ends.
func TestStopWithoutFirstThread(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		s := newSite(t, nil, "headless")
		run := s.run(1)
		s.resume(t, run)
		stat := func() string {
			pid, _ := os.ReadFile(filepath.Join(s.dir, "pid"))
			text, _ := os.ReadFile("/proc/" + string(pid) + "/stat")
			return string(text)
		}
		for limit := time.Now().Add(long); !strings.Contains(stat(), ") Z "); time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("its first thread does not end: %s", stat())
			}
		}
		if restarted {
			s.runner(t, nil, "sleep")
		}
		if p, err := s.Progress(t.Context(), run); err != nil || !p.Running || p.Failed != "" {
			t.Errorf("%+v, %v", p, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		must.Do(t, s.Stop(ctx, run), "restarted", restarted)
		cancel()
		if left := stat(); left != "" && !restarted {
			t.Errorf("restarted %t: alive: %s", restarted, left)
		}
	}
}
