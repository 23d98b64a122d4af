// This file carries the calls between a master and its agents: a client that is a driver's agent, and the
// server for it.

package wire

import (
	"context"
	"net/http"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
)

// HandleAgent answers the calls of a [Remote], which masters alone may make.
func HandleAgent(mux *http.ServeMux, g *Gate, a driver.Agent) {
	Handle(mux, "/effect", g, a.Do, Master)
	Handle(mux, "/status", g, a.Status, Master)
}

// Remote is an agent at the other end of a Client: a driver.Agent.
type Remote struct{ *Client }

var _ driver.Agent = (*Remote)(nil)

// Do implements driver.Agent.
func (r *Remote) Do(ctx context.Context, o agent.Order) (reply checkpoint.Reply, err error) {
	// An order whose answer is lost is given again: effects may be asked for twice.
	err = r.Call(ctx, "/effect", o, &reply)
	return reply, err
}

// Status implements driver.Agent.
func (r *Remote) Status(ctx context.Context, q agent.Question) (s agent.Status, err error) {
	err = r.Call(ctx, "/status", q, &s)
	return s, err
}
