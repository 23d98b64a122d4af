// This file plants each fault into logs without one, and checks that it is found and named.

package workerlog

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// history makes logs: its clock goes on by a millisecond with every line.
type history struct {
	now   int64
	lines []Line
}

// worker writes lines of one process: the first is its start, and each of the others is "step 3" or the like.
func (h *history) worker(attempt int64, rank int, server string, steps ...any) {
	life := cmp.Or(server, "any") + strings.Repeat("'", len(h.lines))
	for i := 0; i < len(steps); i += 2 {
		h.now += int64(time.Millisecond)
		h.lines = append(h.lines, Line{Worker: steps[i].(string), Job: "lr", Attempt: attempt, Rank: rank, Server: server, Life: life, Step: int64(steps[i+1].(int)), At: h.now})
	}
}

// good is a job with three attempts: the first is stopped at a checkpoint, the second dies behind one, the third ends.
func good() *history {
	h := &history{now: 1763836000_000000000}
	h.worker(1, 0, "north", Start, 0, Step, 1, Step, 2, Saved, 2, Step, 3)
	h.worker(2, 0, "south", Start, 2, Step, 3, Step, 4, Saved, 4, Step, 5, Step, 6)
	h.worker(5, 0, "north", Start, 4, Step, 5, Step, 6, Step, 7, End, 7)
	return h
}

// find returns the line of an attempt, and its index.
func (h *history) find(attempt int64, worker string, step int64) int {
	return slices.IndexFunc(h.lines, func(l Line) bool { return l.Attempt == attempt && l.Worker == worker && l.Step == step })
}

func TestGood(t *testing.T) {
	h := good()
	must.Do(t, Check(h.lines, nil))
	confirmed := []Confirmed{{"lr", 2, h.lines[h.find(2, Start, 2)].At - 1}, {"lr", 4, h.lines[h.find(5, Start, 4)].At - 1}, {"other", 9, 1}}
	must.Do(t, Check(h.lines, &Options{Confirmed: confirmed}))
	// Logs come file by file, in any order of the files.
	slices.SortStableFunc(h.lines, func(a, b Line) int { return cmp.Compare(b.Attempt, a.Attempt) })
	must.Do(t, Check(h.lines, nil))
	must.Do(t, Check(nil, nil))
}

// spoiled are histories that cannot be, and what is said of them.
var spoiled = []struct {
	name  string
	spoil func(*history, *Options)
	kind  string
	text  string
}{
	{"an earlier attempt goes on", func(h *history, _ *Options) {
		late := h.lines[h.find(1, Step, 3)]
		late.At = h.lines[h.find(2, Step, 4)].At
		h.lines[h.find(1, Step, 3)] = late
	}, Twice, "attempt 2 rank 0 on south"},
	{"the overlap says how long and how many steps", func(h *history, _ *Options) {
		h.lines[h.find(1, Step, 2)].At = h.lines[h.find(2, Step, 3)].At
		h.lines[h.find(1, Saved, 2)].At = h.lines[h.find(2, Step, 3)].At
		h.lines[h.find(1, Step, 3)].At = h.lines[h.find(2, Step, 3)].At + 1
	}, Twice, "1.000001ms before the last line of attempt 1 rank 0 on north (north), which did 2 steps"},
	{"an attempt long ago goes on", func(h *history, _ *Options) {
		h.lines[h.find(1, Step, 3)].At = h.lines[h.find(5, Step, 5)].At
	}, Twice, "attempt 5"},
	{"another rank of an earlier attempt goes on", func(h *history, _ *Options) {
		h.worker(2, 3, "west", Start, -1, Step, 6)
	}, Twice, "attempt 2 rank 3 on west"},
	{"a worker is started twice", func(h *history, _ *Options) {
		again := slices.Clone(h.lines[h.find(5, Start, 4):])
		for i := range again {
			again[i].Life = "again"
			again[i].At++
		}
		h.lines = append(h.lines, again...)
	}, Twice, "(again)"},
	{"an attempt begins anew", func(h *history, _ *Options) {
		i := h.find(2, Start, 2)
		h.lines[i].Step, h.lines[i+1].Step = 0, 1
		h.lines[i+2].Step = 2
		h.lines = slices.Delete(h.lines, i+3, i+6)
		h.lines[h.find(5, Start, 4)].Step = 0
	}, Lost, "goes on with step 5 after step 0"},
	{"an attempt begins behind an earlier one", func(h *history, _ *Options) {
		i := h.find(5, Start, 4)
		h.lines = h.lines[:i]
		h.worker(5, 0, "north", Start, 0, Step, 1)
	}, Resume, "begins with step 0, an earlier one began with 2"},
	{"an attempt begins with what was never saved", func(h *history, _ *Options) {
		i := h.find(5, Start, 4)
		h.lines[i].Step = 3
		h.lines = slices.Insert(h.lines, i+1, h.lines[i])
		h.lines[i+1].Worker, h.lines[i+1].Step = Step, 4
	}, Resume, "begins with step 3, of which no earlier"},
	{"an attempt begins with its own checkpoint", func(h *history, _ *Options) {
		h.lines[h.find(2, Saved, 4)].Step = 2
		h.lines[h.find(5, Step, 5)].Worker = Saved
		h.lines[h.find(5, Saved, 5)].Step = 4
	}, Resume, "begins with step 4, of which no earlier"},
	{"what was confirmed is lost", func(h *history, o *Options) {
		o.Confirmed = []Confirmed{{"lr", 6, h.lines[h.find(5, Start, 4)].At - 5}}
	}, Resume, "begins with step 4, and step 6 was confirmed 5ns before"},
	{"a step is left out", func(h *history, _ *Options) {
		i := h.find(2, Step, 3)
		h.lines = slices.Delete(h.lines, i, i+1)
	}, Lost, "goes on with step 4 after step 2"},
	{"a step is done again", func(h *history, _ *Options) {
		h.lines[h.find(2, Step, 6)].Step = 5
	}, Lost, "does step 5 after step 5"},
	{"a worker begins without a start", func(h *history, _ *Options) {
		i := h.find(2, Start, 2)
		h.lines = slices.Delete(h.lines, i, i+1)
	}, Form, `its line 1 is "step" at step 3`},
	{"a worker starts twice", func(h *history, _ *Options) {
		h.lines[h.find(2, Step, 6)].Worker = Start
	}, Form, `its line 6 is "start"`},
	{"a worker writes on after its end", func(h *history, _ *Options) {
		h.lines[h.find(2, Saved, 4)].Worker = End
	}, Form, "writes on after its end"},
}

