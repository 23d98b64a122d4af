// This file tests the measures on a small module, and the order on graphs whose best one is known.

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const house = "package house\n"

var fixture = map[string]string{
	"go.mod": "module house\n\ngo 1.25\n",
	// a.go names b and c, b.go names c, and c.go names a: one of the four runs backward.
	"a.go":      "// A file.\n\n" + house + "\n// A is exported.\ntype A struct{ b B } // beside code\n\nfunc one() int {\n\treturn c()\n}\n",
	"b.go":      house + "\ntype B struct{}\n\nfunc (B) C() int { return c() }\n",
	"c.go":      house + "\nfunc c() int {\n\t/* two\n\tlines */\n\tvar _ *A\n\treturn 0\n}\n",
	"a_test.go": house + "\n// three lines\n",
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range fixture {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := run(&out, dir, nil, true); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	want := "23 3 0.13 17% 3 3 6 6 10 4 1 ."
	if got := strings.Join(strings.Fields(lines[1]), " "); got != want {
		t.Errorf("measured %s, want %s", got, want)
	}
	// Nobody needs to go back for what the first file of the order uses; the last one goes back to it.
	listed := strings.Join(lines[len(lines)-3:], "\n")
	if want := "., read in the order a.go, b.go, c.go\n  c.go -> a.go: A\n"; listed != want {
		t.Errorf("listed %q, want %q", listed, want)
	}
	if err := run(&out, filepath.Join(dir, "nowhere"), nil, false); err == nil {
		t.Error("a folder that is not there has been measured")
	}
}

// A graph without a circle has an order without a backward arc, and the rule finds it.
func TestOrderOfTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		const n = 12
		g, names := newGraph(n), r.Perm(n)
		for i := range n {
			for j := range i {
				g[names[i]][names[j]] = r.IntN(3) == 0
			}
		}
		if order := g.order(); len(g.backward(order)) != 0 {
			t.Fatalf("%v: order %v has the backward arcs %v", g, order, g.backward(order))
		}
	}
}

// On small graphs the order is close to the best of all.
func TestOrderAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found, best := 0, 0
	for range 60 {
		const n = 6
		g := newGraph(n)
		for i := range n {
			for j := range n {
				g[i][j] = i != j && r.IntN(3) == 0
			}
		}
		got, least := len(g.backward(g.order())), enumerate(g, nil)
		if got < least || got > least+1 {
			t.Errorf("%v: %d backward arcs, the least are %d", g, got, least)
		}
		found, best = found+got, best+least
	}
	if 20*found > 21*best {
		t.Errorf("%d backward arcs in all, the least are %d", found, best)
	}
}

// enumerate returns the least number of backward arcs of any order that begins with head.
func enumerate(g graph, head []int) int {
	if len(head) == len(g) {
		return len(g.backward(head))
	}
	best := len(g) * len(g)
	used := make([]bool, len(g))
	for _, i := range head {
		used[i] = true
	}
	for i := range g {
		if !used[i] {
			best = min(best, enumerate(g, append(head[:len(head):len(head)], i)))
		}
	}
	return best
}
