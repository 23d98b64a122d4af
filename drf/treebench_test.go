// This file measures trees against the plainest way to do the same: everything is added up anew at every event.

package drf_test

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// benchOrganization has leaves claims below 10 queues of 10 queues each, depth 3 and with the claims 4.
func benchOrganization(leaves int) organization {
	o := organization{instance: benchInstance(leaves, 3)}
	for a := range 10 {
		top := fmt.Sprint("org", a)
		o.queues = append(o.queues, node(top, "", 1+float64(a%3), apportion.Resources{o.capacity[0] / 40, o.capacity[1] / 40, o.capacity[2] / 40}))
		for b := range 10 {
			middle := fmt.Sprint(top, "-", b)
			o.queues = append(o.queues, node(middle, top, 1+float64(b%2), nil))
			for c := range max(1, min(10, leaves/1000)) {
				o.queues = append(o.queues, node(fmt.Sprint(middle, "-", c), middle, 1, nil))
			}
		}
	}
	var ends []string
	for _, q := range o.queues {
		if len(q.ID) > len("org0-0") {
			ends = append(ends, q.ID)
		}
	}
	for i := range o.claims {
		o.claims[i].Queue = ends[i%len(ends)]
	}
	return o
}

// An event is one container that comes to whoever is next, and one that ends elsewhere.
func BenchmarkTreeSorter(b *testing.B) {
	for _, leaves := range []int{100, 10_000} {
		o := benchOrganization(leaves)
		b.Run(fmt.Sprintf("leaves=%d/depth=4", leaves), func(b *testing.B) {
			s := sorterOf(b, o)
			demand := make(map[*drf.Client]apportion.Resources)
			var served []*drf.Client
			for _, c := range o.claims {
				demand[s.Lookup(c.ID)] = c.Demand
				served = append(served, s.Lookup(c.ID))
				must.Do(b, s.Allocate(s.Lookup(c.ID), c.Demand))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				next, ends := s.Next(), served[i%len(served)]
				must.Do(b, s.Allocate(next, demand[next]))
				must.Do(b, s.Release(ends, demand[ends]))
				served[i%len(served)] = next
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/event")
		})
		b.Run(fmt.Sprintf("leaves=%d/depth=4/baseline=recomputed", leaves), func(b *testing.B) {
			plain := newPlainTree(o)
			for b.Loop() {
				plain.counts[plain.next("")]++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/event")
		})
	}
}

// plainTree is what one writes without this package: rounded shares, all of them computed at every event.
type plainTree struct {
	organization
	counts []float64
	kids   map[string][]string
	leaves map[string][]int
}

func newPlainTree(o organization) *plainTree {
	p := &plainTree{organization: o, counts: make([]float64, len(o.claims)), kids: make(map[string][]string), leaves: make(map[string][]int)}
	for _, q := range o.queues {
		p.kids[q.Parent] = append(p.kids[q.Parent], q.ID)
	}
	for i, c := range o.claims {
		p.leaves[c.Queue] = append(p.leaves[c.Queue], i)
	}
	return p
}

// next returns the claim of the least share below a queue.
func (p *plainTree) next(id string) int {
	claim, _, _ := p.least(id)
	return claim
}

func (p *plainTree) least(id string) (claim int, share float64, used [3]float64) {
	claim = -1
	best := 0.0
	for _, kid := range p.kids[id] {
		at, share, sum := p.least(kid)
		if claim < 0 || share < best {
			claim, best = at, share
		}
		for k := range used {
			used[k] += sum[k]
		}
	}
	for _, i := range p.leaves[id] {
		share := 0.0
		for k, q := range p.claims[i].Demand {
			amount := p.counts[i] * float64(q)
			used[k] += amount
			share = max(share, amount/float64(p.capacity[k])/p.claims[i].Weight)
		}
		if claim < 0 || share < best {
			claim, best = i, share
		}
	}
	for k, amount := range used {
		share = max(share, amount/float64(p.capacity[k]))
	}
	return claim, share, used
}

// Claims of a tree beside the same claims of a cluster without queues: below 30 or 300 queues, of which two thirds have guarantees and
// ceilings where these are limited, and below an organization of three levels.
func BenchmarkTreeFill(b *testing.B) {
	fill := func(name string, o organization) {
		tree := o.tree(b)
		b.Run(name, func(b *testing.B) {
			start := cpuTime(b)
			for b.Loop() {
				must.Have(tree.Fill(o.claims))(b)
			}
			reportCPU(b, cpuTime(b)-start)
		})
	}
	for _, leaves := range []int{1000, 10_000, 100_000} {
		flat := organization{instance: benchInstance(leaves, 3)}
		fill(fmt.Sprintf("leaves=%d/queues=0", leaves), flat)
		for _, queues := range []int{30, 300} {
			fill(fmt.Sprintf("leaves=%d/queues=%d", leaves, queues), benchQueues(leaves, queues, false))
			fill(fmt.Sprintf("leaves=%d/queues=%d/limited", leaves, queues), benchQueues(leaves, queues, true))
		}
		o := benchOrganization(leaves)
		fill(fmt.Sprintf("leaves=%d/queues=%d/depth=3", leaves, len(o.queues)), o)
	}
}

// benchQueues has leaves claims below queues of one level.
func benchQueues(leaves, queues int, limited bool) organization {
	o := organization{instance: benchInstance(leaves, 3)}
	for q := range queues {
		queue := node(fmt.Sprintf("queue-%03d", q), "", 1+float64(q%5)/4, nil)
		if limited && q%3 > 0 {
			for _, c := range o.capacity {
				queue.Guarantee = append(queue.Guarantee, c/int64(queues)/2)
				queue.Ceiling = append(queue.Ceiling, c/int64(queues)*int64(1+q%3)/2)
			}
		}
		o.queues = append(o.queues, queue)
	}
	for i := range o.claims {
		o.claims[i].Queue = o.queues[i%queues].ID
	}
	return o
}

func BenchmarkTreeFillWhole(b *testing.B) {
	o := benchOrganization(10_000)
	tree := o.tree(b)
	b.ReportAllocs()
	for b.Loop() {
		must.Have(tree.FillWhole(o.claims))(b)
	}
}
