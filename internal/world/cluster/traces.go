// This file makes a trace for each job of what was noted.

package main

import (
	"slices"

	"github.com/apportion/apportion/internal/world/summary"
)

// Milliseconds before an attempt from which on a trace has what its servers say, what they were told, and that they are lost: what is handed
// back had to be said before, and a loss has a silence of a grace before it.
const (
	saidFrom  = 45_000
	askedFrom = 34_000
	lostFrom  = 20_000
)

// traces returns the trace of each job that has begun, by name.
func (s *steps) traces() []summary.Trace {
	var jobs []string
	for _, of := range s.list {
		if of.Kind == "B" && !slices.Contains(jobs, of.job) {
			jobs = append(jobs, of.job)
		}
	}
	slices.Sort(jobs)
	all := make([]summary.Trace, len(jobs))
	for i, job := range jobs {
		all[i] = summary.Trace{Job: job, Steps: s.trace(job)}
	}
	return all
}

// numbered are the servers and attempts of a job, by their numbers from 1 on, and when there was an attempt on each server.
type numbered struct {
	servers  table[int]
	attempts []int64
	spans    [][][2]int64
	first    int64
}

func (n *numbered) begins(of *step) {
	if len(n.attempts) == 0 {
		n.first = of.At
	}
	n.attempts = append(n.attempts, of.Attempt)
	for _, server := range of.on {
		if n.servers.get(server) == 0 {
			n.spans = append(n.spans, nil)
			n.servers.put(server, len(n.spans))
		}
		at := &n.spans[n.servers.get(server)-1]
		*at = append(*at, [2]int64{of.At, of.At})
	}
}

// lives extends the spans of the newest attempt.
func (n *numbered) lives(until int64, on []string) {
	for _, server := range on {
		spans := n.spans[n.servers.get(server)-1]
		spans[len(spans)-1][1] = until
	}
}

// concerns reports whether there is an attempt on a server at a time, or will be soon.
func (n *numbered) concerns(of *step) bool {
	from, server := map[string]int64{"A": saidFrom, "L": saidFrom, "Q": askedFrom, "X": lostFrom}[of.Kind], n.servers.get(of.server)
	return server > 0 && slices.ContainsFunc(n.spans[server-1], func(s [2]int64) bool { return of.At >= s[0]-from && of.At <= s[1] })
}

// trace is what concerns a job, from before its first attempt to its last step.
func (s *steps) trace(job string) (trace []summary.Step) {
	n, last := &numbered{}, 0
	var on []string
	for i, of := range s.list {
		if of.job != job {
			continue
		}
		n.lives(of.At, on)
		last = i
		switch of.Kind {
		case "B":
			n.begins(of)
			on = of.on
		case "Z":
			on = nil
		}
	}
	// From here on it is known how long servers are silent.
	trace = append(trace, summary.Step{Kind: "F", At: n.first - saidFrom})
	for _, of := range s.list[:last+1] {
		made := of.Step
		made.Server, made.Attempt = n.servers.get(of.server), int64(slices.Index(n.attempts, of.Attempt)+1)
		for _, server := range of.on {
			made.On = append(made.On, n.servers.get(server))
		}
		var is bool
		switch {
		case of.job == job:
			// What runs where it was never asked for is refused by its number, and so is an attempt that is on no record.
			is = made.Attempt > 0 && made.Server > 0 || slices.Contains([]string{"B", "Z", "R", "E"}, of.Kind)
		case of.Kind == "F":
			is = of.At >= n.first-saidFrom
		default:
			is = of.job == "" && n.concerns(of) && (of.Kind != "Q" || of.Stamp >= 0)
		}
		if is {
			trace = append(trace, made)
		}
	}
	return trace
}
