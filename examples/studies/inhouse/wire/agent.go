// This file carries the calls between a master and its agents: a client that is a driver's agent, and the
// server for it.

package wire

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
)

// Work is what a job runs, the Spec of its orders: argument vectors, and the name of the engine that they are
// for.
type Work struct {
	Executor string   `json:"executor,omitempty"`
	Start    []string `json:"start"`
	Resume   []string `json:"resume"`
}

// ReadWork reads a Spec.
func ReadWork(spec json.RawMessage) (w Work, err error) {
	err = json.Unmarshal(spec, &w)
	return w, err
}

// Spec writes a Spec.
func (w Work) Spec() json.RawMessage {
	spec, _ := json.Marshal(w) // of strings, which cannot fail
	return spec
}

// HandleAgent answers the calls of a [Remote].
func HandleAgent(mux *http.ServeMux, token string, a driver.Agent) {
	Handle(mux, "/effect", token, a.Do)
	Handle(mux, "/status", token, a.Status)
}

// Remote is an agent at the other end of a Client: a driver.Agent.
type Remote struct{ Client }

var _ driver.Agent = (*Remote)(nil)

// Do implements driver.Agent.
func (r *Remote) Do(ctx context.Context, o agent.Order) (reply checkpoint.Reply, err error) {
	err = r.Call(ctx, "/effect", o, &reply)
	return reply, err
}

// Status implements driver.Agent.
func (r *Remote) Status(ctx context.Context, q agent.Question) (s agent.Status, err error) {
	err = r.Call(ctx, "/status", q, &s)
	return s, err
}
