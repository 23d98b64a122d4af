// This file holds what every search hands on: the best solution met, containers by type and server.

package problem

// Incumbent is the best state met that is a solution.
// On lists the containers of free applications by server; who is not Free holds what it held. Objective is in
// utilization, Loss in shares, Freed the sum of the weights of those pinnable ones that are free.
type Incumbent struct {
	Found     bool
	On        [][]Slot
	Free      []bool
	Objective float64
	Loss      float64
	Freed     int64
	standing  Standing // of all that were accepted
}

// Accept reports whether a solution with these figures is preferred to inc: more utilization, then less loss,
// then fewer freed applications. If so it takes over the figures.
func (inc *Incumbent) Accept(objective, loss float64, freed int64) bool {
	// An equal that frees as many is refused: the first one stands, so that a longer search never swaps
	// equals.
	if order := inc.standing.Compare(objective, loss); order > 0 || order == 0 && freed >= inc.Freed {
		return false
	}
	inc.standing.Accept(objective, loss)
	inc.Found, inc.Objective, inc.Loss, inc.Freed = true, objective, loss, freed
	return true
}

// Slot is some free containers of one type on one server.
// Count is positive in every solution; a type has one slot a server at most.
type Slot struct {
	Type  int32
	Count int64
}
