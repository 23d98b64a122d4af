// This file gives wrong scenarios.

package sim_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
)

func TestValidate(t *testing.T) {
	containers := func() *sim.Scenario { return onServers([]sim.Job{elastic("a", 0, second)}, 4) }
	shared := func() *sim.Scenario { return onWorkers(sim.Shared{}, whole("a", 0, second)) }
	slots := func() *sim.Scenario { return inSlots(t) }
	for _, test := range []struct {
		field   string
		want    error
		good    func() *sim.Scenario
		corrupt func(*sim.Scenario)
	}{
		{"Servers", apportion.ErrEmpty, containers, func(s *sim.Scenario) { s.Servers = nil }},
		{"Servers", apportion.ErrOverflow, containers, func(s *sim.Scenario) {
			s.Servers = append(s.Servers, apportion.Server{ID: "t", Capacity: apportion.Resources{math.MaxInt64}})
		}},
		{"AdjustCost", apportion.ErrNegative, containers, func(s *sim.Scenario) { s.AdjustCost = -1 }},
		{"Slot", apportion.ErrNegative, containers, func(s *sim.Scenario) { s.Slot = -1 }},
		{"Horizon", apportion.ErrNegative, containers, func(s *sim.Scenario) { s.Horizon = -1 }},
		{"Horizon", apportion.ErrRange, containers, func(s *sim.Scenario) { s.Slot, s.Horizon = 2, 3 }},
		{"ID", apportion.ErrEmpty, containers, func(s *sim.Scenario) { s.Jobs[0].ID = "" }},
		{"ID", apportion.ErrDuplicate, containers, func(s *sim.Scenario) { s.Jobs = append(s.Jobs, s.Jobs[0]) }},
		{"Demand", apportion.ErrLength, containers, func(s *sim.Scenario) { s.Jobs[0].Demand = nil }},
		{"Weight", apportion.ErrRange, containers, func(s *sim.Scenario) { s.Jobs[0].Weight = -1 }},
		{"Arrival", apportion.ErrNegative, containers, func(s *sim.Scenario) { s.Jobs[0].Arrival = -1 }},
		{"Arrival", apportion.ErrRange, containers, func(s *sim.Scenario) { s.Slot, s.Jobs[0].Arrival = 2, 3 }},
		{"Arrival", apportion.ErrRange, slots, func(s *sim.Scenario) { s.Jobs[0].Arrival, s.Jobs[0].Training.Arrival = 3*time.Minute, 4 }},
		{"Work", apportion.ErrRange, containers, func(s *sim.Scenario) { s.Jobs[0].Work = 0 }},
		{"Fixed", apportion.ErrRange, containers, func(s *sim.Scenario) { s.Jobs[0].Fixed = 0 }},
		{"Fixed", apportion.ErrRange, containers, func(s *sim.Scenario) { s.Jobs[0].Fixed = 5 }},
		{"Request", apportion.ErrNegative, containers, func(s *sim.Scenario) { s.Jobs[0].Request = -1 }},
		{"Training", apportion.ErrRange, containers, func(s *sim.Scenario) { s.Jobs[0].Training = &primaldual.Job{} }},

		{"Kinds", apportion.ErrLength, shared, func(s *sim.Scenario) {
			s.Kinds = apportion.Kinds{"cpu", "gpu"}
			for j := range s.Servers {
				s.Servers[j].Capacity = apportion.Resources{sim.Whole, 1}
			}
			s.Jobs[0].Demand = apportion.Resources{1, 0}
		}},
		{"Jobs", apportion.ErrRange, shared, func(s *sim.Scenario) {
			for i := range 1000 {
				s.Jobs = append(s.Jobs, whole(fmt.Sprint("b", i), 0, 1))
			}
		}},
		{"Interference", apportion.ErrRange, shared, func(s *sim.Scenario) { s.Law = sim.Shared{Interference: math.NaN()} }},
		{"Capacity", apportion.ErrRange, shared, func(s *sim.Scenario) { s.Servers[0].Capacity[0] = sim.Whole - 1 }},
		{"Demand", apportion.ErrRange, shared, func(s *sim.Scenario) { s.Jobs[0].Demand[0]++ }},
		{"Max", apportion.ErrRange, shared, func(s *sim.Scenario) { s.Jobs[0].Max = 2 }},

		{"ParameterServers", apportion.ErrOverflow, slots, func(s *sim.Scenario) { s.ParameterServers[0].Capacity[0] = math.MaxInt64 / 10 }},
		{"Training", apportion.ErrRange, slots, func(s *sim.Scenario) { s.Jobs[0].Work++ }},
		{"Training", apportion.ErrRange, slots, func(s *sim.Scenario) { s.Jobs[0].Training.ID = "B" }},
		{"Epochs", apportion.ErrRange, slots, func(s *sim.Scenario) { s.Jobs[0].Training.Epochs = 0 }},
	} {
		must.Do(t, test.good().Validate())
		s := test.good()
		test.corrupt(s)
		_, err := sim.Run(t.Context(), s, &script{})
		if !errors.Is(err, test.want) || !names(err, test.field) {
			t.Errorf("%s: error %v, want %v", test.field, err, test.want)
		}
	}
}

// names reports whether one of the faults is of a field.
func names(err error, field string) bool {
	var faults apportion.Faults
	if !errors.As(err, &faults) {
		return false
	}
	for _, fault := range faults {
		if fault.Field == field {
			return true
		}
	}
	return false
}

// All faults come at once.
func TestValidateNamesEveryFault(t *testing.T) {
	s := onServers([]sim.Job{elastic("a", -1, 1), elastic("a", 0, 0)}, 4)
	s.Jobs[1].Fixed = 0
	var faults apportion.Faults
	if err := s.Validate(); !errors.As(err, &faults) || len(faults) != 4 {
		t.Errorf("faults %v, want 4", err)
	}
}

func TestFromSlotsRefuses(t *testing.T) {
	good := inSlots(t)
	cluster, job := good.Cluster(), *good.Jobs[0].Training
	late, bad := job, job
	bad.Chunks, late.Arrival = 0, math.MaxInt64
	for _, test := range []struct {
		name    string
		cluster *primaldual.Cluster
		job     primaldual.Job
		fixed   []int64
		slot    time.Duration
		want    error
	}{
		{"no cluster", nil, job, []int64{1}, second, apportion.ErrEmpty},
		{"bad cluster", &primaldual.Cluster{}, job, []int64{1}, second, apportion.ErrEmpty},
		{"bad job", cluster, bad, []int64{1}, second, apportion.ErrRange},
		{"numbers", cluster, job, nil, second, apportion.ErrLength},
		{"no time", cluster, job, []int64{1}, 0, apportion.ErrRange},
		{"too many slots", cluster, job, []int64{1}, math.MaxInt64, apportion.ErrOverflow},
		{"too late", cluster, late, []int64{1}, second, apportion.ErrOverflow},
	} {
		must.Fail(sim.FromSlots(test.cluster, []primaldual.Job{test.job}, test.fixed, test.slot))(t, test.want, test.name)
	}
}
