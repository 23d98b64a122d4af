// This file tests the manager on small clusters of which everything is known: placing, moving, evening
// out, and events that cannot have happened.

package specon_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/number"
	"github.com/apportion/apportion/placement"
)

// cluster is a cluster that does at once what is decided, and ticks every 10 s.
type cluster struct {
	t       testing.TB
	now     time.Duration
	manager *specon.Manager
	values  map[string]func(seconds float64) float64
	moves   []string // "job worker"
	last    specon.Decision
	lazy    bool // moves are not carried out
}

var (
	oneKind  = specon.ManagerConfig{Config: specon.Config{Interval: 10 * second, Alpha: 0.05}, Kinds: apportion.Kinds{"cpu"}}
	atOnce   = &specon.ManagerOptions{}
	inTurn   = &specon.ManagerOptions{OneAtATime: true}
	exported = cmp.Options{cmp.Exporter(anything), cmpopts.EquateEmpty(), cmp.Comparer(sameNumber)}
)

// sameNumber compares what may be no number.
func sameNumber(a, b number.Float) bool { return a == b || a != a && b != b }

func newCluster(t testing.TB, options *specon.ManagerOptions, workers ...string) *cluster {
	t.Helper()
	m := must.Have(specon.NewManager(oneKind, options))(t)
	c := &cluster{t: t, manager: m, values: map[string]func(float64) float64{}}
	for _, w := range workers {
		c.step(specon.Event{Kind: specon.WorkerUp, Worker: w, Capacity: apportion.Resources{8}})
	}
	return c
}

func (c *cluster) step(e specon.Event) {
	c.t.Helper()
	must.Do(c.t, c.manager.Step(e), e.Kind)
}

// arrive adds a job of one CPU; worker may be empty.
func (c *cluster) arrive(job, worker string, value func(float64) float64) {
	c.t.Helper()
	c.values[job] = value
	c.step(specon.Event{Kind: specon.Arrival, Job: job, Worker: worker, Demand: apportion.Resources{1}})
}

func (c *cluster) exit(job string) {
	c.t.Helper()
	delete(c.values, job)
	c.step(specon.Event{Kind: specon.Exit, Job: job})
}

// tick has every job report, decides, and carries the decision out.
func (c *cluster) tick() specon.Decision {
	c.t.Helper()
	for _, job := range slices.Sorted(maps.Keys(c.values)) {
		c.step(specon.Event{Kind: specon.Reading, Job: job, At: c.now, Value: c.values[job](c.now.Seconds()), Usage: growth.Used(0.5)})
	}
	d := must.Have(c.manager.Tick(c.now))(c.t)
	for _, a := range d.Assignments {
		c.step(specon.Event{Kind: specon.Runs, Job: a.Job, Worker: a.Worker})
	}
	for _, m := range d.Moves {
		c.moves = append(c.moves, m.Job+" "+m.To)
		if !c.lazy {
			c.step(specon.Event{Kind: specon.Runs, Job: m.Job, Worker: m.To})
		}
	}
	c.now += 10 * second
	c.last = d
	return d
}

func (c *cluster) ticks(n int) {
	c.t.Helper()
	for range n {
		c.tick()
	}
}

// moved compares all moves so far.
func (c *cluster) moved(want ...string) {
	c.t.Helper()
	must.Same(c.t, c.moves, want, "moves")
}

// steady grows all the time; fading gains half as much at every check.
func steady(seconds float64) float64 { return 1000 - 10*seconds }
func fading(seconds float64) float64 { return 100 + 4*math.Exp2(-seconds/10) }

// crowd puts a fading job and two that grow on a worker.
func (c *cluster) crowd(worker string) {
	c.arrive("done", worker, fading)
	c.arrive("young", worker, steady)
	c.arrive("younger", worker, steady)
}

