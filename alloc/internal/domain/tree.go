// This file holds the domains of servers: paths of labels from the widest level to a narrower one, [Program §13].

package domain

import (
	"strconv"
	"strings"
)

// MaxLevels is how many levels a tree may have; Kueue's topologies have as many at most.
const MaxLevels = 16

// Tree is the domains of servers by level, 0 the widest. A domain is a path of labels from the widest level, so that equal narrow labels
// below two wide ones are two domains. Domains are numbered within their level, in the order of the servers.
type Tree struct {
	parent [][]int      // by level and domain: the domain above it
	path   [][][]string // by level and domain: its labels from the widest on
	below  [][][]int    // by level and domain: the domains just below it
	of     [][]int      // by level and server: its domain, -1 where it lacks a label up to there
}

// New returns the tree of n servers, where label gives the label of a server for a level, and false where it has none. A server without
// one is in no domain of that level nor of a narrower one. O(n levels).
func New(n, levels int, label func(server, level int) (string, bool)) *Tree {
	t := &Tree{parent: make([][]int, levels), path: make([][][]string, levels), below: make([][][]int, levels), of: make([][]int, levels)}
	for level := range levels {
		t.of[level] = make([]int, n)
		known := make(map[string]int)
		for j := range n {
			above, path := 0, []string(nil)
			if level > 0 {
				above = t.of[level-1][j]
			}
			name, ok := label(j, level)
			if !ok || above < 0 {
				t.of[level][j] = -1
				continue
			}
			if level > 0 {
				path = t.path[level-1][above]
			}
			key := strconv.Itoa(above) + "/" + name
			at, here := known[key]
			if !here {
				at = len(t.path[level])
				known[key] = at
				t.parent[level] = append(t.parent[level], above)
				t.below[level] = append(t.below[level], nil)
				if level > 0 {
					t.below[level-1][above] = append(t.below[level-1][above], at)
				}
				t.path[level] = append(t.path[level], append(path[:len(path):len(path)], name))
			}
			t.of[level][j] = at
		}
	}
	return t
}

// Levels returns how many levels there are.
func (t *Tree) Levels() int { return len(t.of) }

// Of returns the domain of a level that a server is in, -1 where it is in none.
func (t *Tree) Of(level, server int) int { return t.of[level][server] }

// Domains returns how many domains a level has.
func (t *Tree) Domains(level int) int { return len(t.path[level]) }

// Name returns the labels of a domain from the widest level on, with slashes between them.
func (t *Tree) Name(level, domain int) string { return strings.Join(t.path[level][domain], "/") }

// Above returns the domain of a level that a domain of a narrower or the same level is in.
func (t *Tree) Above(level, narrow, domain int) int {
	for ; narrow > level; narrow-- {
		domain = t.parent[narrow][domain]
	}
	return domain
}

// Shared lists the labels of a level that occur in several of its domains, in the order of these.
func (t *Tree) Shared(level int) []string {
	seen, shared := make(map[string]int), []string(nil)
	for _, path := range t.path[level] {
		name := path[len(path)-1]
		if seen[name]++; seen[name] == 2 {
			shared = append(shared, name)
		}
	}
	return shared
}
