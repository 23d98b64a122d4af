// This file writes the fairness loss of P2, [Dorm (11), (12) and (15)]: with a continuous variable for
// each application as printed, or with whole numbers only.

package program

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// lossNoise is what counts as no loss: where an application holds its very share, rounding leaves some
// 1e-17, a coefficient that solvers refuse or drop. A thousand such losses are within LossTolerance.
const lossNoise = 1e-12

// loss adds |delta n - share| of application a to the losses, where n is the sum of the variables
// placed. stays, where it is not the zero Var, is the z of an application that loses nothing here
// while it stays as it is: then n is 0, and share counts times 1 - z.
func (b *builder) loss(a int, placed []milp.Var, stays *milp.Var) {
	app := &b.inst.Apps[a]
	// What is stated by number is a part of builder.listed.
	if app.Losses != nil {
		return
	}
	if b.whole {
		b.wholeLoss(a, placed, stays)
		return
	}
	// l is bounded from above although it is minimized: back-ends without unbounded variables need
	// it.
	l := b.Continuous(0, b.largestLoss(app), name("l_a", a))
	terms := sum(nil, placed, app.Delta)
	if stays != nil {
		terms = append(terms, term(*stays, app.Share))
	}
	// The two rows say delta n - l <= share <= delta n + l, the linear form of l >= |delta n -
	// share|.
	b.AtMost(name("c11_a", a), append(terms, term(l, -1)), app.Share) // (11)
	b.AtLeast(name("c12_a", a), append(terms, term(l, 1)), app.Share) // (12)
	b.losses = append(b.losses, term(l, 1))
}

// largestLoss bounds l_a without cutting off an allocation: no application alone may lose more than
// (15) leaves for all, and |delta n - share| is largest at no containers or at the maximum. The
// tolerance is that of (15), and covers the rounding of delta n in the rows.
func (b *builder) largestLoss(app *solver.App) float64 {
	reachable := math.Max(app.Loss(0), app.Loss(app.Max))
	return math.Max(0, math.Min(b.budget, reachable)) + solver.LossTolerance
}

// wholeLoss writes the loss of whole containers without a continuous variable. With share =
// delta (m + f), m whole and 0 <= f < 1,
//
//	|delta n - share| = min delta (p + q + f - 2 f b)
//	s.t. n = m + p - q,  p >= b,  p, q >= 0 whole,  b in {0,1}
//
// Proof. For n > m take b = 1, p = n - m, q = 0: delta (n - m - f). For n <= m take b = 0, p = 0,
// q = m - n: delta (m + f - n). Both are the loss. No other choice is less: with b = 0 it is
// delta (|n - m| + f) at least, with b = 1 and so p >= 1 it is delta (n - m - f) at least, and where
// n <= m it is delta (m - n + 2 - f). While the application stays, m and f count times 1 - z:
// p = q = b = 0 is allowed and gives no loss, and nothing gives less.
func (b *builder) wholeLoss(a int, placed []milp.Var, stays *milp.Var) {
	app := &b.inst.Apps[a]
	if app.Delta == 0 { // it demands nothing that the cluster has
		b.addShareOnce(app.Share, stays)
		return
	}
	// m is the largest whole number of containers within the share, f what of one more the share
	// has.
	m := math.Floor(app.Share / app.Delta)
	f := app.Share/app.Delta - m
	above := math.Max(0, float64(app.Max)-m)
	p := b.Integer(0, above, name("p_a", a))
	q := b.Integer(0, m, name("q_a", a))
	// Where the maximum is within the share nothing lies above it, and over is fixed at 0.
	over := b.Integer(0, math.Min(1, above), name("b_a", a))

	whole := append(sum(nil, placed, 1), term(p, -1), term(q, 1))
	if stays != nil {
		whole = append(whole, term(*stays, m))
	}
	b.Equal(name("c11_a", a), whole, m)
	b.AtLeast(name("c12_a", a), []milp.Term{term(p, 1), term(over, -1)}, 0)
	b.losses = append(b.losses, term(p, app.Delta), term(q, app.Delta), term(over, -2*app.Delta*f))
	b.addShareOnce(app.Delta*f, stays)
}

// addShareOnce adds a loss that is constant but for an application that stays.
func (b *builder) addShareOnce(share float64, stays *milp.Var) {
	b.lost += share
	if stays != nil {
		b.losses = append(b.losses, term(*stays, -share))
	}
}

// lossBudget adds (15), widened by the tolerance that Check grants, and takes the price of all losses
// off (10).
func (b *builder) lossBudget() {
	b.AtMost("c15", b.losses, b.inst.LossBudget+solver.LossTolerance-b.lost)
	price := b.inst.LossPrice
	if price == 0 {
		return // terms of nothing would only cost time
	}
	// (10) and (15) share the terms, so that the price charges what the budget counts, also in whole
	// numbers, where a part of the loss is constant.
	for _, loss := range b.losses {
		b.cost = append(b.cost, term(loss.Var, -price*loss.Coef))
	}
	b.worth -= float64(price * b.lost)
}
