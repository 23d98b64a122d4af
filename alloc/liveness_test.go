// This file holds decisions to what must be true whatever happens to a cluster: [Program §3], at its end.

package alloc_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

var sequences = flag.Int("sequences", 200, "random sequences of events that TestLiveness plays")

// world is a small cluster to which things happen.
type world struct {
	r    *rand.Rand
	p    *alloc.Problem
	born int
}

func newWorld(seed uint64) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 1))}
	w.p = &alloc.Problem{
		Kinds:  apportion.Kinds{"cpu", "gpu"},
		Theta1: []float64{0, .1, .3, 1}[w.r.IntN(4)], Theta2: []float64{0, .1, .5, 1}[w.r.IntN(4)],
		Options: alloc.Options{Preempt: w.r.IntN(2) == 0, Rule: alloc.Rule{NoCeil15: w.r.IntN(2) == 0}},
	}
	for range 1 + w.r.IntN(2) {
		w.addServer()
	}
	// Half of the worlds have queues.
	if seed%2 == 1 {
		w.p.Queues = []drf.Queue{{ID: "all", Weight: 1}, {ID: "x", Parent: "all", Weight: 1}, {ID: "y", Parent: "all", Weight: 2}}
		w.limit(w.r.IntN(3))
	}
	return w
}

// limit gives a queue another ceiling, or none.
func (w *world) limit(queue int) {
	w.p.Queues = slices.Clone(w.p.Queues)
	w.p.Queues[queue].Ceiling = nil
	if w.r.IntN(4) > 0 {
		w.p.Queues[queue].Ceiling = drf.Ceiling{1 + w.r.Int64N(3), []int64{w.r.Int64N(2), drf.NoLimit}[w.r.IntN(2)]}
	}
}

func (w *world) addServer() {
	w.born++
	w.p.Servers = append(w.p.Servers, apportion.Server{ID: fmt.Sprint("s", w.born),
		Capacity: apportion.Resources{1 + w.r.Int64N(4), w.r.Int64N(3)}, Labels: map[string]string{"zone": string(rune('a' + w.r.IntN(2)))}})
}

func (w *world) addApp() {
	w.born++
	app := alloc.Application{ID: fmt.Sprint("a", w.born), Weight: []float64{1, 2, 4}[w.r.IntN(3)], Form: alloc.Form{Demand: apportion.Resources{1 + w.r.Int64N(2), w.r.Int64N(2)},
		Min: w.r.Int64N(3)}, Priority: w.r.Int64N(3), Preemptible: w.r.IntN(2) == 0}
	app.Max = max(1, app.Min) + w.r.Int64N(3)
	if w.r.IntN(4) == 0 {
		app.Requires = []apportion.Requirement{{Key: "zone", Op: apportion.In, Values: []string{"a"}}}
	}
	if w.r.IntN(5) == 0 {
		app.PerServer = 1 + w.r.Int64N(2)
	}
	if w.r.IntN(6) == 0 {
		app.Step = 2
	}
	if len(w.p.Queues) > 0 {
		app.Queue = []string{"x", "y", ""}[w.r.IntN(3)]
	}
	w.p.Applications = append(w.p.Applications, app)
}

// happen lets something happen, and says what.
func (w *world) happen() string {
	servers, apps := w.p.Servers, w.p.Applications
	if len(w.p.Queues) > 0 && w.r.IntN(6) == 0 {
		w.limit(w.r.IntN(len(w.p.Queues)))
		return "another ceiling"
	}
	switch e := w.r.IntN(12); {
	case e < 4 && len(apps) < 5:
		w.addApp()
		return "arrival"
	case e < 6 && len(apps) > 0:
		i := w.r.IntN(len(apps))
		w.p.Applications = slices.Delete(slices.Clone(apps), i, i+1)
		return "completion"
	case e == 6 && len(servers) < 3:
		w.addServer()
		return "a server more"
	case e == 7 && len(servers) > 0:
		j := w.r.IntN(len(servers))
		w.p.Servers = slices.Delete(slices.Clone(servers), j, j+1)
		return "a server fails"
	case e == 8 && len(servers) > 0:
		j := w.r.IntN(len(servers))
		servers[j].Cordoned = !servers[j].Cordoned
		return "cordoned, or not any more"
	case e == 9 && len(servers) > 0:
		j := w.r.IntN(len(servers))
		servers[j].Capacity = apportion.Resources{w.r.Int64N(5), w.r.Int64N(3)}
		return "another capacity"
	case e == 10 && len(apps) > 0:
		i := w.r.IntN(len(apps))
		apps[i].Min = w.r.Int64N(3)
		apps[i].Max = max(1, apps[i].Min) + w.r.Int64N(3)
		return "other bounds"
	case len(apps) > 0:
		i := w.r.IntN(len(apps))
		apps[i].Pinned, apps[i].Priority = !apps[i].Pinned, w.r.Int64N(3)
		return "pinned or not, another priority"
	}
	return "nothing"
}

