// This file carries multipliers, and who was freed, from one decision to the next: a scheduler solves
// nearly the same problem again and again.

package embedded

import (
	"encoding/binary"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// Warm is what one decision leaves for the next: where the multipliers of the decomposition start, and the
// applications that were adjusted, who are the first set to be tried. It knows applications by what they
// ask for and hold, so that the next instance may list others in another order; servers keep their
// indices. It changes how soon an answer is found, never whether
// it is right, and may be handed to any number of solvers at once.
// Maps are by bytes of the vectors: two applications of equal demand share a price, as types do. A Warm is
// read-only once made.
type Warm struct {
	price map[string]float64   // by demand
	room  map[string][]float64 // by demand and place
	loss  float64
	freed map[string]bool // by demand and place
}

// WarmFrom returns what sol, an answer to inst, leaves for the next decision, or nil where there is
// nothing. It retains neither.
func WarmFrom(inst *solver.Instance, sol *solver.Solution) *Warm {
	if !sol.Status.HasSolution() {
		return nil
	}
	w := &Warm{price: make(map[string]float64), room: make(map[string][]float64), freed: make(map[string]bool)}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		key := problem.Key(nil, app.Demand)
		// Adjusted ones are keyed by where they are now, since that is what the next decision finds as
		// Previous.
		if app.Adjusted(sol.Counts[i]) {
			w.freed[string(placeKey(key, sol.Counts[i]))] = true
		}
		if sol.Copies == nil {
			continue
		}
		w.loss, w.price[string(key)] = sol.Copies.Loss, sol.Copies.Container[i]
		// Room lists a multiplier for each placement of Previous; of an adjusted one these are for places that
		// it has left.
		if app.Running && !app.Adjusted(sol.Counts[i]) && len(sol.Copies.Room[i]) == len(app.Previous) {
			w.room[string(placeKey(key, app.Previous))] = slices.Clone(sol.Copies.Room[i])
		}
	}
	return w
}

// set returns who was freed last time and may be again, nil if nobody or more than the budget allows.
func (w *Warm) set(p *problem.Problem) []bool {
	set, n := make([]bool, len(p.Apps)), int64(0)
	for i := range p.Apps {
		app := &p.Inst.Apps[i]
		if p.Apps[i].Pinnable && w.freed[string(placeKey(problem.Key(nil, app.Demand), app.Previous))] {
			set[i] = true
			n++
		}
	}
	// A set above the budget is no solution, whatever it packs.
	if n == 0 || n > p.Budget {
		return nil
	}
	return set
}

// placeKey appends a placement to a key.
func placeKey(key []byte, placed []apportion.Placement) []byte {
	for _, p := range placed {
		key = binary.LittleEndian.AppendUint64(key, uint64(p.Server))
		key = binary.LittleEndian.AppendUint64(key, uint64(p.Count))
	}
	return key
}

// apply overwrites those multipliers in x that w knows.
func (w *Warm) apply(s *pattern.Cells, x []float64) {
	types := len(s.Problem.Types)
	// A start is all that this is: multipliers that no longer fit cost rounds.
	x[types] = w.loss
	for i := range s.Problem.Apps {
		app := &s.Problem.Inst.Apps[i]
		key := problem.Key(nil, app.Demand)
		if price, known := w.price[string(key)]; known {
			x[s.Problem.Apps[i].Type] = price
		}
		entries := s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]]
		for n, mu := range w.room[string(placeKey(key, app.Previous))] {
			// Entries follow Previous; the test guards a Warm that was made of another instance.
			if n < len(entries) {
				x[types+1+int(entries[n])] = mu
			}
		}
	}
}
