// This file compares the order of asking, and who is taken from, with twins that try everything, [Program §7].

package alloc

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/oracle/queueoracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// genTeams draws a cluster of up to 2 servers and 2 kinds, a tree of up to 5 queues whose guarantees fit it, and up to 7
// applications of which those that fit beside the ones before run, but the last one.
func genTeams(t *rapid.T, servers int) *Problem {
	kinds := rapid.IntRange(1, 2).Draw(t, "kinds")
	p := &Problem{Kinds: apportion.Kinds{"gpu", "cpu"}[:kinds], Previous: Allocation{}, Options: Options{
		Preempt: rapid.Bool().Draw(t, "preempt"), ReclaimLevel: rapid.Bool().Draw(t, "by level")}}
	left, total := make([]apportion.Resources, servers), make(apportion.Resources, kinds)
	for j := range left {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j)})
		for k := range total {
			q := rapid.Int64Range(2, 6).Draw(t, "capacity")
			p.Servers[j].Capacity, total[k] = append(p.Servers[j].Capacity, q), total[k]+q
		}
		left[j] = p.Servers[j].Capacity.Clone()
	}
	leaves := genTree(t, p, "", total, 0)
	count := rapid.IntRange(1, 6).Draw(t, "applications")
	for i := range count {
		app := Application{ID: fmt.Sprint("a", i), Weight: 1, Queue: rapid.SampledFrom(leaves).Draw(t, "queue"),
			Priority: rapid.Int64Range(0, 2).Draw(t, "priority"), Preemptible: rapid.IntRange(0, 3).Draw(t, "preemptible") > 0}
		for range kinds {
			app.Demand = append(app.Demand, rapid.Int64Range(0, 2).Draw(t, "demand"))
		}
		app.Demand[0] = max(1, app.Demand[0])
		app.Min = rapid.Int64Range(1, 3).Draw(t, "least")
		app.Max = app.Min + rapid.Int64Range(0, 2).Draw(t, "elastic")
		p.Applications = append(p.Applications, app)
		if i == count-1 || rapid.IntRange(0, 2).Draw(t, "runs") == 0 {
			continue
		}
		need, places := rapid.Int64Range(app.Min, app.Max).Draw(t, "has"), map[string]int64{}
		for j := range left {
			if n := min(need, app.Demand.CountIn(left[j])); n > 0 {
				places[p.Servers[j].ID], need = n, need-n
			}
		}
		if need > 0 {
			continue
		}
		for j := range left {
			for k, d := range app.Demand {
				left[j][k] -= places[p.Servers[j].ID] * d
			}
		}
		p.Previous[app.ID] = places
	}
	return p
}

// genTree adds one to three queues below parent, which divide has, to a problem, and returns the leaves.
func genTree(t *rapid.T, p *Problem, parent string, has apportion.Resources, depth int) (leaves []string) {
	left := has.Clone()
	for range rapid.IntRange(1, 3-depth).Draw(t, "queues") {
		queue := drf.Queue{ID: fmt.Sprint("q", len(p.Queues)), Parent: parent, Weight: rapid.SampledFrom([]float64{1, 2}).Draw(t, "weight"),
			Usage: rapid.SampledFrom([]float64{0, 0, .25}).Draw(t, "usage")}
		share := apportion.Resources(nil)
		if rapid.IntRange(0, 3).Draw(t, "guaranteed") > 0 {
			for k := range left {
				g := rapid.Int64Range(0, left[k]).Draw(t, "guarantee")
				share, left[k] = append(share, g), left[k]-g
			}
			queue.Guarantee = share
		}
		p.Queues = append(p.Queues, queue)
		if depth == 0 && rapid.IntRange(0, 2).Draw(t, "divided") == 0 {
			below := share
			if below == nil {
				below = make(apportion.Resources, len(left))
			}
			leaves = append(leaves, genTree(t, p, queue.ID, below, depth+1)...)
			continue
		}
		leaves = append(leaves, queue.ID)
	}
	return leaves
}

