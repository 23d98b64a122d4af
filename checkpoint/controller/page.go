// This file draws the page of a controller, and its metrics.

package controller

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// content is what the page shows. Its names are those of page.html.
type content struct {
	Report
	// Kinds are the heads of the columns of resources.
	Kinds []string
	// Explanation is Explain's text, and Rows are the jobs of the report in its order.
	Explanation string
	Rows        []row
	// Lease, StallAfter and MaxDeaths are the limits that jobs run under.
	Lease, StallAfter time.Duration
	MaxDeaths         int
}

// row is a job on the page, with its containers on each server.
type row struct {
	JobReport
	// Cells are numbers of containers, in the order of the report's servers.
	Cells []int64
}

// page shows servers, jobs with their containers, and why.
func (c *Controller) page(w http.ResponseWriter, _ *http.Request) {
	shown := content{Report: c.Report(), Kinds: c.config.Problem.Kinds, Lease: c.config.Lease, MaxDeaths: c.config.MaxDeaths, StallAfter: driver.DefaultStallAfter}
	if o := c.config.Options; o != nil && o.StallAfter != 0 {
		shown.StallAfter = o.StallAfter
	}
	for _, j := range shown.Jobs {
		// A server that is in no look any more has no column, though a job may still be counted there.
		one, held := row{JobReport: j}, bridge.Counts(j.Job.Containers)
		for _, server := range shown.Servers {
			one.Cells = append(one.Cells, held[server.ID])
		}
		shown.Rows = append(shown.Rows, one)
	}
	// An explanation that cannot be had is a broken paragraph, not a broken page.
	var err error
	if shown.Explanation, err = c.Explain(); err != nil {
		shown.Explanation = err.Error()
	}
	// The page is complete before the first byte goes out, so that a fault can still be answered with its status.
	var text bytes.Buffer
	if err := pageTemplate.Execute(&text, shown); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = text.WriteTo(w) // the browser is gone
}

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
