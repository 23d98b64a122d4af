//go:build linux

// This file tests what is no file on a real disk.

package format_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/internal/must"
)

// TestPipe: a pipe with the name of a checkpoint does not make the search wait for a writer, nor does a
// link to one.
func TestPipe(t *testing.T) {
	f := torchFixture()
	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, f.new), f.files[f.new].bytes, 0o600))
	must.Do(t, syscall.Mkfifo(filepath.Join(folder, "model-8.pt"), 0o600))
	must.Do(t, os.Symlink("model-8.pt", filepath.Join(folder, "model-9.pt")))
	must.Do(t, os.Mkdir(filepath.Join(folder, "model-7.pt"), 0o700))
	done := make(chan struct{})
	go func() {
		defer close(done)
		found, err := f.format.Newest(os.DirFS(folder))
		if err != nil || found.Name != f.new || len(found.Skipped) != 1 || !strings.Contains(found.Skipped[0].Reason, "model-9.pt is not complete") {
			t.Errorf("%+v, %v", found, err)
		}
		for _, name := range []string{"model-8.pt", "model-7.pt"} {
			if _, err := f.format.Verify(os.DirFS(folder), name); !errors.Is(err, format.ErrIncomplete) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the search waits for the writer of a pipe")
	}
}
