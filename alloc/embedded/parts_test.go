package embedded

import (
	"context"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// At any prices the evaluation by server agrees with solver.DualBound. By shape it is no better a bound: equal
// servers count as one, whatever stays on each.
func TestDualAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := tiny(draws(t))
		p := newProblem(inst)
		if plainConflict(p) != nil {
			t.Skip("no prices needed")
		}
		for _, coarse := range []bool{true, false} {
			d := newDual(p, coarse)
			x := make([]float64, d.dim())
			for c := range x {
				x[c] = rapid.Float64Range(0, 2).Draw(t, "price")
			}
			got := d.evaluate(x)
			want, err := solver.DualBound(inst, d.multipliers(x))
			if err != nil || got < want-1e-9 || !coarse && got > want+1e-9 {
				t.Fatalf("coarse %v: %.12g, solver.DualBound %.12g, %v", coarse, got, want, err)
			}
		}
	})
}

// The subgradient's parts are those of the maximizer: priced out, they give the bound again.
func TestDualSubgradient(t *testing.T) {
	p := newProblem(alloctest.Mixed(5, 10, 12, true))
	d := newDual(p, false)
	desc := newPriceDescent(d)
	desc.run(context.Background(), 50, 2, 2)
	x := desc.best
	x[d.dim()-1] = 0.2
	bound := d.evaluate(x)
	var slope float64
	for c, g := range d.gradient() {
		slope += x[c] * g
	}
	// What is left of the bound is the value of the chosen containers, which prices do not change.
	value := bound - slope
	var want float64
	taken := make(map[int32]bool)
	for s, sc := range d.all {
		taken[sc.app] = int64(s) < p.budget && sc.gain > 0
	}
	for i := range p.apps {
		n := d.count[i]
		if p.apps[i].keepable && !taken[int32(i)] {
			n = p.apps[i].held
		}
		want += p.types[p.apps[i].typ].value * float64(n)
	}
	if math.Abs(value-want) > 1e-9 {
		t.Errorf("value %g, the chosen containers are worth %g", value, want)
	}
}

// Enumeration alone, without a solution from the search to start with, is the exhaustive twin.
func TestEnumerationAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := tiny(draws(t))
		want, _ := p2oracle.Best(inst)
		if plainConflict(newProblem(inst)) != nil {
			t.Skip("not reached")
		}
		e, done := enumeratePlain(context.Background(), inst, 1<<20)
		if !done || e.found != (want != nil) {
			t.Fatalf("done %v, found %v, want %v", done, e.found, want)
		}
		if e.found {
			if diff := cmp.Diff(want, e.counts()); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}

// Equal servers are interchangeable only while they hold the same: moving for a smaller x is no
// gain.
func TestEnumerationKeepsWhatRuns(t *testing.T) {
	inst := worked(lr(0.25, apportion.Placement{Server: 0, Count: 2}))
	inst.Capacity[0][1] = 0
	inst.Apps[0].Max = 2
	e, done := enumeratePlain(context.Background(), finish(inst), 1<<20)
	want := solver.Counts{{{Server: 0, Count: 2}}}
	if diff := cmp.Diff(want, e.counts()); diff != "" || !done {
		t.Errorf("done %v (-want +got):\n%s", done, diff)
	}
}

// Servers that hold as much of each type alone are not interchangeable: only the larger one holds both.
func TestEnumerationTellsServersApart(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{5}, {4}}, LossBudget: 10}
	inst.Apps = []solver.App{{Demand: apportion.Resources{2}, Max: 1}, {Demand: apportion.Resources{3}, Max: 2}}
	e, done := enumeratePlain(context.Background(), finish(inst), 1<<20)
	want := solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 1}, {Server: 1, Count: 1}}}
	if diff := cmp.Diff(want, e.counts()); diff != "" || !done {
		t.Errorf("done %v (-want +got):\n%s", done, diff)
	}
}

// The descent comes down to the optimum of a problem without a gap: one server that is full.
func TestDescentConverges(t *testing.T) {
	inst := worked(lr(0.75))
	d := newPriceDescent(newDual(newProblem(inst), true))
	start := d.bound
	d.run(context.Background(), 400, 1.125*targetShare, 1.125)
	if d.bound > 1.125*1.01 || d.bound < 1.125-1e-9 || start <= d.bound {
		t.Errorf("from %g down to %g, the optimum is 1.125", start, d.bound)
	}
}

// leastByTrial is the least loss of n containers among members, by trying everything.
func leastByTrial(p *problem, members []int32, n int64) float64 {
	if len(members) == 0 {
		if n == 0 {
			return 0
		}
		return math.Inf(1)
	}
	best := math.Inf(1)
	a := &p.apps[members[0]]
	for c := a.min; c <= min(a.max, n); c++ {
		best = math.Min(best, p.loss(members[0], c)+leastByTrial(p, members[1:], n-c))
	}
	return best
}

