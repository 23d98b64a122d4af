// This file runs the command as a user does, with small settings.

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apportion/apportion/examples/studies/chart/charttest"
	"github.com/apportion/apportion/examples/studies/command/commandtest"
	"github.com/apportion/apportion/internal/must"
)

// TestCases runs the commands of testdata/cases and compares what they print, errors included.
func TestCases(t *testing.T) { commandtest.Cases(t, run) }

// TestRecords runs the commands of testdata/record, whose output the README shows.
func TestRecords(t *testing.T) { commandtest.Records(t, run, nil) }

// The figures are files that viewers can open, and the same every time, and name every policy.
func TestFigures(t *testing.T) {
	var folder string
	charttest.Twice(t, func(out string) error {
		folder = out
		return run(t.Context(), io.Discard, io.Discard, []string{"-small", "-seeds", "1", "-tiny", "1", "-out", out})
	}, 5, policyNames[1])
	for _, name := range []string{"summary", "utility", "bound", "sensitive", "critical"} {
		picture := must.Have(os.ReadFile(filepath.Join(folder, name+".svg")))(t)
		for _, policy := range policyNames {
			if !bytes.Contains(picture, []byte(policy)) {
				t.Errorf("%s has no legend for %s", name, policy)
			}
		}
	}
}
