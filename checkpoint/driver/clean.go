// This file implements what the driver throws away: jobs that have ended long ago, with their checkpoints, and what servers
// remember of jobs that are forgotten.

package driver

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
)

// cleanLimit is how long the deletion of a job's checkpoints may take before it is left alone and begun again.
const cleanLimit = time.Minute

// expire begins to clean up after jobs that ended Options.Retain ago, as far as this driver has seen. It belongs to the loop.
// O(jobs).
func (d *Driver) expire(now time.Time) {
	if d.options.Retain == 0 {
		return
	}
	ended := d.view.in(checkpoint.Ended)
	for job := range d.since {
		// One that was forgotten, and submitted again, begins anew.
		if _, still := slices.BinarySearch(ended, job); !still {
			delete(d.since, job)
		}
	}
	for _, job := range ended {
		at, known := d.since[job]
		switch {
		case !known:
			d.since[job] = now
		case now.Sub(at) > d.options.Retain:
			// From now on it is tried again after as long, if it is still there.
			d.since[job] = now
			id := store.Identity(d.machine.Store())
			d.under.Go(func() { d.clean(d.life, id, job) })
		}
	}
}

// clean deletes the checkpoints of a job, in the store on record, and forgets it then: who dies in between begins again.
func (d *Driver) clean(ctx context.Context, id store.Identity, job string) {
	limited, cancel := context.WithTimeout(ctx, cleanLimit)
	defer cancel()
	_, err := abandon.Do(limited, func(ctx context.Context) (struct{}, error) {
		if err := store.Expect(ctx, d.config.Store, id); err != nil {
			return struct{}{}, err
		}
		manifests, err := d.config.Store.List(ctx, job)
		// What is damaged has no number that is known. It stays, and is no reason to remember the job.
		if errors.Is(err, store.ErrCorrupt) {
			err = nil
		}
		for _, m := range manifests {
			err = errors.Join(err, d.config.Store.Delete(ctx, job, m.Number))
		}
		if err == nil {
			err = d.pruneShares(ctx, job, math.MaxInt64)
		}
		return struct{}{}, err
	})
	if err == nil {
		_ = d.Apply(ctx, checkpoint.Forget{Job: job}) // the loop has ended, or somebody was faster
	}
}
