// This file draws the status page.

package master

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"

	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/examples/studies/inhouse/wire"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page shows servers, jobs with their containers and loss curves, and the explanation of the last
// decision; utilization and shares where the decider knows them. A browser shows the token as ?token=.
func (m *Master) page(w http.ResponseWriter, r *http.Request) {
	if token := r.URL.Query().Get("token"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if !wire.Authorized(r, m.config.Token) {
		http.Error(w, "the token is missing or wrong: add ?token=...", http.StatusUnauthorized)
		return
	}
	content, err := m.content()
	var text bytes.Buffer
	if err == nil {
		err = pageTemplate.Execute(&text, content)
	}
	if err != nil {
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
}

// row is a job on the page.
type row struct {
	View
	// Cells has the containers on each server; Line is the loss curve, Last its end.
	Cells []int64
	Line  string
	Last  float64
}

func (m *Master) content() (*content, error) {
	l := m.list()
	c := &content{List: l, Kinds: m.config.Protocol.Kinds, Explanation: m.last().Explanation, Width: drawnWidth, Height: drawnHeight}
	for _, view := range l.Jobs {
		curve, err := Curve(m.config.Shared, view.Job.Name)
		if err != nil {
			return nil, err
		}
		shown := row{View: view}
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
	return c, nil
}
