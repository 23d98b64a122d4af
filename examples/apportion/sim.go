//go:build !js

// This file implements "apportion sim": a cluster on virtual time under a policy, one of the library's or the caller's own.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// simInput is the first line.
type simInput struct {
	Kinds   apportion.Kinds    `json:"kinds"`
	Servers []apportion.Server `json:"servers"`
	Jobs    []simJob           `json:"jobs"`
	// AdjustCost is how long a job stands still after a change of its containers, Horizon when the run ends; 0: never.
	AdjustCost seconds `json:"adjust_cost,omitempty"`
	Horizon    seconds `json:"horizon,omitempty"`
	// Policy is one of simPolicies; empty: each state is written, and the next line has the orders.
	Policy string  `json:"policy,omitempty"`
	Theta1 float64 `json:"theta1,omitempty"`
	Theta2 float64 `json:"theta2,omitempty"`
}

// simJob is a job. Work is how long it takes at speed 1, and Speed its speed by the number of containers from 1 on, of which the last
// holds for more; nil: their number.
type simJob struct {
	ID      string              `json:"id"`
	Demand  apportion.Resources `json:"demand"`
	Weight  float64             `json:"weight,omitempty"`
	Min     int64               `json:"min,omitempty"`
	Max     int64               `json:"max"`
	Arrival seconds             `json:"arrival,omitempty"`
	Work    seconds             `json:"work"`
	// Fixed is what a policy with fixed numbers gives it; 0: Max.
	Fixed int64     `json:"fixed,omitempty"`
	Speed []float64 `json:"speed,omitempty"`
}

// simPolicies are those that a first line may name.
var simPolicies = map[string]func(*simInput) sim.Policy{
	"dorm": func(in *simInput) sim.Policy {
		return &policies.Dorm{Label: "dorm", Theta1: in.Theta1, Theta2: in.Theta2}
	},
	"drf":      func(*simInput) sim.Policy { return &policies.DRF{} },
	"fifo":     func(*simInput) sim.Policy { return &policies.FIFO{} },
	"backfill": func(*simInput) sim.Policy { return &policies.FIFO{Backfill: true} },
}

// simState is what a policy of the caller's sees. Times are in seconds.
type simState struct {
	Now  float64       `json:"now"`
	Jobs []simJobState `json:"jobs"`
	// Ended are the jobs that have completed since the state before.
	Ended []string `json:"ended"`
}

// simJobState is a job that has arrived and neither completed nor been refused, in the order of submission. Left is how long it still
// takes at speed 1, Places how many containers it has on which server.
type simJobState struct {
	ID     string           `json:"id"`
	New    bool             `json:"new,omitempty"`
	Left   float64          `json:"left"`
	Places map[string]int64 `json:"places"`
}

// simOrders is the answer to a state. A job that Places does not name stays as it is.
type simOrders struct {
	Places  map[string]map[string]int64 `json:"places"`
	Refused []string                    `json:"refused,omitempty"`
	// Next is when the policy is asked again at the latest, behind Now; 0: when a job comes or ends.
	Next seconds `json:"next,omitempty"`
}

// simResult is the last line.
type simResult struct {
	Policy string `json:"policy"`
	// Makespan is when the last job completes, MeanResponse the mean time from submission to completion.
	Makespan     float64 `json:"makespan"`
	MeanResponse float64 `json:"mean_response"`
	// Utilization and FairnessLoss are means over the makespan: of the part of each kind that is in use, and of what jobs lack.
	Utilization  []float64    `json:"utilization"`
	FairnessLoss float64      `json:"fairness_loss"`
	Adjusted     int          `json:"adjusted"`
	Jobs         []simOutcome `json:"jobs"`
}

// simOutcome is what became of a job; a time that was not reached is absent.
type simOutcome struct {
	ID         string   `json:"id"`
	Refused    bool     `json:"refused,omitempty"`
	Start      *float64 `json:"start,omitempty"`
	Completion *float64 `json:"completion,omitempty"`
	Adjusted   int      `json:"adjusted"`
	Paused     float64  `json:"paused"`
}

// answerSim plays the scenario of the first line to its end.
func answerSim(ctx context.Context, c *command) error {
	l, err := firstLine(c.in)
	if err != nil {
		return err
	}
	in := &simInput{}
	scenario := &sim.Scenario{}
	err = l.read(in, &strictjson.Options{
		Kinds: func() apportion.Kinds { return in.Kinds }, Validate: func() error { return in.scenario(scenario) },
	})
	if err != nil {
		return atLine(l.number, err)
	}
	var policy sim.Policy = &toldPolicy{c: c, l: l}
	if in.Policy != "" {
		policy = simPolicies[in.Policy](in)
	}
	result, err := sim.Run(ctx, scenario, policy)
	if err != nil {
		return err
	}
	return c.writeLine(simResultOf(result, len(in.Kinds)))
}

