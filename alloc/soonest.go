// This file chooses where an application that is due can be had soonest, and what it waits for there, [Program §8], point 3.

package alloc

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
)

// soonest returns what to reserve for entry i: of all choices the one that is there the earliest, of these one that waits for the
// fewest applications, counted on each server, unless what was reserved before, which may be nil, is there as early and waits for no
// more. nil: it cannot be had on these servers. The ends of what is pinned, or waited for by others, are waited for as well as any.
// O(servers x (applications on each + fewest waited for)), and at most 2^r.limits.offers sets on each server.
func (d *draft) soonest(i int, had *reserved) *reserved {
	v := &reserved{i: i}
	n := d.least(i)
	if n = max(n, 1); n > d.ceilingRoom(i) {
		return d.belowSoonest(v, n)
	}
	p := newPicking(d, i, n)
	if v.at = p.earliest(); v.at < 0 {
		return nil
	}
	// Each step doubles the number of those that may be waited for, so that few are found fast.
	for limit := 1; limit < 4*(1+len(d.counts)*len(d.left)); limit *= 2 {
		if places := p.pick(limit, func(j int) []level { return p.levelsBy(j, v.at) }); places != nil {
			p.settle(v, places)
			return p.kept(v, had)
		}
	}
	return nil // more levels on one server than are tried
}

// kept returns what was reserved before, where that is as good as v.
func (p *picking) kept(v, had *reserved) *reserved {
	if had == nil || had.containers() != p.n {
		return v
	}
	old := &reserved{i: v.i, servers: had.servers}
	for _, w := range had.waits {
		if p.in[w] && len(p.counts[w]) > 0 {
			old.waits = append(old.waits, w)
		}
	}
	p.prune(old)
	if old.at > v.at || len(old.waits) > len(v.waits) || !p.holdsAfter(old.servers, old.waits) {
		return v
	}
	return old
}

// holdsAfter reports whether the servers have room for these containers once some applications have ended.
func (p *picking) holdsAfter(places []apportion.Placement, ended []int) bool {
	return !slices.ContainsFunc(places, func(s apportion.Placement) bool { return p.after(s.Server, ended) < s.Count })
}

// picking is a choice of servers for one application.
type picking struct {
	*draft
	i      int
	n      int64
	on     [][]int // by server: the applications there that may be waited for
	levels [][]level
	groups [][]int // the servers of each domain that slices are within; of all together where there are none
	slice  int64
}

// level is the most containers that a server has room for once some applications on it have ended.
type level struct {
	n     int64
	waits []int
}

func newPicking(d *draft, i int, n int64) *picking {
	p := &picking{draft: d, i: i, n: n, on: make([][]int, len(d.left)), levels: make([][]level, len(d.left))}
	p.groups, p.slice = d.r.sliceGroups(i)
	for v, placed := range d.counts {
		for _, at := range placed {
			if d.in[v] && (len(d.r.options(v)) == 1 || d.r.running(v)) {
				p.on[at.Server] = append(p.on[at.Server], v)
			}
		}
	}
	return p
}

// after returns how many containers server j has room for once these applications have ended.
func (p *picking) after(j int, ended []int) int64 {
	room := p.left[j].Clone()
	for _, v := range ended {
		for k, q := range p.r.problem.Applications[v].Demand {
			room[k] += q * on(p.counts[v], j)
		}
	}
	// Of what ends, others may have a part reserved: also of one that would have ended by then if it began now.
	for _, v := range p.reserved {
		if kept := p.r.keeps(v, j, p.counts, ended...); kept != nil && p.r.of[v.i] != p.r.of[p.i] && !slices.Contains(p.lifted, v) {
			room = less(room, kept)
		}
	}
	return min(p.n, p.r.most(p.i, j, room))
}

