// This file implements how a driver accepts that records were lost.

package driver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
)

// acceptLoss has the machine go on without what its journal has lost, if the options say so.
func (d *Driver) acceptLoss(ctx context.Context) error {
	lost := d.options.AcceptLoss
	if lost == "" {
		return nil
	}
	// No agent has been handed back a stamp by this driver, and no other may write to the journal: within the grace every lease ends,
	// also of runs that are on no record.
	first := lost == d.machine.Journal()
	if first {
		select {
		case <-time.After(d.config.Grace):
		case <-ctx.Done():
			return nil
		}
	}
	if err := d.machine.AcceptLoss(lost, rand.Text()); err != nil {
		return err
	}
	d.epoch = d.machine.Epoch()
	if first {
		return d.findCheckpoints(ctx)
	}
	return nil
}

// findCheckpoints tells the machine which checkpoints the store has: those on record may have been pruned for others that are on none.
func (d *Driver) findCheckpoints(ctx context.Context) error {
	for _, j := range d.machine.Jobs() {
		manifests, err := abandon.Do(ctx, func(ctx context.Context) ([]store.Manifest, error) { return d.config.Store.List(ctx, j.Name) })
		// A damaged one is told beside the others, and is none to go on from.
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			return fmt.Errorf("driver: the checkpoints of job %q after a loss: %w", j.Name, err)
		}
		var numbers []int64
		for _, m := range manifests {
			numbers = append(numbers, m.Number)
		}
		d.machine.Found(j.Name, numbers)
	}
	return nil
}