// New jobs go where the rule says; where there is no room they wait, and the reason says what is short.
func TestManagerPlaces(t *testing.T) {
	c := newCluster(t, atOnce, "left", "right")
	c.arrive("old", "left", steady)
	for _, job := range []string{"a", "b", "c"} {
		c.arrive(job, "", steady)
	}
	want := []specon.Assignment{{Job: "a", Worker: "right"}, {Job: "b", Worker: "left"}, {Job: "c", Worker: "right"}}
	if d := c.tick(); !slices.Equal(d.Assignments, want) || len(d.OnTheirWay) != 3 {
		t.Errorf("assigned %v, want %v; on their way %v", d.Assignments, want, d.OnTheirWay)
	}
	c.step(specon.Event{Kind: specon.WorkerUp, Worker: "left", Capacity: apportion.Resources{2}})
	c.step(specon.Event{Kind: specon.WorkerUp, Worker: "right", Capacity: apportion.Resources{3}})
	c.step(specon.Event{Kind: specon.Arrival, Job: "big", Demand: apportion.Resources{2}})
	d := c.tick()
	reason := apportion.Reason{Constraint: "room", Kind: "cpu", Need: 2, Have: 1, Text: "no worker has room: cpu: 2 needed, at most 1 free"}
	must.Equal(t, cmp.Diff([]specon.Waiting{{Job: "big", Reason: reason}}, d.Waiting), "")
	// The jobs of a worker that is gone are placed anew, as far as there is room.
	c.step(specon.Event{Kind: specon.WorkerDown, Worker: "right"})
	c.step(specon.Event{Kind: specon.WorkerUp, Worker: "new", Capacity: apportion.Resources{1}})
	d = c.tick()
	if !slices.Equal(d.Assignments, []specon.Assignment{{Job: "a", Worker: "new"}}) || len(d.Waiting) != 2 {
		t.Errorf("assigned %v, waiting %v", d.Assignments, d.Waiting)
	}
}

// A job that stays because no other worker has less to do is decided on, one that stays because they
// have no room may ask again.
func TestManagerAnswers(t *testing.T) {
	verdict := func(capacity int64, others int) (string, bool) {
		c := newCluster(t, atOnce, "left", "right")
		c.step(specon.Event{Kind: specon.WorkerUp, Worker: "right", Capacity: apportion.Resources{capacity}})
		c.crowd("left")
		for i := range others {
			c.arrive(fmt.Sprint("other", i), "right", steady)
		}
		for range 20 {
			if d := c.tick(); len(d.Answers) > 0 {
				job, _ := c.manager.Job("done")
				return d.Answers[0].Job + ": " + string(d.Answers[0].Verdict), job.Decided
			}
		}
		return "nobody asked", false
	}
	for _, test := range []struct {
		capacity int64
		others   int
		want     string
		decided  bool
	}{
		{8, 1, "done: moves", true},
		{8, 5, "done: stays: no worker has a smaller score", true},
		{1, 1, "done: stays: no worker with a smaller score has room", false},
	} {
		if got, decided := verdict(test.capacity, test.others); got != test.want || decided != test.decided {
			t.Errorf("%d other jobs on %d CPUs: %s, decided %v; want %s", test.others, test.capacity, got, decided, test.want)
		}
	}
}

// When all have converged, an idle worker takes its part of them, each once.
func TestManagerRebalances(t *testing.T) {
	for options, ticks := range map[*specon.ManagerOptions]int{atOnce: 1, inTurn: 3} {
		c := newCluster(t, options, "left", "right")
		for _, job := range []string{"a", "b", "c", "d", "e", "f"} {
			c.arrive(job, "left", fading)
		}
		c.arrive("guest", "right", steady)
		c.ticks(10)
		c.moved()
		if job, _ := c.manager.Job("a"); job.Since != 30*second { // the third slow check
			t.Errorf("converged since %v", job.Since)
		}
		c.exit("guest")
		c.ticks(ticks)
		c.moved("a right", "b right", "c right")
		c.ticks(5)
		for _, job := range []string{"d", "e", "f"} {
			c.exit(job)
		}
		c.ticks(5) // left is idle, but the others have been moved before
		c.moved("a right", "b right", "c right")
	}
	c := newCluster(t, &specon.ManagerOptions{NoRebalance: true}, "left", "right")
	c.arrive("a", "left", fading)
	c.arrive("b", "left", fading)
	c.ticks(10)
	c.moved()
}

