// This file implements what the machine asks for: effects, on the agents and the store.

package driver

import (
	"context"
	"errors"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
)

// begin carries an effect out in a goroutine of its own, which hands the reply to the loop.
//
// begin returns at once: the loop must not wait for an agent. Run waits for these goroutines before it
// returns, through d.under.
func (d *Driver) begin(ctx context.Context, e checkpoint.Effect) {
	// The machine gives up an effect after its time-out and asks for it again. A tenth is left so that
	// the reply of a call that ran into its limit comes before that, with the reason in words.
	patience := d.machine.Timeout(e.Action) * 9 / 10 // less than the machine waits for it
	d.under.Go(func() {
		if e.Action == checkpoint.Create || e.Action == checkpoint.Resume {
			select {
			case <-d.heard:
				// The attempt may have been stopped while none might begin.
				if j := d.view.job(e.Job); j == nil || j.Effect != e.ID {
					return
				}
			case <-ctx.Done():
				return
			}
		}
		issued := time.Now()
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
			d.logger.failed(e, reply)
			if err := d.step(reply); err != nil {
				return err
			}
			return d.weigh(e, seen, time.Now())
		})
	})
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
	// Only a Resume starts something, and is told what.
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

func (d *Driver) verify(ctx context.Context, e checkpoint.Effect) error {
	_, err := abandon.Do(ctx, func(ctx context.Context) (store.Manifest, error) {
		m, err := store.Verify(ctx, d.config.Store, e.Job, e.Checkpoint)
		// The store is looked at behind the checkpoint: where both is right now, it was right before as well.
		if another := d.expect(ctx, e); another != nil {
			return m, another
		}
		return m, err
	})
	return err
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
