// This file implements branch and bound, [LandDoig60]: best first with plunging.

package bb

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
)

// run searches until the tree is empty, the gap is closed or the budget spent. It returns unbounded
// if the root's relaxation is, else optimal.
func (s *search) run() outcome {
	for s.next() {
		if s.budget.spentOn(s.nodes, s.bytes()) {
			return optimal
		}
		child, result := s.process(s.current)
		if result == unbounded || result == stopped {
			return result
		}
		s.current = child
		s.report()
		if s.anyPoint && s.incumbent != nil {
			break
		}
	}
	return optimal
}

// next makes sure that there is a current node worth solving. It reports false at the end.
func (s *search) next() bool {
	for {
		if s.current == nil && len(s.open) > 0 {
			s.current = s.open.pop()
		}
		if s.current == nil {
			return false
		}
		if s.current.bound < s.limit() {
			return true
		}
		s.prune(s.current.bound)
		s.current = nil
	}
}

// process solves one node. It returns the child to plunge into, nil where the node has none; its
// sibling is open then. The result is unbounded, stopped (the node is not done) or optimal (it is).
func (s *search) process(n *node) (child *node, result outcome) {
	if !s.install(n) {
		return nil, optimal
	}
	s.nodes++
	result = s.lp.solve(s.limit())
	switch result {
	case unbounded, stopped:
		return nil, result
	case infeasible:
		return nil, optimal
	}
	lagrangian := s.lp.bound()
	if n.parent == nil {
		s.keepRoot(lagrangian)
		s.tightenRoot()
	}
	bound := math.Max(n.bound, s.roundUp(lagrangian))
	s.costs.learn(n, bound)
	if bound >= s.limit() {
		s.prune(bound)
		return nil, optimal
	}
	j := -1
	if result == optimal {
		if j = s.costs.choose(s.model, s.lp); j < 0 && s.accept() && s.attains(bound) {
			return nil, optimal
		}
	}
	if s.budget.reason != "" {
		return nil, stopped
	}
	s.install(n)
	if j < 0 {
		j = s.unfixed()
	}
	if j < 0 {
		s.unresolved = math.Min(s.unresolved, bound)
		return nil, optimal
	}
	return s.branch(n, j, bound), optimal
}

// install sets the bounds of a node: the root's, narrowed by the node and its ancestors. It reports
// whether they leave a value to every variable.
func (s *search) install(n *node) bool {
	lower, upper := s.lp.lower, s.lp.upper
	copy(lower, s.rootLower)
	copy(upper, s.rootUpper)
	for ; n.parent != nil; n = n.parent {
		j := n.variable
		lower[j], upper[j] = math.Max(lower[j], n.lower), math.Min(upper[j], n.upper)
	}
	for j := range s.lp.n {
		if lower[j] > upper[j] {
			return false
		}
	}
	return true
}

// unfixed returns the first integer variable with more than one value left, -1 without one.
func (s *search) unfixed() int {
	for j := range s.lp.n {
		if s.model.Variable(j).Integer && s.lp.lower[j] < s.lp.upper[j] {
			return j
		}
	}
	return -1
}

// branch splits a node on the value of variable j in the relaxation. It returns the child nearer to
// that value and opens the other.
func (s *search) branch(n *node, j int, bound float64) *node {
	lower, upper, x := s.lp.lower[j], s.lp.upper[j], s.lp.x[j]
	floor := math.Max(lower, math.Min(math.Floor(x), upper-1))
	down := &node{parent: n, variable: int32(j), depth: n.depth + 1, lower: lower, upper: floor, bound: bound, from: x}
	up := &node{parent: n, variable: int32(j), depth: n.depth + 1, lower: floor + 1, upper: upper, bound: bound, from: x}
	first, second := down, up
	if x-floor >= 0.5 {
		first, second = up, down
	}
	s.serial += 2
	second.serial, first.serial = s.serial-1, s.serial
	s.open.push(second)
	return first
}

// bytes returns the memory in use.
func (s *search) bytes() float64 {
	return bytesFor(s.lp.m, s.lp.n, s.model.Nonzeros()) + float64(nodeBytes*len(s.open))
}

// report tells the caller's log where the search stands.
func (s *search) report() {
	if s.opts.Log == nil || s.nodes%logEvery != 1 {
		return
	}
	progress := milp.Progress{Nodes: s.nodes, Objective: math.NaN(), Bound: s.outward(s.provenBound())}
	if s.incumbent != nil {
		progress.Objective = s.model.Objective(s.incumbent)
	}
	s.opts.Log(progress)
}
