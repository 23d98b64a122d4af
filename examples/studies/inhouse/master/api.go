// This file implements what users ask of the master: submit, list, explain, cancel.

package master

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/examples/studies/inhouse/wire"
)

// Name names a job.
type Name struct {
	Job string `json:"job"`
}

// Move asks for containers by hand: the servers, one entry a container.
type Move struct {
	Job        string   `json:"job"`
	Containers []string `json:"containers"`
}

// Nothing is a question or an answer without content.
type Nothing struct{}

// View is how a job stands.
type View struct {
	Job        checkpoint.Job       `json:"job"`
	Progress   runner.Progress      `json:"progress"`
	Waiting    string               `json:"waiting,omitempty"`
	Share      alloc.Share          `json:"share"`
	Checkpoint checkpoint.Confirmed `json:"checkpoint"`
}

// List is the answer to /list.
type List struct {
	Jobs    []View             `json:"jobs"`
	Servers []apportion.Server `json:"servers"`
	// Utilization and Bound are those of the last verdict; not there if its decider does not know.
	Utilization float64 `json:"utilization,omitzero"`
	Bound       float64 `json:"bound,omitzero"`
}

// Handler answers users and agents.
func (m *Master) Handler() http.Handler {
	mux, token := http.NewServeMux(), m.config.Token
	wire.Handle(mux, "/register", token, func(ctx context.Context, r Registration) (Nothing, error) {
		return Nothing{}, m.ask(ctx, func() error { return m.register(r) })
	})
	wire.Handle(mux, "/submit", token, func(ctx context.Context, app Submission) (Nothing, error) {
		return Nothing{}, m.ask(ctx, func() error { return m.submit(app) })
	})
	wire.Handle(mux, "/cancel", token, func(ctx context.Context, n Name) (Nothing, error) {
		return Nothing{}, m.ask(ctx, func() error { m.hurry(); return m.machine.Step(checkpoint.Cancel{Job: n.Job}) })
	})
	wire.Handle(mux, "/move", token, func(ctx context.Context, mv Move) (Nothing, error) {
		adjust := checkpoint.Adjust{Targets: map[string][]string{mv.Job: mv.Containers}}
		return Nothing{}, m.ask(ctx, func() error { return m.machine.Step(adjust) })
	})
	wire.Handle(mux, "/list", token, func(ctx context.Context, _ Nothing) (List, error) { return m.list(ctx) })
	wire.Handle(mux, "/explain", token, m.explain)
	mux.HandleFunc("GET /{$}", m.page)
	return mux
}

// submit checks an application, writes it down and makes it known.
func (m *Master) submit(app Submission) error {
	if _, known := m.specs.find(app.ID); known {
		return fmt.Errorf("job %q %w", app.ID, apportion.ErrDuplicate)
	}
	if err := store.CheckJob(app.ID); err != nil {
		return err
	}
	if len(app.Start) == 0 || len(app.Resume) == 0 {
		return fmt.Errorf("job %q: start or resume %w", app.ID, apportion.ErrEmpty)
	}
	if app.Max > math.MaxInt32 {
		return fmt.Errorf("job %q: max %w", app.ID, apportion.ErrRange)
	}
	alone := &alloc.Problem{Kinds: m.config.Protocol.Kinds, Applications: []alloc.Application{app.Application},
		Servers: []apportion.Server{{ID: "any", Capacity: make(apportion.Resources, len(m.config.Protocol.Kinds))}}}
	if err := alone.Validate(); err != nil {
		return err
	}
	if err := m.specs.add(app); err != nil {
		return err
	}
	m.hurry()
	return m.know(app)
}

// list returns how all jobs stand, in the order of submission.
func (m *Master) list(ctx context.Context) (List, error) {
	var l List
	err := m.ask(ctx, func() error {
		l.Servers = m.machine.Servers()
		l.Utilization, l.Bound = m.verdict.Utilization, m.verdict.Bound
		for _, app := range m.specs.apps {
			l.Jobs = append(l.Jobs, m.view(app.ID))
		}
		return nil
	})
	return l, err
}

func (m *Master) view(name string) View {
	job, _ := m.machine.Job(name)
	return View{Job: job, Progress: m.progress[name], Checkpoint: job.Newest(), Share: m.verdict.Shares[name], Waiting: m.verdict.Waiting[name]}
}

// explain says why the jobs have what they have.
func (m *Master) explain(ctx context.Context, _ Nothing) (text string, err error) {
	err = m.ask(ctx, func() error {
		text = m.verdict.Explanation
		return nil
	})
	return text, err
}
