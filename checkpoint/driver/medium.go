// This file implements what the driver makes sure of before it believes the store: that it is the one which is on record, and
// that nobody adds to what a new attempt relies on.

package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
)

// identify asks the store which it is, and puts that on record. A store that does not answer is waited for, since jobs run
// on without it. One that is not the store on record ends the driver: whatever it says of checkpoints, it says of others.
func (d *Driver) identify(ctx context.Context) {
	for pause := d.options.Poll; ; pause = min(2*pause, max(d.options.Poll, d.config.Grace/8)) {
		id, err := abandon.Do(ctx, d.config.Store.Identity)
		switch {
		case err == nil:
			// The error ends the loop, or comes from its end.
			if d.ask(ctx, func() error { return d.name(id) }) == nil {
				close(d.named)
			}
			return
		case errors.Is(err, store.ErrIdentity):
			_ = d.fail(ctx, fmt.Errorf("driver: the store: %w", err))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// name puts on record which store it is. It belongs to the loop.
func (d *Driver) name(id store.Identity) error {
	err := d.machine.Step(checkpoint.StoreNamed{ID: string(id)})
	if errors.Is(err, apportion.ErrConflict) {
		return fmt.Errorf("driver: %w: %w", store.ErrIdentity, err)
	}
	return err
}

// expect returns an error unless the store is the one of an effect.
func (d *Driver) expect(ctx context.Context, e checkpoint.Effect) error {
	return store.Expect(ctx, d.config.Store, store.Identity(e.Store))
}

// fence ends, before an attempt begins, what attempts before it may still be writing: numbers ascend, so all that they were
// asked to save is below the attempt's own. The store must have said by then which it is.
func (d *Driver) fence(ctx context.Context, e checkpoint.Effect) error {
	select {
	// An attempt of a driver that has just begun may be faster than the first answer of a store.
	case <-d.named:
	case <-ctx.Done():
		return fmt.Errorf("the store has not said which it is: %w", ctx.Err())
	}
	_, err := abandon.Do(ctx, func(ctx context.Context) (struct{}, error) {
		if err := d.expect(ctx, e); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, d.config.Store.Fence(ctx, e.Job, e.Attempt)
	})
	return err
}
