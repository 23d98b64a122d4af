// This file plays scenarios written by hand and prints what happened.

package policies_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// TestCases plays testdata/cases. A command is "run policy=swarm|script|dorm", with lines
//
//	kinds cpu gpu                     server s cpu=4 gpu=1
//	app a 0s 1h fixed=2 max=4 cpu=1   arrival, duration, then anything else; weight=1 min=1
//	cost 4m30s                        horizon 24h
//	give a=s:2,t:1 b=s:1              the script's answer to the next decision
//
// or "share policy=default|flowcon|specon workers=1 interference=0", with a line for each job: id,
// arrival and work in seconds, demand, request, values of its evaluation function at equal steps; or
// "divide", with a line for each job, its limit and its demand.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "run":
				return runCase(t, d)
			case "share":
				return shareCase(t, d)
			case "divide":
				return divideCase(t, d)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func runCase(t *testing.T, d *datadriven.TestData) string {
	s, script := parseScenario(t, d)
	choice := map[string]sim.Policy{
		"swarm": policies.Swarm{}, "script": script, "dorm": &policies.Dorm{Label: "dorm", Theta1: 0.1, Theta2: 0.1},
	}
	var name string
	d.ScanArgs(t, "policy", &name)
	result, err := sim.Run(t.Context(), s, choice[name])
	if err != nil {
		return err.Error() + "\n"
	}
	return format(result)
}

// scripted answers its n-th decision with its n-th allocation. Jobs that it leaves out hold nothing.
type scripted struct{ answers []alloc.Allocation }

func (*scripted) Name() string { return "scripted" }

func (s *scripted) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	if len(state.Jobs) == 0 {
		return orders, nil
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	for i := range state.Jobs {
		place := sim.Place{Job: state.Jobs[i].ID}
		for h, server := range state.Scenario.Servers {
			if n := next[place.Job][server.ID]; n != 0 {
				place.On = append(place.On, apportion.Placement{Server: h, Count: n})
			}
		}
		orders.Places = append(orders.Places, place)
	}
	return orders, nil
}

func parseScenario(t *testing.T, d *datadriven.TestData) (*sim.Scenario, *scripted) {
	s, script := &sim.Scenario{}, &scripted{}
	for line := range strings.Lines(d.Input) {
		words := strings.Fields(line)
		switch words[0] {
		case "kinds":
			s.Kinds = words[1:]
		case "server":
			capacity, err := s.Kinds.Parse(strings.Join(words[2:], " "))
			demand(t, d, err)
			s.Servers = append(s.Servers, apportion.Server{ID: words[1], Capacity: capacity})
		case "app":
			s.Jobs = append(s.Jobs, parseApp(t, d, s.Kinds, words[1:]))
		case "cost":
			s.AdjustCost = duration(t, d, words[1])
		case "horizon":
			s.Horizon = duration(t, d, words[1])
		case "give":
			script.answers = append(script.answers, parseAnswer(t, d, words[1:]))
		default:
			d.Fatalf(t, "unknown line %q", line)
		}
	}
	return s, script
}

func parseApp(t *testing.T, d *datadriven.TestData, kinds apportion.Kinds, words []string) sim.Job {
	a := sim.Job{Application: alloc.Application{ID: words[0], Weight: 1, Form: alloc.Form{Min: 1}}, Fixed: 1}
	a.Arrival = duration(t, d, words[1])
	var needs []string
	for _, word := range words[3:] {
		name, value, _ := strings.Cut(word, "=")
		field := map[string]*int64{"fixed": &a.Fixed, "max": &a.Max, "min": &a.Min}[name]
		switch {
		case field != nil:
			*field = integer(t, d, value)
		case name == "serial":
			serial, err := strconv.ParseFloat(value, 64)
			demand(t, d, err)
			a.Speedup, err = sim.Amdahl(serial)
			demand(t, d, err)
		default:
			needs = append(needs, word)
		}
	}
	var err error
	a.Demand, err = kinds.Parse(strings.Join(needs, " "))
	demand(t, d, err)
	a.Max = max(a.Max, a.Fixed)
	a.Work, err = sim.WorkOn(a.Speedup, a.Fixed, duration(t, d, words[2]))
	demand(t, d, err)
	return a
}

func parseAnswer(t *testing.T, d *datadriven.TestData, words []string) alloc.Allocation {
	answer := make(alloc.Allocation)
	for _, word := range words {
		app, places, _ := strings.Cut(word, "=")
		answer[app] = make(map[string]int64)
		for place := range strings.SplitSeq(places, ",") {
			server, count, _ := strings.Cut(place, ":")
			answer[app][server] = integer(t, d, count)
		}
	}
	return answer
}

func duration(t *testing.T, d *datadriven.TestData, text string) time.Duration {
	value, err := time.ParseDuration(text)
	demand(t, d, err)
	return value
}

func integer(t *testing.T, d *datadriven.TestData, text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	demand(t, d, err)
	return value
}

func demand(t *testing.T, d *datadriven.TestData, err error) {
	t.Helper()
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
}

func format(r *sim.Result) string {
	var text strings.Builder
	for i := range r.Samples {
		s := &r.Samples[i]
		fmt.Fprintf(&text, "%v: running %d waiting %d adjusted %d utilization %.6g loss %.6g running loss %.6g\n",
			s.At, s.Running, s.Waiting, s.Adjusted, s.Total, s.FairnessLoss, s.RunningLoss)
	}
	for i := range r.Jobs {
		fmt.Fprintf(&text, "%s: %s\n", r.Jobs[i].ID, fate(&r.Jobs[i]))
	}
	fmt.Fprintf(&text, "end %v\n", r.End)
	return text.String()
}

