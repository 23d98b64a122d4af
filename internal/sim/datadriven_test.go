// This file plays scenarios written by hand and prints what happened.

package sim

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// TestCases plays testdata/cases. A case is a command, run policy=swarm|script|dorm, and lines:
//
//	kinds cpu gpu                     server s cpu=4 gpu=1
//	app a 0s 1h fixed=2 max=4 cpu=1   arrival, duration, then anything else; weight=1 min=1
//	cost 4m30s                        horizon 24h
//	give a=s:2,t:1 b=s:1              the script's answer to the next decision
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s, script := parseScenario(t, d)
			policies := map[string]Policy{
				"swarm": Swarm{}, "script": script, "dorm": &Dorm{Label: "dorm", Theta1: 0.1, Theta2: 0.1},
			}
			var name string
			d.ScanArgs(t, "policy", &name)
			result, err := Run(t.Context(), s, policies[name])
			if err != nil {
				return err.Error() + "\n"
			}
			return format(result)
		})
	})
}

func parseScenario(t *testing.T, d *datadriven.TestData) (*Scenario, *scripted) {
	s, script := &Scenario{}, &scripted{}
	for line := range strings.Lines(d.Input) {
		words := strings.Fields(line)
		switch words[0] {
		case "kinds":
			s.Kinds = words[1:]
		case "server":
			capacity, err := s.Kinds.Parse(strings.Join(words[2:], " "))
			must(t, d, err)
			s.Servers = append(s.Servers, apportion.Server{ID: words[1], Capacity: capacity})
		case "app":
			s.Apps = append(s.Apps, parseApp(t, d, s.Kinds, words[1:]))
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

func parseApp(t *testing.T, d *datadriven.TestData, kinds apportion.Kinds, words []string) App {
	a := App{Application: alloc.Application{ID: words[0], Weight: 1, Min: 1}, Fixed: 1}
	a.Arrival, a.Duration = duration(t, d, words[1]), duration(t, d, words[2])
	var demand []string
	for _, word := range words[3:] {
		name, value, _ := strings.Cut(word, "=")
		field := map[string]*int64{"fixed": &a.Fixed, "max": &a.Max, "min": &a.Min}[name]
		switch {
		case field != nil:
			*field = integer(t, d, value)
		case name == "serial":
			serial, err := strconv.ParseFloat(value, 64)
			must(t, d, err)
			a.Speedup, err = Amdahl(serial)
			must(t, d, err)
		default:
			demand = append(demand, word)
		}
	}
	var err error
	a.Demand, err = kinds.Parse(strings.Join(demand, " "))
	must(t, d, err)
	a.Max = max(a.Max, a.Fixed)
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
	must(t, d, err)
	return value
}

func integer(t *testing.T, d *datadriven.TestData, text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	must(t, d, err)
	return value
}

func must(t *testing.T, d *datadriven.TestData, err error) {
	t.Helper()
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
}

func format(r *Result) string {
	var text strings.Builder
	for i := range r.Samples {
		s := &r.Samples[i]
		fmt.Fprintf(&text, "%v: running %d waiting %d adjusted %d utilization %.6g loss %.6g running loss %.6g\n",
			s.At, s.Running, s.Waiting, s.Adjusted, s.Total, s.FairnessLoss, s.RunningLoss)
	}
	for i := range r.Outcomes {
		fmt.Fprintf(&text, "%s: %s\n", r.Outcomes[i].ID, fate(&r.Outcomes[i]))
	}
	fmt.Fprintf(&text, "end %v\n", r.End)
	return text.String()
}

func fate(o *Outcome) string {
	switch {
	case !o.Started:
		return "never started"
	case !o.Completed:
		return fmt.Sprintf("started %v, adjusted %d, paused %v, not completed", o.Start, o.Adjusted, o.Paused)
	}
	return fmt.Sprintf("started %v, completed %v, adjusted %d, paused %v, queued %v, ran %v, response %v",
		o.Start, o.Completion, o.Adjusted, o.Paused, o.Queueing(), o.Running(), o.Response())
}
