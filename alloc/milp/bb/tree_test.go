package bb

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"pgregory.net/rapid"
)

// TestOpenNodes: nodes come out by bound, then depth, then youth, whatever order they went in; least is the
// bound of the next one.
func TestOpenNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*node
		for serial := range rapid.IntRange(1, 30).Draw(t, "nodes") {
			all = append(all, &node{
				bound: float64(rapid.IntRange(0, 3).Draw(t, "bound")), depth: int32(rapid.IntRange(0, 3).Draw(t, "depth")), serial: int64(serial),
			})
		}
		var h openNodes
		for _, k := range rapid.Permutation(all).Draw(t, "order") {
			h.push(k)
		}
		slices.SortFunc(all, func(x, y *node) int {
			return slices.Compare([]float64{x.bound, -float64(x.depth), -float64(x.serial)}, []float64{y.bound, -float64(y.depth), -float64(y.serial)})
		})
		for k, want := range all {
			if least := h.least(); least != want.bound {
				t.Fatalf("least %v before node %d, want %v", least, k, want.bound)
			}
			if got := h.pop(); got != want {
				t.Fatalf("node %d is %+v, want %+v", k, got, want)
			}
		}
		if !math.IsInf(h.least(), 1) {
			t.Fatal("an empty heap has a bound")
		}
	})
}

// TestBranch: the children share the parent's values out between them, the nearer one is solved first, and
// none is empty even where the value is whole or beyond its bounds.
func TestBranch(t *testing.T) {
	for _, c := range []struct {
		x             float64
		first, second [2]float64
		firstIsUp     bool
	}{
		{x: 2.3, first: [2]float64{0, 2}, second: [2]float64{3, 5}},
		{x: 2.5, first: [2]float64{3, 5}, second: [2]float64{0, 2}, firstIsUp: true},
		{x: 2.9, first: [2]float64{3, 5}, second: [2]float64{0, 2}, firstIsUp: true},
		{x: 2, first: [2]float64{0, 2}, second: [2]float64{3, 5}},
		{x: 5, first: [2]float64{5, 5}, second: [2]float64{0, 4}, firstIsUp: true},
		{x: 5 + 1e-9, first: [2]float64{5, 5}, second: [2]float64{0, 4}, firstIsUp: true},
		{x: -1e-9, first: [2]float64{0, 0}, second: [2]float64{1, 5}},
	} {
		s := searching(model(t, func(b *milp.Builder) { b.Integer(0, 5, "") }))
		parent := s.current
		s.lp.x[0] = c.x
		first := s.branch(parent, 0, 7)
		second := s.open.pop()
		if got := [2]float64{first.lower, first.upper}; got != c.first {
			t.Errorf("%v: the first child has %v, want %v", c.x, got, c.first)
		}
		if got := [2]float64{second.lower, second.upper}; got != c.second {
			t.Errorf("%v: the second child has %v, want %v", c.x, got, c.second)
		}
		for _, n := range []*node{first, second} {
			if n.parent != parent || n.depth != 1 || n.bound != 7 || n.from != c.x {
				t.Errorf("%v: child %+v", c.x, n)
			}
		}
		if whole := math.Abs(c.x-math.Round(c.x)) <= wholeTol; !whole && (first.up() != c.firstIsUp || second.up() == c.firstIsUp) {
			t.Errorf("%v: the first is up: %v, the second: %v", c.x, first.up(), second.up())
		}
		if first.serial <= second.serial {
			t.Errorf("%v: serials %d and %d: the child that is plunged into must be the youngest", c.x, first.serial, second.serial)
		}
	}
}

// TestInstall: the narrowest bounds on the way to the root count, and an empty node is told.
func TestInstall(t *testing.T) {
	s := searching(model(t, func(b *milp.Builder) {
		b.Integer(0, 9, "")
		b.Integer(0, 9, "")
	}))
	root := s.current
	child := &node{parent: root, variable: 0, lower: 2, upper: 9}
	grandchild := &node{parent: child, variable: 0, lower: 2, upper: 5}
	other := &node{parent: grandchild, variable: 1, lower: 0, upper: 3}
	if !s.install(other) || !slices.Equal(s.lp.lower[:2], []float64{2, 0}) || !slices.Equal(s.lp.upper[:2], []float64{5, 3}) {
		t.Errorf("bounds %v..%v", s.lp.lower, s.lp.upper)
	}
	s.rootUpper[0] = 1 // tightened since
	if s.install(other) {
		t.Error("a node without a value for variable 0 was installed")
	}
	if !s.install(root) || s.lp.upper[0] != 1 || s.lp.upper[1] != 9 {
		t.Errorf("root: upper %v", s.lp.upper)
	}
}

