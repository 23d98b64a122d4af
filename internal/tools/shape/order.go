// This file implements an order of the files of a package with few references that run backward:
// the greedy rule for the feedback arc set, [Eades93], and then moves of single files.
//
// [Eades93] P. Eades, X. Lin, W. F. Smyth. A fast and effective heuristic for the feedback arc set
// problem. Information Processing Letters 47, 1993.

package main

import "slices"

// graph has an arc from i to j where graph[i][j] is set.
type graph [][]bool

func newGraph(n int) graph {
	g := make(graph, n)
	for i := range g {
		g[i] = make([]bool, n)
	}
	return g
}

// arcs returns the number of arcs.
func (g graph) arcs() int {
	count := 0
	for i := range g {
		for j := range g {
			if g[i][j] {
				count++
			}
		}
	}
	return count
}

// backward returns the arcs that lead from a later to an earlier node of order.
func (g graph) backward(order []int) [][2]int {
	var arcs [][2]int
	for at, i := range order {
		for _, j := range order[:at] {
			if g[i][j] {
				arcs = append(arcs, [2]int{i, j})
			}
		}
	}
	return arcs
}

// order returns the nodes in an order with few backward arcs. It starts from the greedy order and moves
// one node at a time to its best place until no move helps. O(n^3) a round.
func (g graph) order() []int {
	order := g.greedy()
	for least := len(g.backward(order)); ; {
		improved := false
		for from := range order {
			for to := range order {
				moved := move(order, from, to)
				if b := len(g.backward(moved)); b < least {
					order, least, improved = moved, b, true
				}
			}
		}
		if !improved {
			return order
		}
	}
}

// greedy takes sinks to the end, sources to the front, and else the node with the most arcs out less
// arcs in to the front.
func (g graph) greedy() []int {
	left := make([]int, len(g))
	for i := range left {
		left[i] = i
	}
	var front, back []int
	for len(left) > 0 {
		best, most, sink := 0, -len(g)-1, false
		for at, i := range left {
			in, out := 0, 0
			for _, j := range left {
				in, out = in+one(g[j][i]), out+one(g[i][j])
			}
			if out == 0 {
				best, sink = at, true
				break
			}
			if out-in > most {
				best, most = at, out-in
			}
		}
		if sink {
			back = append(back, left[best])
		} else {
			front = append(front, left[best])
		}
		left = slices.Delete(left, best, best+1)
	}
	slices.Reverse(back)
	return append(front, back...)
}

func one(set bool) int {
	if set {
		return 1
	}
	return 0
}

// move returns order with the node at position from at position to.
func move(order []int, from, to int) []int {
	moved := slices.Delete(slices.Clone(order), from, from+1)
	return slices.Insert(moved, to, order[from])
}
