// This file checks decisions on clusters of which everything is known, with a clock of their own.

package specon

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
)

// world is a cluster that does at once what is decided.
type world struct {
	t       *testing.T
	now     time.Duration
	state   *master.State
	config  Config
	decider *Decider
	// losses are those of the jobs by name; a job that is not there has told nothing.
	losses map[string]func(now time.Duration) float64
	began  map[string]time.Duration // when the newest attempt did
	fails  error
	moves  []string // "job server"
}

func newWorld(t *testing.T, stay bool) *world {
	t.Helper()
	w := &world{t: t, losses: map[string]func(time.Duration) float64{}, began: map[string]time.Duration{}, state: &master.State{Kinds: apportion.Kinds{"cpu"},
		Servers: []apportion.Server{{ID: "left", Capacity: apportion.Resources{8}}, {ID: "right", Capacity: apportion.Resources{8}}}}}
	w.config = Config{Interval: time.Second, Classifier: growth.Prospect{Alpha: 0.1}, Stay: stay,
		Now: func() time.Duration { return w.now }, Read: w.read, Notes: filepath.Join(t.TempDir(), "notes.json")}
	w.restart()
	return w
}

// restart makes a new decider, as a new master does.
func (w *world) restart() {
	w.t.Helper()
	w.decider = must.Have(New(w.config))(w.t)
}

func (w *world) read(*master.State) (map[string]Reading, error) {
	known := map[string]Reading{}
	for name, loss := range w.losses {
		known[name] = Reading{Value: loss(w.now), First: loss(0), Age: w.now, Used: (w.now - w.began[name]) / 2}
	}
	return known, w.fails
}

// submit adds a job; on is where it runs already, if it does.
func (w *world) submit(name string, loss func(time.Duration) float64, on ...string) {
	job := master.JobState{Application: alloc.Application{ID: name, Form: alloc.Form{Demand: apportion.Resources{1}}},
		Job: checkpoint.Job{Name: name, Phase: checkpoint.Idle, Containers: on, Target: on}}
	if len(on) > 0 {
		job.Job.Phase, job.Job.Attempt = checkpoint.Running, 1
	}
	w.state.Jobs = append(w.state.Jobs, job)
	if loss != nil {
		w.losses[name] = loss
	}
}

func (w *world) end(name string) {
	w.state.Jobs = slices.DeleteFunc(w.state.Jobs, func(j master.JobState) bool { return j.Job.Name == name })
	delete(w.losses, name)
}

func (w *world) decide() *master.Verdict {
	w.t.Helper()
	v := must.Have(w.decider.Decide(w.t.Context(), w.state))(w.t)
	for i := range w.state.Jobs {
		job := &w.state.Jobs[i].Job
		target, ok := v.Targets[job.Name]
		if !ok {
			continue
		}
		if len(job.Containers) > 0 {
			w.moves = append(w.moves, job.Name+" "+target[0])
		}
		job.Containers, job.Target, job.Phase = target, target, checkpoint.Running
		job.Attempt++
		w.began[job.Name] = w.now
	}
	return v
}

// pass lets time pass in steps of a tenth of a second.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	for until := w.now + d; w.now < until; w.now += 100 * time.Millisecond {
		if v := w.decide(); len(v.Targets) > 1 {
			w.t.Errorf("%v: several jobs at a time: %v", w.now, v.Targets)
		}
	}
}

func (w *world) where() map[string]string {
	found := map[string]string{}
	for i := range w.state.Jobs {
		found[w.state.Jobs[i].Job.Name] = strings.Join(w.state.Jobs[i].Job.Containers, " ")
	}
	return found
}

// moved compares all moves so far.
func (w *world) moved(want ...string) {
	w.t.Helper()
	must.Same(w.t, w.moves, want, "moves")
}

// steady is a loss that falls all the time, flat one that hardly does after the beginning.
func steady(now time.Duration) float64 { return 1000 - now.Seconds() }
func flat(now time.Duration) float64   { return max(1, 10-20*now.Seconds()) - 1e-6*now.Seconds() }

// crowd puts a converged job and two that grow on the first server.
func (w *world) crowd() {
	for name, loss := range map[string]func(time.Duration) float64{"done": flat, "young": steady, "younger": steady} {
		w.submit(name, loss, "left")
	}
}