// TestUnfixed: the first integer variable that can still be split on.
func TestUnfixed(t *testing.T) {
	s := searching(model(t, func(b *milp.Builder) {
		b.Continuous(0, 9, "")
		b.Integer(3, 3, "")
		b.Integer(0, 9, "")
	}))
	if got := s.unfixed(); got != 2 {
		t.Errorf("variable %d, want 2", got)
	}
	if s.lp.lower[2] = 9; s.unfixed() != -1 {
		t.Error("a variable is left")
	}
}

// TestPseudocosts: gains are per unit of change, by side; a variable without a history has the mean of all.
func TestPseudocosts(t *testing.T) {
	p := newPseudocosts(3)
	if got := p.gain(0, 1); got != 1 {
		t.Errorf("without any history: %v", got)
	}
	root := &node{}
	down := &node{parent: root, variable: 0, lower: 0, upper: 2, from: 2.5, bound: 10}
	up := &node{parent: root, variable: 1, lower: 3, upper: 9, from: 2.75, bound: 10}
	p.learn(root, 99)
	p.learn(down, 11)
	p.learn(down, 14)
	p.learn(up, 12)
	for _, c := range []struct {
		side, j int
		want    float64
	}{{0, 0, 5}, {0, 1, 5}, {1, 1, 8}, {1, 0, 8}, {1, 2, 8}} {
		if got := p.gain(c.side, c.j); got != c.want {
			t.Errorf("side %d of variable %d: %v, want %v", c.side, c.j, got, c.want)
		}
	}
	whole := &node{parent: root, variable: 0, upper: 2, from: 2, bound: 10}
	p.learn(whole, 1000)
	p.learn(down, math.Inf(1))
	p.learn(&node{parent: root, variable: 0, upper: 2, from: 2.5, bound: math.Inf(-1)}, 5)
	if got := p.gain(0, 0); got != 5 {
		t.Errorf("a branch that moved by nothing, or from nowhere, was learnt from: %v", got)
	}
}

// TestChoose: the largest product of gains wins, the first on a tie; whole values and continuous variables
// are not split on.
func TestChoose(t *testing.T) {
	m := model(t, func(b *milp.Builder) {
		b.Continuous(0, 9, "")
		for range 4 {
			b.Integer(0, 9, "")
		}
	})
	for _, c := range []struct {
		x    []float64
		want int
	}{
		{[]float64{0.5, 1, 2, 3, 4}, -1},
		{[]float64{0.5, 1, 2 + wholeTol/2, 3, 4 - wholeTol/2}, -1},
		{[]float64{0.5, 1.1, 2.5, 3.9, 4}, 2},
		{[]float64{0.5, 1.5, 2.5, 3, 4}, 1},
		{[]float64{0.5, 1, 2, 3, 4.001}, 4},
	} {
		lp := newSimplex(newRelaxation(m), nil)
		copy(lp.x, c.x)
		p := newPseudocosts(5)
		if got := p.choose(m, lp); got != c.want {
			t.Errorf("%v: variable %d, want %d", c.x, got, c.want)
		}
	}
	lp := newSimplex(newRelaxation(m), nil)
	copy(lp.x, []float64{0, 1.1, 2.5, 3, 4})
	p := newPseudocosts(5)
	for side := range 2 {
		p.sum[side][1], p.count[side][1] = 500, 5
	}
	if got := p.choose(m, lp); got != 1 {
		t.Errorf("variable %d, want the one with a history of large gains", got)
	}
}

// TestBudget: what ends a search, in which order, and that the first reason stays.
func TestBudget(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for _, c := range []struct {
		name   string
		b      budget
		nodes  int64
		bytes  float64
		reason string
		ended  milp.Status
	}{
		{"nothing", budget{ctx: context.Background(), bytes: 100, deadline: future}, 1 << 40, 100, "", milp.Invalid},
		{"nodes", budget{ctx: context.Background(), bytes: 100, nodes: 5}, 5, 0, "node limit 5", milp.LimitReached},
		{"one node left", budget{ctx: context.Background(), bytes: 100, nodes: 5}, 4, 0, "", milp.Invalid},
		{"memory", budget{ctx: context.Background(), bytes: 100}, 0, 101, "memory limit", milp.LimitReached},
		{"time", budget{ctx: context.Background(), bytes: 100, deadline: past}, 0, 0, "time limit", milp.LimitReached},
		{"the context before all", budget{ctx: ended, bytes: 100, nodes: 1, deadline: past}, 5, 500, "context canceled", milp.Cancelled},
		{"an earlier reason", budget{ctx: ended, reason: "time limit", ended: milp.LimitReached}, 0, 0, "time limit", milp.LimitReached},
	} {
		got := c.b.spentOn(c.nodes, c.bytes)
		if got != (c.reason != "") || !strings.HasPrefix(c.b.reason, c.reason) || c.b.ended != c.ended {
			t.Errorf("%s: %v, %q, %v", c.name, got, c.b.reason, c.b.ended)
		}
	}
}
