// This file plays the policies on a cluster that exists in the test only.

package oasis

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

var cluster = &primaldual.Cluster{
	Kinds: apportion.Kinds{"cpu"}, Slots: 10,
	WorkerServers: []apportion.Server{{ID: "node1", Capacity: apportion.Resources{2}}, {ID: "node2", Capacity: apportion.Resources{2}}},
	PSServers:     []apportion.Server{{ID: "ps1", Capacity: apportion.Resources{2}}},
}

const slot = 10 * time.Second

// world is what a decider is asked about.
type world struct {
	t       *testing.T
	now     time.Time
	state   master.State
	decider master.Decider
	again   func() (master.Decider, error) // after a kill
	config  Config
}

// newWorld makes one; fifo chooses the policy.
func newWorld(t *testing.T, fifo bool) *world {
	t.Helper()
	w := &world{t: t, now: time.Unix(1000, 0), state: master.State{Kinds: cluster.Kinds, Servers: slices.Concat(cluster.WorkerServers, cluster.PSServers)}}
	sample := []primaldual.Job{terms(4, 2, 2, 60).Job("a", apportion.Resources{1}, 1, 0), terms(12, 4, 4, 20).Job("b", apportion.Resources{1}, 1, 0)}
	bounds := must.Have(primaldual.BoundsOf(cluster, sample, nil))(t)
	w.config = Config{Cluster: cluster, Bounds: bounds, Slot: slot, Book: filepath.Join(t.TempDir(), "book.json"), Now: func() time.Time { return w.now }}
	w.again = func() (master.Decider, error) { return New(w.config) }
	if fifo {
		w.again = func() (master.Decider, error) { return NewFIFO(w.config) }
	}
	w.restart()
	return w
}

// restart makes a new decider from the book, as a new master does.
func (w *world) restart() {
	w.t.Helper()
	w.decider = must.Have(w.again())(w.t)
}

// terms are those of a job: 10 steps make a worker-slot.
func terms(workerSlots, most, fixed int64, worth float64) *Terms {
	return &Terms{Steps: 10 * workerSlots, PerWorkerSlot: 10, Most: most, WorkersPerPS: 2, Fixed: fixed, Worth: primaldual.Sigmoid{Gamma1: worth, Gamma2: 0.5, Gamma3: 6}}
}

func (w *world) submit(name string, t *Terms) {
	w.t.Helper()
	policy := must.Have(json.Marshal(t))(w.t)
	w.state.Jobs = append(w.state.Jobs, master.JobState{Application: alloc.Application{ID: name, Form: alloc.Form{Demand: apportion.Resources{1}}}, Policy: policy, Job: checkpoint.Job{Name: name}})
}

func (w *world) end(name string) {
	w.state.Jobs = slices.DeleteFunc(w.state.Jobs, func(j master.JobState) bool { return j.Application.ID == name })
}

// decide takes a decision, carries it out, and checks that it is then at rest.
func (w *world) decide() *master.Verdict {
	w.t.Helper()
	v := must.Have(w.decider.Decide(w.t.Context(), &w.state))(w.t)
	for i := range w.state.Jobs {
		if to, ok := v.Targets[w.state.Jobs[i].Application.ID]; ok {
			w.state.Jobs[i].Job.Target = to
		}
	}
	rest := must.Have(w.decider.Decide(w.t.Context(), &w.state))(w.t)
	must.Equal(w.t, len(rest.Targets), 0, "the same state gave new targets", rest.Targets)
	return v
}

func (w *world) has(name, want string) {
	w.t.Helper()
	for i := range w.state.Jobs {
		if w.state.Jobs[i].Application.ID == name {
			must.Equal(w.t, strings.Join(w.state.Jobs[i].Job.Target, " "), want, name)
		}
	}
}

func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

// Jobs are offered when a slot begins, get what their schedules say in every slot, and a new decider goes
// on from the book.
func TestSchedulesAreFollowed(t *testing.T) {
	w := newWorld(t, false)
	if v := w.decide(); len(v.Targets) != 0 || v.Again != 0 {
		t.Errorf("without jobs: %+v", v)
	}
	w.submit("large", terms(12, 4, 4, 20))
	if v := w.decide(); len(v.Targets) != 0 || v.Again != lead {
		t.Errorf("before the first slot: %v, again after %v", v.Targets, v.Again)
	}
	w.pass(lead)
	v := w.decide()
	w.has("large", "node1 node1 node2 node2 ps1 ps1")
	must.Equal(t, v.Again, slot, "the next slot begins after")
	w.pass(slot / 2)
	w.submit("second", terms(4, 2, 2, 60))
	if v := w.decide(); v.Waiting["second"] == "" || v.Again != slot/2 {
		t.Errorf("in the middle of a slot: %+v", v)
	}
	w.restart()
	w.pass(slot / 2)
	w.decide()
	w.has("large", "node1 node1 node2 node2 ps1 ps1")
	w.has("second", "")
	w.restart()
	w.pass(2 * slot)
	w.end("large")
	w.decide()
	w.has("second", "node1 node1 ps1")
	if book, err := OpenBook(w.config.Book); err != nil || book.Slot != 4 || book.Jobs["second"].Arrival != 2 {
		t.Errorf("%+v, %v", book, err)
	}
}

