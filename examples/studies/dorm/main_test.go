// This file runs the command as a user does, with small settings.

package main

import (
	"io"
	"regexp"
	"testing"

	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/studies/chart/charttest"
	"github.com/apportion/apportion/examples/studies/command/commandtest"
	"github.com/apportion/apportion/internal/must"
)

// TestCases runs the commands of testdata/cases and compares what they print, errors included.
func TestCases(t *testing.T) { commandtest.Cases(t, run) }

// TestRecords runs the commands of testdata/record, whose output the README shows, without the seconds that decisions took.
func TestRecords(t *testing.T) { commandtest.Records(t, run, withoutSeconds, "rules", "trace") }

// decided matches the row of a policy below "Decisions", up to the three columns of seconds, and heading the names of these, which
// stand as far apart as the seconds are long.
var (
	decided = regexp.MustCompile(`(?m)^(Dorm-\d(?: +\d+){2}(?: +[\d.]+ %){3} +[\d.]+ +\d+) .*$`)
	heading = regexp.MustCompile(`(?m)  seconds: median +99 % +longest$`)
)

func withoutSeconds(text string) string {
	return heading.ReplaceAllString(decided.ReplaceAllString(text, "$1  (seconds)"), "  (seconds)")
}

// With the library's own solver every decision keeps the thresholds, and applications run faster
// than under Swarm.
func TestEmbedded(t *testing.T) {
	o := &options{small: true}
	must.Do(t, o.check(backend.Embedded))
	s := shortStudy(o)
	must.Do(t, play(t.Context(), io.Discard, []*study{s}))
	for i, runs := range s.runs {
		for p, run := range runs[1:] {
			if got := speedup(s, run, runs[0]); !(got > 1.5) {
				t.Errorf("workload %d, %s: speed-up %v, want more than 1.5", i, s.policies[p+1], got)
			}
			if len(run.decisions) != len(run.Samples)-1 { // after the last there is nobody to decide on
				t.Errorf("workload %d, %s: %d decisions, %d samples", i, s.policies[p+1], len(run.decisions), len(run.Samples))
			}
			for j, d := range run.decisions {
				if sample := run.Samples[j]; d.at != sample.At || (d.moved > 0) != (sample.Adjusted > 0) || d.proven && d.gap > 1e-6 {
					t.Errorf("workload %d, %s: %+v, but %+v", i, s.policies[p+1], d, sample)
				}
			}
		}
	}
}

// The figures are files that viewers can open, and the same every time.
func TestFigures(t *testing.T) {
	charttest.Twice(t, func(out string) error {
		return run(t.Context(), io.Discard, io.Discard, []string{"-small", "-trace", "-solver", "first-fit", "-out", out})
	}, 6, "Dorm-2")
}

func TestCancelled(t *testing.T) {
	commandtest.Cancelled(t, run, "-small")
	commandtest.Cancelled(t, run, "-small", "-sweep")
}
