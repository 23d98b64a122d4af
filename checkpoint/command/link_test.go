//go:build linux

// This file tests what becomes of links that a job puts in the place of its own records.

package command_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/internal/must"
)

// A job that puts a link to a large file in the place of its log has nothing of that file given back to the disk; one that puts a pipe
// there keeps nobody waiting.
func TestLinkInThePlaceOfALog(t *testing.T) {
	s := newSite(t, &command.Options{LogBytes: 1 << 12}, "sleep")
	run := s.run(1)
	s.resume(t, run)
	large := filepath.Join(t.TempDir(), "large")
	want := bytes.Repeat([]byte("x"), 1<<16)
	must.Do(t, os.WriteFile(large, want, 0o600))
	log := s.Log(run, 0)
	must.Do(t, errors.Join(os.Remove(log), os.Symlink(large, log)))
	time.Sleep(400 * time.Millisecond) // the runner looks ten times a second
	if got, err := os.ReadFile(large); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes are left as they were, %v", bytes.Count(got, []byte("x")), len(want), err)
	}
	must.Do(t, errors.Join(os.Remove(log), syscall.Mkfifo(log, 0o600)))
	time.Sleep(400 * time.Millisecond)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(long):
		t.Fatal("the runner waits for a pipe")
	}
}
