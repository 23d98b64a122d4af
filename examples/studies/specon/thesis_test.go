// This file checks which directions of the thesis' results ours have.

package main

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// Reference: [Zheng] §6.2.2-§6.2.4: SpeCon lowers the mean completion time and the makespan of every
// schedule, and most jobs complete sooner. So it is where DS places jobs at random; where it spreads
// them evenly there is little to gain, but the makespan is not much longer.
func TestDirections(t *testing.T) {
	studies := must.Have(playAll(&noisy.Options{Seeds: 12}, io.Discard))(t)
	for _, s := range studies {
		for i := range chosen() {
			m := s.measure(i)
			switch {
			case !s.even && (m.sooner < 0.5 || m.meanWith > 0.95*m.mean || m.makespanWith > 0.95*m.makespan):
				t.Errorf("%s, %s: %+v, want gains", s.title, s.settings[i].name, m)
			case s.even && (m.meanWith > 1.05*m.mean || m.makespanWith > 1.05*m.makespan):
				t.Errorf("%s, evenly placed, %s: %+v, want no loss", s.title, s.settings[i].name, m)
			}
		}
		for _, ds := range s.ds {
			for j := range ds.Jobs {
				if len(ds.Jobs[j].Moves()) > 0 {
					t.Errorf("%s: DS moved %s", s.title, ds.Jobs[j].ID)
				}
			}
		}
	}
}

// Reference: [Zheng] §6.2.2 and §6.2.3: submissions of the schedules.
func TestScenarios(t *testing.T) {
	for i := range schedules {
		s := &schedules[i]
		scenario := must.Have(s.scenario(1))(t)
		if err := scenario.Validate(); err != nil || len(scenario.Jobs) != s.jobs || len(scenario.Servers) != s.workers {
			t.Errorf("%s: %d jobs, %d workers, %v", s.title, len(scenario.Jobs), len(scenario.Servers), err)
		}
		names := map[string]bool{}
		for j, job := range scenario.Jobs {
			names[job.Model] = true
			if s.every > 0 && job.Arrival != time.Duration(j)*50*time.Second || s.every == 0 && job.Arrival >= s.span {
				t.Errorf("%s: job %d arrives at %v", s.title, j, job.Arrival)
			}
		}
		must.Equal(t, s.single, (len(names) == 1), s.title, "models", names)
	}
}

// Every job's spans in the figure of the workload distribution cover its life.
func TestEveryJobIsOnOneWorkerAtATime(t *testing.T) {
	s := &study{schedule: &schedules[3], settings: chosen()}
	must.Do(t, s.play(1, 0))
	for _, job := range s.with[0][0].Jobs {
		until := job.Arrival
		for _, span := range job.Spans {
			if span.From != until || len(span.Places) != 1 || span.Places[0].Count != 1 {
				t.Errorf("%s goes on at %v with %+v", job.ID, until, span)
			}
			until = span.Until
		}
		must.Equal(t, until, job.Completion, job.ID, "ends at", "its spans at")
	}
}

// turn places jobs on the workers one after another.
type turn struct{ next int }

func (*turn) Name() string { return "turn" }

func (p *turn) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	for i := range state.Jobs {
		if job := &state.Jobs[i]; job.New {
			on := []apportion.Placement{{Server: p.next % len(state.Scenario.Servers), Count: 1}}
			orders.Places = append(orders.Places, sim.Place{Job: job.ID, On: on})
			p.next++
		}
	}
	return orders, nil
}

// Reference: [Zheng] §6.2.2: makespan 1260 s under DS. The work of a VAE is chosen so that strict turns
// give it.
func TestVAEWork(t *testing.T) {
	scenario := must.Have(schedules[0].scenario(1))(t)
	result := must.Have(sim.Run(t.Context(), scenario, &turn{}))(t)
	if got := result.Makespan(); got.Round(time.Millisecond) != 1260*time.Second {
		t.Errorf("makespan %v, want 1260 s", got)
	}
	if got := result.MeanResponse(); got.Round(time.Second) != 310*time.Second {
		t.Errorf("mean %v, want 310 s", got)
	}
}
