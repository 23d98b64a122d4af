// This file implements the save of a job each of whose servers writes a share of the checkpoint: parts first, and then the
// one commit that names them all.

package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
)

// saveShares has all servers of a job save their shares, and joins these when every one is committed. Before that nothing is
// visible, so a server, or this master, that dies in between has only made the save fail: the next one has another number.
func (d *Driver) saveShares(ctx context.Context, e checkpoint.Effect) checkpoint.Reply {
	replies := make([]checkpoint.Reply, len(e.Servers))
	done := make(chan struct{}, len(e.Servers))
	for i, server := range e.Servers {
		order := agent.Order{Effect: e, Share: store.Share{Index: i, Of: len(e.Servers)}}
		go func() {
			replies[i] = d.give(ctx, server, order)
			done <- struct{}{}
		}()
	}
	// All are waited for, as in carryOut.
	for range e.Servers {
		<-done
	}
	all := failed(nil)
	for _, reply := range replies {
		all = worse(all, reply)
	}
	if all.Outcome != checkpoint.Done {
		return all
	}
	if err := oneStep(e.Servers, replies); err != nil {
		return failed(err)
	}
	if err := d.join(ctx, e); err != nil {
		return failed(err)
	}
	return all
}

// oneStep returns an error if two servers have saved different steps: shares of two moments make no state of the job. A server
// that does not know its step is believed.
func oneStep(servers []string, replies []checkpoint.Reply) error {
	first := -1
	for i, reply := range replies {
		switch {
		case reply.Step < 0:
		case first < 0:
			first = i
		case reply.Step != replies[first].Step:
			return fmt.Errorf("server %q has saved step %d and server %q step %d", servers[first], replies[first].Step, servers[i], reply.Step)
		}
	}
	return nil
}

// join commits the checkpoint that consists of the shares of all servers. The master reads their manifests, and no part.
func (d *Driver) join(ctx context.Context, e checkpoint.Effect) error {
	sharded, ok := d.config.Store.(store.Sharded)
	if !ok {
		return fmt.Errorf("driver: the store takes whole checkpoints only: %w", errors.ErrUnsupported)
	}
	_, err := abandon.Do(ctx, func(ctx context.Context) (store.Manifest, error) {
		if err := d.expect(ctx, e); err != nil {
			return store.Manifest{}, err
		}
		return sharded.Join(ctx, e.Job, e.Checkpoint, len(e.Servers))
	})
	return err
}

// pruneShares deletes what saves below a number have left that were never joined.
func (d *Driver) pruneShares(ctx context.Context, job string, below int64) error {
	if sharded, ok := d.config.Store.(store.Sharded); ok {
		return sharded.Prune(ctx, job, below)
	}
	return nil
}
