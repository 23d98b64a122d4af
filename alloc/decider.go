// This file holds the Decider: decisions one after the other, each from where the last one ended.

package alloc

import (
	"context"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// Decider takes the decisions of one scheduler with the embedded solver. It remembers from one decision to the
// next what the solver had learned, so that a cluster in which little has changed is decided sooner; what it
// remembers changes where the search begins, and never what is legal or which bound holds. The zero value is
// ready to use. It is not safe for concurrent use.
//
// Most of the time of a long decision is spent on proof: the best answer is there long before it is shown that there is
// no better one. So a scheduler in a hurry sets Gap to what it does not care for (0.01 is one part in a hundred of the
// utilization), or ends the context: the answer is the best one until then, with its bound, marked
// Interrupted. A lower Effort answers sooner on large clusters, with a wider gap.
type Decider struct {
	// Effort bounds the work of a decision; 0 means embedded.Default.
	Effort embedded.Effort
	// Gap is the gap at which a decision is good enough, in [0, 1]; 0: only a proof ends the search early.
	Gap float64
	// Seed chooses the random numbers of the search.
	Seed uint64

	warm *embedded.Warm
}

// Reallocate decides like the function Reallocate, with the embedded solver and what it has learned. p may be any problem:
// another cluster makes what was learned useless, and not wrong. The errors are those of the function; after one of them
// the Decider is what it was. A decision whose certificate says Warm depends on the decisions before it, and Replay may find
// another of several equally good answers.
func (d *Decider) Reallocate(ctx context.Context, p *Problem) (*Decision, error) {
	// The solver is made anew for each decision, so that a caller may change the fields between two of them.
	s := &remembering{by: embedded.New(&embedded.Options{Effort: d.Effort, Gap: d.Gap, Seed: d.Seed, Warm: d.warm})}
	decision, err := Reallocate(ctx, p, s)
	// Nothing is learned from a decision that had no need of a solver, or had no answer.
	if err == nil && s.last != nil {
		d.warm = s.last
	}
	return decision, err
}

// remembering is a solver that keeps what its last solution leaves for the next instance. One decision may ask it several
// times; the last answer is that of the P2 that the decision is about.
type remembering struct {
	by   *embedded.Solver
	last *embedded.Warm
}

func (r *remembering) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	s, err := r.by.Solve(ctx, inst)
	if err == nil && s.Status.HasSolution() {
		r.last = embedded.WarmFrom(inst, s)
	}
	return s, err
}
