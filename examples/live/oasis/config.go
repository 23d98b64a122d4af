// This file says what the policies work on.

package oasis

import (
	"time"

	"github.com/apportion/apportion/primaldual"
)

// Config says what the policies of this package work on.
// All but Now are required; FIFO needs no Bounds.
type Config struct {
	// Cluster has the servers of the two sides; schedules reach over its Slots from the current one.
	Cluster *primaldual.Cluster
	// Bounds set the prices.
	Bounds primaldual.Bounds
	// Slot is the length of a slot.
	Slot time.Duration
	// Book is the path of the file that is kept.
	Book string
	// Now is the clock; nil: that of the system.
	Now func() time.Time
}

// Tests set the clock.
func (c *Config) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}