// New jobs go where the fewest are; ties to the first server; where there is no room they wait.
func TestPlacesSpread(t *testing.T) {
	w := newWorld(t, false)
	w.submit("old", steady, "left")
	for _, name := range []string{"a", "b", "c"} {
		w.submit(name, nil)
	}
	w.decide()
	if got, want := w.where(), (map[string]string{"old": "left", "a": "right", "b": "left", "c": "right"}); !maps.Equal(got, want) {
		t.Errorf("placed %v, want %v", got, want)
	}
	for i := range w.state.Servers {
		w.state.Servers[i].Capacity = apportion.Resources{2}
	}
	w.submit("late", nil)
	if v := w.decide(); len(v.Targets) != 0 || v.Waiting["late"] == "" {
		t.Errorf("without room: %v, waits for %q", v.Targets, v.Waiting["late"])
	}
	w.state.Servers[1].ID = "new" // and right is gone
	if v := w.decide(); strings.Join(v.Targets["a"], "") != "new" {
		t.Errorf("job on a server that is gone: %v", v.Targets)
	}
}

// The converged job of three leaves the node for the idle one, once; growing ones stay.
func TestMovesConverged(t *testing.T) {
	w := newWorld(t, false)
	w.crowd()
	w.pass(20 * time.Second)
	w.moved("done right")
	text := w.decide().Explanation
	for _, want := range []string{"done       right", "converged", "was decided on", "progressing", "uses 0.50 of a CPU", "No job is to be moved."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// turn has a crowd's converged job move away, and then the crowd be where it is.
func (w *world) turn() {
	w.t.Helper()
	w.crowd()
	w.pass(20 * time.Second)
	for _, name := range []string{"x", "y", "z"} {
		w.submit(name, steady, "right")
	}
	w.end("young")
	w.end("younger")
}

// The decider of a new master does not move a job that was moved before, nor one that grows as ever; but it goes
// on with the others.
func TestNewMasterMovesNobodyAgain(t *testing.T) {
	w := newWorld(t, false)
	w.turn()
	w.pass(100 * time.Second)
	w.restart()
	if text := w.decide().Explanation; strings.Count(text, "was decided on") != 1 {
		t.Errorf("want one that was decided on:\n%s", text)
	}
	w.pass(20 * time.Second)
	w.moved("done right")
	w.losses["x"] = func(now time.Duration) float64 { return 800 - 1e-6*now.Seconds() }
	w.pass(5 * time.Minute)
	w.moved("done right", "x left")
}

// A new master goes on with what was left of a plan: who was moved for it stays.
func TestNewMasterGoesOnWithPlan(t *testing.T) {
	w := newWorld(t, false)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		w.submit(name, flat, "left")
	}
	for len(w.moves) == 0 && w.now < time.Minute {
		w.pass(100 * time.Millisecond)
	}
	w.restart()
	w.pass(20 * time.Second)
	for _, name := range []string{"d", "e", "f"} { // left is idle, and has nobody to take
		w.end(name)
	}
	w.restart()
	w.pass(20 * time.Second)
	w.moved("a right", "b right", "c right")
}

// A master may be killed before a move that was noted has begun. The next one leaves the job where it is.
func TestMoveThatWasNotBegun(t *testing.T) {
	w := newWorld(t, false)
	w.crowd()
	for {
		v, err := w.decider.Decide(t.Context(), w.state)
		if err != nil || w.now > time.Minute {
			t.Fatalf("nobody is to be moved: %v", err)
		}
		if len(v.Targets) > 0 {
			break
		}
		w.now += 100 * time.Millisecond
	}
	w.restart()
	w.pass(20 * time.Second)
	w.moved()
}

// Notes that are not whole are not taken for none.
func TestDamagedNotes(t *testing.T) {
	w := newWorld(t, false)
	must.Do(t, os.WriteFile(w.config.Notes, []byte(`{"decided":["a"`), 0o600))
	if _, err := New(w.config); err == nil || !strings.Contains(err.Error(), w.config.Notes) {
		t.Errorf("error %v, want one that names the file", err)
	}
	w.config.Notes = filepath.Join(t.TempDir(), "nowhere", "notes.json")
	w.restart()
	w.submit("a", flat, "left")
	w.submit("b", flat, "left")
	w.submit("c", flat, "left")
	for {
		_, err := w.decider.Decide(t.Context(), w.state)
		if errors.Is(err, fs.ErrNotExist) {
			return // what cannot be noted is not done
		}
		if err != nil || w.now > time.Minute {
			t.Fatalf("error %v without a folder for the notes", err)
		}
		w.now += 100 * time.Millisecond
	}
}

// What is told of a job: the first value until a check has taken it, and the CPU time of its newest attempt.
func TestEvent(t *testing.T) {
	job := &master.JobState{Application: alloc.Application{ID: "a"}, Job: checkpoint.Job{Phase: checkpoint.Running, Attempt: 1}}
	m := &meter{}
	if e := m.event(10*time.Second, job, Reading{Value: 4, First: 8, Age: 7 * time.Second, Used: 5 * time.Second}); e.At != 3*time.Second || e.Value != 8 {
		t.Errorf("first reading: %+v, want 8 at 3 s", e)
	}
	m.opened = true
	if e := m.event(14*time.Second, job, Reading{Value: 2, Used: 7 * time.Second}); e.At != 14*time.Second || e.Value != 2 || e.Usage != growth.Used(0.5) {
		t.Errorf("second reading: %+v, want 2 at 14 s with usage 0.5", e)
	}
	job.Job.Attempt = 2
	if e := m.event(34*time.Second, job, Reading{Value: 1, Used: 8 * time.Second}); e.Usage != growth.Used(0.4) {
		t.Errorf("second attempt: %+v, want usage 0.4", e)
	}
}

// The default scheduler moves nobody.
func TestStays(t *testing.T) {
	w := newWorld(t, true)
	w.crowd()
	w.pass(20 * time.Second)
	w.moved()
}

// Nobody is moved while another job is on its way, whatever it waits for.
func TestOneAtATime(t *testing.T) {
	for name, change := range map[string]func(*checkpoint.Job){
		"resuming":         func(j *checkpoint.Job) { j.Phase = checkpoint.Resuming },
		"asked for":        func(j *checkpoint.Job) { j.Order, j.Wanted = 1, []string{"left"} },
		"about to be sent": func(j *checkpoint.Job) { j.Target = []string{"right"} },
	} {
		w := newWorld(t, false)
		for _, job := range []string{"done", "young", "younger", "other"} {
			w.submit(job, steady, "left")
		}
		w.losses["done"] = flat
		change(&w.state.Jobs[3].Job)
		w.pass(10 * time.Second)
		if len(w.moves) > 0 {
			t.Errorf("%s: moves %v", name, w.moves)
		}
		if text := w.decide().Explanation; !strings.Contains(text, "other is on its way") {
			t.Errorf("%s: %s", name, text)
		}
		w.state.Jobs[3].Job = checkpoint.Job{Name: "other", Phase: checkpoint.Saving, Containers: []string{"left"}, Target: []string{"left"}, Attempt: 1}
		w.pass(10 * time.Second)
		must.Same(t, w.moves, []string{"done right"}, name, "afterwards moves")
	}
}

// What a job has gained before the first check counts: otherwise a job that learns fast would be judged by
// the rest.
func TestFirstValue(t *testing.T) {
	w := newWorld(t, false)
	for _, name := range []string{"fast", "young", "younger"} {
		w.submit(name, steady, "left")
	}
	// All but a little is gained before the first check; then it falls, ever more slowly.
	w.losses["fast"] = func(now time.Duration) float64 {
		if now == 0 {
			return 100
		}
		return 10 - 2*math.Log1p(now.Seconds())
	}
	w.pass(15 * time.Second)
	w.moved("fast right")
}

func TestFaults(t *testing.T) {
	must.Fail(New(Config{}))(t, must.ErrAny, "no error without an interval")
	w := newWorld(t, false)
	if v := w.decide(); v.Explanation == "" || len(v.Targets) > 0 {
		t.Errorf("without jobs: %+v", v)
	}
	w.submit("a", steady, "left")
	w.fails = errors.New("own")
	must.Fail(w.decider.Decide(t.Context(), w.state))(t, w.fails, "error", "want the reader's")
	w.fails, w.state.Servers = nil, nil
	if v := w.decide(); len(v.Targets) > 0 {
		t.Errorf("without servers: %v", v.Targets)
	}
}
