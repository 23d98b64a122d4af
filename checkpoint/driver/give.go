// This file implements how an order gets to the agent of a server, which may have to join first.

package driver

import (
	"context"
	"fmt"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
)

// give gives an order to the agent of a server, when it is there. A call that ignores its context is left alone
// when its time is over. If it does what it was told after that, no harm is done: the machine asks for the same
// again, or the agent's fence knows better.
func (d *Driver) give(ctx context.Context, server string, order agent.Order) checkpoint.Reply {
	m, err := d.await(ctx, server)
	if err != nil {
		return failed(err)
	}
	// The stamp is read as late as possible, since waiting for the agent may have taken long.
	heard, self := m.known()
	order.Heard, order.Book = heard, self.Book
	reply, err := abandon.Do(ctx, func(ctx context.Context) (checkpoint.Reply, error) { return m.agent.Do(ctx, order) })
	if err != nil {
		return failed(fmt.Errorf("server %q: %w", server, err))
	}
	return reply
}

// await returns a server with its agent, which may not have joined yet: after a driver was started again, the
// effects of the one before are begun at once, and the agents join within moments.
func (d *Driver) await(ctx context.Context, server string) (*member, error) {
	for {
		m := d.members.get(server)
		if m == nil {
			return nil, fmt.Errorf("server %q is lost", server)
		}
		if m.agent != nil {
			return m, nil
		}
		select {
		// Another agent has joined, or the server is lost: the next look tells which.
		case <-m.gone.Done():
		case <-ctx.Done():
			return nil, fmt.Errorf("server %q has not joined: %w", server, ctx.Err())
		}
	}
}
