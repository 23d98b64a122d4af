// This file implements what a controller answers by HTTP: to people, to programs, and to guards.

package controller

import (
	"crypto/subtle"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/wire"
)

// Access says who is let in by a controller's handler.
type Access struct {
	// User is the bearer token of those who look; empty: nobody may.
	User string
	// Guards is the gate for claims, which parties of the role wire.Guard sign; nil: nobody may claim.
	Guards *wire.Gate
}

// Report is what a controller tells of itself, as JSON.
type Report struct {
	Servers []Server    `json:"servers"`
	Silent  []string    `json:"silent"`
	Jobs    []JobReport `json:"jobs"`
	// Rejected says of jobs that cannot be understood why.
	Rejected map[string]string `json:"rejected,omitempty"`
	// Objective, Bound and Gap are those of the newest decision. A decision that was cut short may have no bound: Bound
	// and Gap are 0 then.
	Status    alloc.Status `json:"status,omitempty"`
	Objective float64      `json:"objective,omitempty"`
	Bound     float64      `json:"bound,omitempty"`
	Gap       float64      `json:"gap,omitempty"`
	// Fault is why the newest decision could not be taken or carried out.
	Fault string `json:"fault,omitempty"`
}

// JobReport is how a job stands.
type JobReport struct {
	Job      checkpoint.Job  `json:"job"`
	Progress runner.Progress `json:"progress"`
	Share    alloc.Share     `json:"share,omitzero"`
	// Why says why the job has nothing, or is not where it was to be; "": it is.
	Why string `json:"why,omitempty"`
}

// Report returns how everything stands.
func (c *Controller) Report() Report {
	state, view, last := c.State(), c.View(), c.Last()
	r := Report{Servers: []Server{}, Silent: state.Silent, Jobs: []JobReport{}, Fault: last.Fault}
	if view != nil {
		r.Servers, r.Rejected = slices.Clone(view.Servers), view.Rejected
	}
	shares, waiting := map[string]alloc.Share{}, map[string]string{}
	if d := last.Decision; d != nil {
		r.Status, r.Objective = d.Status, d.Objective
		if !math.IsInf(d.Bound, 0) {
			r.Bound, r.Gap = d.Bound, d.Gap
		}
		for _, share := range d.Shares {
			shares[share.ID] = share
		}
		for _, w := range slices.Concat(d.Waiting, d.Suspended) {
			waiting[w.ID] = w.Reason.Text
		}
	}
	for i := range state.Jobs {
		j := &state.Jobs[i]
		one := JobReport{Job: *j, Progress: state.Progress[j.Name], Share: shares[j.Name], Why: waiting[j.Name]}
		if one.Why == "" && j.Reason.Constraint != "" {
			one.Why = j.Reason.Constraint + ": " + j.Reason.Text
		}
		r.Jobs = append(r.Jobs, one)
	}
	return r
}

// Explain says in words why the jobs have what they have.
func (c *Controller) Explain() (string, error) {
	last := c.Last()
	return last.explain()
}

// explain is the decision in words.
func (t *Taken) explain() (string, error) {
	if t.Decision == nil {
		if t.Fault != "" {
			return "No decision could be taken: " + t.Fault + "\n", nil
		}
		return "Nothing was decided yet.\n", nil
	}
	e, err := alloc.Explain(t.Problem, t.Decision)
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

// Handler answers requests:
//
//	GET /             a page for people
//	GET /state        a Report
//	GET /explain      why the jobs have what they have, as text
//	GET /decision     the newest decision with its problem, a Taken
//	GET /metrics      numbers, in the text format of Prometheus
//	POST /lease       claims of guards, see guard.Desk.Handler
//
// The claims are signed, see package wire. All others ask for the token of users, as a bearer token, or for the page as ?token=.
func (c *Controller) Handler(access Access) http.Handler {
	mux := http.NewServeMux()
	handle(mux, "GET /{$}", access.User, c.page)
	handle(mux, "GET /state", access.User, func(w http.ResponseWriter, _ *http.Request) { answer(w, c.Report()) })
	handle(mux, "GET /metrics", access.User, c.metrics)
	handleDecision(mux, access.User, c.Last)
	if access.Guards != nil {
		mux.Handle("POST /lease", c.fleet.Desk().Handler(access.Guards))
	}
	return mux
}

// handle answers those who show the token.
func handle(mux *http.ServeMux, pattern, token string, answer http.HandlerFunc) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if !allowed(r, token) {
			http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
			return
		}
		answer(w, r)
	})
}

// handleDecision answers with the newest decision, as JSON and in words.
func handleDecision(mux *http.ServeMux, token string, last func() Taken) {
	handle(mux, "GET /decision", token, func(w http.ResponseWriter, _ *http.Request) { answer(w, last()) })
	handle(mux, "GET /explain", token, func(w http.ResponseWriter, _ *http.Request) {
		taken := last()
		text, err := taken.explain()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(text)) // whoever asked is gone
	})
}

// allowed reports whether a request shows the token. A browser shows it as ?token=.
func allowed(r *http.Request, token string) bool {
	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if given == "" {
		given = r.URL.Query().Get("token")
	}
	return token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// answer answers with a value as JSON.
func answer(w http.ResponseWriter, value any) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // whoever asked is gone
}
