// This file tests Check on random logs, against a twin that looks at every moment.

package workerlog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawn are logs of one job: processes of a few attempts on two servers, each with a line at some of the first twenty moments.
func drawn(t *rapid.T) []Line {
	var lines []Line
	for i := range rapid.IntRange(1, 5).Draw(t, "processes") {
		from := rapid.IntRange(1, 18).Draw(t, "from")
		attempt, rank := rapid.Int64Range(1, 3).Draw(t, "attempt"), rapid.IntRange(0, 1).Draw(t, "rank")
		server := rapid.SampledFrom([]string{"north", "south"}).Draw(t, "server")
		to := rapid.IntRange(from, 20).Draw(t, "to")
		for at := from; at <= to; at++ {
			line := Line{Worker: Step, Job: "lr", Attempt: attempt, Rank: rank, Server: server, Life: fmt.Sprint("life", i), Step: int64(at - from), At: int64(at)}
			if at == from {
				line.Worker = Start
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// span is when a process lived, for all that its lines say.
type span struct {
	name, server string
	attempt      int64
	rank         int
	first, last  int64
}

// spansOf are the processes of logs, in the order of their names.
func spansOf(lines []Line) []span {
	var all []span
	for _, l := range lines {
		at := slices.IndexFunc(all, func(s span) bool { return s.name == l.Life })
		if at < 0 {
			all, at = append(all, span{l.Life, l.Server, l.Attempt, l.Rank, l.At, l.At}), len(all)
		}
		all[at].last = l.At
	}
	return all
}

// together counts the pairs of processes that lived at the same time and must not: of two attempts, or of one rank twice. It looks at
// every moment after the start of the later one, by the slack of two servers.
func together(lines []Line, slack int64) (pairs int) {
	all := spansOf(lines)
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.attempt == b.attempt && a.rank != b.rank {
				continue
			}
			// The earlier one is of the lower attempt; of one attempt it began first.
			earlier, later := a, b
			if b.attempt < a.attempt || b.attempt == a.attempt && b.first < a.first {
				earlier, later = b, a
			}
			apart, alive := int64(0), false
			if a.server != b.server {
				apart = slack
			}
			for at := later.first + apart + 1; at <= 20; at++ {
				alive = alive || earlier.last >= at
			}
			if alive {
				pairs++
			}
		}
	}
	return pairs
}

func faultsOf(err error, kind string) (n int) {
	joined, is := err.(interface{ Unwrap() []error })
	if !is {
		return 0
	}
	for _, one := range joined.Unwrap() {
		var f *Fault
		if errors.As(one, &f) && f.Kind == kind {
			n++
		}
	}
	return n
}

// Two that live at the same time are found, every pair of them and no other, in whatever order the files come.
func TestPropTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := drawn(t)
		slack := rapid.Int64Range(0, 3).Draw(t, "slack")
		err := Check(lines, &Options{Slack: time.Duration(slack)})
		if got, want := faultsOf(err, Twice), together(lines, slack); got != want {
			t.Fatalf("%d pairs, want %d: %v\n%+v", got, want, err, lines)
		}
		again := slices.Clone(lines)
		slices.SortStableFunc(again, func(a, b Line) int { return strings.Compare(b.Life, a.Life) })
		if text := fmt.Sprint(Check(again, &Options{Slack: time.Duration(slack)})); faultsOf(err, Twice) > 0 && !strings.Contains(text, Twice) {
			t.Fatalf("%v in another order: %s", err, text)
		}
	})
}

// A resume is right where an earlier attempt has saved its step, and no attempt has begun further on: the twin asks for each.
func TestPropResumes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, want, highest := &history{now: 1}, 0, 0
		saved := map[int]bool{0: true}
		attempts := rapid.Int64Range(1, 5).Draw(t, "attempts")
		for attempt := int64(1); attempt <= attempts; attempt++ {
			from := rapid.IntRange(0, 4).Draw(t, "from")
			if from < highest {
				want++
			}
			if !saved[from] {
				want++
			}
			highest = max(highest, from)
			steps := []any{Start, from}
			more := rapid.IntRange(0, 3).Draw(t, "steps")
			for step := from + 1; step <= from+more; step++ {
				steps = append(steps, Step, step)
				if rapid.Bool().Draw(t, "saves") {
					steps = append(steps, Saved, step)
				}
			}
			h.worker(attempt, 0, "north", steps...)
			for i := 0; i < len(steps); i += 2 {
				if steps[i] == Saved {
					saved[steps[i+1].(int)] = true
				}
			}
		}
		if err := Check(h.lines, nil); faultsOf(err, Resume) != want || faultsOf(err, Twice)+faultsOf(err, Lost)+faultsOf(err, Form) > 0 {
			t.Fatalf("%d faults of resumes, want %d: %v", faultsOf(err, Resume), want, err)
		}
	})
}
