// This file says what waits after an event, why, and how much was let in past it.

package alloc

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/event"
	"github.com/apportion/apportion/alloc/solver"
)

// reasonFor says why an application waits.
func (s *running) reasonFor(f *event.Refused) apportion.Reason {
	reason := apportion.Reason{Constraint: solver.Capacity, Asked: f.Asked, Fits: f.Fits, Need: float64(f.Asked), Have: float64(f.Fits)}
	text := fmt.Sprintf("it needs %s, and %s room", containers(f.Asked), have(f.Fits))
	switch {
	case f.Queue >= 0:
		queue, kind := &s.problem.Queues[f.Queue], s.problem.Kinds.Name(f.Kind)
		ceiling := ceilingText(queue, kind, f.Need, queue.Ceiling[f.Kind], f.Free)
		ceiling.Asked, ceiling.Fits = f.Asked, f.Fits
		return ceiling
	case f.Kind >= 0:
		reason.Kind, reason.Need, reason.Have = s.problem.Kinds.Name(f.Kind), float64(f.Need), float64(f.Free)
		text = fmt.Sprintf("it needs %d %s for %s, and %s free", f.Need, reason.Kind, containers(f.Asked), are(f.Free))
	}
	reason.Text = sentences(text, "others that may change now cannot make enough room")
	return reason
}

// passed returns how much was let in past each application that waits.
func (s *running) passed() map[string]float64 {
	passed := make(map[string]float64)
	for id, i := range s.app {
		if much, waits := s.cluster.Waits(i); waits {
			passed[id] = much
		}
	}
	return passed
}
