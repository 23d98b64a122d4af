// This file implements branch and bound, [Land60]: best first with plunging.

package bb

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
)

// run searches until the tree is empty, the gap is closed or the budget spent. It returns unbounded
// if the root's relaxation is, else optimal.
func (s *search) run() outcome {
	for s.next() {
		// The current node stays in s.current, so that its bound counts in provenBound.
		if s.budget.spentOn(s.nodes, s.bytes()) {
			return optimal
		}
		child, result := s.process(s.current)
		// A node that was stopped is not done either.
		if result == unbounded || result == stopped {
			return result
		}
		// Plunging: the child is solved next, from the basis of its parent, which lies nearest.
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
		// The plunge has ended. The open node of the least bound is the one that the proof needs
		// most.
		if s.current == nil && len(s.open) > 0 {
			s.current = s.open.pop()
		}
		if s.current == nil {
			return false
		}
		// The node was opened before the last incumbents were found; it may have become worthless
		// since.
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
	// Bounds of the root that were tightened since may leave a node empty.
	if !s.install(n) {
		return nil, optimal
	}
	s.nodes++
	// Step 1: the relaxation, given up as soon as its bound reaches what is not worth finding.
	result = s.lp.solve(s.limit())
	switch result {
	case unbounded, stopped:
		return nil, result
	case infeasible:
		return nil, optimal
	}
	// Step 2: the bound, proven from the matrix whatever the outcome was, trouble and cutoff
	// included.
	lagrangian := s.lp.bound()
	if n.parent == nil {
		s.keepRoot(lagrangian)
		s.tightenRoot()
	}
	// A child is never better than its parent, even where rounding says so.
	bound := math.Max(n.bound, s.roundUp(lagrangian))
	s.costs.learn(n, bound)
	// Step 3: what cannot hold a better point is given up, and its bound remembered.
	if bound >= s.limit() {
		s.prune(bound)
		return nil, optimal
	}
	// Step 4: a relaxation whose integers are whole is a point, if it survives the rounding.
	j := -1
	if result == optimal {
		if j = s.costs.choose(s.model, s.lp); j < 0 && s.accept() && s.attains(bound) {
			return nil, optimal
		}
	}
	// accept solves a relaxation too, and may have been stopped in it: the node is not done.
	if s.budget.reason != "" {
		return nil, stopped
	}
	// Step 5: accept has fixed variables, so the node's bounds are put back before the split.
	s.install(n)
	// Every integer is whole, and yet the node is not done (trouble, or rounding cost too much):
	// any split makes progress.
	if j < 0 {
		j = s.unfixed()
	}
	// Nothing is left to split on. The node stays open for ever, and no claim is made about it.
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
	// The path to the root is walked for each node: O(depth), instead of two vectors of bounds for
	// each open node.
	copy(lower, s.rootLower)
	copy(upper, s.rootUpper)
	for ; n.parent != nil; n = n.parent {
		j := n.variable
		// A variable may have been split on several times on the path; the narrowest bounds count.
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
	// The clamp leaves each child at least one value, also where x is whole or beyond its bounds
	// by rounding.
	floor := math.Max(lower, math.Min(math.Floor(x), upper-1))
	down := &node{parent: n, variable: int32(j), depth: n.depth + 1, lower: lower, upper: floor, bound: bound, from: x}
	up := &node{parent: n, variable: int32(j), depth: n.depth + 1, lower: floor + 1, upper: upper, bound: bound, from: x}
	first, second := down, up
	if x-floor >= 0.5 {
		first, second = up, down
	}
	s.serial += 2
	// Of equal nodes the heap gives the youngest, which is the one that the plunge would have
	// taken.
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
	// Reports come with node 1, 101, 201 and so on.
	if s.opts.Log == nil || s.nodes%logEvery != 1 {
		return
	}
	progress := milp.Progress{Nodes: s.nodes, Objective: math.NaN(), Bound: s.outward(s.provenBound())}
	if s.incumbent != nil {
		progress.Objective = s.model.Objective(s.incumbent)
	}
	s.opts.Log(progress)
}