func TestPlanted(t *testing.T) {
	for _, test := range spoiled {
		h, o := good(), &Options{}
		test.spoil(h, o)
		err := Check(h.lines, o)
		var fault *Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), test.kind+": job \"lr\"") {
			t.Errorf("%s: %v; want %s: %s", test.name, err, test.kind, test.text)
		}
	}
}

// Logs that do not have every step are no fault where that is said.
func TestEvery(t *testing.T) {
	h := &history{now: 1}
	h.worker(1, 0, "north", Start, 0, Step, 10, Step, 20, Saved, 23)
	h.worker(2, 0, "north", Start, 23, Step, 30, Step, 40)
	h.worker(2, 1, "south", Start, -1, Step, 30, Step, 40)
	must.Do(t, Check(h.lines, &Options{Every: 10}))
	must.Err(t, Check(h.lines, &Options{Every: 9}), must.ErrAny, "ten steps between two lines pass for nine")
}

// The ranks of one attempt are compared with earlier attempts and not with each other, and what one of them has saved is no
// checkpoint for another to begin with.
func TestRanksOfOneAttempt(t *testing.T) {
	h := &history{now: 1}
	h.worker(1, 0, "north", Start, 0, Step, 1, Saved, 1, Step, 2, Saved, 2)
	h.worker(2, 0, "north", Start, 2, Step, 3, Saved, 3)
	h.worker(2, 1, "south", Start, 1, Step, 2)
	must.Do(t, Check(h.lines, nil))
	// What an earlier attempt has saved stays its own, though a rank of this one has saved the same step again.
	h.worker(2, 3, "east", Start, 1, Step, 2, Saved, 2)
	h.worker(2, 4, "west", Start, 2, Step, 3)
	must.Do(t, Check(h.lines, nil))
	h.worker(2, 2, "south", Start, 3, Step, 4)
	if err := Check(h.lines, nil); err == nil || !strings.Contains(err.Error(), "begins with step 3, of which no earlier attempt has saved") {
		t.Error(err)
	}
}

// What was confirmed counts for whoever begins later than that, by more than the slack: at the same moment nobody can say who was
// first.
func TestConfirmedToTheMoment(t *testing.T) {
	h := &history{now: 1}
	h.worker(1, 0, "north", Start, 0, Step, 1, Saved, 1)
	h.worker(2, 0, "north", Start, 0, Step, 1)
	began := h.lines[h.find(2, Start, 0)].At
	for _, c := range []struct {
		at, slack int64
		right     bool
	}{{began, 0, true}, {began - 1, 0, false}, {began - 5, 5, true}, {began - 6, 5, false}} {
		err := Check(h.lines, &Options{Slack: time.Duration(c.slack), Confirmed: []Confirmed{{"lr", 1, c.at}}})
		must.Equal(t, err == nil, c.right, c, err)
	}
}