// worldOf is the twin of a problem and what runs in it.
func worldOf(p *Problem) *queueoracle.World {
	w := &queueoracle.World{Preempt: p.Options.Preempt, ByLevel: p.Options.ReclaimLevel}
	position := map[string]int{"": -1}
	for q, queue := range p.Queues {
		position[queue.ID] = q
		w.Queues = append(w.Queues, queueoracle.Queue{Parent: position[queue.Parent], Weight: queue.Weight, Usage: queue.Usage, Guarantee: queue.Guarantee, Ceiling: queue.Ceiling})
	}
	for _, server := range p.Servers {
		w.Servers = append(w.Servers, server.Capacity)
	}
	for i := range p.Applications {
		app := &p.Applications[i]
		twin := queueoracle.App{Queue: position[app.Queue], Demand: app.Demand, Least: app.Min, Priority: app.Priority, Preemptible: app.Preemptible,
			MaxServers: app.MaxServers, Ends: math.Inf(1), Overdue: -1}
		if app.Ends != nil {
			twin.Ends = *app.Ends
		}
		if p.Previous[app.ID] != nil {
			for _, server := range p.Servers {
				twin.Places = append(twin.Places, p.Previous[app.ID][server.ID])
			}
		}
		w.Apps = append(w.Apps, twin)
	}
	return w
}

// drawDue lets some that wait be due, and some of them have had a reservation.
func drawDue(t *rapid.T, p *Problem, w *queueoracle.World) {
	for i := range p.Applications {
		if w.Apps[i].Places != nil || !w.Empty(i) || !rapid.Bool().Draw(t, "passed") {
			continue
		}
		// A whole number of eighths beyond its patience, so that some are equal.
		beyond := float64(rapid.IntRange(-2, 4).Draw(t, "beyond")) / 8
		r := resolve(p)
		if p.Applications[i].Passed = max(0, r.patience(i)+beyond); p.Applications[i].Passed == 0 {
			continue
		}
		if over := p.Applications[i].Passed - r.patience(i); over >= 0 {
			w.Apps[i].Overdue = over
		}
		if rapid.Bool().Draw(t, "had") {
			at := rapid.IntRange(0, len(p.Reservations)).Draw(t, "had before")
			p.Reservations = slices.Insert(p.Reservations, at, Reservation{ID: p.Applications[i].ID})
		}
	}
	for at, v := range p.Reservations {
		w.Apps[appIndex(p.Applications)[v.ID]].Had = at + 1
	}
}

// Each is asked in its turn, whoever was let in, refused or taken from before.
func TestPropTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genTeams(t, 2)
		w := worldOf(p)
		drawDue(t, p, w)
		d := newDraft(resolve(p))
		turn := newTurn(d)
		for {
			got, want := turn.next(), w.Next()
			if got != want {
				t.Fatalf("%d is asked, want %d", got, want)
			}
			if got < 0 {
				break
			}
			if v := rapid.IntRange(0, len(w.Apps)-1).Draw(t, "is suspended"); len(d.counts[v]) > 0 {
				d.remove(v)
				d.takings++
				w.Apps[v].Places = make([]int64, len(p.Servers))
			}
			// Whoever finds no room is asked no more.
			w.Apps[got].Places = make([]int64, len(p.Servers))
			if d.place(got, p.Applications[got].Min) {
				d.enter(got)
				d.release(got)
				w.Holders = slices.DeleteFunc(w.Holders, func(i int) bool { return i == got })
				for _, placed := range d.counts[got] {
					w.Apps[got].Places[placed.Server] = placed.Count
				}
			}
		}
	})
}

// On one server nobody waits for whom there is a set that may be taken, as few are suspended as can be and of the least priority,
// and what is taken may be taken. On two servers what is taken may be taken.
func TestPropReclaim(t *testing.T) {
	// Few draws come to a set of two rules, so that there are many.
	rapidtest.Runs(t, 200, checkReclaim)
}

