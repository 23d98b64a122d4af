// This file checks which directions of the thesis' results ours have.

package main

import (
	"io"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/nodesim"
)

// Reference: [Zheng] §6.2.2-§6.2.4: SpeCon lowers the mean completion time and the makespan of every
// schedule, and most jobs complete sooner. So it is where DS places jobs at random; where it spreads
// them evenly there is little to gain, but the makespan is not much longer.
func TestDirections(t *testing.T) {
	studies, err := playAll(&options{seeds: 12}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
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
			if len(ds.Migrations) > 0 {
				t.Errorf("%s: DS moved jobs", s.title)
			}
		}
	}
}

// Reference: [Zheng] §6.2.2 and §6.2.3: submissions of the schedules.
func TestScenarios(t *testing.T) {
	for i := range schedules {
		s := &schedules[i]
		scenario, err := s.scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		if err := scenario.Validate(); err != nil || len(scenario.Jobs) != s.jobs || scenario.Workers != s.workers {
			t.Errorf("%s: %d jobs, %d workers, %v", s.title, len(scenario.Jobs), scenario.Workers, err)
		}
		names := map[string]bool{}
		for j, job := range scenario.Jobs {
			names[job.Model] = true
			if s.every > 0 && job.Arrival != time.Duration(j)*50*time.Second || s.every == 0 && job.Arrival >= s.span {
				t.Errorf("%s: job %d arrives at %v", s.title, j, job.Arrival)
			}
		}
		if s.single != (len(names) == 1) {
			t.Errorf("%s: models %v", s.title, names)
		}
	}
}

// Every job's spans in the figure of the workload distribution cover its life.
func TestEveryJobIsOnOneWorkerAtATime(t *testing.T) {
	s := &study{schedule: &schedules[3], settings: chosen()}
	if err := s.play(1, 0); err != nil {
		t.Fatal(err)
	}
	for _, sample := range s.with[0][0].Samples {
		seen := map[int]bool{}
		for _, r := range sample.Running {
			if seen[r.Job] {
				t.Fatalf("job %d is twice in the sample at %v", r.Job, sample.At)
			}
			seen[r.Job] = true
		}
	}
}

// turn places jobs on the workers one after another.
type turn struct{ next int }

func (*turn) Name() string { return "turn" }

func (p *turn) Decide(state *nodesim.State) (nodesim.Orders, error) {
	var orders nodesim.Orders
	for _, task := range state.Tasks {
		if task.Worker == nodesim.Unplaced {
			orders.Placements = append(orders.Placements, nodesim.Placement{Index: task.Index, Worker: p.next % state.Workers})
			p.next++
		}
	}
	return orders, nil
}

// Reference: [Zheng] §6.2.2: makespan 1260 s under DS. The work of a VAE is chosen so that strict turns
// give it.
func TestVAEWork(t *testing.T) {
	scenario, err := schedules[0].scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	result, err := nodesim.Run(scenario, &turn{})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Makespan(); got.Round(time.Millisecond) != 1260*time.Second {
		t.Errorf("makespan %v, want 1260 s", got)
	}
	if got := result.Mean(); got.Round(time.Second) != 310*time.Second {
		t.Errorf("mean %v, want 310 s", got)
	}
}
