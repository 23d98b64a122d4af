// This file plays every policy on random clusters of one and of two types, under the referee of simtest.

package schedulers

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// In the simulator's own world, with demands of several sizes, the same holds as of every policy.
func TestPropPolicies(t *testing.T) {
	for i, p := range fresh() {
		t.Run(p.Name(), func(t *testing.T) {
			simtest.Run(t, simtest.Containers, 16, func() sim.Policy { return fresh()[i] })
		})
	}
}

// On two types: work is conserved, a job is never on both, everybody completes, and a second run is the same.
func TestPropMixed(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for i, p := range fresh() {
		t.Run(p.Name(), func(t *testing.T) {
			for seed := range seeds {
				s := mixed(seed)
				r := run(t, s, fresh()[i])
				for j := range r.Jobs {
					checkConserved(t, s, &s.Jobs[j], &r.Jobs[j])
				}
				if again := run(t, mixed(seed), fresh()[i]); !reflect.DeepEqual(r, again) {
					t.Errorf("seed %d: a second run differs", seed)
				}
			}
		})
	}
}

// checkConserved holds a job to its work, in floats and from its speeds: the sum of speed and time is what it had to do.
func checkConserved(t *testing.T, s *sim.Scenario, job *sim.Job, o *sim.Outcome) {
	t.Helper()
	if !o.Completed {
		_, one := kinds(s.Servers)[0].holds(s.Servers, job.Demand)
		t.Errorf("%s of %d containers, %d on a server, never completes", job.ID, job.Fixed, one)
		return
	}
	done := 0.0
	for _, span := range o.Spans {
		types := map[string]bool{}
		for _, p := range span.Places {
			types[s.Servers[p.Server].Labels[Accelerator]] = true
		}
		must.Equal(t, len(types), 1, job.ID, "is on several types", span.Places)
		if span.Rate > 0 {
			done += job.SpeedOn(span.Places) * (span.Until - span.From).Seconds()
		}
	}
	if want := job.Work.Seconds(); math.Abs(done-want) > 1e-4*want {
		t.Errorf("%s has done %g of %g", job.ID, done, want)
	}
}

// A speed that is none is an error that names the job, whichever policy asks for it.
func TestBadSpeeds(t *testing.T) {
	for _, p := range fresh() {
		for _, bad := range []float64{math.NaN(), -1, 0, math.Inf(1)} {
			j := job("crooked", 0, 10, 2, 4)
			j.SpeedOn = func(on []apportion.Placement) float64 {
				if on[0].Count > 1 {
					return bad
				}
				return 1
			}
			var fault *apportion.FieldError
			_, err := sim.Run(t.Context(), scenario(servers(4, ""), j), p)
			if !errors.As(err, &fault) || fault.Item.ID != "crooked" || fault.Field != "SpeedOn" || !errors.Is(err, apportion.ErrRange) {
				t.Errorf("%s, a speed of %v: %v", p.Name(), bad, err)
			}
		}
	}
}
