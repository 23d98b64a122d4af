// This file checks and measures what a policy decided, [Dorm eqs. (1)-(4), (6)].

package sim

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/exact"
)

// checkRoom refuses an allocation that overfills a server, or gives an application a negative
// number of containers. What it names is checked by measure.
func checkRoom(state *State, next alloc.Allocation) error {
	for j := range state.Servers {
		server := &state.Servers[j]
		used := make(apportion.Resources, len(state.Kinds))
		for _, app := range state.Apps {
			n := next[app.ID][server.ID]
			if n < 0 || exact.AddTimesTo(used, used, n, app.Demand) != nil {
				return fmt.Errorf("%w: %d containers of %q on %q", ErrPolicy, n, app.ID, server.ID)
			}
		}
		if !used.FitsIn(server.Capacity) {
			return fmt.Errorf("%w: server %q holds %s of %s", ErrPolicy, server.ID,
				state.Kinds.Format(used), state.Kinds.Format(server.Capacity))
		}
	}
	return nil
}

// measure takes the sample of a decision.
func measure(state *State, next alloc.Allocation) (Sample, error) {
	metrics, err := alloc.Measure(state.Problem(), next)
	if err != nil {
		return Sample{}, err
	}
	s := Sample{
		At:           state.Now,
		Utilization:  metrics.Utilization,
		Total:        metrics.ResourceUtilization,
		FairnessLoss: metrics.FairnessLoss,
		Adjusted:     metrics.Adjusted,
	}
	running := *state
	running.Apps = nil
	for _, app := range state.Apps {
		if next.Containers(app.ID) > 0 {
			running.Apps = append(running.Apps, app)
		}
	}
	s.Running, s.Waiting = len(running.Apps), len(state.Apps)-len(running.Apps)
	if s.Running > 0 {
		metrics, err = alloc.Measure(running.Problem(), next)
		s.RunningLoss = metrics.FairnessLoss
	}
	return s, err
}
