// This file evaluates the bound of a Dual at prices, with its subgradient, and spells the prices out for a certificate,
// [Geoffrion74].

package lagrange

import (
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// Evaluate returns the bound at x and leaves scores and slope. O(types x classes x kinds +
// applications x log steps) plus the steps that are worth taking, of those that are not kept.
// The steps: 1. terms without a choice, lambda (L - kept loss) + sum p_gk left_gk + kept value;
// 2. steps by type; 3. free_i and keep_i; 4. F* by score; 5. the subgradient of what was chosen.
func (d *Dual) Evaluate(x []float64) float64 {
	// A descent comes back to where it was: all that is left behind is there.
	if slices.Equal(d.evaluated, x) {
		d.tally()
		return d.bound
	}
	d.evaluated, d.bound = append(d.evaluated[:0], x...), d.evaluate(x)
	return d.bound
}

// evaluate is Evaluate where nothing is known.
func (d *Dual) evaluate(x []float64) float64 {
	p, last := d.Problem, len(x)-1
	// Only terms linear in x come first: their slopes are what is left of each resource.
	d.slope[last] = d.Allowed - d.keptLoss
	bound := d.keptValue - float64(p.Inst.LossPrice*d.keptLoss) + float64(x[last]*d.slope[last])
	for gk, left := range d.left {
		// sum_gk p_gk left_gk, and its slope.
		bound += float64(x[gk] * left)
		d.slope[gk] = left
	}
	if d.pieces != nil {
		bound += d.chargePieces(x)
	}
	for _, t := range d.active {
		d.buildSteps(x, t)
	}
	d.clear()
	for _, i := range d.moving {
		if d.choices != nil && d.inChoice[i] {
			continue
		}
		// free_i with its count; the count is kept for the subgradient.
		d.count[i], d.Free[i] = d.best(x, i)
		if !p.Apps[i].Pinnable || d.choice[i] == problem.Freed {
			// Freed ones and those that cannot stay have no score: nothing is left to choose.
			bound += d.Free[i]
			d.useFree(i, d.slope)
			continue
		}
		// Everyone else starts as kept, and F* adds score = free - keep for its members below.
		d.Keep[i] = d.keepValue(x, i)
		bound += d.Keep[i]
		d.add(i, d.Free[i]-d.Keep[i])
	}
	bound += d.chooseOptions(x)
	// All that may be freed have their scores now.
	d.choose()
	// The subgradient is that of the maximizer: of each application what it uses where it
	// ended, free or kept.
	for at, sc := range d.All {
		if at < len(d.Chosen) {
			bound += sc.Gain
			d.useFree(sc.App, d.slope)
		} else {
			d.useKept(sc.App, d.slope)
		}
	}
	return bound
}

// Multipliers spells x out for solver.DualBound, at which d must have been evaluated last, without choices.
// Adjust is the score that just misses the budget.
// For fixed scores the adjustment budget B costs min over nu >= 0 of B nu + sum_i max(0, score_i - nu),
// whose minimum lies at the (B+1)-th largest score, or 0: so this nu loses nothing against F*.
func (d *Dual) Multipliers(x []float64) *solver.Multipliers {
	// nu = Next, the (B+1)-th largest score.
	adjust := d.Next
	if adjust < solver.ObjectiveTolerance {
		adjust = 0 // rounding of what it costs
	}
	m := &solver.Multipliers{Loss: d.Lambda(x), Adjust: adjust, Server: make([][]float64, d.Problem.Servers)}
	if d.pieces != nil {
		m.Pieces = d.pieces.prices()
	}
	// The clones keep the certificate from changing when the descent goes on.
	for j := range m.Server {
		g := int(d.ClassOf[j])
		m.Server[j] = slices.Clone(x[g*d.Problem.Kinds : (g+1)*d.Problem.Kinds])
	}
	// Ceilings that cannot be exceeded have no row, and a price of 0 in the certificate; without any there is no list of them.
	for c, ceiling := range d.Problem.Ceilings {
		if m.Group == nil {
			m.Group = make([][]float64, len(d.Problem.Inst.Groups))
			for g := range m.Group {
				m.Group[g] = make([]float64, d.Problem.Kinds)
			}
		}
		m.Group[ceiling.Group][ceiling.Kind] = x[d.ceilingsAt()+c]
	}
	return m
}

// gradient returns the subgradient that Evaluate has left behind.
// The next evaluation overwrites it.
func (d *Dual) gradient() []float64 { return d.slope }
