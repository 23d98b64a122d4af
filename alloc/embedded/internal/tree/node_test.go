package tree

import (
	"container/heap"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// Nodes come by bound, the largest first, and the newest of equals; what came off holds no memory any more.
func TestNodesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h nodes
		var all []*node
		for at := range rapid.IntRange(0, 12).Draw(t, "nodes") {
			n := &node{bound: float64(rapid.IntRange(0, 3).Draw(t, "bound")), order: int64(at)}
			all = append(all, n)
			heap.Push(&h, n)
		}
		slices.SortFunc(all, func(a, b *node) int {
			if a.bound != b.bound {
				return int(b.bound - a.bound)
			}
			return int(b.order - a.order)
		})
		for _, want := range all {
			if got := heap.Pop(&h).(*node); got != want {
				t.Fatalf("bound %g of order %d came off, want %g of order %d", got.bound, got.order, want.bound, want.order)
			}
			if h[:len(h)+1][len(h)] != nil {
				t.Fatal("the heap holds on to a node that came off")
			}
		}
	})
}

// rooted returns the tree of a recorded decision at its root, by lists of patterns.
func rooted(t *testing.T, name string) *Tree {
	t.Helper()
	p := problem.New(instancetest.Recorded(name))
	return New(t.Context(), leaf.NewLeaves(pattern.New(p, pattern.MostPatterns)), tuning.Standard(), nil)
}

// The target is below the bound whatever is known: a part of the incumbent, or of the bound, or one below it.
func TestTarget(t *testing.T) {
	tree := rooted(t, "scarce")
	for name, c := range map[string]struct {
		found              bool
		value, bound, want float64
	}{
		"incumbent":              {true, 2, 2.5, 2 * tree.tune.Aim},
		"none, positive bound":   {false, 0, 2, 2 * lagrange.BlindTarget},
		"none, a bound of zero":  {false, 0, 0, -1},
		"none, a negative bound": {false, 0, -3, -4},
	} {
		tree.Found, tree.Value, tree.Descent.Bound = c.found, c.value, c.bound
		if got := tree.target(); got != c.want || got >= c.bound {
			t.Errorf("%s: %g, want %g below %g", name, got, c.want, c.bound)
		}
	}
}

// The bound of a tree is that of whatever may still hide something: the incumbent, what was given up, and what is open, but
// no more than was proven before.
func TestBound(t *testing.T) {
	tree := rooted(t, "scarce")
	tree.Found, tree.Value, tree.Lost, tree.proven, tree.Open = true, 1, math.Inf(-1), 5, nil
	check := func(what string, want float64) {
		t.Helper()
		if got := tree.Bound(); got != want {
			t.Errorf("%s: bound %g, want %g", what, got, want)
		}
	}
	check("nothing is open", 1)
	tree.drop(1 + tree.Least()/2)
	check("nothing better was lost", 1)
	tree.drop(3)
	tree.drop(2)
	check("two were given up", 3)
	tree.Open = nodes{{bound: 4}, {bound: 3.5}}
	check("two are open", 4)
	tree.proven = 3.5
	check("an earlier tree has proven less", 3.5)
	tree.Found, tree.Lost, tree.Open, tree.Value = false, math.Inf(-1), nil, math.Inf(-1)
	tree.drop(0.5)
	check("without an incumbent all that is given up counts", 0.5)
}

// Whoever is fixed is so in every set that is better than the cut: the bound with the opposite choice is at most the cut.
func TestFixIsProven(t *testing.T) {
	fixed := 0
	for _, name := range []string{"scarce", "fifth"} {
		tree := rooted(t, name)
		// A cut just below the bound leaves hardly anybody a choice.
		tree.Found, tree.Value = true, tree.RootBound-0.004
		tree.ev.Decide(tree.choice)
		tree.Descent.Back()
		n := tree.fix()
		count := 0
		for i, c := range tree.choice {
			if c == problem.Open {
				continue
			}
			count++
			opposite := make([]problem.Choice, len(tree.choice))
			if opposite[i] = problem.Kept; c == problem.Kept {
				opposite[i] = problem.Freed
			}
			tree.ev.Decide(opposite)
			if bound := tree.ev.Evaluate(tree.RootX); bound > tree.Cut()+1e-9 {
				t.Errorf("%s: application %d is fixed, but the opposite is bounded by %g above the cut %g", name, i, bound, tree.Cut())
			}
		}
		if n != count {
			t.Errorf("%s: %d are said to be fixed, %d are", name, n, count)
		}
		fixed += n
	}
	if fixed == 0 {
		t.Error("nobody was fixed")
	}
}

