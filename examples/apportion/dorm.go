// This file implements "apportion dorm": the decision at an arrival or a completion, [Dorm §IV].

package main

import (
	"context"
	"io"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/check"
)

// dormOutput is the output of "dorm". Numbers that do not exist are left out: the bound and the gap
// of an allocation that was kept, or where the solver found no bound.
type dormOutput struct {
	Status      alloc.Status      `json:"status"`
	Objective   float64           `json:"objective"`
	Bound       *float64          `json:"bound,omitempty"`
	Gap         *float64          `json:"gap,omitempty"`
	Proven      string            `json:"proven"`
	Interrupted bool              `json:"interrupted"`
	Metrics     alloc.Metrics     `json:"metrics"`
	Shares      []alloc.Share     `json:"shares"`
	Waiting     []alloc.Waiting   `json:"waiting"`
	Reason      *apportion.Reason `json:"reason,omitempty"`
	Allocation  alloc.Allocation  `json:"allocation"`
	Plan        []alloc.Step      `json:"plan"`
	Explanation []alloc.Stop      `json:"explanation"`
	Prices      dormPrices        `json:"prices"`
}

// dormPrices is what one more unit of everything scarce is worth.
type dormPrices struct {
	Kinds      []alloc.KindValue `json:"kinds"`
	Fairness   float64           `json:"fairness"`
	Adjustment float64           `json:"adjustment"`
}

func answerDorm(ctx context.Context, c *command) error {
	problem, err := readProblem(c.in)
	if err != nil {
		return err
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	decision, err := alloc.Reallocate(ctx, problem, c.decider())
	if err != nil {
		return err
	}
	explanation, err := alloc.Explain(problem, decision)
	if err != nil {
		return err
	}
	out := dormOutput{
		Status:      decision.Status,
		Objective:   decision.Objective,
		Proven:      decision.Proven.String(),
		Interrupted: decision.Interrupted,
		Metrics:     decision.Metrics,
		Shares:      decision.Shares,
		Waiting:     append([]alloc.Waiting{}, decision.Waiting...),
		Reason:      decision.Reason,
		Allocation:  decision.Allocation,
		Plan:        append([]alloc.Step{}, alloc.NewPlan(problem, decision.Allocation).Steps...),
		Explanation: explanation.Applications,
		Prices:      dormPrices{explanation.Kinds, explanation.Fairness, explanation.Adjustment},
	}
	if decision.Status == alloc.Decided {
		out.Bound, out.Gap = finite(decision.Bound), finite(decision.Gap)
	}
	return c.write(out)
}

// finite returns x for JSON, which has no infinities: nil for those and for NaN.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func readProblem(in io.Reader) (*alloc.Problem, error) {
	r, p := newReader(in), &alloc.Problem{}
	r.object("", []field{
		{"kinds", true, func(path string) { p.Kinds = r.strs(path) }},
		{"servers", true, func(path string) {
			r.array(path, func(_ string, j int) { p.Servers = append(p.Servers, r.server(j)) })
		}},
		{"applications", true, func(path string) {
			r.array(path, func(_ string, i int) { p.Applications = append(p.Applications, r.application(i)) })
		}},
		{"previous", false, func(path string) { p.Previous = r.allocation(path) }},
		{"theta1", true, func(path string) { p.Theta1 = r.number(path, 0) }},
		{"theta2", true, func(path string) { p.Theta2 = r.number(path, 0) }},
		{"options", false, func(path string) { p.Options = r.options(path) }},
	})
	return p, r.finish(p.Kinds, p.Validate)
}

// server reads the j-th server.
func (r *reader) server(j int) apportion.Server {
	server, before := apportion.Server{}, len(r.faults)
	r.object("", []field{
		{"id", true, func(path string) { server.ID = r.str(path) }},
		{"capacity", true, func(path string) { server.Capacity = r.resources(path) }},
	})
	r.named(before, check.Item("server", server.ID, j))
	return server
}

// application reads the i-th application.
func (r *reader) application(i int) alloc.Application {
	app, before := alloc.Application{Weight: 1, Max: math.MaxInt64}, len(r.faults)
	r.object("", []field{
		{"id", true, func(path string) { app.ID = r.str(path) }},
		{"executor", false, func(path string) { app.Executor = r.str(path) }},
		{"demand", true, func(path string) { app.Demand = r.resources(path) }},
		{"weight", false, func(path string) { app.Weight = r.number(path, 1) }},
		{"max", true, func(path string) { app.Max = r.integer(path, math.MaxInt64) }},
		{"min", false, func(path string) { app.Min = r.integer(path, 0) }},
		{"start", false, func(path string) { app.Start = r.strs(path) }},
		{"resume", false, func(path string) { app.Resume = r.strs(path) }},
	})
	r.named(before, check.Item("application", app.ID, i))
	return app
}

// allocation reads {"application": {"server": containers}}.
func (r *reader) allocation(path string) alloc.Allocation {
	a := alloc.Allocation{}
	name := func(key string) string { return entry(path, key) }
	r.entries(path, name, func(id string) {
		before, places := len(r.faults), map[string]int64{}
		r.entries(path, name, func(server string) { places[server] = r.integer(name(server), 0) })
		a[id] = places
		r.named(before, check.Item("application", id, 0))
	})
	return a
}

func (r *reader) options(path string) alloc.Options {
	var o alloc.Options
	r.object(path, []field{
		{"share", false, func(path string) { o.Share = alloc.ShareRule(r.str(path)) }},
		{"no_ceil_15", false, func(path string) { o.NoCeil15 = r.boolean(path) }},
		{"no_ceil_16", false, func(path string) { o.NoCeil16 = r.boolean(path) }},
		{"admit_prefix", false, func(path string) { o.AdmitPrefix = r.boolean(path) }},
		{"displace", false, func(path string) { o.Displace = r.boolean(path) }},
	})
	return o
}
