// This file runs the command as a user does.

package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apportion/apportion/examples/studies/chart/charttest"
	"github.com/apportion/apportion/examples/studies/command/commandtest"
	"github.com/apportion/apportion/internal/must"
)

func TestFigures(t *testing.T) {
	charttest.Twice(t, func(out string) error { return run(t.Context(), io.Discard, io.Discard, []string{"-out", out}) }, 16, "Nomad: Dorm, elastic jobs", "Slurm: Dorm, elastic jobs", "YARN: Dorm, elastic jobs", "Kubernetes: gangs of fixed size")
}

// TestRecords runs the commands of testdata/record, whose output the README shows.
func TestRecords(t *testing.T) { commandtest.Records(t, run, nil, "all") }

// A record that is not there, not whole, or of a day that has not ended is an error.
func TestBrokenRecords(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "{", `{"slots": 4, "jobs": [{"name": "a"}]}`} {
		if text != "" {
			must.Do(t, os.WriteFile(filepath.Join(dir, "nomad-fixed.json"), []byte(text), 0o600))
		}
		must.Err(t, run(t.Context(), io.Discard, io.Discard, []string{"-data", dir, "-out", t.TempDir()}), must.ErrAny, text, "is accepted")
	}
}
