// This file tests what is said of other choices of who is let in, and the choice itself, [Program §9].

package alloc

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// No choice of who is let in is worth more than the bound on all of them.
func TestPropOpenBound(t *testing.T) {
	// Few draws have a set that is taken for a guarantee, so that there are many.
	rapidtest.Runs(t, 10, checkOpenBound)
}

func checkOpenBound(t *rapid.T) {
	p := genTeams(t, 1)
	p.Theta1, p.Theta2 = 1, rapid.SampledFrom([]float64{0, .5}).Draw(t, "theta2")
	if rapid.Bool().Draw(t, "by submission") {
		p.Options.Order = BySubmission
	}
	d, err := Reallocate(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := resolve(p)
	left := slices.ContainsFunc(append(d.Waiting, d.Suspended...), func(w Waiting) bool { return w.LeftOut && len(r.fitting(appIndex(p.Applications)[w.ID])) > 0 })
	if left != (d.OpenBound != 0) {
		t.Fatalf("the bound is %g, and %+v wait", d.OpenBound, d.Waiting)
	}
	if !left {
		return
	}
	inst, apps := r.openInstance()
	inst.LossBudget = 100
	best, _ := p2oracle.Best(inst)
	if best == nil {
		return
	}
	if worth := inst.Objective(best) - r.prices(&attempt{apps: apps, instance: inst}); worth > d.OpenBound+1e-9 || d.Objective > d.OpenBound+1e-9 {
		t.Fatalf("%g is attained, and %g by the order: more than %g", worth, d.Objective, d.OpenBound)
	}
}

// One server of 8 GPUs, of which the first asks for 5 and two others for 4 each: by order 0.625, which is the best with the first alone.
func TestPriceOfOrder(t *testing.T) {
	p := gpuProblem(8)
	p.add(1, 5, 5)
	p.add(1, 4, 4)
	p.add(1, 4, 4)
	d := mustReallocate(t, p)
	if d.Objective != .625 || d.Bound != .625 || d.OpenBound != 1 {
		t.Errorf("%g, bound %g, of all choices %g", d.Objective, d.Bound, d.OpenBound)
	}
	e, err := Explain(p, d)
	if want := "another choice of who is let in could be worth 1 at most, by the order of asking it is 0.625 of at most 0.625"; err != nil || e.Order != want || !strings.Contains(e.String(), want) {
		t.Errorf("%s, %v", e.Order, err)
	}
	for _, change := range []func(*Decision){
		func(d *Decision) { d.OpenBound = .9 },
		func(d *Decision) { d.Metrics.WaitingLoss++ },
	} {
		d := mustReallocate(t, p)
		change(d)
		if _, err := Verify(p, d); !errors.Is(err, ErrMismatch) {
			t.Errorf("%v", err)
		}
	}
	d.OpenBound, d.Metrics.WaitingLoss = 0, 0
	if proof, err := Verify(p, d); err != nil || !slices.Contains(proof.Unchecked, "OpenBound") || !slices.Contains(proof.Unchecked, "Metrics.WaitingLoss") {
		t.Errorf("a record of before: %+v, %v", proof, err)
	}
	p.Options.Choose = true
	if d := mustReallocate(t, p); d.Objective != 1 || len(d.Waiting) != 1 || d.Waiting[0].ID != "a0" {
		t.Errorf("chosen: %g, %+v", d.Objective, d.Waiting)
	}
	// One that is due comes first all the same, and one of a higher priority does.
	p.Applications[0].Passed = 2
	if d := mustReallocate(t, p); d.Allocation.Containers("a0") != 5 {
		t.Errorf("due: %v", d.Allocation)
	}
	p.Applications[0].Passed, p.Applications[0].Priority = 0, 1
	if d := mustReallocate(t, p); d.Allocation.Containers("a0") != 5 {
		t.Errorf("of a higher priority: %v", d.Allocation)
	}
}

// Those that wait lose what they would have among all.
func TestWaitingLoss(t *testing.T) {
	p := gpuProblem(4)
	p.add(1, 1, 4, 4).Pinned = true
	p.add(1, 1, 4)
	d := mustReallocate(t, p)
	if d.Metrics.FairnessLoss != 0 || d.Metrics.WaitingLoss != 1 {
		t.Errorf("%+v, want 1/2 twice", d.Metrics)
	}
	if m, err := Measure(p, d.Allocation); err != nil || m.WaitingLoss != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	p.Applications[0].Pinned = false
	if d := mustReallocate(t, p); d.Metrics.WaitingLoss != 0 {
		t.Errorf("nobody waits: %+v", d.Metrics)
	}
}

// What is chosen leaves alone the ceilings, what is reserved and what other queues come first with.
func TestChooseWithinLimits(t *testing.T) {
	p := gpuProblem(8)
	p.Options.Choose, p.Theta2 = true, 0
	p.Queues = []drf.Queue{{ID: "x", Weight: 1, Ceiling: drf.Ceiling{6}}, {ID: "y", Weight: 1}}
	for _, n := range []int64{4, 3, 3, 2} {
		p.add(1, n, n).Queue = "x"
	}
	p.add(1, 2, 2).Queue = "y"
	d := mustReallocate(t, p)
	if d.Allocation.Containers("a0") != 4 && d.Allocation.Containers("a1") != 3 || d.Queues[0].Used[0] != 6 || d.Queues[1].Used[0] != 2 {
		t.Errorf("%v", d.Allocation)
	}
}

// Of gangs that ask for 1.6 times an empty cluster of 12 servers of 8 GPUs those that are chosen use all of it but 1.5 %.
func TestChooseUse(t *testing.T) {
	var order, chosen float64
	const queues = 20
	for seed := range uint64(queues) {
		r := rand.New(rand.NewPCG(seed, 9))
		p := gpuProblem(8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8)
		for asked := int64(0); asked < 8*12*16/10; {
			n := 5 + r.Int64N(36)
			p.add(1, n, n)
			asked += n
		}
		order += mustReallocate(t, p).Objective / queues
		p.Options.Choose = true
		chosen += mustReallocate(t, p).Objective / queues
	}
	t.Logf("of the GPUs are used %.4f in order, %.4f chosen", order, chosen)
	if chosen < .985 || order >= chosen {
		t.Error("want 0.985 or more chosen")
	}
}

// A price of losses belongs to one choice of who is let in, whose shares it is about: in the bound on all of them it counts nothing.
func TestOpenBoundHasNoPriceOfLosses(t *testing.T) {
	p := gpuProblem(4)
	p.Theta1 = 0
	for range 3 {
		p.add(1, 1, 4)
	}
	// Two of them have 2 GPUs each, which is fair without the third and uses all.
	m := &solver.Multipliers{Server: [][]float64{{0}}, Loss: 100}
	if got := resolve(p).openBound(&attempt{}, m); got != 1 {
		t.Errorf("%g, where 1 is attained", got)
	}
}
