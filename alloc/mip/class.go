// This file writes P2 with servers of equal capacity pooled into classes, a relaxation, [Dorm
// (6)-(18)].

package mip

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// byClass builds the verbatim form on x[i][g], the containers of application i on the servers of
// class g together:
//
//	(6)       sum_i d_ik x_ig <= sum of c_jk over the servers j of class g
//	(13)(14)  M_ig r_i >= |x_ig - xprev_ig|, xprev_ig summed over the class
//
// Every solution of P2 gives one of it with the same utilization, so its optimum is an upper bound.
func byClass(b *builder) *Model {
	c := classesOf(b.inst)
	pools := places{make([]apportion.Resources, len(c.servers)), make([]int64, len(c.servers))}
	for g, servers := range c.servers {
		pools.capacity[g], pools.size[g] = b.inst.Capacity[servers[0]], int64(len(servers))
	}
	x := b.cells("x", pools)
	b.capacities(b.use(x, len(pools.size)), pools)
	model := &Model{Relaxed: true, decode: func(values []float64) solver.Counts { return c.unpool(x.counts(values)) }}
	b.budgets(model, x, c.had)
	return model
}

// classes are the servers of each distinct capacity, in the order of first appearance.
type classes struct {
	inst    *solver.Instance
	servers [][]int
	of      []int // class of each server
}

func classesOf(inst *solver.Instance) *classes {
	c := &classes{inst: inst, of: make([]int, len(inst.Capacity))}
	order := make([]int, len(inst.Capacity))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(inst.Capacity[a], inst.Capacity[b]) })
	for s, j := range order {
		if s > 0 && inst.Capacity[order[s-1]].Equal(inst.Capacity[j]) {
			last := len(c.servers) - 1
			c.servers[last] = append(c.servers[last], j)
		} else {
			c.servers = append(c.servers, []int{j})
		}
	}
	slices.SortFunc(c.servers, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	for g, servers := range c.servers {
		for _, j := range servers {
			c.of[j] = g
		}
	}
	return c
}

// had returns how many containers application a holds now in class g.
func (c *classes) had(a, g int) int64 {
	var n int64
	for _, placed := range c.inst.Apps[a].Previous {
		if c.of[placed.Server] == g {
			n += placed.Count
		}
	}
	return n
}
