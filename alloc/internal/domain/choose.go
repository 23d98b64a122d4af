// This file chooses the domains of one application by dynamic programming over the tree: a knapsack over the domains of every level, with
// the fewest wide ones first, [Program §13].

package domain

import "slices"

// None is a level that an application asks nothing of.
const None = -1

// Wish is what an application asks of domains; levels are those of a tree, or None.
type Wish struct {
	// Within: all containers are in one domain of this level.
	Within int
	// SliceWithin: the containers in each domain of this level are a multiple of Slice.
	SliceWithin int
	Slice       int64
	// Prefer: the fewest domains of this level and of the wider ones are wanted.
	Prefer int
}

// Leaf returns the narrowest level that the wish speaks of, None where it speaks of none.
func (w *Wish) Leaf() int { return max(w.Within, w.SliceWithin, w.Prefer) }

// Part is how many containers are in one domain of the narrowest level that a wish speaks of.
type Part struct {
	Domain     int
	Containers int64
}

// Choose returns where n containers go, where room has how many fit each domain of w.Leaf: all that the wish demands, and of that the
// fewest domains of the widest level, of these the fewest of the next and so on, and then those with the least room. nil: they do
// not fit. Where all go into one domain, that may grow, those with room for more come first, up to most containers.
//
// It is exact: costs are vectors that are compared from the wide level on, an order that adding keeps, so that of two choices below a
// domain the one that costs no less and holds no more is never needed. O(domains x n^2), and linear in n below the narrowest level.
func (t *Tree) Choose(w *Wish, room []int64, n, most int64) []Part {
	c := chooser{Tree: t, wish: w, room: room, n: n}
	if w.Within == None {
		// That they do not fit is known without a choice.
		if most, _ := t.Most(w, room); most < n {
			return nil
		}
		return c.parts(c.reaching(c.root()))
	}
	var best *point
	var held int64
	for domain := range t.Domains(w.Within) {
		all := c.whole(w.Within, domain)
		if all < n {
			continue
		}
		p, grows := c.reaching(c.frontier(w.Within, domain)), min(most, all)
		if best == nil || grows > held || grows == held && p.better(best) {
			best, held = p, grows
		}
	}
	return c.parts(best)
}

// Used returns in how many domains of each level parts of level leaf are.
func (t *Tree) Used(leaf int, parts []Part) []int {
	used := make([]int, leaf+1)
	for level := range used {
		seen := make(map[int]bool, len(parts))
		for _, p := range parts {
			seen[t.Above(level, leaf, p.Domain)] = true
		}
		used[level] = len(seen)
	}
	return used
}

// Most returns how many containers fit at most, by the rooms of the domains of w.Leaf, and the domain of w.Within that holds them, None
// where they need not be within one. O(domains).
func (t *Tree) Most(w *Wish, room []int64) (most int64, domain int) {
	c := chooser{Tree: t, wish: w, room: room}
	if w.Within == None {
		for at := range t.Domains(0) {
			most += c.whole(0, at)
		}
		return most, None
	}
	domain = None
	for at := range t.Domains(w.Within) {
		if n := c.whole(w.Within, at); n > most {
			most, domain = n, at
		}
	}
	return most, domain
}

type chooser struct {
	*Tree
	wish *Wish
	room []int64
	n    int64
}

// whole returns how many containers a domain holds, in whole slices.
func (c *chooser) whole(level, domain int) (sum int64) {
	if level == c.wish.Leaf() {
		sum = c.room[domain]
	} else {
		for _, b := range c.below[level][domain] {
			sum += c.whole(level+1, b)
		}
	}
	return c.sliced(level, sum)
}

// sliced rounds what a domain holds down to whole slices, where they are within its level.
func (c *chooser) sliced(level int, n int64) int64 {
	if level == c.wish.SliceWithin {
		n -= n % c.wish.Slice
	}
	return n
}

// reaching returns the first point of a frontier with room for all, nil where there is none.
func (c *chooser) reaching(list []point) *point {
	at := slices.IndexFunc(list, func(p point) bool { return p.holds >= c.n })
	if at < 0 {
		return nil
	}
	return &list[at]
}

// parts puts the containers into the domains of a choice, and of slices whole ones: into the domains with the most room first. nil:
// there is no choice.
func (c *chooser) parts(p *point) []Part {
	if p == nil {
		return nil
	}
	leaf := c.wish.Leaf()
	var chosen []int
	p.trace.list(&chosen)
	slices.Sort(chosen)
	if c.wish.SliceWithin == None || c.wish.SliceWithin == leaf {
		return c.fill(chosen, c.n)
	}
	// Each slice is in one domain that is wider than the leaves: these are filled for each of them by itself.
	var parts []Part
	left := c.n
	for from := 0; from < len(chosen); {
		wide := c.Above(c.wish.SliceWithin, leaf, chosen[from])
		group, room := []int(nil), int64(0)
		for _, d := range chosen {
			if c.Above(c.wish.SliceWithin, leaf, d) == wide {
				group, room = append(group, d), room+c.room[d]
			}
		}
		chosen = slices.DeleteFunc(chosen, func(d int) bool { return slices.Contains(group, d) })
		take := min(left, c.sliced(c.wish.SliceWithin, room))
		parts, left = append(parts, c.fill(group, take)...), left-take
	}
	slices.SortFunc(parts, func(a, b Part) int { return a.Domain - b.Domain })
	return parts
}

// fill puts n containers into these leaves, the ones with the most room first.
func (c *chooser) fill(leaves []int, n int64) []Part {
	bySize := slices.Clone(leaves)
	slices.SortStableFunc(bySize, func(a, b int) int {
		return int(min(1, max(-1, c.room[b]-c.room[a])))
	})
	var parts []Part
	for _, d := range bySize {
		if take := min(n, c.sliced(c.wish.Leaf(), c.room[d])); take > 0 {
			parts, n = append(parts, Part{d, take}), n-take
		}
	}
	slices.SortFunc(parts, func(a, b Part) int { return a.Domain - b.Domain })
	return parts
}
