// This file writes what applications lose by the servers that they are on, [Program §14].

package program

import "github.com/apportion/apportion/alloc/milp"

// spread adds (7) and (8) for an application that loses something by its servers, and what it is worth beside Value n: with h_aj of the
// servers of place j, each of which holds up to u of its containers, and v_ns for n containers on s servers,
//
//	host    x_aj <= u h_aj
//	hosts   x_aj >= h_aj
//	c7      sum_j x_aj = sum_ns n v_ns
//	spread  sum_j h_aj = sum_ns s v_ns
//	c8      sum_ns v_ns = 1, or <= 1 where it may also have none
//
// where 1 counts times 1 - z if stays is not nil: what it loses as it is is a part of what staying brings. The relaxation is the convex hull
// of all pairs.
func (b *builder) spread(x *cells, a int, n []milp.Term, stays *milp.Var) {
	app := &b.inst.Apps[a]
	var on, chosen []milp.Term
	most := 0.0
	for s, j := range x.servers[a] {
		size := float64(x.in.size[j])
		h := b.Integer(0, size, name("h_a", a, "_s", j))
		b.AtMost(name("host_a", a, "_s", j), []milp.Term{term(x.vars[a][s], 1), term(h, -float64(x.in.each(app, j)))}, 0)
		b.AtLeast(name("hosts_a", a, "_s", j), []milp.Term{term(x.vars[a][s], 1), term(h, -1)}, 0)
		on, most = append(on, term(h, 1)), most+size
	}
	free := app.Allows(0)
	for number, extra := range app.Numbers() {
		// None needs a variable only where it is worth or loses something, as in listed.
		if number == 0 && extra == 0 && (app.Losses == nil || app.Loss(0) == 0) {
			continue
		}
		free = free && number > 0
		torn := app.Torn(number)
		for s := min(number, 1); s <= number && float64(s) <= most; s++ {
			v := b.Integer(0, 1, name("v_a", a, "_n", number, "_s", s))
			chosen = append(chosen, term(v, 1))
			n, on = append(n, term(v, -float64(number))), append(on, term(v, -float64(s)))
			if worth := extra - torn.On(s); worth != 0 {
				b.cost = append(b.cost, term(v, worth))
			}
			if loss := app.Loss(number); app.Losses != nil && loss > lossNoise {
				b.losses = append(b.losses, term(v, loss))
			}
			if number == 0 {
				break
			}
		}
	}
	b.Equal(name("c7_a", a), n, 0)
	b.Equal(name("spread_a", a), on, 0)
	if stays != nil {
		chosen = append(chosen, term(*stays, 1))
	}
	if free {
		b.AtMost(name("c8_a", a), chosen, 1)
	} else {
		b.Equal(name("c8_a", a), chosen, 1)
	}
}
