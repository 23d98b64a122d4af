// This file tests the search below maxima that hold the ceilings.

package embedded

import (
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// quartered is an instance of the paper's cluster whose applications are in fours, each below a ceiling of part of what
// all have divided by the number of groups; but a ceiling holds what runs now.
func quartered(seed uint64, servers, apps int, previous bool, part float64) *solver.Instance {
	inst := alloctest.Table2(seed, servers, apps, previous)
	for i := 0; i < apps; i += 4 {
		group := solver.Group{Ceiling: make(apportion.Resources, len(inst.Total))}
		for k, c := range inst.Total {
			group.Ceiling[k] = int64(part * 4 * float64(c) / float64(apps))
		}
		for a := i; a < min(i+4, apps); a++ {
			group.Apps = append(group.Apps, a)
		}
		for k := range group.Ceiling {
			var used, least int64
			for _, a := range group.Apps {
				used += solver.Containers(inst.Apps[a].Previous) * inst.Apps[a].Demand[k]
				least += inst.Apps[a].Min * inst.Apps[a].Demand[k]
			}
			group.Ceiling[k] = max(group.Ceiling[k], used, least)
		}
		inst.Groups = append(inst.Groups, group)
	}
	return inst
}

// Whatever the applications have below their maxima holds the ceilings, everyone may have its least number and what it
// holds, and no maximum could be larger.
func TestMaxima(t *testing.T) {
	divided := 0
	for seed := range uint64(40) {
		inst := quartered(seed, 12, 16, seed%2 == 0, 1)
		r := newRun(problem.New(inst), &Options{Effort: Quick}, tuning.Standard())
		if len(r.p.Ceilings) == 0 {
			continue
		}
		wish := make([]int64, len(inst.Apps))
		for i := range wish {
			wish[i] = int64(seed+uint64(i)) % 4
		}
		below := r.apportioned(wish)
		if below == nil {
			continue
		}
		divided++
		left := r.p.Limits()
		for i := range below.Apps {
			most, a := below.Apps[i].Max, &r.p.Apps[i]
			if most < a.Min || a.Pinnable && most < a.Held || most > a.Max {
				t.Errorf("%d: application %d may have %d of %d to %d, and holds %d", seed, i, most, a.Min, a.Max, a.Held)
			}
			for _, use := range r.p.Types[a.Type].Uses {
				left[use.Ceiling] -= most * use.Units
			}
		}
		for c, n := range left {
			if n < 0 {
				t.Errorf("%d: ceiling %d is exceeded by %d", seed, c, -n)
			}
		}
		for i := range below.Apps {
			if a := &r.p.Apps[i]; below.Apps[i].Max < a.Max && r.p.Below(a.Type, left) > 0 {
				t.Errorf("%d: application %d could have more than %d", seed, i, below.Apps[i].Max)
			}
		}
		if below.Groups != nil || len(inst.Groups) == 0 || inst.Apps[0].Max != alloctest.Table2(seed, 12, 16, seed%2 == 0).Apps[0].Max {
			t.Errorf("%d: the instance itself has changed", seed)
		}
	}
	if divided < 30 {
		t.Errorf("only %d instances were divided", divided)
	}
}

// Those that are wished for come before what is left over.
func TestMaximaByWish(t *testing.T) {
	inst := quartered(1, 12, 16, false, 1)
	r := newRun(problem.New(inst), &Options{Effort: Quick}, tuning.Standard())
	for i := range inst.Apps {
		wish := make([]int64, len(inst.Apps))
		wish[i] = r.p.Apps[i].Max
		below := r.apportioned(wish)
		// What the minima of the others leave of its ceilings.
		left := r.p.Limits()
		for j := range inst.Apps {
			if j != i {
				for _, use := range r.p.Types[r.p.Apps[j].Type].Uses {
					left[use.Ceiling] -= r.p.Apps[j].Min * use.Units
				}
			}
		}
		if want := min(r.p.Apps[i].Max, r.p.Below(r.p.Apps[i].Type, left)); below.Apps[i].Max != want {
			t.Errorf("application %d may have %d, want %d", i, below.Apps[i].Max, want)
		}
	}
}

// Ceilings cost hardly any effort on fresh clusters, where the search below maxima and the bound meet up to Near, and no
// answer exceeds one.
func TestDividedEffort(t *testing.T) {
	near, all, seeds := 0, 0, uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for _, part := range []float64{1, 2, 4} {
			inst := quartered(seed, 50, 48, false, part)
			sol, err := New(nil).Solve(t.Context(), inst)
			if err != nil || !sol.Status.HasSolution() || inst.Check(sol.Counts) != nil {
				t.Fatalf("%d: %v, %v", seed, sol, err)
			}
			all++
			// All of the work is FreshWork times the effort for each server and application: 392,000.
			if sol.Gap() <= 5e-4 && sol.Effort < 60_000 {
				near++
			} else {
				t.Logf("%d, part %g: gap %.4f %%, effort %d", seed, part, 100*sol.Gap(), sol.Effort)
			}
		}
	}
	if near < all {
		t.Errorf("only %d of %d answers are near their bounds with little effort", near, all)
	}
}

