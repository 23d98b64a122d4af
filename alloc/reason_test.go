package alloc_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// Each conflict that a solver may tell becomes a reason with the same numbers, names for positions, and a
// sentence.
func TestConflictBecomesReason(t *testing.T) {
	for _, c := range []struct {
		name     string
		conflict solver.Conflict
		want     apportion.Reason
	}{
		{"units of a kind", solver.Conflict{Constraints: []string{solver.Capacity}, Kind: 1, Apps: []int{2}, Need: 2, Have: 1},
			apportion.Reason{Constraint: solver.Capacity, Applications: []string{"NN"}, Kind: "gpu", Need: 2, Have: 1,
				Text: `P2 has no solution: capacity (6) for "NN" needs at least 2 gpu and has 1`}},
		{"parts of everything", solver.Conflict{Constraints: []string{solver.Capacity}, Kind: -1, Apps: []int{0, 1}, Need: 1.25, Have: 1},
			apportion.Reason{Constraint: solver.Capacity, Applications: []string{"LR", "MF"}, Need: 1.25, Have: 1,
				Text: `P2 has no solution: capacity (6) for "LR", "MF" needs at least 1.25 of all there is and has 1`}},
		{"a minimum", solver.Conflict{Constraints: []string{solver.Minimum}, Kind: -1, Apps: []int{1}, Need: 4, Have: 3},
			apportion.Reason{Constraint: solver.Minimum, Applications: []string{"MF"}, Need: 4, Have: 3,
				Text: `P2 has no solution: minimum containers (8) for "MF" needs at least 4 containers and has 3`}},
		{"shares, with another held", solver.Conflict{Constraints: []string{solver.Fairness, solver.Adjust}, Kind: -1, Need: .75, Have: .5},
			apportion.Reason{Constraint: solver.Fairness, Need: .75, Have: .5,
				Text: `P2 has no solution: fairness loss (15) for "LR", "MF", "NN" together needs at least 0.75 and has 0.5, with adjustment (16) held`}},
		{"applications, with two held", solver.Conflict{Constraints: []string{solver.Adjust, solver.Capacity, solver.Minimum}, Kind: -1, Apps: []int{0}, Need: 2, Have: 1},
			apportion.Reason{Constraint: solver.Adjust, Applications: []string{"LR"}, Need: 2, Have: 1,
				Text: `P2 has no solution: adjustment (16) for "LR" needs at least 2 and has 1, with capacity (6) and minimum containers (8) held`}},
		{"by how much is not known", solver.Conflict{Constraints: []string{solver.Capacity, solver.Adjust}, Kind: -1},
			apportion.Reason{Constraint: solver.Capacity,
				Text: `P2 has no solution: capacity (6) for "LR", "MF", "NN" together cannot be met, with adjustment (16) held`}},
	} {
		p := tiny(alloc.Allocation{"LR": {"s0": 2}}, "LR", "MF", "NN")
		answer := fake{&solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1), Conflict: &c.conflict}, nil}
		d, err := recorded(t, context.Background(), p, answer)
		if err != nil || d.Status != alloc.Kept {
			t.Fatalf("%s: %+v, %v", c.name, d, err)
		}
		if diff := cmp.Diff(&c.want, d.Reason); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		for _, w := range d.Waiting { // the newcomers wait for what stood against P2
			if diff := cmp.Diff(c.want, w.Reason); diff != "" || w.LeftOut || w.ID == "LR" {
				t.Errorf("%s: %+v\n%s", c.name, w, diff)
			}
		}
		if len(d.Waiting) != 2 {
			t.Errorf("%s: %d wait", c.name, len(d.Waiting))
		}
	}
}

// A conflict counts the applications of P2, from which those that can never be served are left out: the
// reason names them by their positions in the problem.
func TestReasonNamesTheRightOnes(t *testing.T) {
	p := tiny(nil, "NN", "LR", "MF")
	p.Servers[0].Capacity[1] = 0 // NN, the first in the list, needs a GPU
	conflict := solver.Conflict{Constraints: []string{solver.Fairness}, Kind: -1, Apps: []int{1}, Need: 3, Have: 2}
	d, err := recorded(t, context.Background(), p, fake{&solver.Solution{Status: solver.Infeasible, Conflict: &conflict}, nil})
	if err != nil || !cmp.Equal(d.Reason.Applications, []string{"MF"}) {
		t.Fatalf("%+v, %v; want MF named", d.Reason, err)
	}
	if first := d.Waiting[0]; first.ID != "NN" || first.Reason.Kind != "gpu" || first.Reason.Text == d.Reason.Text {
		t.Errorf("%+v, want NN waiting for a GPU that there is none of", first)
	}
}

// Of many applications a reason names four and counts the others.
func TestReasonIsShort(t *testing.T) {
	for n, want := range map[int]string{
		1: `for "a" together`, 4: `for "a", "b", "c", "d" together`, 5: `for "a", "b", "c", "d" and 1 more together`, 9: `"d" and 5 more together`,
	} {
		p := tiny(nil, "LR")
		lr := p.Applications[0]
		p.Applications = nil
		for i := range n {
			lr.ID = string(rune('a' + i))
			p.Applications = append(p.Applications, lr)
		}
		conflict := solver.Conflict{Constraints: []string{solver.Capacity}, Kind: -1}
		d, err := recorded(t, context.Background(), p, fake{&solver.Solution{Status: solver.Infeasible, Conflict: &conflict}, nil})
		if err != nil || !strings.Contains(d.Reason.Text, want) {
			t.Errorf("%d applications: %+v, %v; want %s", n, d.Reason, err, want)
		}
	}
}
