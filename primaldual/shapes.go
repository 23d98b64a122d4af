// This file implements the choice between several shapes of one job: accelerators of one type or of another, few large workers
// or many small ones.

package primaldual

import "github.com/apportion/apportion"

// OfferShapes offers one job that can run in several shapes, of which the one with the greatest payoff is chosen; of equal
// ones that with the earliest completion, then the first. Shapes have one ID and one arrival, else ErrConflict, and there is at
// least one, else ErrEmpty. It returns the position of the shape that the decision is about: of a refused job the
// first. Types of accelerators are kinds of their own, of which each shape demands one. O(shapes x Offer).
func (s *Scheduler) OfferShapes(shapes []Job) (Decision, int, error) {
	if len(shapes) == 0 {
		return Decision{}, 0, &apportion.FieldError{Field: "shapes", Err: apportion.ErrEmpty}
	}
	best, chosen := Decision{}, -1
	for i, shape := range shapes {
		if shape.ID != shapes[0].ID || shape.Arrival != shapes[0].Arrival {
			return Decision{}, 0, &apportion.FieldError{Item: shape.item(), Field: "shapes", Err: apportion.ErrConflict, Detail: "shapes of one job differ in ID or arrival"}
		}
		// Quotes change nothing, so that all shapes are asked about the same state.
		d, err := s.Quote(shape)
		if err != nil {
			return Decision{}, 0, err
		}
		if d.Admitted && (chosen < 0 || d.Payoff > best.Payoff || d.Payoff == best.Payoff && d.Completion < best.Completion) {
			best, chosen = d, i
		}
	}
	// Where every shape is refused the first one is offered, so that there is one decision to
	// return, and learning notes one job and not several.
	chosen = max(chosen, 0)
	d, err := s.Offer(shapes[chosen])
	return d, chosen, err
}
