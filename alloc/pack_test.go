// This file tests that newcomers are packed where they fill the cluster.

package alloc

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
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
		if found, _ := a.pack(group); !found {
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