// pooled draws a problem of one type with some members.
func pooled(t *rapid.T) (*problem, []int32) {
	inst := alloctest.Table2(0, 2, 1, false)
	inst.Apps = inst.Apps[:0]
	for range rapid.IntRange(1, 4).Draw(t, "members") {
		app := solver.App{Demand: []int64{1, 0, 1}, Min: rapid.Int64Range(0, 3).Draw(t, "min")}
		app.Max = max(1, app.Min+rapid.Int64Range(0, 4).Draw(t, "more"))
		app.Share = float64(rapid.IntRange(0, 28).Draw(t, "share")) / 96 // quarters of a container
		if rapid.Bool().Draw(t, "running") {
			app.Running = true
			app.Previous = []apportion.Placement{{Server: 0, Count: rapid.Int64Range(1, 6).Draw(t, "held")}}
		}
		inst.Apps = append(inst.Apps, app)
	}
	p := newProblem(finish(inst))
	return p, p.types[0].members
}

// G(n) is the least loss, and share attains it.
func TestPoolAgainstTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, members := pooled(t)
		var q pool
		for _, i := range members {
			q.add(p, i)
		}
		for n := q.min; n <= q.max; n++ {
			want := leastByTrial(p, members, n)
			if got := q.at(p.types[0].delta, n); math.Abs(got-want) > 1e-9 {
				t.Fatalf("G(%d) = %g, want %g", n, got, want)
			}
			var loss float64
			var sum int64
			for m, c := range p.share(members, n) {
				loss += p.loss(members[m], c)
				sum += c
				if a := &p.apps[members[m]]; c < a.min || c > a.max {
					t.Fatalf("member %d gets %d", m, c)
				}
			}
			if sum != n || math.Abs(loss-want) > 1e-9 {
				t.Fatalf("share of %d: %d with loss %g, want %g", n, sum, loss, want)
			}
		}
		q.remove(p, members[0])
		var rest pool
		for _, i := range members[1:] {
			rest.add(p, i)
		}
		if q.min != rest.min || q.max != rest.max || q.down != rest.down || !slices.Equal(q.slopes, rest.slopes) {
			t.Fatalf("after remove %+v, want %+v", q, rest)
		}
	})
}

// picture is what undo must restore, free of order.
type picture struct {
	Left    []int64
	On      [][]slot
	Free    []bool
	Freed   int64
	Missing int64
	N       []int64
}

func (s *state) picture() picture {
	v := picture{slices.Clone(s.left), make([][]slot, len(s.on)), slices.Clone(s.free), s.freed, s.missing, nil}
	for j, slots := range s.on {
		v.On[j] = append([]slot{}, slots...)
		sort.Slice(v.On[j], func(a, b int) bool { return v.On[j][a].typ < v.On[j][b].typ })
	}
	for t := range s.pools {
		v.N = append(v.N, s.pools[t].n)
	}
	return v
}

// check recomputes everything incremental.
func (s *state) check(t rapid.TB) {
	t.Helper()
	left := slices.Clone(s.p.capacity)
	var objective, loss float64
	use := func(j int, typ int32, n int64) {
		for k, q := range s.p.demandOf(typ) {
			left[j*s.p.kinds+k] -= n * q
		}
		objective += s.p.types[typ].value * float64(n)
	}
	n := make([]int64, len(s.pools))
	for j, slots := range s.on {
		for _, sl := range slots {
			use(j, sl.typ, sl.count)
			n[sl.typ] += sl.count
		}
	}
	var freed, missing int64
	for i := range s.p.apps {
		a := &s.p.apps[i]
		if s.free[i] {
			if a.keepable {
				freed++
			}
			continue
		}
		loss += a.heldLoss
		for _, placed := range s.p.inst.Apps[i].Previous {
			use(placed.Server, a.typ, placed.Count)
		}
	}
	active := 0
	for typ := range s.pools {
		var q pool
		for _, i := range s.p.types[typ].members {
			if s.free[i] {
				q.add(s.p, i)
			}
		}
		if len(q.members) > 0 {
			active++
			q.n = n[typ]
			missing += q.missing()
			loss += q.at(s.p.types[typ].delta, n[typ])
		}
		if q.min != s.pools[typ].min || q.max != s.pools[typ].max || n[typ] != s.pools[typ].n {
			t.Fatalf("pool %d: %+v, want %+v with %d", typ, s.pools[typ], q, n[typ])
		}
	}
	if diff := cmp.Diff(left, s.left); diff != "" {
		t.Fatalf("left (-want +got):\n%s", diff)
	}
	if slices.Min(append(left, 0)) < 0 {
		t.Fatalf("a server is overfull: %v", left)
	}
	if freed != s.freed || missing != s.missing || active != len(s.active) ||
		math.Abs(objective-s.objective) > 1e-9 || math.Abs(loss-s.loss) > 1e-9 {
		t.Fatalf("freed %d missing %d active %d objective %g loss %g, want %d %d %d %g %g",
			s.freed, s.missing, len(s.active), s.objective, s.loss, freed, missing, active, objective, loss)
	}
}

