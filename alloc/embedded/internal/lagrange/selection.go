// This file chooses whom to free at given prices, and keeps the choices that a node of the tree has made.

package lagrange

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// Score is what freeing a pinnable application is worth at the prices.
type Score struct {
	Gain float64
	App  int32
}

// SortScores orders by gain, largest first, then by application: equal gains must not leave the order to the sort.
func SortScores(scores []Score) {
	slices.SortFunc(scores, func(a, b Score) int {
		if a.Gain != b.Gain {
			return cmp.Compare(b.Gain, a.Gain)
		}
		return int(a.App) - int(b.App)
	})
}

// Selection is F*, the open applications that are freed at some prices: the budget largest positive
// scores, where a score is what freeing one is worth.
// Choosing by sort is exact: at fixed prices the scores of applications are
// independent, and the budget only counts.
type Selection struct {
	choice []problem.Choice
	Budget int64 // adjustments that the choices leave
	// All is every open application by score; F* is the first of them, chosen, and InChosen marks it.
	All, Chosen []Score
	InChosen    []bool
	// Next is the largest score outside F*, at least 0; least the smallest in it, 0 if F* is not full.
	// Together they say how sure the choice is: a subproblem that forces a member of F*
	// out, or another one in, bounds at most bound - (Least - Next).
	Next, Least float64
	// Often counts how often each application was in F* in so many rounds.
	Often  []int
	Rounds int
	// Limits bound the use of every kind; used is how much of it the choices of each round use, summed
	// over rounds.
	Limits Limits
	Used   []float64
}

// newSelection returns the selection of the root node: everything is open, and nothing
// is limited.
func newSelection(p *problem.Problem) Selection {
	n := len(p.Apps)
	return Selection{choice: make([]problem.Choice, n), Budget: p.Budget, InChosen: make([]bool, n), Often: make([]int, n), Limits: NoLimits(p), Used: make([]float64, p.Kinds)}
}

// decide takes over the choices of a node.
// Budget may become negative for a node that frees too many; nobody is chosen then.
// O(applications).
func (sel *Selection) decide(p *problem.Problem, choices []problem.Choice) {
	// Whoever cannot stay has been charged to p.Budget already.
	copy(sel.choice, choices)
	sel.Budget = p.Budget
	for i, c := range choices {
		if c == problem.Freed && p.Apps[i].Pinnable {
			sel.Budget--
		}
	}
}

// clear begins a round: nobody is chosen, and no score is known.
// O(members of F*).
func (sel *Selection) clear() {
	for _, sc := range sel.Chosen {
		sel.InChosen[sc.App] = false
	}
	sel.All = sel.All[:0]
}

// add enters the score of an open application, free_i less keep_i; each at most once a round.
func (sel *Selection) add(i int32, gain float64) { sel.All = append(sel.All, Score{gain, i}) }

// choose makes the budget largest positive scores F*, and sets next and least.
// O(open log open). Afterwards Chosen is a prefix of All, so that All[len(Chosen):]
// stay.
// It counts a round each time, so that it is called once an evaluation, when all scores are in.
func (sel *Selection) choose() {
	SortScores(sel.All)
	full := min(int(max(0, sel.Budget)), len(sel.All))
	// Positive only: the budget is a limit, not a duty.
	n := 0
	for n < full && sel.All[n].Gain > 0 {
		n++
	}
	sel.Next, sel.Least = 0, 0
	// If F* is not full, one adjustment more is worth nothing, and Next stays 0.
	if n < len(sel.All) && n == full {
		sel.Next = max(0, sel.All[n].Gain)
	}
	if n > 0 && int64(n) == sel.Budget {
		sel.Least = sel.All[n-1].Gain
	}
	sel.Chosen = sel.All[:n]
	for _, sc := range sel.Chosen {
		sel.InChosen[sc.App] = true
	}
	sel.tally()
}

// tally counts a round in which F* is as it is now.
// The means of Often over Rounds approximate the fractional solution of the
// relaxation: the tree branches where they are far from 0 and 1.
func (sel *Selection) tally() {
	sel.Rounds++
	for _, sc := range sel.Chosen {
		sel.Often[sc.App]++
	}
}

// Forget starts counting afresh how often each application is in F*, and how much is used.
// A node begins with it: means over the rounds of another node would say where to branch there.
func (sel *Selection) Forget() {
	clear(sel.Often)
	clear(sel.Used)
	sel.Rounds = 0
}

// State returns sel: the part of a bounder that the tree looks at.
func (sel *Selection) State() *Selection { return sel }
