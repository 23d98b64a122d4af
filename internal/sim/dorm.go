// This file lets Dorm schedule, [Dorm §III-C, §V-A2].

package sim

import (
	"context"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// Dorm asks the utilization-fairness optimizer at every decision.
type Dorm struct {
	// Label is its name, for instance "Dorm-1".
	Label string
	// Theta1 and Theta2 are the thresholds of (15) and (16), in [0, 1].
	Theta1, Theta2 float64
	Options        alloc.Options
	// Solver answers P2; nil: the embedded one.
	Solver solver.Solver
	// Observe, if not nil, sees every decision.
	Observe func(*alloc.Decision)
}

// Dorm123 returns the three settings of the paper's evaluation.
func Dorm123(by solver.Solver) []*Dorm {
	return []*Dorm{
		{Label: "Dorm-1", Theta1: 0.2, Theta2: 0.1, Solver: by},
		{Label: "Dorm-2", Theta1: 0.1, Theta2: 0.2, Solver: by},
		{Label: "Dorm-3", Theta1: 0.1, Theta2: 0.1, Solver: by},
	}
}

// Name returns the label.
func (d *Dorm) Name() string { return d.Label }

// Decide returns the allocation of alloc.Reallocate.
func (d *Dorm) Decide(ctx context.Context, state *State) (alloc.Allocation, error) {
	p := state.Problem()
	p.Theta1, p.Theta2, p.Options = d.Theta1, d.Theta2, d.Options
	decision, err := alloc.Reallocate(ctx, p, d.Solver)
	if err != nil {
		return nil, err
	}
	if d.Observe != nil {
		d.Observe(decision)
	}
	return decision.Allocation, nil
}
