package search

import (
	"context"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// picture is what undo must restore, free of order.
type picture struct {
	Left    []int64
	On      [][]problem.Slot
	Free    []bool
	Freed   int64
	Missing int64
	N       []int64
}

func (s *State) picture() picture {
	v := picture{slices.Clone(s.left), make([][]problem.Slot, len(s.on)), slices.Clone(s.free), s.Freed, s.missing, nil}
	for j, slots := range s.on {
		v.On[j] = append([]problem.Slot{}, slots...)
		sort.Slice(v.On[j], func(a, b int) bool { return v.On[j][a].Type < v.On[j][b].Type })
	}
	for t := range s.pools {
		v.N = append(v.N, s.pools[t].N)
	}
	return v
}

// tornIn returns what n containers of a type lose on the servers that have any, with a number that they may have.
func tornIn(s *State, typ int32, n int64) float64 {
	own := s.p.Types[typ].Own
	if own == nil || own.Spread == nil {
		return 0
	}
	servers := int64(0)
	for j := range s.on {
		servers += min(1, s.countOn(j, typ))
	}
	if next := own.AtLeast(n); next >= 0 {
		n = next
	} else {
		n = own.AtMost(n)
	}
	torn := own.Torn(n)
	return torn.On(servers)
}

// check recomputes everything incremental.
func (s *State) check(t rapid.TB) {
	t.Helper()
	left, below := slices.Clone(s.p.Capacity), s.p.Limits()
	var objective, loss float64
	use := func(j int, typ int32, n int64) {
		for k, q := range s.p.DemandOf(typ) {
			left[j*s.p.Kinds+k] -= n * q
		}
		for _, u := range s.p.Types[typ].Uses {
			below[u.Ceiling] -= n * u.Units
		}
		objective += s.p.Types[typ].Value * float64(n)
	}
	n := make([]int64, len(s.pools))
	for j, slots := range s.on {
		for _, sl := range slots {
			use(j, sl.Type, sl.Count)
			n[sl.Type] += sl.Count
		}
	}
	var freed, missing int64
	for i := range s.p.Apps {
		a := &s.p.Apps[i]
		if s.free[i] {
			freed += a.Weight + s.p.Owed(a.Type, n[a.Type])
			continue
		}
		loss += a.HeldLoss
		app := &s.p.Inst.Apps[i]
		objective += app.WorthOf(app.Previous) - float64(app.Value*float64(a.Held))
		for _, placed := range s.p.Inst.Apps[i].Previous {
			use(placed.Server, a.Type, placed.Count)
		}
	}
	active := 0
	for typ := range s.pools {
		var q problem.Pool
		for _, i := range s.p.Types[typ].Members {
			if s.free[i] {
				q.Add(s.p, i)
			}
		}
		if len(q.Members) > 0 {
			active++
			q.Set(s.p.Types[typ].Delta, n[typ])
			missing += q.Missing()
			loss += q.Loss
			objective += q.Extra - tornIn(s, int32(typ), n[typ])
			if known := &s.pools[typ]; known.Short() != q.Short() || known.Over() != q.Over() || known.Rise() != q.Rise() || s.lacks[typ] != q.Missing() {
				t.Fatalf("pool %d knows %+v, want %+v", typ, known, q)
			}
		}
		if q.Min != s.pools[typ].Min || q.Max != s.pools[typ].Max || n[typ] != s.pools[typ].N {
			t.Fatalf("pool %d: %+v, want %+v with %d", typ, s.pools[typ], q, n[typ])
		}
	}
	if diff := cmp.Diff(left, s.left); diff != "" {
		t.Fatalf("left (-want +got):\n%s", diff)
	}
	exceeded := 0
	for _, b := range below {
		if b < 0 {
			exceeded++
		}
	}
	if !slices.Equal(below, s.below) || exceeded != s.exceeded {
		t.Fatalf("%d ceilings of %v are exceeded, want %d of %v", s.exceeded, s.below, exceeded, below)
	}
	if slices.Min(append(left, 0)) < 0 {
		t.Fatalf("a server is overfull: %v", left)
	}
	if freed != s.Freed || missing != s.missing || active != len(s.active) ||
		math.Abs(objective-s.objective) > 1e-9 || math.Abs(loss-s.loss) > 1e-9 {
		t.Fatalf("freed %d missing %d active %d objective %g loss %g, want %d %d %d %g %g",
			s.Freed, s.missing, len(s.active), s.objective, s.loss, freed, missing, active, objective, loss)
	}
}

// After any move the incremental state is what recomputing gives, and undo brings back what was
// before.
func TestStateMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var inst *solver.Instance
		switch seed := rapid.Uint64Range(0, 1000).Draw(t, "seed"); rapid.IntRange(0, 5).Draw(t, "mix") {
		case 0:
			inst = alloctest.Table2(seed, 6, 8, true)
		case 1:
			inst = alloctest.Mixed(seed, 6, 8, true)
		case 2:
			inst = alloctest.Mixed(seed, 6, 8, false)
		case 3:
			inst = solvertest.Worth(seed)
		case 4:
			inst = solvertest.Loss(seed)
		default:
			inst = instancetest.Tiny(draws(t))
		}
		if rapid.Bool().Draw(t, "grouped") {
			solvertest.Grouped(inst, rapid.Uint64().Draw(t, "groups"))
		}
		p := problem.New(inst)
		if p.Impossible() {
			t.Skip("nothing to search")
		}
		s := NewState(p)
		s.check(t)
		a := New(s, rapid.Uint64().Draw(t, "rng"), tuning.Standard())
		a.Construct(context.Background())
		s.check(t)
		if s.exceeded > 0 {
			t.Fatalf("the first state exceeds %d ceilings: %v", s.exceeded, s.below)
		}
		if len(s.active) == 0 && p.Budget <= 0 {
			return
		}
		for range 30 {
			before := s.picture()
			least := a.energy() - rapid.Float64Range(0, 0.1).Draw(t, "threshold")
			m, moved := a.propose(least, 1)
			s.check(t)
			if !moved || a.rng.Below(2) == 0 {
				m.undo()
				if diff := cmp.Diff(before, s.picture(), cmp.AllowUnexported(problem.Slot{})); diff != "" {
					t.Fatalf("undo (-before +after):\n%s", diff)
				}
				s.check(t)
			}
			a.record()
		}
		if a.Best.Found {
			a.Restore()
			s = a.S
			s.check(t)
			if math.Abs(s.worth()-a.Best.Objective) > 1e-9 || s.Freed != a.Best.Freed || !a.Feasible() {
				t.Fatalf("restored %g with %d freed, want %g with %d", s.worth(), s.Freed, a.Best.Objective, a.Best.Freed)
			}
		}
	})
}

// What numbers of containers and staying are worth, and what numbers lose, enters and leaves the sums with whoever is freed and kept again.
func TestStateOfWorths(t *testing.T) {
	freed := 0
	for seed := range uint64(300) {
		p := problem.New(solvertest.Loss(seed))
		if p.Impossible() {
			continue
		}
		s := NewState(p)
		s.check(t)
		for i := range p.Apps {
			if s.free[i] || p.Apps[i].HeldExtra == 0 {
				continue
			}
			s.unpin(int32(i))
			s.check(t)
			s.pin(int32(i))
			s.check(t)
			freed++
		}
	}
	if freed < 20 {
		t.Errorf("%d were freed whose staying is worth something", freed)
	}
}