// A plan that is under way ends with what it was made for.
func TestManagerDropsPlan(t *testing.T) {
	for name, change := range map[string]func(c *cluster){
		"a job has ended":   func(c *cluster) { c.exit("b") },
		"a young job comes": func(c *cluster) { c.arrive("young", "left", steady) },
		"a worker has shrunk": func(c *cluster) {
			c.step(specon.Event{Kind: specon.WorkerUp, Worker: "right", Capacity: apportion.Resources{1}})
		},
		"a worker is gone":     func(c *cluster) { c.step(specon.Event{Kind: specon.WorkerDown, Worker: "right"}) },
		"a job runs elsewhere": func(c *cluster) { c.step(specon.Event{Kind: specon.Runs, Job: "b", Worker: "right"}) },
		"a demand has grown": func(c *cluster) {
			c.step(specon.Event{Kind: specon.Runs, Job: "b", Worker: "left", Demand: apportion.Resources{8}})
		},
		"a job grows once more": func(c *cluster) { c.values["c"] = func(s float64) float64 { return -10 * s } },
	} {
		c := newCluster(t, inTurn, "left", "right")
		for _, job := range []string{"a", "b", "c", "d"} {
			c.arrive(job, "left", fading)
		}
		for len(c.moves) == 0 && c.now < time.Hour {
			c.tick()
		}
		change(c)
		c.tick()
		if got := strings.Join(c.moves, ", "); strings.Contains(got, "b right") || !strings.HasPrefix(got, "a right") {
			t.Errorf("%s: moves %s", name, got)
		}
		if plan := c.manager.State().Plan; name == "a job grows once more" && len(plan) > 0 {
			t.Errorf("%s: %v is left of the plan", name, plan)
		}
	}
	c := newCluster(t, inTurn, "left", "right")
	for _, job := range []string{"a", "b", "c", "d"} {
		c.arrive(job, "left", fading)
	}
	c.ticks(12)
	c.moved("a right", "b right") // what the cases above would have done
}

// Nobody is moved under Stay, whatever he asks.
func TestManagerStays(t *testing.T) {
	c := newCluster(t, &specon.ManagerOptions{Stay: true}, "left", "right")
	c.crowd("left")
	c.ticks(20)
	c.moved()
}

// A job that was given nothing is not found slow for it.
func TestManagerIdle(t *testing.T) {
	for usage, want := range map[float64]growth.Category{0: growth.Progressing, 0.5: growth.Watching} {
		c := newCluster(t, atOnce, "left")
		c.step(specon.Event{Kind: specon.Arrival, Job: "a", Worker: "left", Demand: apportion.Resources{1}})
		for _, value := range []float64{100, 50, 50} {
			c.step(specon.Event{Kind: specon.Reading, Job: "a", At: c.now, Value: value, Usage: growth.Used(usage)})
			c.tick()
		}
		if job, _ := c.manager.Job("a"); job.Category != want {
			t.Errorf("usage %g: %v, want %v", usage, job.Category, want)
		}
	}
}

