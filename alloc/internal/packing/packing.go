// This file fills servers one after the other, each by the containers that leave the least of it free: minimum bin slack [Gupta99], here
// with several kinds, and with shapes of which there are many.

// Package packing finds room for containers that fill a cluster nearly to the last unit.
package packing

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apportion/apportion"
)

// Task is what has to be placed, and where. Quantities are not negative, and no demand is zero in all kinds.
type Task struct {
	Left   []apportion.Resources        // by server: what it has for them
	Demand []apportion.Resources        // by shape: what a container needs
	Number []int64                      // by shape: how many containers there are
	Open   func(shape, server int) bool // whether containers of a shape may come to a server
}

const (
	// mostLooks is at how many shapes the filling of one server looks: beyond it the best that was found is taken.
	mostLooks = 10_000
	// fewest is how many servers are emptied at first where the last cannot be filled.
	fewest = 16
)

// Pack returns by shape where its containers go, servers ascending; nil where it found no room for all, which is a proof only where there
// is too little in all. Where the servers do not suffice the last are emptied, twice as many each time, and filled with other weights
// of the kinds, until the looks at shapes come to steps.
func (t *Task) Pack(steps int) [][]apportion.Placement {
	p := &packer{Task: t, steps: steps, random: rand.New(rand.NewPCG(1, 1)), rest: slices.Clone(t.Number),
		all: make(apportion.Resources, len(t.Left[0])), sizes: make([]float64, len(t.Demand)), fills: make([][]apportion.Placement, len(t.Left))}
	for _, left := range t.Left {
		for k, q := range left {
			p.all[k] += q
		}
	}
	p.spare = p.all.Clone()
	for s, demand := range t.Demand {
		p.missing += t.Number[s]
		p.order = append(p.order, s)
		for k, q := range demand {
			p.spare[k] -= q * t.Number[s]
		}
	}
	if slices.Min(p.spare) < 0 {
		return nil
	}
	for j, back := 0, fewest; p.steps > 0; back *= 2 {
		p.weigh()
		if j = p.fillFrom(j); p.missing == 0 {
			return p.placed(j)
		}
		if back >= 2*j {
			back = fewest
		}
		for last := max(0, j-back); j > last; j-- {
			p.empty(j - 1)
		}
	}
	return nil
}

// packer is one question.
type packer struct {
	*Task
	steps   int
	random  *rand.Rand
	all     apportion.Resources     // what the servers have
	fills   [][]apportion.Placement // by server that is filled: shapes, in place of servers, and how many of each
	rest    []int64                 // by shape: how many are to be placed
	missing int64                   // all of these
	spare   apportion.Resources     // what the servers that are not filled may leave free
	order   []int                   // of shapes, the largest first by the weights
	sizes   []float64               // by shape
	strict  float64                 // the part of a server's share of spare that it may leave free to be filled well enough

	// Those of the server that is being filled.
	servers      float64 // how many are not filled
	left         apportion.Resources
	shapes       []int // those that fit, in order
	picked, best []int64
	slack        float64 // of best
	looks        int
	good         bool
}

// weigh draws weights of the kinds.
func (p *packer) weigh() {
	p.strict = 0.5 + p.random.Float64()
	clear(p.sizes)
	for k, q := range p.all {
		weight := p.random.Float64() / float64(max(1, q))
		for s, demand := range p.Demand {
			p.sizes[s] += float64(weight * float64(demand[k]))
		}
	}
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Or(cmp.Compare(p.sizes[b], p.sizes[a]), a-b) })
}

// fillFrom fills servers from j on until all is placed, or too little is left, and returns how many are filled.
func (p *packer) fillFrom(j int) int {
	for ; j < len(p.Left) && p.missing > 0 && slices.Min(p.spare) >= 0; j++ {
		p.fill(j)
		p.take(j, 1)
	}
	return j
}

// take counts the filling of server j, sign 1, or counts it no more, -1.
func (p *packer) take(j int, sign int64) {
	for k, q := range p.Left[j] {
		for _, f := range p.fills[j] {
			q -= f.Count * p.Demand[f.Server][k]
		}
		p.spare[k] -= sign * q
	}
	for _, f := range p.fills[j] {
		p.rest[f.Server] -= sign * f.Count
		p.missing -= sign * f.Count
	}
}

// empty takes back the filling of server j.
func (p *packer) empty(j int) {
	p.take(j, -1)
	p.fills[j] = p.fills[j][:0]
}

// placed returns by shape what the first servers are filled with.
func (p *packer) placed(servers int) [][]apportion.Placement {
	placed := make([][]apportion.Placement, len(p.Demand))
	for j, fill := range p.fills[:servers] {
		for _, f := range fill {
			placed[f.Server] = append(placed[f.Server], apportion.Placement{Server: j, Count: f.Count})
		}
	}
	return placed
}

// fill looks for the containers that leave the least of server j free, of which the largest that fits is one.
func (p *packer) fill(j int) {
	p.servers, p.left, p.shapes = float64(len(p.Left)-j), p.Left[j].Clone(), p.shapes[:0]
	for _, s := range p.order {
		if p.rest[s] > 0 && p.Demand[s].FitsIn(p.left) && p.Open(s, j) {
			p.shapes = append(p.shapes, s)
		}
	}
	p.picked, p.best = make([]int64, len(p.shapes)), make([]int64, len(p.shapes))
	p.slack, p.good, p.looks = math.Inf(1), false, mostLooks
	p.steps -= len(p.order)
	if len(p.shapes) > 0 {
		p.pick(0)
	}
	for at, n := range p.best {
		if n > 0 {
			p.fills[j] = append(p.fills[j], apportion.Placement{Server: p.shapes[at], Count: n})
		}
	}
}

// pick adds one more of the shape at this position, and of those from it on what fits best.
func (p *packer) pick(at int) {
	demand := p.Demand[p.shapes[at]]
	for k, q := range demand {
		p.left[k] -= q
	}
	p.picked[at]++
	p.measure()
	for next := at; next < len(p.shapes) && !p.good && p.looks > 0; next++ {
		p.looks--
		p.steps--
		if s := p.shapes[next]; p.picked[next] < p.rest[s] && p.Demand[s].FitsIn(p.left) {
			p.pick(next)
		}
	}
	p.picked[at]--
	for k, q := range demand {
		p.left[k] += q
	}
}

// measure keeps what is picked where it leaves less free than the best so far, each kind by how much of it may be left at all. Of the 14
// states that BenchmarkTasks draws one is packed only so; in the others keeping what is picked last does as well.
func (p *packer) measure() {
	slack, good := 0.0, true
	for k, q := range p.left {
		slack += float64(q) / float64(1+max(0, p.spare[k]))
		good = good && float64(q)*p.servers <= float64(p.strict*float64(p.spare[k]))
	}
	if slack < p.slack {
		p.slack, p.good = slack, good
		copy(p.best, p.picked)
	}
}