// checkReclaim lets one application of a problem take what it may, and compares that with the twin.
func checkReclaim(t *rapid.T) {
	servers := rapid.IntRange(1, 2).Draw(t, "servers")
	p := genTeams(t, servers)
	i := len(p.Applications) - 1
	w := worldOf(p)
	r := resolve(p)
	a := &admission{draft: newDraft(r), preempted: make(map[int]apportion.Reason)}
	before := newDraft(r).counts
	got := a.place(i, p.Applications[i].Min) || a.reclaim(i, p.Applications[i].Min)
	priority, fewest, want := w.Fewest(i)
	if got && !want || want && !got && servers == 1 {
		t.Fatalf("%d finds room: %v, want %v", i, got, want)
	}
	highest, suspended := int64(math.MinInt64), 0
	var lost []int
	for v := range before {
		if solver.Containers(a.counts[v]) < solver.Containers(before[v]) {
			lost = append(lost, v)
		}
		if len(before[v]) > 0 && len(a.counts[v]) == 0 {
			suspended, highest = suspended+1, max(highest, p.Applications[v].Priority)
		}
	}
	if !got && len(lost) > 0 {
		t.Fatalf("%v have lost something for nobody", lost)
	}
	// Some of those taken from may go on elsewhere.
	if got && servers == 1 && (highest > priority || highest == priority && suspended > fewest) {
		t.Fatalf("%d are suspended, of priority %d, where %d of %d suffice", suspended, highest, fewest, priority)
	}
	for v := range before {
		w.Apps[v].Places = make([]int64, servers)
		for _, placed := range a.counts[v] {
			w.Apps[v].Places[placed.Server] = placed.Count
		}
	}
	for _, v := range lost {
		if !w.MayTake(i, v, w.Apps[v].Preemptible) {
			t.Fatalf("%d has taken from %d", i, v)
		}
	}
}

// Who was let in long ago counts where queues are compared, and not in what they are guaranteed.
func TestTurnByUsage(t *testing.T) {
	for name, c := range map[string]struct {
		usage     [2]float64
		guarantee int64
		want      int
	}{
		"the earliest":                 {[2]float64{0, 0}, 0, 0},
		"that which had less":          {[2]float64{.25, 0}, 0, 1},
		"within a guarantee all alike": {[2]float64{.25, 0}, 2, 0},
	} {
		p := gpuProblem(4)
		for q, id := range []string{"x", "y"} {
			p.Queues = append(p.Queues, drf.Queue{ID: id, Weight: 1, Usage: c.usage[q], Guarantee: apportion.Resources{c.guarantee}})
			p.add(1, 1, 1).Queue = id
		}
		if got := newTurn(newDraft(resolve(p))).next(); got != c.want {
			t.Errorf("%s: %d is asked first, want %d", name, got, c.want)
		}
	}
}

