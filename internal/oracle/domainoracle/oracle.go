// Package domainoracle chooses domains by trying every set of them. It is the twin of package domain, and shares nothing with it.
package domainoracle

import "slices"

// None is a level that nothing is asked of.
const None = -1

// Question is a choice of domains: those of the narrowest level have a path of domains from the widest on, and room for containers.
type Question struct {
	Paths       [][]string
	Room        []int64
	N           int64
	Within      int
	SliceWithin int
	Slice       int64
}

// name is a domain of a level, as a text.
func name(path []string, level int) string {
	text := ""
	for _, label := range path[:level+1] {
		text += label + "\x00"
	}
	return text
}

// Best returns how many domains of each level the best set has, the fewest wide ones first; nil: there is none. O(2^domains).
func Best(q *Question) (used []int) {
	for set := range 1 << len(q.Paths) {
		if mine := q.try(set); mine != nil && (used == nil || slices.Compare(mine, used) < 0) {
			used = mine
		}
	}
	return used
}

// try returns how many domains of each level a set has, nil where the containers do not fit.
func (q *Question) try(set int) []int {
	levels := len(q.Paths[0])
	seen := make([]map[string]int64, levels) // the room of each domain that has any of the set
	for level := range seen {
		seen[level] = make(map[string]int64)
	}
	for d, path := range q.Paths {
		if set>>d&1 == 0 {
			continue
		}
		for level := range levels {
			seen[level][name(path, level)] += q.Room[d]
		}
	}
	if q.Within != None && len(seen[q.Within]) > 1 {
		return nil
	}
	total, level := int64(0), max(0, q.SliceWithin)
	for _, room := range seen[level] {
		if q.SliceWithin != None {
			room -= room % q.Slice
		}
		total += room
	}
	if total < q.N {
		return nil
	}
	used := make([]int, levels)
	for level := range used {
		used[level] = len(seen[level])
	}
	return used
}
