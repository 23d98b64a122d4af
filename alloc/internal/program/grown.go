// This file writes that a change of an application takes nothing from the budget (16) if it grows enough, [Program §16].

package program

import "github.com/apportion/apportion/alloc/milp"

// grown adds g_a, which may be 1 where application a has more than FreeAbove of the containers in cells, and returns what that gives back of
// the cost of its change; nil where nothing does.
//
//	grown   sum_j x_aj >= (FreeAbove + 1) g_a
func (b *builder) grown(x *cells, a int, cost float64) []milp.Term {
	app := &b.inst.Apps[a]
	if cost == 0 || !app.MayGrow() {
		return nil
	}
	g := b.Integer(0, 1, name("g_a", a))
	b.AtLeast(name("grown_a", a), append(sum(nil, x.vars[a], 1), term(g, -float64(app.FreeAbove+1))), 0)
	return []milp.Term{term(g, -cost)}
}
