// This file implements pool: what is free on every server, and round-robin placement, [OASiS] §5.

package slotsim

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/primaldual"
)

// sides are the two sets of servers.
var sides = [2]primaldual.Side{primaldual.Workers, primaldual.ParameterServers}

// pool is what the current slot has left.
type pool struct {
	// free is by side and server; next is the server at which placement goes on.
	free [2][]apportion.Resources
	next [2]int
}

func newPool(cluster *primaldual.Cluster) *pool {
	p := &pool{}
	for side, servers := range [2][]apportion.Server{cluster.WorkerServers, cluster.PSServers} {
		for _, server := range servers {
			p.free[side] = append(p.free[side], server.Capacity.Clone())
		}
	}
	return p
}

// room returns how many containers of demand a side has room for, at most limit.
func (p *pool) room(side primaldual.Side, demand apportion.Resources, limit int64) int64 {
	sum := int64(0)
	for _, free := range p.free[side] {
		// Both terms are at most limit, so that their sum cannot overflow before it is cut.
		if sum += min(demand.CountIn(free), limit-sum); sum == limit {
			break
		}
	}
	return sum
}

// roundRobin places n containers of demand, each on the next server with room, and returns where, or
// false with nothing changed where they do not fit. O(n + servers) but for full servers passed again.
func (p *pool) roundRobin(side primaldual.Side, demand apportion.Resources, n int64) ([]apportion.Placement, bool) {
	if p.room(side, demand, n) < n {
		return nil, false
	}
	free := p.free[side]
	counts := make([]int64, len(free))
	for n > 0 {
		server := p.next[side]
		if demand.FitsIn(free[server]) {
			addTimes(free[server], -1, demand)
			counts[server]++
			n--
		}
		p.next[side] = (server + 1) % len(free)
	}
	var placements []apportion.Placement
	for server, count := range counts {
		if count > 0 {
			placements = append(placements, apportion.Placement{Server: server, Count: count})
		}
	}
	return placements, true
}

// place places workers of a job and the parameter servers they need, or nothing.
func (p *pool) place(job *primaldual.Job, workers int64) (plan primaldual.SlotPlan, ok bool) {
	before := p.next
	if plan.Workers, ok = p.roundRobin(primaldual.Workers, job.Worker, workers); !ok {
		return primaldual.SlotPlan{}, false
	}
	if plan.PS, ok = p.roundRobin(primaldual.ParameterServers, job.PS, job.PSFor(workers)); !ok {
		p.next = before
		p.giveBack(job, &plan)
		return primaldual.SlotPlan{}, false
	}
	return plan, true
}

// giveBack frees what a job holds.
func (p *pool) giveBack(job *primaldual.Job, plan *primaldual.SlotPlan) {
	p.move(primaldual.Workers, job.Worker, plan.Workers, 1)
	p.move(primaldual.ParameterServers, job.PS, plan.PS, 1)
}

// move adds sign times what placements of demand take to what is free.
func (p *pool) move(side primaldual.Side, demand apportion.Resources, placements []apportion.Placement, sign int64) {
	for _, placement := range placements {
		addTimes(p.free[side][placement.Server], sign*placement.Count, demand)
	}
}

// addTimes adds n*r to dst. What is free stays within a server's capacity, so nothing overflows.
func addTimes(dst apportion.Resources, n int64, r apportion.Resources) {
	if err := exact.AddTimesTo(dst, dst, n, r); err != nil {
		panic("slotsim: " + err.Error())
	}
}