// What was not done when its schedule ended is offered again, and goes before jobs that are worth more.
func TestLateJobIsOfferedAgain(t *testing.T) {
	w := newWorld(t, false)
	w.submit("slow", terms(4, 2, 2, 0.6))
	w.decide()
	w.pass(lead)
	w.decide()
	w.has("slow", "node1 node1 ps1")
	w.pass(slot)
	w.submit("large", terms(20, 2, 2, 60))
	w.decide()
	w.state.Jobs[0].Progress.Step = 25
	w.pass(slot)
	w.decide()
	w.has("slow", "node2 node2 ps1")
	if entry := w.decider.(*Decider).book.Jobs["slow"]; entry.Offers != 2 || entry.Arrival != 1 {
		t.Errorf("%+v", entry)
	}
	// 15 steps of 40 are left: 2 worker-slots, which is one slot.
	if plan, _ := w.decider.(*Decider).scheduler.Schedule("slow"); plan.WorkerSlots() != 2 {
		t.Errorf("%d worker-slots for what is left", plan.WorkerSlots())
	}
}

// A job that ends early gives back the rest of its reservation: another one then gets it.
func TestEarlyEndGivesBack(t *testing.T) {
	w := newWorld(t, false)
	w.submit("large", terms(12, 4, 4, 20))
	w.decide()
	w.pass(lead)
	w.decide()
	w.end("large")
	w.submit("next", terms(4, 4, 4, 60))
	w.pass(slot)
	w.decide()
	w.has("next", "node1 node1 node2 node2 ps1 ps1")
}

func TestWorthlessJobIsRefused(t *testing.T) {
	w := newWorld(t, false)
	w.submit("large", terms(40, 4, 4, 60))
	w.submit("late", terms(12, 4, 4, 1e-3))
	w.decide()
	w.pass(lead)
	v := w.decide()
	if v.Refused["late"] == "" || v.Refused["large"] != "" {
		t.Errorf("refused: %v", v.Refused)
	}
	if !strings.Contains(v.Explanation, "late: refused") || !strings.Contains(v.Explanation, "large: slot 1: 4 workers") {
		t.Errorf("%s", v.Explanation)
	}
}

// FIFO starts jobs in order, with their fixed numbers, and lets none overtake one that waits.
func TestFIFO(t *testing.T) {
	w := newWorld(t, true)
	w.submit("first", terms(12, 4, 2, 1))
	w.submit("second", terms(12, 4, 3, 1))
	w.submit("third", terms(12, 4, 1, 100)) // there is room for it, but not before its turn
	w.decide()
	w.pass(lead)
	w.decide()
	w.has("first", "node1 node2 ps1")
	w.has("second", "")
	w.has("third", "")
	w.end("first")
	w.pass(slot / 2)
	w.decide()
	w.has("second", "") // not before the slot begins
	w.restart()
	w.pass(slot / 2)
	w.decide()
	w.has("second", "node1 node1 node2 ps1 ps1")
	w.has("third", "")
	w.end("second")
	w.pass(slot)
	w.decide()
	w.has("third", "node1 ps1")
}

func TestBadTerms(t *testing.T) {
	for _, text := range []string{"", "{", `{"steps": 3}`} {
		must.Fail(read("a", json.RawMessage(text)))(t, must.ErrAny, text, "was taken")
	}
	_, err := read("a", json.RawMessage(`{"steps":1,"per_worker_slot":1,"most":0,"workers_per_ps":-1,"fixed":1}`))
	if want := "job \"a\": most is out of range: 0\njob \"a\": workers_per_ps is out of range: -1"; !errors.Is(err, apportion.ErrRange) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A book that is not whole is not taken for an empty one.
func TestDamagedBook(t *testing.T) {
	w := newWorld(t, false)
	w.submit("a", terms(4, 2, 2, 60))
	w.decide()
	w.pass(lead)
	w.decide()
	book := must.Have(OpenBook(w.config.Book))(t)
	book.Scheduler = book.Scheduler[:len(book.Scheduler)/2]
	must.Do(t, book.write())
	must.Fail(w.again())(t, primaldual.ErrCorrupt, "a damaged book")
}

func TestSlotAt(t *testing.T) {
	b := &Book{Start: time.Unix(100, 0)}
	for _, test := range []struct {
		at   int64
		want int
	}{{90, 0}, {99, 0}, {100, 1}, {109, 1}, {110, 2}, {135, 4}} {
		must.Equal(t, b.SlotAt(time.Unix(test.at, 0), slot), test.want, "at", test.at, "slot")
	}
}
