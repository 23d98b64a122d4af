// This file picks the servers on which fewest applications have to end for one that is due, by dynamic programming, [Program §8], point 3.

package alloc

import (
	"math"
	"slices"
)

// table is the most containers that some servers hold, in whole slices: by how many of them are used at most, where that is limited, and
// by how many applications are waited for at most.
type table struct {
	servers []int
	room    [][]int64
	chosen  [][]int16 // by server, then by position: the level, and -1 for none
	shares  []share   // by position: what of it is these servers', in a table of them and of all before
}

// share is how many servers are used at most, and how many applications waited for.
type share struct{ servers, waits int }

// position is that of an entry in a list by servers used and waits.
func (t *table) position(s, w int) int { return s*len(t.room[0]) + w }

// layers returns for how many numbers of servers a table has entries; limited says that the servers are.
func (p *picking) layers() (n int, limited bool) {
	most := p.r.problem.Applications[p.i].MaxServers
	if most == 0 || most >= min(p.n, int64(len(p.left))) {
		return 1, false
	}
	return int(most) + 1, true
}

// pick returns a choice that has room for the containers and waits for at most limit applications, as few as possible: for each server which
// of the levels that it is given, -1: none. nil: there is no such choice. Servers come one after the other, and where slices are
// within domains these as well. Where none need be waited for it looks at no more servers.
// O(servers x levels x limit), and O(domains x slices x limit); each times the servers that may be used, where these are limited.
func (p *picking) pick(limit int, levels func(j int) []level) []int {
	var parts []*table
	var all []int64
	for _, servers := range p.groups {
		t := p.tableOf(servers, limit, levels)
		if parts != nil {
			t.join(parts[len(parts)-1], p.n)
		}
		parts = append(parts, t)
		if all = t.room[len(t.room)-1]; all[0] >= p.n {
			break
		}
	}
	w := slices.IndexFunc(all, func(n int64) bool { return n >= p.n })
	if w < 0 {
		return nil
	}
	choice := slices.Repeat([]int{-1}, len(p.left))
	for at, s := len(parts)-1, len(parts[0].room)-1; at >= 0; at-- {
		own := share{s, w}
		if at > 0 {
			own = parts[at].shares[parts[at].position(s, w)]
		}
		parts[at].trace(own, levels, choice)
		s, w = s-own.servers, w-own.waits
	}
	return choice
}

// tableOf fills in the table of these servers.
func (p *picking) tableOf(servers []int, limit int, levels func(j int) []level) *table {
	layers, limited := p.layers()
	t := &table{servers: servers, room: make([][]int64, layers), chosen: make([][]int16, len(servers))}
	for s := range t.room {
		t.room[s] = make([]int64, limit+1)
	}
	for at, j := range servers {
		if t.room[layers-1][0] >= p.n {
			break
		}
		if of := levels(j); of[len(of)-1].n > 0 {
			t.chosen[at] = make([]int16, layers*(limit+1))
			for s := layers - 1; s >= 0; s-- {
				t.extend(t.chosen[at], s, limited, of, p.n)
			}
		}
	}
	for _, room := range t.room {
		for w := range room {
			room[w] -= room[w] % p.slice
		}
	}
	return t
}

// extend tries every level of one server more, for s servers at most: which level is best by how many are waited for.
func (t *table) extend(chosen []int16, s int, limited bool, levels []level, n int64) {
	from := t.room[s]
	if limited && s > 0 {
		from = t.room[s-1]
	}
	for w := len(from) - 1; w >= 0; w-- {
		at := t.position(s, w)
		chosen[at] = -1
		if limited && s == 0 {
			continue
		}
		for l := range min(len(levels), math.MaxInt16) {
			if waits := len(levels[l].waits); waits <= w && levels[l].n > 0 && min(n, from[w-waits]+levels[l].n) > t.room[s][w] {
				t.room[s][w], chosen[at] = min(n, from[w-waits]+levels[l].n), int16(l)
			}
		}
	}
}

// join makes t the table of its servers and of those of before, for n containers at most.
func (t *table) join(before *table, n int64) {
	var points []share // where there is more room than with fewer servers or waits
	for s, room := range t.room {
		for w := range room {
			if room[w] > 0 && (w == 0 || room[w] > room[w-1]) && (s == 0 || room[w] > t.room[s-1][w]) {
				points = append(points, share{s, w})
			}
		}
	}
	own := t.room
	t.room, t.shares = make([][]int64, len(own)), make([]share, len(own)*len(own[0]))
	for s := range own {
		t.room[s] = slices.Clone(before.room[s])
		for w := range t.room[s] {
			for _, p := range points {
				if p.servers > s || p.waits > w {
					continue
				}
				if sum := min(n, before.room[s-p.servers][w-p.waits]+own[p.servers][p.waits]); sum > t.room[s][w] {
					t.room[s][w], t.shares[t.position(s, w)] = sum, p
				}
			}
		}
	}
}

// trace notes the levels that have led to an entry of a table.
func (t *table) trace(of share, levels func(j int) []level, choice []int) {
	for at := len(t.servers) - 1; at >= 0; at-- {
		if t.chosen[at] == nil {
			continue
		}
		l := t.chosen[at][t.position(of.servers, of.waits)]
		if l < 0 {
			continue
		}
		choice[t.servers[at]] = int(l)
		of.waits -= len(levels(t.servers[at])[l].waits)
		if len(t.room) > 1 {
			of.servers--
		}
	}
}
