// This file implements how a controller finds out that another one leads, also where it has nothing to write.

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/journal"
)

// Leader is a journal that knows without writing whether its master was replaced.
type Leader interface {
	// Leads returns nil while no other master can have the journal open, and an error that wraps checkpoint.ErrFenced if one
	// has. It may be called by any goroutine, and must not wait for long.
	Leads() error
}

var _ Leader = (*journal.Journal)(nil)

// untilReplaced waits until another master has the journal, and returns that; nil: the context has ended before.
func (c *Controller) untilReplaced(ctx context.Context) error {
	leader, is := c.config.Journal.(Leader)
	for is {
		// Any other error says that nobody knows, as when a disk does not answer. The desk grants nothing meanwhile, and jobs live
		// on their leases; to end would help nobody.
		if err := leader.Leads(); errors.Is(err, checkpoint.ErrFenced) {
			return fmt.Errorf("controller: another leads: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(c.config.Look):
		}
	}
	return nil
}
