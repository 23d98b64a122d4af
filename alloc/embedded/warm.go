// This file carries multipliers from one decision to the next: a scheduler solves nearly the same problem
// again and again.

package embedded

import (
	"encoding/binary"

	"github.com/apportion/apportion/alloc/p2"
)

// Warm is what one decision leaves for the next: where the multipliers of the decomposition start. It
// knows applications by what they ask for and hold, so that the next instance may list others in
// another order; servers keep their indices. It changes how soon an answer is found, never whether
// it is right, and may be handed to any number of solvers at once.
type Warm struct {
	price map[string]float64   // by demand
	room  map[string][]float64 // by demand and place
	loss  float64
}

// WarmFrom returns what sol, an answer to inst, leaves for the next decision, or nil where there is
// nothing. It retains neither.
func WarmFrom(inst *p2.Instance, sol *p2.Solution) *Warm {
	if sol.Copies == nil || !sol.Status.HasSolution() {
		return nil
	}
	w := &Warm{price: make(map[string]float64), room: make(map[string][]float64), loss: sol.Copies.Loss}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		key := vectorKey(nil, app.Demand)
		w.price[string(key)] = sol.Copies.Container[i]
		if app.Running && !app.Adjusted(sol.Counts[i]) && len(sol.Copies.Room[i]) == len(app.Previous) {
			w.room[string(placeKey(key, app.Previous))] = append([]float64(nil), sol.Copies.Room[i]...)
		}
	}
	return w
}

// placeKey appends a placement to a key.
func placeKey(key []byte, placed []p2.Placed) []byte {
	for _, p := range placed {
		key = binary.LittleEndian.AppendUint64(key, uint64(p.Server))
		key = binary.LittleEndian.AppendUint64(key, uint64(p.Count))
	}
	return key
}

// apply overwrites those multipliers in x that w knows.
func (w *Warm) apply(s *split, x []float64) {
	types := len(s.p.types)
	x[types] = w.loss
	for i := range s.p.apps {
		app := &s.p.inst.Apps[i]
		key := vectorKey(nil, app.Demand)
		if price, known := w.price[string(key)]; known {
			x[s.p.apps[i].typ] = price
		}
		entries := s.entriesOf[s.firstEntry[i]:s.firstEntry[i+1]]
		for n, mu := range w.room[string(placeKey(key, app.Previous))] {
			if n < len(entries) {
				x[types+1+int(entries[n])] = mu
			}
		}
	}
}
