// This file implements what the machine asks for: effects, on the agents and the store.

package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/transfer"
)

// begin carries an effect out in a goroutine of its own, which hands the reply to the loop.
//
// begin returns at once: the loop must not wait for an agent. Run waits for these goroutines before it
// returns, through d.under.
func (d *Driver) begin(ctx context.Context, e checkpoint.Effect) {
	// The machine gives up an effect after its time-out and asks for it again. A tenth is left so that
	// the reply of a call that ran into its limit comes before that, with the reason in words.
	issued, patience := time.Now(), d.machine.Timeout(e.Action)*9/10 // less than the machine waits for it
	d.under.Go(func() {
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		// The machine does not wait for a Prune: a checkpoint that is left over costs room and nothing
		// else.
		if e.Action == checkpoint.Prune {
			_ = d.prune(limited, e) // what it leaves, the next one takes
			return
		}
		reply, seen := d.carryOut(limited, e)
		// The reply is named here and not by the agent, since it may be joined from those of several.
		reply.ID, reply.Job = e.ID, e.Job
		_ = d.ask(ctx, func() error { // the loop sees the error
			if d.options.Trace != nil {
				d.options.Trace(Traced{e, issued, time.Now(), reply})
			}
			if err := d.step(reply); err != nil {
				return err
			}
			return d.weigh(e, seen, time.Now())
		})
	})
}

// verdict is how an effect went on one server.
type verdict struct {
	server string
	reply  checkpoint.Reply
}

// carryOut does an effect everywhere and says how it went, together and on each server.
func (d *Driver) carryOut(ctx context.Context, e checkpoint.Effect) (checkpoint.Reply, []verdict) {
	servers := e.Servers
	switch e.Action {
	// The store is asked, and not the server that has saved: the master checks with its own eyes, or all servers of the
	// job do, each a share.
	case checkpoint.Verify:
		if !d.options.VerifyOnServers {
			return failed(d.verify(ctx, e)), nil
		}
	case checkpoint.Save:
		if d.options.Sharded(e.Job) {
			return d.saveShares(ctx, e), nil
		}
		servers = e.Containers[:1] // the process of rank 0 writes the state of the whole job
	}
	order := agent.Order{Effect: e}
	if e.Action == checkpoint.Resume {
		order.Spec = d.options.Spec(e.Job)
	}
	// The channel has room for all, so that no goroutine stays behind when the context ends.
	replies := make(chan verdict, len(servers)+1)
	waited := len(servers)
	if e.Action == checkpoint.Create {
		// The store is fenced while the servers make containers: the attempt begins when both are done.
		waited++
		go func() { replies <- verdict{"", failed(d.fence(ctx, e))} }()
	}
	for i, server := range servers {
		own := order
		if e.Action == checkpoint.Verify {
			own.Share = store.Share{Index: i, Of: len(servers)}
		}
		go func() { replies <- verdict{server, d.give(ctx, server, own)} }()
	}
	all, seen := failed(nil), make([]verdict, 0, len(servers))
	// All are waited for, also after one has failed: a reply means that nothing of the effect is under
	// way.
	for range waited {
		v := <-replies
		if all = worse(all, v.reply); v.server != "" {
			seen = append(seen, v)
		}
	}
	if all.Outcome == checkpoint.Damaged || all.Outcome == checkpoint.Unreadable {
		return d.readAgain(ctx, e, all), seen
	}
	return all, seen
}

// readAgain is the second reader of a checkpoint that a server could not read. What the master can read is the server's
// fault: perhaps its store is not mounted.
func (d *Driver) readAgain(ctx context.Context, e checkpoint.Effect, first checkpoint.Reply) checkpoint.Reply {
	err := d.verify(ctx, e)
	switch {
	case err == nil:
		first.Outcome, first.Detail = checkpoint.Failed, "the master can read it: "+first.Detail
	// Neither of the two has seen the checkpoint.
	case errors.Is(err, store.ErrIdentity):
		first.Outcome, first.Detail = checkpoint.Failed, first.Detail+"; the master: "+err.Error()
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrNotFound):
		first.Outcome = checkpoint.Damaged
	// There was no time to read it.
	case ctx.Err() != nil:
		first.Outcome = checkpoint.Failed
	default:
		first.Outcome, first.Detail = checkpoint.Unreadable, first.Detail+"; the master: "+err.Error()
	}
	return first
}

// verify reads a checkpoint to its end.
func (d *Driver) verify(ctx context.Context, e checkpoint.Effect) error {
	_, err := abandon.Do(ctx, func(ctx context.Context) (store.Manifest, error) {
		m, err := transfer.Verify(ctx, d.config.Store, e.Job, e.Checkpoint)
		// The store is looked at behind the checkpoint: where both is right now, it was right before as well.
		if another := d.expect(ctx, e); another != nil {
			return m, another
		}
		return m, err
	})
	return err
}

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

// failed is the reply to an effect that ended with an error; nil: it is done.
func failed(err error) checkpoint.Reply {
	// Step -1 is "not known", for a checkpoint of step 0 is a right one.
	reply := checkpoint.Reply{Outcome: checkpoint.Done, Step: -1}
	if err != nil {
		reply.Outcome, reply.Detail = checkpoint.Failed, err.Error()
	}
	// Fenced ends the master, Failed only the effect. The two must not be mixed up.
	if errors.Is(err, checkpoint.ErrFenced) {
		reply.Outcome = checkpoint.Fenced
	}
	return reply
}

// badness orders the outcomes.
//
// A Failed effect is tried again, Unreadable as well but for the last time, Damaged begins from an earlier checkpoint, and Fenced ends the
// master: what has the wider consequence stands further right and wins.
var badness = []checkpoint.Outcome{checkpoint.Done, checkpoint.Failed, checkpoint.Unreadable, checkpoint.Damaged, checkpoint.Fenced}

// worse joins the replies of two servers: an effect is done if it is done on both. The step is that of the one
// server that knows it.
func worse(a, b checkpoint.Reply) checkpoint.Reply {
	if slices.Index(badness, b.Outcome) > slices.Index(badness, a.Outcome) {
		a, b = b, a
	}
	a.Step = max(a.Step, b.Step)
	return a
}

// prune deletes the checkpoints of a job that are not needed any more. It gets on with the others where one
// cannot be deleted.
func (d *Driver) prune(ctx context.Context, e checkpoint.Effect) error {
	_, err := abandon.Do(ctx, func(ctx context.Context) (struct{}, error) {
		if err := d.expect(ctx, e); err != nil {
			return struct{}{}, err
		}
		manifests, _ := d.config.Store.List(ctx, e.Job) // damaged ones are left where they are
		err := d.pruneShares(ctx, e.Job, e.Checkpoint)
		for _, m := range manifests {
			// The effect names the oldest checkpoint that is needed; it and all later ones stay.
			if m.Number < e.Checkpoint {
				err = errors.Join(err, d.config.Store.Delete(ctx, e.Job, m.Number))
			}
		}
		return struct{}{}, err
	})
	return err
}
