// This file places minima on servers that have hardly any room to spare, by trying every way to fill one server
// after the other.

// Package filling finds room for containers that fill a cluster nearly to the last unit. A local search hardly
// ever gets there, since one container in the wrong place spoils all the rest; but where little may be wasted
// there are few ways to fill a server, and they can be tried.
package filling

import (
	"context"
	"encoding/binary"
	"slices"
)

const (
	// lookEvery is how many steps pass between two looks at the context; a power of two.
	// A look costs as much as some dozens of steps; a thousand steps take some microseconds, so that nobody
	// waits for the end.
	lookEvery = 1024
	// mostDead bounds what is remembered of dead ends, of about 100 bytes and 8 for each type.
	mostDead = 100_000
)

// Cluster is what there is to fill and what has to go there.
// Quantities are in the units of their kind and not negative; no demand is zero in all kinds.
type Cluster struct {
	// Left[j][k] is what server j has of kind k.
	Left [][]int64
	// Demand[t][k] is what a container of type t uses of kind k, Need[t] how many have to be placed.
	Demand [][]int64
	Need   []int64
}

// Fill returns, by server and type, a way to place all that the cluster needs, or nil where it found none.
// done says that there is none: all ways were tried, or there is too little in all. It takes at most steps
// steps, each of them a number of containers of one type tried on one server.
//
// What is left over on all servers together is known beforehand. So a filling of a server that wastes more of
// a kind than that is a dead end, and what comes after a server depends on what is still needed alone: dead
// ends are remembered by that.
func Fill(ctx context.Context, c *Cluster, steps int64) (placed [][]int64, done bool) {
	f := &filler{Cluster: c, ctx: ctx, steps: steps, need: slices.Clone(c.Need), dead: make(map[string]bool)}
	// Too little in all is a proof without a search.
	if !f.measureSlack() {
		return nil, true
	}
	for j := range c.Left {
		f.order = append(f.order, j)
	}
	// Servers that are equal come one after the other, so that only one order of their fillings is tried.
	slices.SortStableFunc(f.order, func(a, b int) int { return slices.Compare(c.Left[a], c.Left[b]) })
	// placed is written while the search goes down, and taken back on the way up: it is whole at the end only.
	f.placed = make([][]int64, len(c.Left))
	for j := range f.placed {
		f.placed[j] = make([]int64, len(c.Need))
	}
	if f.server(0) {
		return f.placed, true
	}
	// A search that ran to its end has tried every way up to exchanges of equal servers.
	return nil, !f.stopped
}

// filler is one call of Fill.
type filler struct {
	*Cluster
	ctx     context.Context
	order   []int // the servers as they are filled
	need    []int64
	slack   []int64 // by kind: what the servers that are still to be filled may waste
	placed  [][]int64
	dead    map[string]bool // places in the order and what was needed there
	key     []byte
	steps   int64 // that are left
	stopped bool
}

// measureSlack sets slack to all there is less all that is needed; it reports false where that is negative.
func (f *filler) measureSlack() bool {
	// Without servers there is no row to take the number of kinds from; only a need of nothing can be met.
	if len(f.Left) == 0 {
		return !slices.ContainsFunc(f.need, func(n int64) bool { return n > 0 })
	}
	f.slack = make([]int64, len(f.Left[0]))
	for _, left := range f.Left {
		// slack_k = sum_j left_jk - sum_t need_t d_tk, and it stays constant but for what closed servers
		// waste.
		for k, q := range left {
			f.slack[k] += q
		}
	}
	for t, n := range f.need {
		for k, q := range f.Demand[t] {
			f.slack[k] -= n * q
		}
	}
	// The 0 stands for a cluster without kinds, where Min of nothing would panic.
	return slices.Min(append(slices.Clone(f.slack), 0)) >= 0
}

// server fills the servers from place at of the order on.
func (f *filler) server(at int) bool {
	if at == len(f.order) {
		return true // nothing is needed any more: the slack says so
	}
	// The key is the place and what is still needed: what is left on the servers to come follows from the
	// place, and the slack from both, so that the key says all.
	f.key = binary.LittleEndian.AppendUint32(f.key[:0], uint32(at))
	for _, n := range f.need {
		f.key = binary.LittleEndian.AppendUint64(f.key, uint64(n))
	}
	key := string(f.key)
	if f.dead[key] {
		return false
	}
	// left is a copy: the cluster belongs to the caller.
	left := slices.Clone(f.Left[f.order[at]])
	// The filling of an equal server before this one bounds it. It is a dead end all the same for whatever was
	// there: a filling of this one that another bound lets in would have been tried before, with the two
	// exchanged.
	bounded := at > 0 && slices.Equal(f.Left[f.order[at-1]], left)
	if f.fill(at, 0, left, bounded) {
		return true
	}
	// Past mostDead nothing more is remembered: the search gets slower, and its answers stay right. A stopped
	// branch is no dead end, as it was not tried whole.
	if !f.stopped && len(f.dead) < mostDead {
		f.dead[key] = true
	}
	return false
}

// fill tries every number of containers of type t and later ones on the server at that place, most first.
// bounded: on the types so far it has as much as the equal server before it, so that it may have no more.
func (f *filler) fill(at, t int, left []int64, bounded bool) bool {
	// Every call is a step, so that steps bounds the time whatever the shape of the tree.
	if f.steps--; f.steps < 0 || f.steps%lookEvery == 0 && f.ctx.Err() != nil {
		f.stopped = true
		return false
	}
	// All types have their number on this server.
	if t == len(f.need) {
		return f.close(at, left)
	}
	mine := f.placed[f.order[at]]
	// most = min(need_t, min over k of left_k / d_tk).
	most := f.need[t]
	for k, q := range f.Demand[t] {
		if q > 0 {
			most = min(most, left[k]/q)
		}
	}
	// tied is the number on the equal server before. As long as all types so far are tied the fillings are
	// compared in lexical order, and this one may not be the larger.
	tied := int64(-1)
	if bounded {
		tied = f.placed[f.order[at-1]][t]
		most = min(most, tied)
	}
	// Most first: full servers waste least, and what wastes too much is found out by close at once.
	for n := most; n >= 0; n-- {
		f.take(t, n, left, mine)
		found := f.fill(at, t+1, left, bounded && n == tied)
		if found {
			return true
		}
		f.take(t, -n, left, mine)
		// The containers are taken back before the test, so that the filler is as it was found even where it
		// stops.
		if f.stopped {
			return false
		}
	}
	return false
}

// take moves n containers of type t from what is needed to a server.
func (f *filler) take(t int, n int64, left, mine []int64) {
	f.need[t] -= n
	mine[t] += n
	for k, q := range f.Demand[t] {
		left[k] -= n * q
	}
}

// close goes on with the next server, if what is left on this one may be wasted.
func (f *filler) close(at int, left []int64) bool {
	// A server that wastes more than the whole cluster may is a dead end: what the others have would not do
	// for the rest.
	for k, q := range left {
		if q > f.slack[k] {
			return false
		}
	}
	// What is wasted here is no longer to be wasted elsewhere.
	for k, q := range left {
		f.slack[k] -= q
	}
	if f.server(at + 1) {
		return true
	}
	for k, q := range left {
		f.slack[k] += q
	}
	return false
}