// decide decides, checks what must be true of every decision, and carries it out.
func (w *world) decide(t *testing.T) *alloc.Decision {
	t.Helper()
	d, err := recorded(t, context.Background(), w.p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Status != alloc.Decided {
		t.Fatalf("%s", d.Status)
	}
	if server := exceeds(w.p, d.Allocation); server != "" {
		t.Fatalf("server %s is overfilled", server)
	}
	if _, err := alloc.Verify(w.p, d); err != nil {
		t.Fatal(err)
	}
	if d.Metrics.AdjustCost > d.Metrics.AdjustBudget {
		t.Fatalf("adjustments cost %d of %d", d.Metrics.AdjustCost, d.Metrics.AdjustBudget)
	}
	for _, app := range w.p.Applications {
		if n := d.Allocation.Containers(app.ID); n > 0 && (n < app.Min || n > app.Max) {
			t.Fatalf("%s has %d containers of [%d, %d]", app.ID, n, app.Min, app.Max)
		}
	}
	for _, lists := range [][]alloc.Waiting{d.Waiting, d.Suspended} {
		for _, left := range lists {
			if left.Reason.Text == "" || left.Reason.Constraint == "" && left.LeftOut {
				t.Fatalf("%s for no reason: %+v", left.ID, left.Reason)
			}
		}
	}
	w.p.Previous = d.Allocation
	return d
}

// instance is P2 for those who were taken in by d, and for more, without a loss budget; at is where more is.
func (w *world) instance(t *testing.T, d *alloc.Decision, more string) (inst *solver.Instance, at int) {
	t.Helper()
	p := *w.p
	p.Applications, at = nil, -1
	for _, app := range w.p.Applications {
		same := func(left alloc.Waiting) bool { return left.ID == app.ID && left.LeftOut }
		if app.ID == more {
			at = len(p.Applications)
		} else if slices.ContainsFunc(d.Waiting, same) || slices.ContainsFunc(d.Suspended, same) {
			continue
		}
		p.Applications = append(p.Applications, app)
	}
	inst, apps, err := p.Instance()
	if err != nil {
		t.Fatal(err)
	}
	inst.LossBudget = 1e9
	if len(apps) < len(p.Applications) {
		return nil, 0 // the empty cluster has no room for it
	}
	return inst, at
}

// fits reports whether an application that waits fits beside all who were taken in, each at any number that it
// may have, within the adjustment budget: by trying everything.
func (w *world) fits(t *testing.T, d *alloc.Decision, id string) bool {
	inst, at := w.instance(t, d, id)
	if inst == nil {
		return false
	}
	inst.Apps[at].Min = max(1, inst.Apps[at].Min)
	best, _ := p2oracle.Best(inst)
	return best != nil
}

// mayLeave reports whether an application could leave the cordoned servers that it is on.
func (w *world) mayLeave(t *testing.T, d *alloc.Decision, id string) bool {
	cordoned := func(s apportion.Server) bool { return s.Cordoned && d.Allocation[id][s.ID] > 0 }
	inst, at := w.instance(t, d, id)
	if !slices.ContainsFunc(w.p.Servers, cordoned) || inst == nil || inst.Apps[at].Pinned {
		return false
	}
	inst.Apps[at].Displaced = true
	// With no container it would have left as well, and lost them.
	inst.Apps[at].Min = max(1, inst.Apps[at].Min)
	best, _ := p2oracle.Best(inst)
	return best != nil
}

// leastLoss returns the least loss that those who were taken in can have.
func (w *world) leastLoss(t *testing.T, d *alloc.Decision) float64 {
	inst, _ := w.instance(t, d, "")
	for i := range inst.Apps {
		inst.Apps[i].Value = 0
	}
	inst.LossPrice = 1
	best, _ := p2oracle.Best(inst)
	return inst.FairnessLoss(best)
}

// Whatever happens, a decision exists and holds; asked again and again, decisions come to an end, where nobody
// waits who could be had, nobody is on a cordoned server who could leave, and no less loss was possible.
func TestLiveness(t *testing.T) {
	count := *sequences
	if testing.Short() {
		count = min(count, 50)
	}
	for seed := range uint64(count) {
		w := newWorld(seed)
		for range 12 {
			event := w.happen()
			t.Logf("%d: %s", seed, event)
			w.decide(t)
		}
		var d *alloc.Decision
		for range len(w.p.Applications) + 1 {
			before := w.p.Previous
			if d = w.decide(t); cmp.Equal(before, d.Allocation) {
				break
			}
			d = nil
		}
		if d == nil {
			t.Errorf("%d: no fixed point after %d decisions", seed, len(w.p.Applications)+1)
			continue
		}
		for _, left := range d.Waiting {
			if left.LeftOut && w.fits(t, d, left.ID) {
				t.Errorf("%d: %s waits although it fits: %s", seed, left.ID, left.Reason.Text)
			}
		}
		for id := range d.Allocation {
			if w.mayLeave(t, d, id) {
				t.Errorf("%d: %s is on a cordoned server and could leave", seed, id)
			}
		}
		if d.LeastLoss != nil {
			if least := w.leastLoss(t, d); d.LeastLoss.Loss > least+solver.LossTolerance {
				t.Errorf("%d: the least loss is %g, not %g", seed, least, d.LeastLoss.Loss)
			}
		}
	}
}