// The tree branches on whoever was in F* about half of the time, the first of equals, and on nobody who is decided.
func TestPick(t *testing.T) {
	tree := rooted(t, "scarce")
	var open []int
	for i := range tree.choice {
		if tree.Problem.Apps[i].Pinnable {
			open = append(open, i)
		}
	}
	if len(open) < 4 {
		t.Fatalf("%d applications may stay: nothing is tested", len(open))
	}
	tree.sel.Rounds = 10
	clear(tree.sel.Often)
	if got := tree.pick(); got != open[0] {
		t.Errorf("of those that were never in F* %d, want %d", got, open[0])
	}
	tree.sel.Often[open[0]], tree.sel.Often[open[1]], tree.sel.Often[open[2]], tree.sel.Often[open[3]] = 10, 2, 6, 4
	if got := tree.pick(); got != open[2] {
		t.Errorf("of 10, 2, 6 and 4 in 10 rounds %d, want %d with 6, as 4 comes later", got, open[2])
	}
	tree.choice[open[2]] = problem.Kept
	if got := tree.pick(); got != open[3] {
		t.Errorf("with that decided %d, want %d", got, open[3])
	}
	for _, i := range open {
		tree.choice[i] = problem.Freed
	}
	if got := tree.pick(); got != -1 {
		t.Errorf("nobody is open, but %d", got)
	}
}

// The multipliers of so many nodes are remembered, the oldest one makes room, and none of them is a node's own.
func TestRemember(t *testing.T) {
	tree := rooted(t, "scarce")
	tree.lately = nil
	most := tree.tune.Recent
	for n := range 2*most + 1 {
		tree.Nodes = int64(n)
		tree.Descent.Best[0] = float64(n)
		tree.remember()
		if want := min(n+1, most); len(tree.lately) != want {
			t.Fatalf("%d remembered after %d nodes, want %d", len(tree.lately), n+1, want)
		}
	}
	var firsts []float64
	for _, x := range tree.lately {
		firsts = append(firsts, x[0])
	}
	slices.Sort(firsts)
	for at, first := range firsts {
		if want := float64(most + 1 + at); first != want {
			t.Errorf("the %d-th remembered is of node %g, want %g", at, first, want)
		}
	}
	without := *tree.tune
	without.Recent = 0
	tree.tune, tree.lately = &without, nil
	if tree.remember(); tree.lately != nil {
		t.Error("something is remembered where nothing is to be")
	}
}

// A node starts from whichever multipliers prove least at its choices, its parent's or those of another node.
func TestEnterBorrows(t *testing.T) {
	tree := rooted(t, "scarce")
	root := tree.Open[0]
	bad := slices.Clone(tree.RootX)
	for t := range tree.Problem.Types {
		bad[t] += 0.5
	}
	n := &node{choices: root.choices, limits: root.limits, x: bad, bound: root.bound}
	tree.lately = nil
	tree.enter(n)
	alone := tree.Descent.Bound
	tree.lately = [][]float64{slices.Clone(tree.RootX)}
	tree.enter(n)
	if !(tree.Descent.Bound < alone) || math.Abs(tree.Descent.Bound-tree.RootBound) > 1e-9 {
		t.Errorf("bound %g with the multipliers of the root at hand, %g without, the root proves %g", tree.Descent.Bound, alone, tree.RootBound)
	}
	n.x, tree.lately = tree.RootX, [][]float64{bad}
	if tree.enter(n); math.Abs(tree.Descent.Bound-tree.RootBound) > 1e-9 {
		t.Errorf("bound %g from the parent's, which prove %g", tree.Descent.Bound, tree.RootBound)
	}
	if tree.sel.Rounds != 1 {
		t.Errorf("F* of %d rounds is counted at the start of a node, want its own evaluation alone", tree.sel.Rounds)
	}
}

// A node with a new limit takes more rounds at its first visit, which count as the nodes that they take the time of.
func TestRoundsOfLimits(t *testing.T) {
	tree := rooted(t, "scarce")
	limited, other := &node{limited: true}, &node{}
	before := tree.Nodes
	for _, n := range []int{tree.rounds(other, 0), tree.rounds(limited, 1)} {
		if n != tree.Each || tree.Nodes != before {
			t.Errorf("%d rounds, %d nodes more; want %d and none", n, tree.Nodes-before, tree.Each)
		}
	}
	if n := tree.rounds(limited, 0); n != tree.tune.LimitRounds || tree.Nodes-before != int64(n/tree.tune.NodeRounds) {
		t.Errorf("%d rounds, %d nodes more", n, tree.Nodes-before)
	}
}
