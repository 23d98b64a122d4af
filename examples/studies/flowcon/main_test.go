// This file runs the command as a user does, with few schedules.

package main

import (
	"io"
	"testing"

	"github.com/apportion/apportion/examples/studies/chart/charttest"
	"github.com/apportion/apportion/examples/studies/command/commandtest"
)

// TestCases runs the commands of testdata/cases and compares what they print, errors included.
func TestCases(t *testing.T) { commandtest.Cases(t, run) }

// TestRecords runs the commands of testdata/record, whose output the README shows.
func TestRecords(t *testing.T) { commandtest.Records(t, run, nil) }

// The figures are files that viewers can open, and the same every time.
func TestFigures(t *testing.T) {
	charttest.Twice(t, func(out string) error {
		return run(t.Context(), io.Discard, io.Discard, []string{"-seeds", "1", "-out", out})
	}, 10, "VAE-P", "Prospect")
}
