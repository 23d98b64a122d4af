// This file lists how servers and jobs stand, for clients and for the page.

package master

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
)

// View is how a job stands. Waiting says why it has nothing, and Starts when it begins, by the newest forecast.
type View struct {
	Job        checkpoint.Job       `json:"job"`
	Progress   runner.Progress      `json:"progress"`
	Waiting    string               `json:"waiting,omitempty"`
	Starts     string               `json:"starts,omitempty"`
	Share      alloc.Share          `json:"share"`
	Checkpoint checkpoint.Confirmed `json:"checkpoint"`
}

// List is the answer to /list.
type List struct {
	Jobs    []View             `json:"jobs"`
	Servers []apportion.Server `json:"servers"`
	// Next is where the next part begins; 0: this is the last.
	Next int `json:"next,omitempty"`
	// Utilization and Bound are those of the last verdict; not there if its decider does not know.
	Utilization float64 `json:"utilization,omitzero"`
	Bound       float64 `json:"bound,omitzero"`
}

// pageLength is how many jobs an answer has at most: each is some hundred bytes, with its containers some thousand.
const pageLength = 100

// list returns how at most limit jobs stand, in the order of submission, from a number in that order on.
// The shares are those of the newest verdict, which may be older than the jobs.
func (m *Master) list(from, limit int) List {
	s, verdict, fore := m.driver.State(), m.last(), m.forecasts.Newest()
	l := List{Servers: s.Servers, Utilization: verdict.Utilization, Bound: verdict.Bound}
	for _, spec := range m.specs.all() {
		app := &spec.Application
		j, known := s.Job(app.ID)
		if !known || spec.Order < from {
			continue // it is being submitted, or was forgotten
		}
		if len(l.Jobs) == limit {
			l.Next = spec.Order
			break
		}
		v := View{Job: j.Job, Progress: j.Progress, Checkpoint: j.Job.Newest(), Share: verdict.Shares[app.ID], Waiting: verdict.Waiting[app.ID]}
		if len(j.Job.Containers) == 0 && j.Job.Ending == "" {
			v.Starts = fore.Text(app.ID)
		}
		l.Jobs = append(l.Jobs, v)
	}
	return l
}
