// This file writes that an application uses one of its options, H of [Program §2].

package program

import "github.com/apportion/apportion/alloc/milp"

// apart takes off what having nothing would count too often: the sums over entries have it once for each option.
func (b *builder) apart() {
	relaxed, added := b.inst.Apart()
	b.budget = relaxed.LossBudget
	price := b.inst.LossPrice
	// The loss that is taken off here comes back into (10) at its price with b.lost.
	b.lost = b.inst.LossBudget - relaxed.LossBudget
	b.worth = -added + float64(price*b.lost)
}

// choices adds for each option a of a choice the variable i_a, 1 where it has containers that are placed anew, and
//
//	in     n <= most i_a, n >= i_a      for the containers n of cells
//	one    sum_a i_a + z <= 1, = 1 where one must be in use
//
// where z, if stays is not nil, is that of the option that runs.
func (b *builder) choices(x *cells, stays []milp.Var) {
	for c := range b.inst.Choices {
		choice := &b.inst.Choices[c]
		var one []milp.Term
		for _, a := range choice.Apps {
			n, most := sum(nil, x.vars[a], 1), 0.0
			for _, upper := range x.upper[a] {
				most += float64(upper)
			}
			// Where no container fits there is no variable, and it cannot be the one.
			if most = min(most, float64(b.inst.Apps[a].Max)); most > 0 {
				in := b.Integer(0, 1, name("i_a", a))
				b.AtMost(name("in_a", a), append(n[:len(n):len(n)], term(in, -most)), 0)
				b.AtLeast(name("some_a", a), append(n[:len(n):len(n)], term(in, -1)), 0)
				one = append(one, term(in, 1))
			}
			if stays != nil && b.inst.Apps[a].Running {
				one = append(one, term(stays[a], 1))
			}
		}
		least := 0.0
		if choice.Required {
			least = 1
		}
		b.Row(name("one_h", c), least, one, 1)
	}
}
