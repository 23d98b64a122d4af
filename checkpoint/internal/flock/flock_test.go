//go:build unix

// This file tests who has a lock.

package flock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apportion/apportion/checkpoint/internal/flock"
	"github.com/apportion/apportion/internal/must"
)

func TestTry(t *testing.T) {
	for name, path := range map[string]string{"a folder": t.TempDir(), "a file": filepath.Join(t.TempDir(), "f")} {
		t.Run(name, func(t *testing.T) {
			var files [3]*os.File
			for i := range files {
				file, err := os.Open(path)
				if os.IsNotExist(err) {
					file, err = os.Create(path)
				}
				must.Do(t, err)
				defer file.Close()
				files[i] = file
			}
			for i, step := range []struct {
				try  func(*os.File) (bool, error)
				file *os.File
				want bool
			}{
				{flock.TryShared, files[0], true}, {flock.TryShared, files[1], true}, {flock.Try, files[2], false},
				{flock.Try, files[0], false}, {nil, files[1], true}, {flock.Try, files[0], true}, {flock.TryShared, files[2], false},
				{nil, files[0], true}, {flock.Try, files[2], true},
			} {
				got, err := true, error(nil)
				if step.try == nil {
					err = step.file.Close()
				} else {
					got, err = step.try(step.file)
				}
				if got != step.want || err != nil {
					t.Errorf("step %d: %v, %v", i, got, err)
				}
			}
		})
	}
}