func fate(o *sim.Outcome) string {
	switch {
	case !o.Started:
		return "never started"
	case !o.Completed:
		return fmt.Sprintf("started %v, adjusted %d, paused %v, not completed", o.Start, o.Adjusted, o.Paused)
	}
	return fmt.Sprintf("started %v, completed %v, adjusted %d, paused %v, queued %v, ran %v, response %v",
		o.Start, o.Completion, o.Adjusted, o.Paused, o.Wait(), o.Running(), o.Response())
}

func divideCase(t *testing.T, d *datadriven.TestData) string {
	var limits, demands []int64
	for line := range strings.Lines(d.Input) {
		var limit, needs float64
		_, err := fmt.Sscan(line, &limit, &needs)
		demand(t, d, err)
		limits, demands = append(limits, sim.ShareOf(limit)), append(demands, sim.ShareOf(needs))
	}
	var text strings.Builder
	for _, share := range sim.Divide(sim.Whole, limits, demands) {
		fmt.Fprintf(&text, "%.6g\n", sim.Fraction(share))
	}
	return text.String()
}

func shareCase(t *testing.T, d *datadriven.TestData) string {
	workers, interference := 1, "0"
	d.MaybeScanArgs(t, "workers", &workers)
	d.MaybeScanArgs(t, "interference", &interference)
	part, err := strconv.ParseFloat(interference, 64)
	demand(t, d, err)
	s := onWorkers(workers)
	s.Law, s.AdjustCost = sim.Shared{Interference: part}, 5*time.Second
	for line := range strings.Lines(d.Input) {
		s.Jobs = append(s.Jobs, parseJob(t, d, line))
	}
	name := "default"
	d.MaybeScanArgs(t, "policy", &name)
	choice := map[string]sim.Policy{
		"default": &policies.Default{},
		"flowcon": sound(policies.NewFlowCon(flowcon.Config{Interval: 20 * time.Second, Alpha: 0.01}, nil)),
		"specon":  sound(policies.NewSpeCon(specon.Config{Interval: 20 * time.Second, Alpha: 0.05}, nil)),
	}
	result, err := sim.Run(t.Context(), s, choice[name])
	if err != nil {
		return err.Error()
	}
	return formatShares(result)
}

// onWorkers is a scenario of equal workers without jobs.
func onWorkers(n int) *sim.Scenario {
	s := &sim.Scenario{Kinds: apportion.Kinds{"cpu"}, Law: sim.Shared{}}
	for w := range n {
		s.Servers = append(s.Servers, apportion.Server{ID: strconv.Itoa(w), Capacity: apportion.Resources{sim.Whole}})
	}
	return s
}

func parseJob(t *testing.T, d *datadriven.TestData, line string) sim.Job {
	fields := strings.Fields(line)
	numbers := make([]float64, len(fields)-1)
	for i, field := range fields[1:] {
		_, err := fmt.Sscan(field, &numbers[i])
		demand(t, d, err)
	}
	seconds := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	job := sim.SharedJob(fields[0], seconds(numbers[0]), seconds(numbers[1]), sim.ShareOf(numbers[2]))
	job.Request, job.Curve = int64(numbers[3]), curve(numbers[4:]...)
	return job
}

// curve returns a learning curve with values at equal steps.
func curve(values ...float64) *sim.Curve {
	at := make([]float64, len(values))
	for i := range at {
		at[i] = float64(i)
	}
	return sound(sim.NewCurve(at, values))
}

// formatShares prints who uses what of which worker from each instant on, every move, and every
// response.
func formatShares(r *sim.Result) string {
	var text strings.Builder
	for _, at := range instants(r) {
		fmt.Fprintf(&text, "%8.3f", at.Seconds())
		for i := range r.Jobs {
			for _, span := range r.Jobs[i].Spans {
				if at < span.From || at >= span.Until {
					continue
				}
				fmt.Fprintf(&text, "  %s@%d %.6g", r.Jobs[i].ID, span.Places[0].Server, sim.Fraction(span.Rate))
				if span.Limit != sim.Whole {
					fmt.Fprintf(&text, " (limit %.6g)", sim.Fraction(span.Limit))
				}
			}
		}
		text.WriteString("\n")
	}
	for i := range r.Jobs {
		for _, m := range r.Jobs[i].Moves() {
			at := slices.IndexFunc(r.Jobs[i].Spans, func(s sim.Span) bool { return s.Until == m.From })
			fmt.Fprintf(&text, "moved %s at %.3f from %d to %d: %v\n", r.Jobs[i].ID, m.From.Seconds(), r.Jobs[i].Spans[at].Places[0].Server, m.Places[0].Server, m.Why)
		}
	}
	for i := range r.Jobs {
		fmt.Fprintf(&text, "%s took %.3f\n", r.Jobs[i].ID, r.Jobs[i].Response().Seconds())
	}
	return text.String()
}

// instants returns when anything changes.
func instants(r *sim.Result) []time.Duration {
	var all []time.Duration
	for i := range r.Jobs {
		for _, span := range r.Jobs[i].Spans {
			all = append(all, span.From, span.Until)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
