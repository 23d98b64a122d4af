// This file implements the choice of the branching variable by pseudo-costs, [BGGHRV71].

package bb

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
)

const (
	// leastGain stands for a gain of 0 in a product of gains, so that the other one still counts.
	leastGain = 1e-6
	// wholeTol is how far from a whole number a value of the relaxation counts as whole. It is
	// then rounded, and the rounded point is checked.
	wholeTol = 1e-6
)

// pseudocosts holds for every variable what branching on it raised the bound by, for one unit of
// change of its value: the sums and the number of observations, down and up.
// Index 0 of each pair is the branch down, 1 the branch up. 32 bytes a variable.
type pseudocosts struct {
	sum   [2][]float64
	count [2][]float64
	total [2]float64 // sums over all variables
	seen  [2]float64
}

func newPseudocosts(n int) pseudocosts {
	var p pseudocosts
	for side := range p.sum {
		p.sum[side], p.count[side] = make([]float64, n), make([]float64, n)
	}
	return p
}

func (p *pseudocosts) learn(n *node, bound float64) {
	// The root was not branched to, so it teaches nothing.
	if n.parent == nil {
		return
	}
	// distance is how far the branch moved the variable from its value in the parent's relaxation.
	side, distance := 0, n.from-n.upper
	if n.up() {
		side, distance = 1, n.lower-n.from
	}
	// A node that was split on a whole value (see process) moved by nothing, and the quotient
	// would mean nothing.
	if distance <= wholeTol || math.IsInf(bound-n.bound, 0) {
		return
	}
	// n.bound is still the parent's when the node is solved, so the difference is what this branch
	// has brought.
	gain := (bound - n.bound) / distance
	p.sum[side][n.variable] += gain
	p.count[side][n.variable]++
	p.total[side] += gain
	p.seen[side]++
}

// gain returns the expected gain of one unit: the variable's mean, else the mean of all, else 1.
func (p *pseudocosts) gain(side, j int) float64 {
	switch {
	case p.count[side][j] > 0:
		return p.sum[side][j] / p.count[side][j]
	case p.seen[side] > 0:
		return p.total[side] / p.seen[side]
	}
	return 1
}

// choose returns the integer variable whose value in the relaxation is not whole and whose two
// branches promise the largest product of gains, the first on a tie; -1 where all are whole.
func (p *pseudocosts) choose(model *milp.Model, lp *simplex) int {
	// The score of a candidate is at least leastGain squared, so the first one is always taken.
	best, score := -1, -1.0
	for j, x := range lp.x[:lp.n] {
		if !model.Variable(j).Integer || math.Abs(x-math.Round(x)) <= wholeTol {
			continue
		}
		// part is the way down to the next whole number and 1 - part the way up.
		part := x - math.Floor(x)
		down := max(leastGain, float64(p.gain(0, j)*part))
		up := max(leastGain, float64(p.gain(1, j)*(1-part)))
		// The product decides, not the sum: a variable that raises one side alone leaves the other
		// as hard as its parent.
		if down*up > score {
			best, score = j, down*up
		}
	}
	return best
}
