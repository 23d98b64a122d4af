// This file implements the loops around a cluster, [Dorm] §III.

package controller

import (
	"context"
	"errors"
	"sync"
)

// Run runs the controller until the context ends, and returns nil then; otherwise why the driver has ended. Jobs run on
// until their leases are over.
func (c *Controller) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// The loops end with the driver, whatever has ended it: without one there is nobody to hand anything on to.
	var under sync.WaitGroup
	under.Go(func() { c.follow(ctx) })
	under.Go(func() { c.decideAll(ctx) })
	under.Go(func() { c.forecasts.Run(ctx) })
	// It is written before under.Wait returns and read after, so that it needs no lock.
	var replaced error
	under.Go(func() {
		if replaced = c.untilReplaced(ctx); replaced != nil {
			stop()
		}
	})
	err := c.driver.Run(ctx)
	stop()
	under.Wait()
	return errors.Join(err, replaced)
}
