// This file implements what the protocol asks for: effects, on the agents and the store.

package master

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/transfer"
	"github.com/apportion/apportion/examples/studies/inhouse/agent"
	"github.com/apportion/apportion/examples/studies/inhouse/wire"
)

// perform makes durable what has changed, and only then begins what that asks for.
func (m *Master) perform(ctx context.Context) error {
	ready := m.machine.Ready()
	if err := m.journal.Append(ready.Record); err != nil {
		return err
	}
	for _, e := range ready.Effects {
		if e.Action == checkpoint.Prune {
			m.under.Go(func() { m.prune(ctx, &e) })
			continue
		}
		order := agent.Order{Effect: e, Work: m.specs.work(e.Job)}
		servers := e.Servers
		if e.Action == checkpoint.Save {
			servers = e.Containers[:1] // the process of rank 0 writes the state of the whole job
		}
		clients, err := m.clients(servers)
		issued := time.Now()
		m.under.Go(func() {
			reply := failed(err)
			if err == nil {
				reply = m.carryOut(ctx, &order, clients)
			}
			reply.ID, reply.Job = e.ID, e.Job
			_ = m.ask(ctx, func() error { // the loop sees the error
				m.trace(Traced{e, issued, time.Now(), reply})
				return m.machine.Step(reply)
			})
		})
	}
	if m.journal.Bytes() < compactBytes {
		return nil
	}
	return m.journal.Compact(m.machine.Snapshot())
}

// Traced is an effect, when it was begun, and what came of it when.
type Traced struct {
	Effect  checkpoint.Effect `json:"effect"`
	Issued  time.Time         `json:"issued"`
	Replied time.Time         `json:"replied"`
	Reply   checkpoint.Reply  `json:"reply"`
}

// trace notes an effect.
func (m *Master) trace(t Traced) {
	if m.config.Trace != nil {
		_ = json.NewEncoder(m.config.Trace).Encode(t) // the work goes on without
	}
}

// failed is the reply to an effect that could not be done.
func failed(err error) checkpoint.Reply {
	reply := checkpoint.Reply{Outcome: checkpoint.Failed, Step: -1}
	if err != nil {
		reply.Detail = err.Error()
	}
	if errors.Is(err, checkpoint.ErrFenced) {
		reply.Outcome = checkpoint.Fenced
	}
	return reply
}

// carryOut does an effect everywhere and says how it went.
func (m *Master) carryOut(ctx context.Context, order *agent.Order, clients []*wire.Client) checkpoint.Reply {
	e := &order.Effect
	ctx, cancel := context.WithTimeout(ctx, m.patience(e.Action))
	defer cancel()
	if e.Action == checkpoint.Verify {
		if _, err := transfer.Verify(ctx, m.config.Store, e.Job, e.Checkpoint); err != nil {
			return failed(err)
		}
		return checkpoint.Reply{Outcome: checkpoint.Done, Step: -1}
	}
	replies := make(chan checkpoint.Reply, len(clients))
	for _, client := range clients {
		go func() { replies <- give(ctx, client, order) }()
	}
	all := checkpoint.Reply{Outcome: checkpoint.Done, Step: -1}
	for range clients {
		all = worse(all, <-replies)
	}
	return all
}

// patience is how long an effect may take: less than the protocol waits for it.
func (m *Master) patience(kind checkpoint.Action) time.Duration {
	t := &m.config.Protocol.Timeouts
	limit := map[checkpoint.Action]time.Duration{
		checkpoint.Save: t.Save, checkpoint.Verify: t.Verify, checkpoint.Stop: t.Stop, checkpoint.Release: t.Release,
		checkpoint.Create: t.Create, checkpoint.Resume: t.Resume, checkpoint.Confirm: t.Confirm,
	}[kind]
	return cmp.Or(limit, checkpoint.DefaultTimeout) * 9 / 10
}

// give gives an order to one agent.
func give(ctx context.Context, client *wire.Client, order *agent.Order) checkpoint.Reply {
	var result agent.Result
	if err := client.Call(ctx, "/effect", order, &result); err != nil {
		return failed(err)
	}
	return checkpoint.Reply{Outcome: result.Outcome, Detail: result.Detail, Step: result.Step}
}

// badness orders the outcomes.
var badness = []checkpoint.Outcome{checkpoint.Done, checkpoint.Failed, checkpoint.Damaged, checkpoint.Fenced}

// worse joins the replies of two servers: an effect is done if it is done on both.
func worse(a, b checkpoint.Reply) checkpoint.Reply {
	if slices.Index(badness, b.Outcome) > slices.Index(badness, a.Outcome) {
		a, b = b, a
	}
	a.Step = max(a.Step, b.Step)
	return a
}

// clients returns the agents of some servers.
func (m *Master) clients(servers []string) ([]*wire.Client, error) {
	var clients []*wire.Client
	for _, name := range servers {
		member, ok := m.members[name]
		if !ok || member.client == nil {
			return nil, fmt.Errorf("server %q has not registered", name)
		}
		clients = append(clients, member.client)
	}
	return clients, nil
}

// prune deletes the checkpoints of a job that are not needed any more. What it leaves, the next one
// takes.
func (m *Master) prune(ctx context.Context, e *checkpoint.Effect) {
	manifests, _ := m.config.Store.List(ctx, e.Job) // damaged ones are left where they are
	for _, manifest := range manifests {
		if manifest.Number < e.Checkpoint {
			_ = m.config.Store.Delete(ctx, e.Job, manifest.Number)
		}
	}
}
