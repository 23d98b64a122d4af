// This file tests runs that begin with jobs that run already, that a policy ends, and that take no samples.

package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// running are two jobs of three containers on four: a runs, b waits for its end.
func running() *sim.Scenario {
	s := onServers([]sim.Job{elastic("a", 0, 30*second), elastic("b", 0, 30*second)}, 4)
	for i := range s.Jobs {
		s.Jobs[i].Min, s.Jobs[i].Fixed, s.Jobs[i].Max = 3, 3, 3
	}
	// b comes first in the list: what runs keeps its place all the same.
	s.Jobs[0], s.Jobs[1] = s.Jobs[1], s.Jobs[0]
	s.Jobs[1].Held = []apportion.Placement{{Server: 0, Count: 1}, {Server: 0, Count: 2}}
	return s
}

func TestHeld(t *testing.T) {
	for _, policy := range []sim.Policy{&policies.FIFO{}, &policies.FIFO{Backfill: true}, &policies.DRF{}, &policies.Dorm{Label: "dorm"}} {
		r := must.Have(sim.Run(t.Context(), running(), policy))(t, policy.Name())
		// Three containers do 30 s of work in ten.
		if a, b := &r.Jobs[1], &r.Jobs[0]; a.Start != 0 || a.Completion != 10*second || b.Start != 10*second || a.Paused != 0 {
			t.Errorf("%s: %+v, %+v", policy.Name(), a, b)
		}
	}
}

func TestHeldFaults(t *testing.T) {
	for _, test := range []struct {
		name    string
		corrupt func(s *sim.Scenario)
		want    error
	}{
		{"too few", func(s *sim.Scenario) { s.Jobs[1].Held = []apportion.Placement{{Server: 0, Count: 2}} }, apportion.ErrRange},
		{"no such server", func(s *sim.Scenario) { s.Jobs[1].Held = []apportion.Placement{{Server: 1, Count: 3}} }, apportion.ErrRange},
		{"no room", func(s *sim.Scenario) { s.Jobs[0].Held = []apportion.Placement{{Server: 0, Count: 3}} }, apportion.ErrConflict},
	} {
		s := running()
		test.corrupt(s)
		_, err := sim.Run(t.Context(), s, &policies.FIFO{})
		var fault *apportion.FieldError
		if !errors.Is(err, test.want) || !errors.As(err, &fault) || fault.Field != "Held" {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// stopping ends the run with the first decision after an instant.
type stopping struct {
	policies.FIFO
	after time.Duration
}

func (s *stopping) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	orders, err := s.FIFO.Decide(ctx, state)
	orders.Stop = state.Now > s.after
	return orders, err
}

func TestStop(t *testing.T) {
	r, err := sim.Run(t.Context(), running(), &stopping{after: 5 * second})
	if err != nil || r.End != 10*second || !r.Jobs[0].Started || r.Jobs[0].Completed {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestUnmeasured(t *testing.T) {
	s := running()
	measured := must.Have(sim.Run(t.Context(), s, &policies.FIFO{}))(t)
	s.Unmeasured = true
	r, err := sim.Run(t.Context(), s, &policies.FIFO{})
	if err != nil || len(r.Samples) > 0 || len(measured.Samples) == 0 || r.Jobs[0].Completion != measured.Jobs[0].Completion {
		t.Errorf("%+v, %v", r, err)
	}
}
