// This file draws the status page.

package master

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"math"
	"net/http"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
)

//go:embed page.html
var pageText string

// The template escapes whatever jobs and users have written.
var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page shows servers, jobs with their containers and loss curves, and the explanation of the last
// decision; utilization and shares where the decider knows them. A browser
// signs nothing: it has a link that is good for some time.
func (m *Master) page(w http.ResponseWriter, r *http.Request) {
	if !m.config.Secret.Opens(r.URL, time.Now()) {
		http.Error(w, "this address is not a link, or it is too old: inhouse page prints a new one", http.StatusUnauthorized)
		return
	}
	var text bytes.Buffer
	if err := pageTemplate.Execute(&text, m.content()); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_, _ = text.WriteTo(w) // the browser is gone
}

// content is what the page shows.
type content struct {
	List
	Kinds         []string
	Explanation   string
	Rows          []row
	Width, Height int
	// SaveLimit, StallAfter and Retain are how long jobs are waited for and remembered, see Config.
	SaveLimit, StallAfter, Retain time.Duration
}

// row is a job on the page.
type row struct {
	View
	// Cells has the containers on each server; Line is the loss curve, Last its end.
	Cells []int64
	Line  string
	Last  float64
	// Broken says why there is no curve; empty: nothing is wrong.
	Broken string
}

// It reads the curve of every job from disk, so that the page is for people and not for a monitor.
func (m *Master) content() *content {
	l := m.list(0, math.MaxInt)
	c := &content{List: l, Kinds: m.config.Protocol.Kinds, Explanation: m.last().Explanation, Width: drawnWidth, Height: drawnHeight,
		SaveLimit: cmp.Or(m.config.Protocol.SaveLimit, checkpoint.DefaultSaveLimit), StallAfter: cmp.Or(m.config.StallAfter, driver.DefaultStallAfter), Retain: m.config.Retain}
	for _, view := range l.Jobs {
		shown := row{View: view}
		// What a job has written is the job's: what cannot be read is told in its own cell.
		curve, err := Curve(m.config.Shared, view.Job.Name)
		if err != nil {
			shown.Broken = "the losses cannot be read: " + err.Error()
		}
		held := bridge.Counts(view.Job.Containers)
		for _, server := range l.Servers {
			shown.Cells = append(shown.Cells, held[server.ID])
		}
		if len(curve) > 0 {
			last := curve[len(curve)-1]
			shown.Line, shown.Last = polyline(curve, last.Step), last.Value
		}
		c.Rows = append(c.Rows, shown)
	}
	return c
}
