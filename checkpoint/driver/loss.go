// This file implements how a driver accepts that records were lost.

package driver

import (
	"context"
	"crypto/rand"
	"time"
)

// acceptLoss has the machine go on without what its journal has lost, if the options say so.
func (d *Driver) acceptLoss(ctx context.Context) error {
	lost := d.options.AcceptLoss
	if lost == "" {
		return nil
	}
	// No agent has been handed back a stamp by this driver, and no other may write to the journal: within the grace every lease ends,
	// also of runs that are on no record.
	if lost == d.machine.Journal() {
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
	return nil
}
