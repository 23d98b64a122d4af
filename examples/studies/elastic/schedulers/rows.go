// This file holds the rows of a program that say what servers of a type have, [Narayanan20] §4.1, [Jayaram23] §3.3.

package schedulers

import (
	"fmt"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/placement/sim"
)

// rows are the capacities of all types of servers, one for each kind of resource, pooled over the servers of a type.
// The sum over servers is a relaxation: containers that fit it may fit no single server, and whoever
// uses the rows must place them afterwards and bear that some find no place.
type rows struct {
	book  *book
	state *sim.State
	// terms are by type and kind of resource.
	terms [][][]milp.Term
}

// newRows returns rows to which nobody has added anything yet.
func newRows(b *book, state *sim.State) *rows {
	r := &rows{book: b, state: state, terms: make([][][]milp.Term, len(b.kinds))}
	for k := range r.terms {
		r.terms[k] = make([][]milp.Term, len(state.Scenario.Kinds))
	}
	return r
}

// add says that a variable at 1 is so many containers of a job on a type.
func (r *rows) add(kind int, job *sim.JobState, n int64, x milp.Var) {
	for k, q := range job.Demand {
		if q > 0 {
			r.terms[kind][k] = append(r.terms[kind][k], milp.Term{Var: x, Coef: float64(n) * float64(q)})
		}
	}
}

// build adds the rows to a program.
func (r *rows) build(b *milp.Builder) {
	for kind := range r.terms {
		for k, terms := range r.terms[kind] {
			if len(terms) == 0 {
				continue
			}
			// Bytes of memory become a float64 here: exact up to 2^53, beyond which the rows are as
			// good as the solver's tolerance.
			total := 0.0
			for _, h := range r.book.kinds[kind].servers {
				total += float64(r.state.Scenario.Servers[h].Capacity[k])
			}
			b.AtMost(fmt.Sprintf("servers[%d,%d]", kind, k), terms, total)
		}
	}
}