// Guarantees that there is no room for are scaled at every queue; one that states none has those below it.
func TestScaledGuarantees(t *testing.T) {
	for name, c := range map[string]struct{ top, left, right, want int64 }{
		"all fit":              {12, 4, 8, 12},
		"more than there is":   {32, 8, 24, 16},
		"more than their own":  {8, 8, 8, 8},
		"the largest that are": {math.MaxInt64, math.MaxInt64, math.MaxInt64, 16},
	} {
		p := tree(nil)
		for q, g := range []int64{c.top, c.left, c.right} {
			p.Queues[q].Guarantee = apportion.Resources{g}
		}
		r := resolve(p)
		got := []int64{r.nodes[1].guarantee[0], r.nodes[2].guarantee[0] + r.nodes[3].guarantee[0]}
		if got[0] != c.want || got[1] > c.want || got[1] < c.want-1 {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
		p.Queues[0].Guarantee = nil
		if sum := resolve(p).nodes[1].guarantee[0]; sum > 16 || sum != min(16, r.nodes[2].guarantee[0]+r.nodes[3].guarantee[0]) && c.top >= 16 {
			t.Errorf("%s: together %d", name, sum)
		}
	}
}

// What is taken from a queue may bring those who went beyond its guarantee back within it.
func TestTurnAfterTaking(t *testing.T) {
	p := gpuProblem(4)
	for q, id := range []string{"z", "x", "y"} {
		p.Queues = append(p.Queues, drf.Queue{ID: id, Weight: 1, Guarantee: apportion.Resources{int64(q)}})
		p.add(1, 1, 1).Queue = id
	}
	p.Queues[0].Guarantee = nil
	p.add(1, 1, 1, 1).Queue = "x"
	d := newDraft(resolve(p))
	turn := newTurn(d)
	if got := turn.next(); got != 2 {
		t.Errorf("%d is asked first, want that of y: x uses its guarantee", got)
	}
	d.remove(3)
	d.takings++
	if got := turn.next(); got != 1 {
		t.Errorf("%d is asked, want that of x, which stays within its guarantee now", got)
	}
}

// On each of two servers there is one that may be taken, and not both: their queue keeps one.
func TestTakenOverServers(t *testing.T) {
	p := gpuProblem(1, 1, 1)
	p.Options.Preempt = true
	p.Queues = []drf.Queue{{ID: "a", Weight: 1, Guarantee: apportion.Resources{1}}, {ID: "b", Weight: 1, Guarantee: apportion.Resources{2}}}
	p.add(1, 1, 1, 0, 0, 1)
	for j := range 2 {
		running := make([]int64, 3)
		running[j] = 1
		app := p.add(1, 1, 1, running...)
		app.Queue, app.Preemptible = "a", true
	}
	p.add(1, 2, 2).Queue = "b"
	a := resolve(p).admitAll(t.Context())
	if a.in[3] || len(a.preempted) > 0 {
		t.Errorf("suspended are %v", a.preempted)
	}
	p.Applications[3].Min, p.Applications[3].Max = 1, 1
	if a := resolve(p).admitAll(t.Context()); !a.in[3] || len(a.preempted) != 1 {
		t.Errorf("for one container: %v", a.preempted)
	}
}

// An elastic application on two servers could give one container, on either. For two containers that is not enough, and one of the own leaf is
// suspended, although both servers together seem to have room at no cost.
func TestCountedOnTwoServers(t *testing.T) {
	p := gpuProblem(4, 4)
	p.Options.Preempt = true
	p.Queues = []drf.Queue{{ID: "a", Weight: 1, Guarantee: apportion.Resources{5}}, {ID: "b", Weight: 1, Guarantee: apportion.Resources{3}}, {ID: "c", Weight: 1}}
	p.add(1, 2, 2, 0, 2).Queue = "c"
	p.add(1, 4, 6, 3, 2).Queue = "b"
	low := p.add(1, 1, 1, 1, 0)
	low.Queue, low.Preemptible = "a", true
	high := p.add(1, 2, 2)
	high.Queue, high.Priority = "a", 1
	a := resolve(p).admitAll(t.Context())
	if _, suspended := a.preempted[2]; !a.in[3] || !suspended || solver.Containers(a.counts[1]) != 4 {
		t.Errorf("in are %v, suspended %v, the elastic one has %v", a.in, a.preempted, a.counts[1])
	}
}

// An elastic application of another queue could give enough on either of two servers, and not on both: it is suspended for what its guarantee
// lets in.
func TestSuspendedForTwoServers(t *testing.T) {
	p := gpuProblem(3, 3)
	p.Options.Preempt = true
	p.Queues = []drf.Queue{{ID: "a", Weight: 1, Guarantee: apportion.Resources{5}}, {ID: "b", Weight: 1}}
	elastic := p.add(1, 3, 6, 3, 3)
	elastic.Queue, elastic.Preemptible = "b", true
	p.add(2, 2, 2).Queue = "a"
	a := resolve(p).admitAll(t.Context())
	if _, suspended := a.preempted[0]; !a.in[1] || !suspended {
		t.Errorf("in are %v, suspended %v", a.in, a.preempted)
	}
}
