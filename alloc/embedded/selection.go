// This file chooses whom to free at given prices, and keeps the choices that a node of the tree has made.

package embedded

import "math"

// choice says about a keepable application whether a node of the tree leaves it open.
type choice int8

const (
	open choice = iota
	kept
	freed
)

// selection is F*, the open applications that are freed at some prices: the budget largest positive
// scores, where a score is what freeing one is worth.
type selection struct {
	choice []choice
	budget int64 // adjustments that the choices leave
	// all is every open application by score; F* is the first of them, chosen, and inChosen marks it.
	all, chosen []score
	inChosen    []bool
	// next is the largest score outside F*, at least 0; least the smallest in it, 0 if F* is not full.
	next, least float64
	// often counts how often each application was in F* in so many rounds.
	often  []int
	rounds int
	// limits bound the use of every kind; used is how much of it the choices of each round use, summed
	// over rounds.
	limits limits
	used   []float64
}

func newSelection(p *problem) selection {
	n := len(p.apps)
	return selection{choice: make([]choice, n), budget: p.budget, inChosen: make([]bool, n), often: make([]int, n), limits: noLimits(p), used: make([]float64, p.kinds)}
}

// decide takes over the choices of a node.
func (sel *selection) decide(p *problem, choices []choice) {
	copy(sel.choice, choices)
	sel.budget = p.budget
	for i, c := range choices {
		if c == freed && p.apps[i].keepable {
			sel.budget--
		}
	}
}

// clear begins a round; add enters the score of an open application.
func (sel *selection) clear() {
	for _, sc := range sel.chosen {
		sel.inChosen[sc.app] = false
	}
	sel.all = sel.all[:0]
}

func (sel *selection) add(i int32, gain float64) { sel.all = append(sel.all, score{gain, i}) }

// choose makes the budget largest positive scores F*, and sets next and least.
func (sel *selection) choose() {
	sortScores(sel.all)
	full := min(int(max(0, sel.budget)), len(sel.all))
	n := 0
	for n < full && sel.all[n].gain > 0 {
		n++
	}
	sel.next, sel.least = 0, 0
	if n < len(sel.all) && n == full {
		sel.next = math.Max(0, sel.all[n].gain)
	}
	if n > 0 && int64(n) == sel.budget {
		sel.least = sel.all[n-1].gain
	}
	sel.chosen = sel.all[:n]
	sel.rounds++
	for _, sc := range sel.chosen {
		sel.inChosen[sc.app] = true
		sel.often[sc.app]++
	}
}

// forget starts counting afresh how often each application is in F*, and how much is used.
func (sel *selection) forget() {
	clear(sel.often)
	clear(sel.used)
	sel.rounds = 0
}

// state returns sel: the part of a bounder that the tree looks at.
func (sel *selection) state() *selection { return sel }
