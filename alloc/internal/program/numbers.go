// This file writes which numbers of containers an application may have, [Dorm (7), (8)] with steps, lists
// and applications that need not run, and what adjusting them costs, (16).

package program

import (
	"fmt"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// numbers adds (7) and (8): the cells x of application a add up to a number n of containers that it may
// have. Where stays is not nil it is the z of an application for which n is 0 while it stays as it is, and
// all right sides count times 1 - z:
//
//	c7, c8  min <= n <= max
//	c7, c8  min e <= n <= max e, e in {0,1}      it may also have none, and one step is not enough
//	c9      e <= 1 - z                           for the relaxation only, the other rows imply it
//	step    n = step t, t whole                  multiples of a step
//	c7      n = sum_h h u_h, u_h in {0,1}        one of the listed numbers h
//	c8      sum_h u_h = 1, or <= 1 where it may also have none
//
// and what they are worth beside Value n: sum_h w_h u_h where the worths w are not concave, else as concave says. Losses that are
// stated by number are sum_h l_h u_h. What servers cost is for spread to say.
func (b *builder) numbers(x *cells, a int, stays *milp.Var) {
	app := &b.inst.Apps[a]
	n := sum(nil, x.vars[a], 1)
	if app.Spread != nil {
		b.spread(x, a, n, stays)
		return
	}
	// A list says all there is to say: its numbers are tested against the bounds and the step one by one. So do
	// worths and losses of any shape, which take a variable for each number, too.
	pieces := piecesOf(app)
	if app.Counts != nil || app.Losses != nil || app.Worth != nil && (pieces == nil || b.whole) {
		b.listed(a, n, stays)
		return
	}
	b.concave(a, n, pieces, stays)
	// The bounds are those that a legal number reaches, which is tighter than Min and Max where there is a
	// step; without one, and with nothing elective, they are Min and Max themselves, as the paper prints.
	least, most, none := app.AtLeast(1), app.AtMost(app.Max), app.Allows(0)
	switch {
	case least < 0 && !none:
		least = 1 // more than most, and no number at all
	case none && least <= max(1, app.Step):
		least = 0 // nothing lies between none and the first
	}
	if app.Step > 1 {
		steps := b.Integer(0, float64(max(0, most)/app.Step), name("t_a", a))
		b.Equal(name("step_a", a), append(n, term(steps, -float64(app.Step))), 0)
	}
	// Only here is there a gap that neither an interval nor a step describes: nothing, or enough of it.
	if none && least > 0 {
		b.some(a, n, least, most, stays)
		return
	}
	b.between(a, n, least, most, stays)
}

// between adds least <= n <= most. Where least is above most it adds both all the same, so that the program has
// no solution, as P2 has none; most may be -1 then, which no row of counts needs.
func (b *builder) between(a int, n []milp.Term, least, most int64, stays *milp.Var) {
	lower, upper := float64(least), float64(max(0, most))
	if stays == nil && lower <= upper {
		b.Row(name("c7_a", a), lower, n, upper) // (7)(8)
		return
	}
	// With z, or without any number, each side is a row of its own.
	above, below := n, n
	if stays != nil {
		above, below = append(n, term(*stays, upper)), append(n[:len(n):len(n)], term(*stays, lower))
	}
	b.AtMost(name("c7_a", a), above, upper)
	b.AtLeast(name("c8_a", a), below, lower)
}

// some adds that n is 0 or least <= n <= most.
func (b *builder) some(a int, n []milp.Term, least, most int64, stays *milp.Var) {
	// e needs no cost: both rows tie it to n, so that it is 1 just where there are containers.
	e := b.Integer(0, 1, name("e_a", a))
	b.AtMost(name("c7_a", a), append(n[:len(n):len(n)], term(e, -float64(most))), 0)
	b.AtLeast(name("c8_a", a), append(n[:len(n):len(n)], term(e, -float64(least))), 0)
	if stays != nil {
		b.AtMost(name("c9_a", a), []milp.Term{term(e, 1), term(*stays, 1)}, 1)
	}
}

// mostListed bounds the variables of listed numbers that no list in the instance bounds. With its name and its terms in rows and
// back-ends each takes some hundred bytes.
const mostListed = 1 << 20

// listable returns an error where the applications that state their losses by points, or lose by their servers, may have more than mostListed numbers of
// containers together: losses of any shape need a variable for each number, however few the points are. What Counts or Worth
// list is as long as the instance, and not counted.
func listable(inst *solver.Instance) error {
	left := int64(mostListed)
	for i := range inst.Apps {
		app := &inst.Apps[i]
		if app.Spread == nil && (app.Losses == nil || app.Worth != nil || app.Counts != nil) {
			continue
		}
		// The numbers lie Step apart, and the first is at least 1, so that nothing overflows.
		first, last := app.AtLeast(1), app.AtMost(app.Max)
		if first < 0 || last < first {
			continue
		}
		pairs := (last-first)/max(1, app.Step) + 1
		// With what servers cost there is a variable for each number of servers, too.
		if app.Spread != nil {
			pairs = mulSaturated(pairs, int64(len(inst.Capacity)))
		}
		if left -= min(pairs, mostListed+1); left < 0 {
			return &apportion.FieldError{
				Item: apportion.Item{Kind: "application", Index: i}, Field: "Max", Err: apportion.ErrRange,
				Detail: fmt.Sprintf("%d containers, each number of which has a loss of its own", last),
			}
		}
	}
	return nil
}

// listed adds that n is one of the listed numbers, or 0 where that is allowed. Its relaxation is the convex
// hull of those numbers, and so the tightest there is for one application.
func (b *builder) listed(a int, n []milp.Term, stays *milp.Var) {
	app := &b.inst.Apps[a]
	var chosen []milp.Term
	free := app.Allows(0)
	for number, extra := range app.Numbers() {
		// None needs a variable only where it is worth or loses something: where none is chosen there are none.
		if number == 0 {
			if extra == 0 && (app.Losses == nil || app.Loss(0) == 0) {
				continue
			}
			free = false
		}
		u := b.Integer(0, 1, name("u_a", a, "_n", number))
		chosen = append(chosen, term(u, 1))
		n = append(n, term(u, -float64(number)))
		if extra != 0 {
			b.cost = append(b.cost, term(u, extra))
		}
		if loss := app.Loss(number); app.Losses != nil && loss > lossNoise {
			b.losses = append(b.losses, term(u, loss))
		}
	}
	b.Equal(name("c7_a", a), n, 0)
	// While the application stays it chooses none of the numbers, and n is 0 by c7.
	if stays != nil {
		chosen = append(chosen, term(*stays, 1))
	}
	if free {
		b.AtMost(name("c8_a", a), chosen, 1)
	} else {
		b.Equal(name("c8_a", a), chosen, 1)
	}
}

// width adds that application a is on at most its MaxServers servers: with o_aj of the servers of place j,
// each of which holds up to u of its containers,
//
//	on     x_aj <= u o_aj
//	width  sum_j o_aj <= MaxServers, times 1 - z where stays is not nil
func (b *builder) width(x *cells, a int, stays *milp.Var) {
	app := &b.inst.Apps[a]
	if app.MaxServers == 0 || app.MaxServers >= int64(len(b.inst.Capacity)) {
		return // no limit, or none that could bind
	}
	limit := float64(app.MaxServers)
	// o may be larger than need be, which costs nothing and is no solution less.
	var used []milp.Term
	for s, j := range x.servers[a] {
		o := b.Integer(0, min(limit, float64(x.in.size[j])), name("o_a", a, "_s", j))
		b.AtMost(name("on_a", a, "_s", j), []milp.Term{term(x.vars[a][s], 1), term(o, -float64(x.in.each(app, j)))}, 0)
		used = append(used, term(o, 1))
	}
	if stays != nil {
		used = append(used, term(*stays, limit))
	}
	b.AtMost(name("width_a", a), used, limit)
}

// adjustCosts returns what adjusting each application takes from the budget of (16), and that budget, both
// in a unit in which rows count exactly or, where there is none, in one that makes (16) a relaxation.
func (b *builder) adjustCosts() (costs []float64, budget float64) {
	costs = make([]float64, len(b.inst.Apps))
	have := b.inst.AdjustBudget
	if have == math.MaxInt64 {
		return costs, float64(have) // which pays for everything
	}
	// The divisor is that of what can be had: a prohibitive cost must not spoil it.
	common, most := int64(0), 0.0
	for a := range costs {
		if app := &b.inst.Apps[a]; app.Running {
			most += math.Min(float64(app.Cost), float64(have)+1)
			if app.Cost <= have {
				common = gcd(common, app.Cost)
			}
		}
	}
	if common == 0 {
		common = max(0, have) + 1 // nobody can be adjusted at a cost: any unit will do
	}
	unit, rounded := unitFor(common, most)
	b.rounded = b.rounded || rounded
	// Costs and budget are both rounded down: what the exact costs allow, the rounded ones allow too.
	for a := range costs {
		if cost := b.inst.Apps[a].Cost; cost <= have {
			costs[a] = float64(cost / unit)
		} else {
			// What is above the budget cannot be had, whatever it is above it by.
			costs[a] = float64(max(0, have)/unit) + 1
		}
	}
	return costs, float64(have / unit)
}
