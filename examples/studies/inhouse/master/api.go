// This file implements what users ask of the master: submit, list, explain, cancel.

package master

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/wire"
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

// Page asks for a part of the list.
type Page struct {
	// From is where it begins: 0, or the Next of the part before.
	From int `json:"from,omitempty"`
}

// Registration is what an agent says of itself, again and again.
type Registration struct {
	URL    string           `json:"url"`
	Server apportion.Server `json:"server"`
}

// Nothing is a question or an answer without content.
type Nothing struct{}

// Handler answers users and agents.
func (m *Master) Handler() http.Handler {
	mux, gate := http.NewServeMux(), m.config.Secret.Gate()
	wire.Handle(mux, "/register", gate, func(ctx context.Context, r Registration) (Nothing, error) {
		return Nothing{}, m.register(ctx, r)
	}, wire.Agent)
	wire.Handle(mux, "/submit", gate, func(ctx context.Context, app Submission) (Nothing, error) {
		return Nothing{}, m.submit(ctx, app)
	}, wire.User)
	wire.Handle(mux, "/cancel", gate, func(ctx context.Context, n Name) (Nothing, error) {
		return Nothing{}, m.driver.Apply(ctx, checkpoint.Cancel{Job: n.Job})
	}, wire.User)
	wire.Handle(mux, "/move", gate, func(ctx context.Context, mv Move) (Nothing, error) {
		return Nothing{}, m.driver.Apply(ctx, checkpoint.Adjust{Targets: map[string][]string{mv.Job: mv.Containers}})
	}, wire.User)
	wire.Handle(mux, "/list", gate, func(_ context.Context, p Page) (List, error) { return m.list(p.From, pageLength), nil }, wire.User)
	wire.Handle(mux, "/explain", gate, func(context.Context, Nothing) (string, error) { return m.last().Explanation, nil }, wire.User)
	m.board.Handle(mux, nil)
	return mux
}

// register lets an agent in: a new one, one with a new address, or one whose capacity has changed.
func (m *Master) register(ctx context.Context, r Registration) error {
	// An agent speaks for its own server, and its name says which calls are for it.
	party := wire.Party{Role: wire.Agent, Name: r.Server.ID}
	if caller := wire.Caller(ctx); caller != party {
		return fmt.Errorf("%v registers as %v", caller, party)
	}
	remote := &wire.Remote{Client: m.config.Secret.Client(r.URL, party)}
	remote.HTTP = m.config.HTTP
	if known, ok := m.driver.Agent(r.Server.ID).(*wire.Remote); ok && known.Base == r.URL {
		s := m.driver.State()
		if slices.ContainsFunc(s.Servers, func(s apportion.Server) bool { return s.ID == r.Server.ID && s.Capacity.Equal(r.Server.Capacity) }) {
			return nil
		}
	}
	return m.driver.Join(ctx, r.Server, remote)
}

// submit checks an application, writes it down and makes it known.
// It is written down before the protocol knows it, so that a master that dies in between finds it.
func (m *Master) submit(ctx context.Context, app Submission) error {
	if err := store.CheckJob(app.ID); err != nil {
		return err
	}
	if len(app.Start) == 0 || len(app.Resume) == 0 {
		return fmt.Errorf("job %q: start or resume %w", app.ID, apportion.ErrEmpty)
	}
	if app.Max > bridge.MaxContainers {
		return fmt.Errorf("job %q: max %w", app.ID, apportion.ErrRange)
	}
	// The optimizer's own check of an application is asked by way of a problem of one.
	alone := &alloc.Problem{Kinds: m.config.Protocol.Kinds, Applications: []alloc.Application{app.Application},
		Servers: []apportion.Server{{ID: "any", Capacity: make(apportion.Resources, len(m.config.Protocol.Kinds))}}}
	if err := alone.Validate(); err != nil {
		return err
	}
	if err := m.specs.add(app); err != nil {
		return err
	}
	return m.driver.Apply(ctx, app.event())
}
