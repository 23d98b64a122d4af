// This file states what the worths of a job know of the servers that its containers are on: nothing, the measured speeds, or blocks.

package schedulers

import (
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/placement/sim"
)

// Place says what the worths of a job know of the servers that its containers are on.
type Place string

// The places.
const (
	// ByNumber states worths by number alone, those of the fewest servers.
	ByNumber Place = ""
	// ByServers states them by number and servers, as measured.
	ByServers Place = "servers"
	// InBlocks takes each power of two up to a server for one container, an option of its own, which is never torn; on one type of
	// servers alone, all equal.
	InBlocks Place = "blocks"
)

// spreads returns how fast a job is with each number of containers on 1, 2 and more empty servers of a type, up to as many as it has
// containers: on fewer than hold them as on the fewest, and packed as far as each has one. The error is that of the job's speed.
func (k *kind) spreads(servers []apportion.Server, job *sim.Job, most int64) ([][]float64, error) {
	rows := make([][]float64, most)
	for i := range rows {
		n := int64(i + 1)
		for s := int64(1); s <= min(n, int64(len(k.servers))); s++ {
			rate, err := job.RateOn(k.packed(servers, job.Demand, n, s))
			if err != nil {
				return nil, err
			}
			rows[i] = append(rows[i], float64(rate)/float64(sim.Whole))
		}
	}
	return rows, nil
}

// packed returns places for n containers on s empty servers of a type, or on the fewest that hold them.
func (k *kind) packed(servers []apportion.Server, demand apportion.Resources, n, s int64) []apportion.Placement {
	var on []apportion.Placement
	for _, h := range k.servers {
		// Each of the servers behind this one has a container too.
		if take := min(room(servers[h].Capacity, demand), n-max(0, s-1-int64(len(on)))); take > 0 {
			on, n = append(on, apportion.Placement{Server: h, Count: take}), n-take
		}
	}
	return on
}

// worthOn returns what a job is worth by the numbers of a way and by servers.
func (p *Worth) worthOn(state *sim.State, job *sim.JobState, w *way, of worth.Job, utility worth.Utility) ([][]float64, error) {
	r := p.book.jobs[job.ID]
	if r.spreads == nil {
		r.spreads = make([][][]float64, len(p.book.kinds))
	}
	if r.spreads[w.kind] == nil {
		rows, err := p.book.kinds[w.kind].spreads(state.Scenario.Servers, job.Job, int64(len(r.speeds[w.kind])))
		if err != nil {
			return nil, err
		}
		r.spreads[w.kind] = rows
	}
	var on [][]float64
	for _, n := range w.counts {
		of.Speeds = r.spreads[w.kind][n-1]
		worths, err := worth.Of(&of, utility)
		if err != nil {
			return nil, err
		}
		on = append(on, worths.Worth)
	}
	return on, nil
}

// inBlocks returns a way in blocks of each power of two up to a server of so many containers, by the speeds of every number: one block
// of each that is less than a server.
func inBlocks(w *way, speeds []float64, perServer int64) []way {
	var ways []way
	for size := int64(1); size <= min(perServer, int64(len(speeds))); size *= 2 {
		b := way{kind: w.kind, block: size, holds: w.holds}
		for n := int64(1); n*size <= int64(len(speeds)) && (n == 1 || size == perServer); n++ {
			b.counts, b.speeds = append(b.counts, n), append(b.speeds, speeds[n*size-1])
		}
		ways = append(ways, b)
	}
	return ways
}

// hold says in blocks what an application holds in containers, in place.
func hold(app *alloc.Application, on map[string]int64) {
	for i := range app.Options {
		size := blockOf(app.Options[i].ID)
		if divides := func(n int64) bool { return n%size == 0 }; len(on) > 0 && all(on, divides) {
			app.Option = app.Options[i].ID
		}
	}
	for id := range on {
		on[id] /= blockOf(app.Option)
	}
}

// all reports whether what is held on each server is so.
func all(on map[string]int64, is func(int64) bool) bool {
	for _, n := range on {
		if !is(n) {
			return false
		}
	}
	return true
}

// times returns what n containers demand.
func times(demand apportion.Resources, n int64) apportion.Resources {
	sum := demand.Clone()
	for k := range sum {
		sum[k] *= n // at most what a server has
	}
	return sum
}

// block returns the option of so many containers as one.
func block(size int64) string { return strconv.FormatInt(size, 10) }

// blockOf returns how many containers one of an option is; 1 for one that is no block.
func blockOf(option string) int64 {
	if size, err := strconv.ParseInt(option, 10, 64); err == nil {
		return size
	}
	return 1
}

// unblocked returns what a decision allots, in containers.
func unblocked(d *alloc.Decision) alloc.Allocation {
	whole := make(alloc.Allocation, len(d.Allocation))
	for _, share := range d.Shares {
		whole[share.ID] = make(map[string]int64, len(d.Allocation[share.ID]))
		for id, n := range d.Allocation[share.ID] {
			whole[share.ID][id] = n * blockOf(share.Option)
		}
	}
	return whole
}