// scenario sets s as the first line says, and returns all that is wrong with it.
func (in *simInput) scenario(s *sim.Scenario) error {
	*s = sim.Scenario{Kinds: in.Kinds, Servers: in.Servers, AdjustCost: time.Duration(in.AdjustCost), Horizon: time.Duration(in.Horizon)}
	var faults, found apportion.Faults
	for i := range in.Jobs {
		j := &in.Jobs[i]
		job := sim.Job{Application: alloc.Application{ID: j.ID, Weight: j.Weight, Form: alloc.Form{Demand: j.Demand, Min: j.Min, Max: j.Max}},
			Arrival: time.Duration(j.Arrival), Work: time.Duration(j.Work), Fixed: j.Fixed}
		job.Weight = cmp.Or(job.Weight, 1)
		job.Fixed = cmp.Or(job.Fixed, j.Max)
		if len(j.Speed) > 0 {
			job.Speedup = func(n int64) float64 { return j.Speed[min(n, int64(len(j.Speed)))-1] }
		}
		if j.Speed != nil && len(j.Speed) == 0 {
			faults.Add(apportion.Item{Kind: "job", ID: j.ID}, "speed", apportion.ErrEmpty, "")
		}
		for n, speed := range j.Speed {
			if speed <= 0 {
				faults.Add(apportion.Item{Kind: "job", ID: j.ID}, "speed["+strconv.Itoa(n)+"]", apportion.ErrRange, jsonNumber(speed)+" is not positive")
			}
		}
		s.Jobs = append(s.Jobs, job)
	}
	if _, known := simPolicies[in.Policy]; in.Policy != "" && !known {
		faults.Add(apportion.Item{}, "policy", apportion.ErrUnknown,
			fmt.Sprintf("%q is not in %q", in.Policy, slices.Sorted(maps.Keys(simPolicies))))
	}
	for n, theta := range []float64{in.Theta1, in.Theta2} {
		if theta < 0 || theta > 1 {
			faults.Add(apportion.Item{}, "theta"+strconv.Itoa(n+1), apportion.ErrRange, jsonNumber(theta)+" is not in [0, 1]")
		}
	}
	errors.As(s.Validate(), &found)
	return append(faults, found...).Err()
}

// toldPolicy asks the caller: it writes each state as a line, and reads the orders from the next one.
type toldPolicy struct {
	c *command
	l *lines
}

func (*toldPolicy) Name() string { return "the caller's" }

func (p *toldPolicy) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	out := simState{Now: state.Now.Seconds(), Jobs: []simJobState{}, Ended: append([]string{}, state.Ended...)}
	for i := range state.Jobs {
		job := &state.Jobs[i]
		places := make(map[string]int64, len(job.Places))
		for _, place := range job.Places {
			places[state.Scenario.Servers[place.Server].ID] = place.Count
		}
		out.Jobs = append(out.Jobs, simJobState{ID: job.ID, New: job.New, Left: job.Left.Seconds(), Places: places})
	}
	if err := p.c.writeLine(out); err != nil {
		return sim.Orders{}, err
	}
	if err := p.l.next(); err == io.EOF {
		return sim.Orders{}, fmt.Errorf("the input ends at %g s, where orders are due", out.Now)
	} else if err != nil {
		return sim.Orders{}, err
	}
	var in simOrders
	if err := p.l.read(&in, &strictjson.Options{Items: map[string]string{"places": "job"}}); err != nil {
		return sim.Orders{}, atLine(p.l.number, err)
	}
	orders, err := in.orders(state)
	if err != nil {
		return sim.Orders{}, atLine(p.l.number, err)
	}
	return orders, nil
}

// orders names servers by their positions.
func (in *simOrders) orders(state *sim.State) (sim.Orders, error) {
	var faults apportion.Faults
	at := make(map[string]int, len(state.Scenario.Servers))
	for j := range state.Scenario.Servers {
		at[state.Scenario.Servers[j].ID] = j
	}
	orders := sim.Orders{Refused: in.Refused, Next: time.Duration(in.Next)}
	for _, job := range slices.Sorted(maps.Keys(in.Places)) {
		place := sim.Place{Job: job}
		for _, server := range slices.Sorted(maps.Keys(in.Places[job])) {
			j, known := at[server]
			if !known {
				faults.Add(apportion.Item{Kind: "job", ID: job}, "places["+server+"]", apportion.ErrUnknown, "no server has this name")
			}
			place.On = append(place.On, apportion.Placement{Server: j, Count: in.Places[job][server]})
		}
		orders.Places = append(orders.Places, place)
	}
	return orders, faults.Err()
}

// simResultOf writes a result in seconds and means.
func simResultOf(r *sim.Result, kinds int) *simResult {
	end := r.Makespan()
	out := &simResult{Policy: r.Policy, Makespan: end.Seconds(), MeanResponse: r.MeanResponse().Seconds(), Utilization: make([]float64, kinds),
		FairnessLoss: r.Mean(0, end, func(s *sim.Sample) float64 { return s.FairnessLoss }), Jobs: []simOutcome{}}
	for k := range out.Utilization {
		out.Utilization[k] = r.Mean(0, end, func(s *sim.Sample) float64 { return s.Utilization[k] })
	}
	for i := range r.Jobs {
		job := &r.Jobs[i]
		o := simOutcome{ID: job.ID, Refused: job.Refused, Adjusted: job.Adjusted, Paused: job.Paused.Seconds()}
		if job.Started {
			o.Start = finite(job.Start.Seconds())
		}
		if job.Completed {
			o.Completion = finite(job.Completion.Seconds())
		}
		out.Adjusted += job.Adjusted
		out.Jobs = append(out.Jobs, o)
	}
	return out
}
