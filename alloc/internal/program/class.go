// This file writes P2 with servers of equal capacity and openness pooled into classes, a relaxation, [Dorm
// (6)-(18)].

package program

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// byClass builds the verbatim form on x[i][g], the containers of application i on the servers of
// class g together:
//
//	(6)       sum_i d_ik x_ig <= sum of c_jk over the servers j of class g
//	(13)(14)  M_ig r_i >= |x_ig - xprev_ig|, xprev_ig summed over the class
//
// Servers of a class are open to the same applications. One may have PerServer times so many containers in a
// class as that has servers, and o_ig says of how many servers of the class it is on, for MaxServers. Every
// solution of P2 gives one of it with the same utilization, so its optimum is an upper bound.
func byClass(b *builder) *Program {
	c := classesOf(b.inst)
	pools := places{make([]apportion.Resources, len(c.servers)), make([]int64, len(c.servers)), make([]int, len(c.servers))}
	for g, servers := range c.servers {
		// A pool keeps the capacity of one server: a container must fit one, not the sum of all.
		pools.capacity[g], pools.size[g], pools.first[g] = b.inst.Capacity[servers[0]], int64(len(servers)), servers[0]
	}
	x := b.cells("x", pools, c.had)
	b.capacities(b.use(x, len(pools.size)), pools)
	// The pool forgets which server has how much left; decode packs, and may fail where the pool
	// had room.
	model := &Program{Relaxed: true, decode: func(values []float64) solver.Counts { return c.unpool(x.counts(values)) }}
	b.budgets(model, x, c.had)
	return model
}
