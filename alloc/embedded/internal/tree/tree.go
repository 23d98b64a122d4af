// This file holds a Tree: the nodes that are open, what was given up, and the bound that both leave, [Land60].

package tree

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// bounder is the bound that a tree uses: it depends on multipliers and on the choices of a node.
type bounder interface {
	lagrange.Oracle
	Decide(choices []problem.Choice)
	State() *lagrange.Selection
}

// Tree is one search for the best set of free applications.
// Answers holds the incumbent and the cut that all nodes are compared with; leaves write it, so that a better
// solution rules out nodes that already wait. by settles leaves and judges sets: by lists of patterns, or
// where those explode by the rest as an instance of its own. Descent is shared by all nodes,
// each of which begins it anew: so a node needs memory of its own only once it has children. choice also holds
// what fix has decided, beyond what the node came with; its children inherit both.
type Tree struct {
	*leaf.Answers
	by      leaf.Answerer
	ev      bounder
	sel     *lagrange.Selection // of ev
	Descent *lagrange.Descent
	tune    *tuning.Numbers
	// Each is how many rounds a node takes, LeafRounds a leaf before it is settled.
	Each, LeafRounds int
	Open             nodes
	// RootX and RootBound are the multipliers of the root and what they prove.
	RootX     []float64
	RootBound float64
	// lately is where the descents of the last nodes ended.
	lately [][]float64
	// proven is a bound on the whole tree, from the root or from an earlier search.
	proven float64
	// Lost is the largest bound of what was given up without a proof that it is no better.
	Lost float64
	// limiting: nodes limit the use of kinds; LimitsAt is where the multipliers of limits start, -1
	// where the bound has none.
	limiting bool
	limitsAt int
	Nodes    int64
	choice   []problem.Choice // of the node worked on
}

// Of makes a tree of what d has come to, which is about ev, the prices by server.
func Of(by leaf.Answerer, ev bounder, d *lagrange.Descent, tune *tuning.Numbers) *Tree {
	t := &Tree{Answers: by.Known(), by: by, ev: ev, sel: ev.State(), Descent: d, tune: tune, Each: tune.PriceRounds, Lost: math.Inf(-1), limitsAt: -1}
	t.choice = make([]problem.Choice, len(t.Problem.Apps))
	t.setRoot()
	return t
}

// setRoot makes the root of what the descent has come to.
func (t *Tree) setRoot() {
	// RootX is cloned: the descent overwrites Best at the next node, and BeginLimits returns to RootX later.
	t.RootX, t.RootBound, t.proven = slices.Clone(t.Descent.Best), t.Descent.Bound, t.Descent.Bound
	t.Open = nodes{{choices: slices.Clone(t.choice), limits: lagrange.NoLimits(t.Problem), x: t.RootX, bound: t.Descent.Bound}}
}

// target is what the step rule aims at.
func (t *Tree) target() float64 {
	switch {
	// With an incumbent target = Aim Value. Aim lies below 1: aimed at the incumbent itself the bound stays 8
	// to 30 % high.
	case t.Found:
		return t.tune.Aim * t.Value
	// Without an incumbent a fixed part of the bound is all that target can be; that part lies below the bound
	// only where the bound is positive.
	case t.Descent.Bound > 0:
		return lagrange.BlindTarget * t.Descent.Bound
	}
	// A bound of 0 or less has no such part below it, and the step needs bound - target > 0.
	return t.Descent.Bound - 1
}

// Bound returns the bound on the whole tree.
func (t *Tree) Bound() float64 {
	// Three things may hide the optimum: the incumbent, what was given up (Lost), and what is open. So bound =
	// max(Value, Lost, max over open nodes of their bound), and never more than proven.
	bound := max(t.Value, t.Lost)
	// The heap keeps the largest bound first: Open[0] stands for all nodes, O(1).
	if len(t.Open) > 0 {
		bound = max(bound, t.Open[0].bound)
	}
	return min(bound, t.proven)
}

// drop notes that something with that bound is not looked at any more.
func (t *Tree) drop(bound float64) {
	// A bound within Least of the incumbent proves that nothing preferred was lost: then Lost stays. Without
	// an incumbent every bound may hide a solution.
	if !t.Found || bound > t.Value+t.Least() {
		t.Lost = max(t.Lost, bound)
	}
}
