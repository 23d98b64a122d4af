// This file tests admission by itself: why somebody is refused (which budget, how many, from whom), and who is suspended
// for whom.

package alloc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// refusals returns why each application that is not taken in is refused, by ID.
func refusals(t *testing.T, p *Problem) map[string]apportion.Reason {
	t.Helper()
	reasons := make(map[string]apportion.Reason)
	d := mustReallocate(t, p)
	for _, w := range d.Waiting {
		reasons[w.ID] = w.Reason
	}
	if _, err := Verify(p, d); err != nil {
		t.Error(err)
	}
	return reasons
}

// A reason has how many are needed and free of the kind that is shortest, how many could be freed within the budget, and
// who would give them.
func TestRefusalNumbers(t *testing.T) {
	for name, test := range map[string]struct {
		draw func() *Problem
		want map[string]apportion.Reason
	}{
		"nobody may be adjusted": {func() *Problem {
			p := gpuProblem(4)
			p.Theta2 = 0
			p.add(1, 1, 3, 3)
			p.add(2, 1, 1)
			return p
		}, map[string]apportion.Reason{"a1": {Constraint: solver.Adjust, Applications: []string{"a0"}, Need: 1, Have: 0}}},
		"one may be adjusted and gives too little": {func() *Problem {
			p := gpuProblem(4)
			p.Theta2 = 1
			p.add(1, 2, 4, 4)
			p.add(1, 3, 3)
			return p
		}, map[string]apportion.Reason{"a1": {Constraint: solver.Capacity, Kind: "gpu", Applications: []string{"a0"}, Need: 3, Have: 0}}},
		"the budget is for one of two, who gives most": {func() *Problem {
			p := gpuProblem(8)
			p.Theta2 = 0.5
			p.add(1, 2, 3, 3)
			p.add(1, 1, 5, 5)
			p.add(1, 5, 5)
			return p
		}, map[string]apportion.Reason{"a2": {Constraint: solver.Adjust, Applications: []string{"a0", "a1"}, Need: 2, Have: 1}}},
		"who was taken in before has the last one": {func() *Problem {
			p := gpuProblem(1)
			p.add(1, 1, 1)
			p.add(1, 1, 1).Weight = 2
			return p
		}, map[string]apportion.Reason{"a1": {Constraint: solver.Capacity, Kind: "gpu", Need: 1, Have: 0}}},
		"enough in all, on no server": {func() *Problem {
			p := gpuProblem(2, 2)
			p.Theta2 = 0
			p.add(1, 1, 1, 1, 0)
			p.add(1, 1, 1, 0, 1)
			p.add(2, 1, 1)
			return p
		}, map[string]apportion.Reason{"a2": {Constraint: solver.Adjust, Applications: []string{"a0"}, Need: 1, Have: 0}}},
		"more than the cluster has": {func() *Problem {
			p := gpuProblem(2)
			p.add(1, 3, 3)
			return p
		}, map[string]apportion.Reason{"a0": {Constraint: solver.Minimum, Applications: []string{"a0"}, Need: 3, Have: 2}}},
	} {
		got := refusals(t, test.draw())
		for id, r := range got {
			if len(r.Blockers) == 0 || r.Text == "" {
				t.Errorf("%s: %+v", name, r)
			}
			got[id] = apportion.Reason{Constraint: r.Constraint, Kind: r.Kind, Applications: r.Applications, Need: r.Need, Have: r.Have}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Of several kinds the one that is shortest is named, wherever it stands.
func TestRefusalNamesTheShortest(t *testing.T) {
	for at, kinds := range []apportion.Kinds{{"cpu", "gpu"}, {"gpu", "cpu"}} {
		p := gpuProblem(4)
		p.Kinds, p.Theta2 = kinds, 0
		p.Servers[0].Capacity = apportion.Resources{4, 4}
		p.add(0, 1, 1, 1).Demand = apportion.Resources{3 - 2*int64(at), 1 + 2*int64(at)}
		p.add(0, 1, 1).Demand = apportion.Resources{2 - int64(at), 1 + int64(at)}
		if r := refusals(t, p)["a1"]; r.Kind != "cpu" || r.Need != 2 || r.Have != 1 {
			t.Errorf("kinds %v: %+v, want 2 of 1 cpu", kinds, r)
		}
	}
}

// Two who ask for the same are refused for the same reason, without another question; one who asks for less is asked
// for himself and may come in.
func TestAlikeAreRefusedAlike(t *testing.T) {
	p := gpuProblem(1)
	p.Theta2 = 0
	p.add(2, 1, 1, 0)
	p.Servers[0].Capacity[0] = 3
	p.add(2, 1, 1)
	p.add(2, 1, 1)
	p.add(1, 1, 1)
	a := resolve(p).admitAll(t.Context())
	if !a.refused[1] || !a.refused[2] || len(a.refused) != 2 || !a.in[0] || !a.in[3] {
		t.Errorf("refused are %v", a.refused)
	}
	if len(a.alike) != 1 {
		t.Errorf("%d requests are remembered, want that of two alike", len(a.alike))
	}
}

// Of several that may be suspended for one of higher priority it is the lowest, and of these the cheapest; nobody goes
// in vain, and who goes is told for whom.
func TestPreemptionReasons(t *testing.T) {
	p := gpuProblem(2, 2, 2)
	p.Theta2 = 0
	p.Options.Preempt = true
	for j := range 3 {
		running := make([]int64, 3)
		running[j] = 2
		app := p.add(1, 2, 2, running...)
		cost := []int64{1, 5, 2}[j]
		app.Preemptible, app.Priority, app.AdjustCost = true, []int64{1, 0, 0}[j], &cost
	}
	p.add(1, 2, 2).Priority = 2
	a := resolve(p).admitAll(t.Context())
	if len(a.preempted) != 1 || len(a.refused) != 0 {
		t.Fatalf("preempted are %v, refused %v; one of the cheapest is enough", a.preempted, a.refused)
	}
	reason, gone := a.preempted[2]
	if !gone || a.in[2] || !a.in[3] || !strings.Contains(reason.Text, `"a3"`) || !cmp.Equal(reason.Applications, []string{"a3"}) {
		t.Errorf("preempted are %v, want a2 for a3", a.preempted)
	}
	// Equal priority suspends nobody.
	p.Applications[3].Priority = 0
	if a := resolve(p).admitAll(t.Context()); len(a.preempted) != 0 || len(a.refused) != 1 {
		t.Errorf("preempted are %v, refused %v, want none and a3", a.preempted, a.refused)
	}
}

// The forced come before the newcomers, each by priority; equals in the order of submission.
func TestQueueOrder(t *testing.T) {
	p := gpuProblem(4, 4)
	p.Servers[1].Capacity[0] = 0
	p.add(1, 1, 1)
	p.add(1, 1, 1).Priority = 3
	p.add(1, 1, 1, 0, 1) // its server is gone
	p.add(1, 1, 1, 1, 0) // stays, and asks for nothing
	p.add(1, 1, 1)
	p.add(1, 1, 1, 0, 1).Priority = 1
	var order []int
	turn := newTurn(newDraft(resolve(p)))
	for i := turn.next(); i >= 0; i = turn.next() {
		order = append(order, i)
	}
	if diff := cmp.Diff([]int{5, 2, 1, 0, 4}, order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
