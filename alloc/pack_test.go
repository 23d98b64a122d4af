// This file tests that newcomers are packed where they fill the cluster.

package alloc

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/rapidtest"
)

// filled is a cluster whose servers are full to the last unit with jobs, some of which run there and cannot be moved.
func filled(t *rapid.T) *Problem {
	p := gpuProblem()
	p.Theta1 = 1
	for j := range rapid.IntRange(2, 8).Draw(t, "servers") {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{16}})
		for left := int64(16); left > 0; {
			q := rapid.Int64Range(1, min(left, 9)).Draw(t, "gpus")
			n := rapid.Int64Range(1, left/q).Draw(t, "containers")
			left -= q * n
			app := p.add(q, n, n)
			if rapid.IntRange(0, 9).Draw(t, "runs") == 0 {
				p.Previous[app.ID], app.Pinned = map[string]int64{p.Servers[j].ID: n}, true
			}
		}
	}
	p.Applications = rapid.Permutation(p.Applications).Draw(t, "applications")
	return p
}

// Where the draft has them after a packing all are in, each with its fewest containers, and what is left is what they leave.
func TestPropPacked(t *testing.T) {
	packed := 0
	rapidtest.Until(t, "20 clusters are packed", func() bool { return packed >= 20 }, func(t *rapid.T) {
		p := filled(t)
		r := resolve(p)
		a := &admission{draft: newDraft(r), ctx: t.Context()}
		var group []int
		for i := range p.Applications {
			if !r.running(i) {
				if i%2 == 0 && a.place(i, a.least(i)) { // some have places already
					a.enter(i)
					continue
				}
				a.enter(i)
				group = append(group, i)
			}
		}
		if found, _ := a.pack(group, a.packSteps()); !found {
			return
		}
		packed++
		left := make([]int64, len(p.Servers))
		for j := range left {
			left[j] = p.Servers[j].Capacity[0]
		}
		for i, placed := range a.counts {
			n := int64(0)
			for _, c := range placed {
				n, left[c.Server] = n+c.Count, left[c.Server]-c.Count*p.Applications[i].Demand[0]
			}
			if n != p.Applications[i].Min {
				t.Fatalf("%s has %d containers, want %d", p.Applications[i].ID, n, p.Applications[i].Min)
			}
			if p.Applications[i].Pinned && p.Previous[p.Applications[i].ID][p.Servers[placed[0].Server].ID] != n {
				t.Fatalf("%s has moved", p.Applications[i].ID)
			}
		}
		for j, n := range left {
			if n != 0 || a.left[j][0] != 0 {
				t.Fatalf("%d and %d are left of server %d", n, a.left[j][0], j)
			}
		}
	})
}

// Of more than there is room for the first are packed, none before one that is not, and what is in has its fewest containers where there is
// room.
func TestPropPackFirst(t *testing.T) {
	refused := 0
	rapidtest.Until(t, "20 clusters are packed after a packing that failed", func() bool { return refused >= 20 }, func(t *rapid.T) {
		p := filled(t)
		for i := range p.Applications {
			p.Applications[i].Pinned = false
		}
		p.Previous = nil
		for range rapid.IntRange(1, 4).Draw(t, "too many") { // there is no room for them beside the others
			app := *p.add(16, 1, 1)
			p.Applications = slices.Insert(p.Applications[:len(p.Applications)-1], rapid.IntRange(0, len(p.Applications)-1).Draw(t, "place"), app)
		}
		r := resolve(p)
		a := &admission{draft: newDraft(r), ctx: t.Context()}
		var group []int
		for i := range p.Applications {
			group = append(group, i)
		}
		took := a.packFirst(group)
		n := len(a.taken())
		if took != (n > 0) || n == len(group) {
			t.Fatalf("%d of %d are in: %v", n, len(group), took)
		}
		for _, i := range group {
			if a.in[i] != (i < n) || solver.Containers(a.counts[i]) != a.least(i) && a.in[i] || !a.in[i] && a.counts[i] != nil {
				t.Fatalf("%d of %d are in, and %d has %v", n, len(group), i, a.counts[i])
			}
		}
		for j := range a.left {
			if a.left[j][0] < 0 {
				t.Fatalf("%d are left of server %d", a.left[j][0], j)
			}
		}
		if took && n < len(group)-1 {
			refused++
		}
	})
}
