// This file tells numbers of a controller to monitors.

package controller

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// metrics writes numbers in the text format of Prometheus. Those of runs are counted since this controller began.
func (c *Controller) metrics(w http.ResponseWriter, _ *http.Request) {
	r, last := c.Report(), c.Last()
	phases, containers := map[string]int64{}, 0
	for _, j := range r.Jobs {
		phases[string(j.Job.Phase)]++
		containers += len(j.Job.Containers)
	}
	starts, again := c.starts.counts()
	var text bytes.Buffer
	// Names and help are constants of ours, so nothing in them has to be escaped; labels are quoted.
	head := func(name, kind, help string) {
		fmt.Fprintf(&text, "# HELP apportion_%s %s\n# TYPE apportion_%s %s\n", name, help, name, kind)
	}
	number := func(name, kind, help string, value any) {
		head(name, kind, help)
		fmt.Fprintf(&text, "apportion_%s %v\n", name, value)
	}
	labelled := func(name, kind, help, label string, values map[string]int64) {
		head(name, kind, help)
		// In the order of their names, so that two answers can be compared line by line.
		for _, value := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&text, "apportion_%s{%s=%q} %d\n", name, label, value, values[value])
		}
	}
	labelled("jobs", "gauge", "Jobs by phase of the checkpoint protocol.", "phase", phases)
	number("starts_total", "counter", "Runs of jobs that were begun.", starts)
	labelled("restarts_total", "counter", "Those of jobs that had run before, by what has begun them.", "cause", again)
	number("servers", "gauge", "Servers in the cluster.", len(r.Servers))
	number("servers_silent", "gauge", "Servers that do not answer.", len(r.Silent))
	number("waiting", "gauge", "Work of others for which room is made.", len(r.Waiting))
	number("containers", "gauge", "Containers of elastic jobs.", containers)
	number("objective", "gauge", "Objective of the newest decision.", r.Objective)
	number("bound", "gauge", "Upper bound on the objective.", r.Bound)
	number("gap", "gauge", "Gap between the two, as a part of the bound.", r.Gap)
	number("decision_seconds", "gauge", "How long the newest decision took.", last.Took.Seconds())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = text.WriteTo(w) // whoever asked is gone
}