// earliest returns the least time by which enough has ended, 0 where there is room now, +Inf where nobody knows, -1 where never.
func (p *picking) earliest() float64 {
	if p.enough(-1) {
		return 0
	}
	times := []float64{math.Inf(1)}
	for j := range p.on {
		for _, v := range p.on[j] {
			times = append(times, p.r.ends(v))
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	at := sort.Search(len(times), func(at int) bool { return p.enough(times[at]) })
	if at == len(times) {
		return -1
	}
	return times[at]
}

// enough reports whether the containers have room once all has ended that ends by a time.
func (p *picking) enough(time float64) bool {
	return p.pick(0, func(j int) []level { return []level{{n: p.after(j, p.endedBy(j, time))}} }) != nil
}

// endedBy lists the applications on server j that have ended by a time.
func (p *picking) endedBy(j int, time float64) []int {
	return slices.DeleteFunc(slices.Clone(p.on[j]), func(v int) bool { return p.r.ends(v) > time })
}

// levelsBy is waiting, counted once for each server.
func (p *picking) levelsBy(j int, time float64) []level {
	if p.levels[j] == nil {
		p.levels[j] = p.waiting(j, time)
	}
	return p.levels[j]
}

// waiting returns by how many applications on server j are waited for, that end by a time, the most containers that it then has room
// for, each more than the one before. It tries all sets of those that give most, and beyond r.limits.offers one after the other.
func (p *picking) waiting(j int, time float64) []level {
	list := p.endedBy(j, time)
	if len(list) == 0 {
		return []level{{n: p.after(j, nil)}}
	}
	gives := make(map[int]int64, len(list))
	for _, v := range list {
		gives[v] = p.after(j, []int{v})
	}
	slices.SortStableFunc(list, func(v, w int) int { return cmp.Compare(gives[w], gives[v]) })
	few := min(len(list), p.r.limits.offers)
	best := make([]level, len(list)+1)
	for set := range 1 << few {
		var ended []int
		for at := range few {
			if set>>at&1 == 1 {
				ended = append(ended, list[at])
			}
		}
		if n := p.after(j, ended); n > best[len(ended)].n {
			best[len(ended)] = level{n, ended}
		}
	}
	for more := few + 1; more <= len(list); more++ {
		best[more] = level{p.after(j, list[:more]), list[:more]}
	}
	// One that has no more room than with fewer is of no use.
	levels := best[:1]
	for _, l := range best[1:] {
		if l.n > levels[len(levels)-1].n {
			levels = append(levels, l)
		}
	}
	return levels
}

// settle notes a choice in v, the level of every server: no more containers than are needed, in whole slices, and nothing that is waited
// for in vain.
func (p *picking) settle(v *reserved, choice []int) {
	need := p.n
	for _, servers := range p.groups {
		room := int64(0)
		for _, j := range servers {
			if choice[j] >= 0 {
				room += p.levels[j][choice[j]].n
			}
		}
		part := min(need, room-room%p.slice)
		need -= part
		for _, j := range servers {
			if choice[j] < 0 || part == 0 {
				continue
			}
			n := min(part, p.levels[j][choice[j]].n)
			v.servers = append(v.servers, apportion.Placement{Server: j, Count: n})
			part -= n
			v.waits = append(v.waits, p.levels[j][choice[j]].waits...)
		}
	}
	slices.SortFunc(v.servers, func(a, b apportion.Placement) int { return a.Server - b.Server })
	slices.Sort(v.waits)
	v.waits = slices.Compact(v.waits)
	// One on several servers may free more than it was waited for.
	p.prune(v)
}

// prune takes out of what is waited for what is not needed, and notes when the rest has ended.
func (p *picking) prune(v *reserved) {
	for at := len(v.waits) - 1; at >= 0; at-- {
		if rest := slices.Delete(slices.Clone(v.waits), at, at+1); p.holdsAfter(v.servers, rest) {
			v.waits = rest
		}
	}
	v.at = p.r.latest(v.waits)
}

// latest returns when the last of these applications has ended, 0 where there is none.
func (r *resolved) latest(list []int) float64 {
	at := 0.0
	for _, v := range list {
		at = max(at, r.ends(v))
	}
	return at
}

// belowSoonest is soonest where a ceiling has no room for n containers: no servers are reserved, and what is waited for are as few as
// are needed below the ceilings, the first that end and of equals the largest. nil: it cannot be had.
func (d *draft) belowSoonest(v *reserved, n int64) *reserved {
	var list []int
	for w := range d.counts {
		if len(d.counts[w]) > 0 && d.in[w] && !d.waitedFor(w) && slices.ContainsFunc(d.r.above[v.i], func(c int) bool { return slices.Contains(d.r.above[w], c) }) {
			list = append(list, w)
		}
	}
	size := func(w int) float64 {
		return d.r.delta(d.r.problem.Applications[w].Demand) * float64(solver.Containers(d.counts[w]))
	}
	slices.SortStableFunc(list, func(x, y int) int {
		if d.r.ends(x) != d.r.ends(y) {
			return cmp.Compare(d.r.ends(x), d.r.ends(y))
		}
		return cmp.Compare(size(y), size(x))
	})
	short := func(ended []int) bool {
		return d.r.belowCeilings(v.i, func(c int) apportion.Resources {
			left := d.ceilingLeft(v.i, c).Clone()
			for _, w := range ended {
				for k, q := range d.r.problem.Applications[w].Demand {
					if slices.Contains(d.r.above[w], c) && d.r.ceiling(c)[k] < drf.NoLimit {
						left[k] += q * solver.Containers(d.counts[w])
					}
				}
			}
			return left
		}) < n
	}
	for last := range list {
		if short(list[:last+1]) {
			continue
		}
		v.waits = list[:last+1]
		for at := last - 1; at >= 0; at-- {
			if rest := slices.Delete(slices.Clone(v.waits), at, at+1); !short(rest) {
				v.waits = rest
			}
		}
		slices.Sort(v.waits)
		v.at = d.r.latest(v.waits)
		return v
	}
	return nil
}
