// This file holds the groups, which servers leave and enter one by one.

package remainders

import "slices"

// unlike is how many servers a group must have in the mean: where nearly each is alone, groups save no look. It changes no answer.
const unlike = 4

// Groups has each of some servers in one group, or in none. Memory is about 12 bytes for each server, and that of the keys.
type Groups struct {
	known  map[string]int // by key: the group
	of     []int32        // by server: its group, none
	groups []group
	live   []int // the groups that have servers, in any order
}

// none is the group of a server that is in none.
const none = -1

// group lists its servers, ascending, and with them some that have left it: those are not more than the others.
type group struct {
	servers []int32
	count   int
	at      int // in live
}

// New returns groups of so many servers, all of which are in none.
func New(servers int) *Groups {
	return &Groups{known: make(map[string]int), of: slices.Repeat([]int32{none}, servers)}
}

// Few reports whether servers are alike: where groups are many they cost more than they save.
func (g *Groups) Few() bool { return len(g.live)*unlike <= len(g.of)+unlike }

// Live lists the groups that have servers, in any order. The list is valid until a server comes or goes, and must not be changed.
func (g *Groups) Live() []int { return g.live }

// Count returns how many servers a group has.
func (g *Groups) Count(at int) int { return g.groups[at].count }

// Extend makes room for servers, of which there are so many then; those that come are in no group.
func (g *Groups) Extend(servers int) {
	for len(g.of) < servers {
		g.of = append(g.of, none)
	}
}

// Grouped reports whether server j is in a group.
func (g *Groups) Grouped(j int) bool { return g.of[j] != none }

// Put puts server j, which is in no group, into that of key. The key is not kept. O(servers of the group), with a constant below a
// nanosecond, and O(1) where j is behind them all.
func (g *Groups) Put(j int, key []byte) {
	at, ok := g.known[string(key)]
	if !ok {
		at = len(g.groups)
		g.known[string(key)] = at
		g.groups = append(g.groups, group{})
	}
	to := &g.groups[at]
	if to.count++; to.count == 1 {
		to.at = len(g.live)
		g.live = append(g.live, at)
	}
	g.of[j] = int32(at)
	// A server that has been here before may still be listed.
	if where, listed := slices.BinarySearch(to.servers, int32(j)); !listed {
		to.servers = slices.Insert(to.servers, where, int32(j))
	}
}

// Remove takes server j out of its group, if it is in one. O(1) on average.
func (g *Groups) Remove(j int) {
	at := g.of[j]
	if at == none {
		return
	}
	from := &g.groups[at]
	g.of[j] = none
	if from.count--; from.count == 0 {
		last := g.live[len(g.live)-1]
		g.live[from.at], g.groups[last].at = last, from.at
		g.live = g.live[:len(g.live)-1]
	}
	// Those at the front are in the way of every question from the first server on.
	for len(from.servers) > 0 && g.of[from.servers[0]] != at {
		from.servers = from.servers[1:]
	}
	if len(from.servers) > 2*from.count {
		from.servers = slices.DeleteFunc(from.servers, func(j int32) bool { return g.of[j] != at })
	}
}

// Next returns the first server of a live group from server from on, or else its first one.
func (g *Groups) Next(at, from int) int {
	servers := g.groups[at].servers
	where, _ := slices.BinarySearch(servers, int32(from))
	for {
		if where == len(servers) {
			where = 0
		}
		if j := servers[where]; g.of[j] == int32(at) {
			return int(j)
		}
		where++
	}
}