// Where applications may stay the search below maxima finds what annealing misses: it is at least as good on the whole.
func TestDividedPrevious(t *testing.T) {
	if testing.Short() {
		t.Skip("twelve decisions")
	}
	var with, without float64
	for seed := range uint64(6) {
		inst := quartered(seed, 50, 48, true, 2)
		answer := func(tune *tuning.Numbers) float64 {
			r := newRun(problem.New(inst), &Options{Effort: Default}, tune)
			r.listed = true
			r.search(t.Context())
			sol := r.solution()
			if !sol.Status.HasSolution() || sol.Objective > sol.Bound+solver.ObjectiveTolerance {
				t.Fatalf("%d: %v", seed, sol)
			}
			return sol.Objective
		}
		with += answer(tuning.Standard())
		none := tuning.Standard()
		none.Divided = 0
		without += answer(none)
	}
	if with <= without {
		t.Errorf("%g with maxima, %g without", with, without)
	}
}

// A hurried answer that exceeds a ceiling ends the search without ceilings, and one that holds them all is the answer.
func TestRefused(t *testing.T) {
	s := New(&Options{Effort: Quick})
	tight := quartered(1, 50, 48, true, 1)
	plain := *tight
	plain.Groups = nil
	sol, listed := s.solveKnowing(t.Context(), &plain, knowledge{within: tight})
	if sol.Status != solver.Unknown || !listed || sol.Counts != nil || sol.Bound >= plain.Cap() {
		t.Errorf("%v, lists %v: not given up", sol.Status, listed)
	}
	full := s.solve(t.Context(), &plain)
	if sol.Bound < full.Objective || sol.Effort >= full.Effort {
		t.Errorf("bound %g, objective %g, effort %d of %d", sol.Bound, full.Objective, sol.Effort, full.Effort)
	}
	loose := quartered(1, 50, 48, true, 12)
	if sol, _ := s.solveKnowing(t.Context(), &plain, knowledge{within: loose}); !sol.Status.HasSolution() {
		t.Errorf("%v below ceilings that are no limits", sol.Status)
	}
	// Without lists of patterns it takes a first solution: the containers of one kind of server are too many for lists.
	many := *tight
	many.Apps = append([]solver.App(nil), tight.Apps...)
	many.Apps[0].PerServer = 1
	plain.Apps = many.Apps
	if sol, listed := s.solveKnowing(t.Context(), &plain, knowledge{within: &many}); listed || sol.Status != solver.Unknown {
		t.Errorf("%v, lists %v", sol.Status, listed)
	}
	if work := s.early(t.Context(), &many, &plain); work == 0 {
		t.Error("a first solution without ceilings keeps tight ones")
	}
	plain.Groups, loose.Apps = nil, many.Apps
	if work := s.early(t.Context(), loose, &plain); work != 0 {
		t.Errorf("%d of work to see that loose ceilings are kept", work)
	}
}
