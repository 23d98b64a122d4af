//go:build unix

// This file saves what a job has swapped for a pipe after it had acknowledged it.

package store_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

func TestSwappedForPipe(t *testing.T) {
	saved := filesOf(t, map[string]string{"state": "learnt"})
	name := filepath.Join(saved.Dir, "state")
	must.Do(t, os.Remove(name))
	must.Do(t, syscall.Mkfifo(name, 0o600))
	ended := make(chan error, 1)
	go func() {
		_, err := store.Save(t.Context(), &storetest.MemStore{}, "lr", 1, saved)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a pipe was saved")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the save waits for the other end of the pipe")
	}
}