// What cannot have happened is refused and changes nothing.
func TestManagerRefuses(t *testing.T) {
	c := newCluster(t, atOnce, "left", "right")
	c.crowd("left")
	c.ticks(3)
	huge := apportion.Resources{math.MaxInt64 / 2}
	for _, test := range []struct {
		name  string
		event specon.Event
		want  error
	}{
		{"no such kind", specon.Event{Kind: "99"}, apportion.ErrUnknown},
		{"worker without a name", specon.Event{Kind: specon.WorkerUp, Capacity: apportion.Resources{1}}, apportion.ErrEmpty},
		{"capacity of two kinds", specon.Event{Kind: specon.WorkerUp, Worker: "w", Capacity: apportion.Resources{1, 1}}, apportion.ErrLength},
		{"capacity that overflows", specon.Event{Kind: specon.WorkerUp, Worker: "w", Capacity: apportion.Resources{math.MaxInt64}}, apportion.ErrOverflow},
		{"nobody's exit", specon.Event{Kind: specon.Exit, Job: "x"}, apportion.ErrUnknown},
		{"job without a name", specon.Event{Kind: specon.Reading}, apportion.ErrEmpty},
		{"second arrival", specon.Event{Kind: specon.Arrival, Job: "done", Demand: apportion.Resources{1}}, apportion.ErrDuplicate},
		{"arrival nowhere", specon.Event{Kind: specon.Arrival, Job: "x", Worker: "w", Demand: apportion.Resources{1}}, apportion.ErrUnknown},
		{"negative demand", specon.Event{Kind: specon.Arrival, Job: "x", Demand: apportion.Resources{-1}}, apportion.ErrNegative},
		{"demand that overflows", specon.Event{Kind: specon.Arrival, Job: "x", Demand: huge}, apportion.ErrOverflow},
		{"grown demand that overflows", specon.Event{Kind: specon.Runs, Job: "done", Worker: "left", Demand: huge}, apportion.ErrOverflow},
		{"runs nowhere", specon.Event{Kind: specon.Runs, Job: "done", Worker: ""}, apportion.ErrUnknown},
		{"down twice", specon.Event{Kind: specon.WorkerDown, Worker: "w"}, apportion.ErrUnknown},
	} {
		before := c.manager.State()
		must.Err(t, c.manager.Step(test.event), test.want, test.name)
		must.Equal(t, cmp.Diff(before, c.manager.State(), exported), "", test.name, "changed the state")
	}
	before := c.manager.State()
	if _, err := c.manager.Tick(c.now - 11*second); !errors.Is(err, apportion.ErrRange) || !cmp.Equal(before, c.manager.State(), exported) {
		t.Errorf("a clock that goes back: %v", err)
	}
	c.step(specon.Event{Kind: specon.Reading, Job: "done", At: c.now, Value: 1, Current: growth.Used(math.NaN())})
	if !cmp.Equal(before, c.manager.State(), exported) {
		t.Error("a reading with a usage that is no number was not dropped")
	}
}

func TestNewManagerFaults(t *testing.T) {
	for name, test := range map[string]struct {
		config  specon.ManagerConfig
		options *specon.ManagerOptions
		want    error
	}{
		"no interval":    {specon.ManagerConfig{Config: specon.Config{Alpha: 1}}, nil, apportion.ErrRange},
		"kinds twice":    {specon.ManagerConfig{Config: oneKind.Config, Kinds: apportion.Kinds{"a", "a"}}, nil, apportion.ErrDuplicate},
		"rising weights": {oneKind, &specon.ManagerOptions{Host: placement.HostOptions{Weights: placement.Weights{Progressing: 1, Watching: 2, Converged: 3}}}, apportion.ErrRange},
		"no such rule":   {oneKind, &specon.ManagerOptions{Place: "widest"}, apportion.ErrUnknown},
	} {
		must.Fail(specon.NewManager(test.config, test.options))(t, test.want, name)
	}
}

// What has left or shrunk counts no more against the largest sum of demands.
func TestManagerForgetsDemands(t *testing.T) {
	c := newCluster(t, atOnce, "left")
	large, small := apportion.Resources{math.MaxInt64 / 3}, apportion.Resources{1}
	for range 5 {
		c.step(specon.Event{Kind: specon.Arrival, Job: "a", Worker: "left", Demand: large})
		c.step(specon.Event{Kind: specon.Runs, Job: "a", Worker: "left", Demand: small})
		c.step(specon.Event{Kind: specon.Runs, Job: "a", Worker: "left", Demand: large})
		c.step(specon.Event{Kind: specon.Runs, Job: "a", Worker: "left", Demand: large}) // as before: not counted twice
		if err := c.manager.Step(specon.Event{Kind: specon.Arrival, Job: "b", Demand: apportion.Resources{math.MaxInt64 / 3}}); !errors.Is(err, apportion.ErrOverflow) {
			t.Fatalf("twice the demands overflow: %v", err)
		}
		c.step(specon.Event{Kind: specon.Exit, Job: "a"})
	}
}