// After any move the incremental state is what recomputing gives, and undo brings back what was
// before.
func TestStateMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var inst *solver.Instance
		switch seed := rapid.Uint64Range(0, 1000).Draw(t, "seed"); rapid.IntRange(0, 3).Draw(t, "mix") {
		case 0:
			inst = alloctest.Table2(seed, 6, 8, true)
		case 1:
			inst = alloctest.Mixed(seed, 6, 8, true)
		case 2:
			inst = alloctest.Mixed(seed, 6, 8, false)
		default:
			inst = tiny(draws(t))
		}
		p := newProblem(inst)
		if plainConflict(p) != nil {
			t.Skip("nothing to search")
		}
		s := newState(p)
		s.check(t)
		a := newAnnealer(s, rapid.Uint64().Draw(t, "rng"))
		a.construct()
		s.check(t)
		if len(s.active) == 0 && p.budget <= 0 {
			return
		}
		for range 30 {
			before := s.picture()
			s.begin()
			moved := a.ruin()
			if moved && len(s.active) > 0 {
				a.recreate()
			}
			if moved {
				s.check(t)
			}
			if !moved || a.rng.below(2) == 0 {
				s.undo()
				if diff := cmp.Diff(before, s.picture(), cmp.AllowUnexported(slot{})); diff != "" {
					t.Fatalf("undo (-before +after):\n%s", diff)
				}
				s.check(t)
			}
			a.record()
		}
		if a.best.found {
			a.restore()
			s.check(t)
			if math.Abs(s.objective-a.best.objective) > 1e-9 || s.freed != a.best.freed || !a.feasible() {
				t.Fatalf("restored %g with %d freed, want %g with %d", s.objective, s.freed, a.best.objective, a.best.freed)
			}
		}
	})
}

// Containers go to the application that has them there already.
func TestDecodePrefersWhatIsHeld(t *testing.T) {
	inst := worked(lr(0.5, apportion.Placement{Server: 0, Count: 2}), lr(0.5, apportion.Placement{Server: 1, Count: 2}))
	p := newProblem(inst)
	best := &incumbent{free: []bool{true, true}, on: [][]slot{{{0, 3}}, {{0, 2}}}}
	want := solver.Counts{{{Server: 0, Count: 3}}, {{Server: 1, Count: 2}}}
	if diff := cmp.Diff(want, p.decode(best)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A member that can have exactly what it holds comes before others that overlap with it.
func TestDecodeKeepsWholeApplications(t *testing.T) {
	inst := worked(lr(0.125, apportion.Placement{Server: 0, Count: 2}), lr(0.25, apportion.Placement{Server: 0, Count: 2}))
	best := &incumbent{free: []bool{true, true}, on: [][]slot{{{0, 2}}, {{0, 1}}}}
	want := solver.Counts{{{Server: 1, Count: 1}}, {{Server: 0, Count: 2}}}
	if diff := cmp.Diff(want, newProblem(inst).decode(best)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A server shrank, and the one that stays on it in the first state takes the place of two others,
// more than the budget allows: the search alone frees the right one.
func TestSearchUnblocks(t *testing.T) {
	app := func(cpu int64) solver.App {
		return solver.App{
			Demand: []int64{cpu}, Min: 1, Max: 1, Running: true, Share: 0.2,
			Previous: []apportion.Placement{{Server: 0, Count: 1}},
		}
	}
	inst := finish(&solver.Instance{
		Capacity: []apportion.Resources{{4}, {4}}, Apps: []solver.App{app(4), app(2), app(2)},
		LossBudget: 3, AdjustBudget: 1,
	})
	p := newProblem(inst)
	r := &run{p: p, opts: Options{Effort: Quick}, a: newAnnealer(newState(p), 0)}
	if r.a.s.freed != 2 || r.a.feasible() {
		t.Fatalf("%d freed at first, want 2, no solution", r.a.s.freed)
	}
	r.search(context.Background())
	want := solver.Counts{{{Server: 1, Count: 1}}, {{Server: 0, Count: 1}}, {{Server: 0, Count: 1}}}
	if diff := cmp.Diff(want, r.solution().Counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The generator is splitmix64 with these first numbers for seed 0.
func TestRNG(t *testing.T) {
	r := rng(0)
	for _, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := r.next(); got != want {
			t.Errorf("%#x, want %#x", got, want)
		}
	}
	for range 1000 {
		if n := r.below(7); n < 0 || n > 6 {
			t.Fatalf("below(7) = %d", n)
		}
		if x := r.float(); !(x >= 0 && x < 1) {
			t.Fatalf("float() = %g", x)
		}
	}
}
