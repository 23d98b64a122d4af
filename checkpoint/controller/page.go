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

	"github.com/apportion/apportion/checkpoint/bridge"
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
}

// row is a job on the page, with its containers on each server.
type row struct {
	JobReport
	// Cells are numbers of containers, in the order of the report's servers.
	Cells []int64
}

// page shows servers, jobs with their containers, and why.
func (c *Controller) page(w http.ResponseWriter, _ *http.Request) {
	shown := content{Report: c.Report(), Kinds: c.config.Problem.Kinds}
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

// metrics writes numbers in the text format of Prometheus. All are gauges, attempts as well: they count those of jobs that
// are known, and jobs are forgotten.
func (c *Controller) metrics(w http.ResponseWriter, _ *http.Request) {
	r, last := c.Report(), c.Last()
	phases, attempts, containers := map[string]int{}, int64(0), 0
	for _, j := range r.Jobs {
		phases[string(j.Job.Phase)]++
		attempts += j.Job.Attempt
		containers += len(j.Job.Containers)
	}
	var text bytes.Buffer
	// Names and help are constants of ours, so nothing in them has to be escaped; phases are quoted.
	gauge := func(name, help string, value any) {
		fmt.Fprintf(&text, "# HELP apportion_%s %s\n# TYPE apportion_%s gauge\napportion_%s %v\n", name, help, name, name, value)
	}
	fmt.Fprintf(&text, "# HELP apportion_jobs Jobs by phase of the checkpoint protocol.\n# TYPE apportion_jobs gauge\n")
	// In the order of their names, so that two answers can be compared line by line.
	for _, phase := range slices.Sorted(maps.Keys(phases)) {
		fmt.Fprintf(&text, "apportion_jobs{phase=%q} %d\n", phase, phases[phase])
	}
	gauge("servers", "Servers in the cluster.", len(r.Servers))
	gauge("servers_silent", "Servers that do not answer.", len(r.Silent))
	gauge("containers", "Containers of elastic jobs.", containers)
	gauge("attempts", "Attempts of all jobs that are known.", attempts)
	gauge("objective", "Objective of the newest decision.", r.Objective)
	gauge("bound", "Upper bound on the objective.", r.Bound)
	gauge("gap", "Gap between the two, as a part of the bound.", r.Gap)
	gauge("decision_seconds", "How long the newest decision took.", last.Took.Seconds())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = text.WriteTo(w) // whoever asked is gone
}
