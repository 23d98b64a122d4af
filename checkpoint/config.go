// This file implements Config: how patient the protocol is.

package checkpoint

import (
	"cmp"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Config says what a cluster's quantities are and how patient the protocol is. Zero fields mean the
// defaults, but for Kinds, which is required.
type Config struct {
	// Kinds names the kinds of resources that containers take and servers have.
	Kinds apportion.Kinds
	// Limit is the most jobs that are in the middle of an adjustment at the same time; 0: no limit. A
	// job that waits for room, or whose server has not answered in all its tries, does not count.
	Limit int
	// Retries is how often a failed effect is tried again before the protocol goes another way; 0 means
	// 2, negative: never. Stop and Release are tried until they succeed or their servers
	// are lost.
	Retries int
	// Restarts is how often a job whose processes die is resumed on the same containers before the
	// protocol goes another way; a confirmed checkpoint and an adjustment clear the count. 0 means
	// 3, negative: never.
	Restarts int
	// Keep is how many confirmed checkpoints of a job are kept; 0 means 2.
	Keep int
	// Timeouts says how long an effect may take.
	Timeouts Timeouts
	// SaveLimit is how long a job whose containers are to change may be in saving at least before it is stopped without, and goes on
	// from its newest confirmed checkpoint: ten times its longest save where that is more, and twice Timeouts.Save where that is
	// less. So a job that hangs gives its room back. 0 means a minute, below 0 never.
	SaveLimit time.Duration
	// Backoff is the pause before the first retry, doubled for each further one up to MaxBackoff. 0
	// means 1 and 30 seconds.
	Backoff, MaxBackoff time.Duration
	// MaxTick is the most time that one Tick is taken to mean, so that a clock that jumps does not end
	// all that is under way; 0 means 10 seconds. Tick more often than this.
	MaxTick time.Duration
}

// Timeouts is how long each effect may take before it counts as failed; 0 means a minute.
type Timeouts struct {
	Save, Verify, Stop, Release, Create, Resume, Confirm time.Duration
	// Room is how long a job waits for containers that others are to release.
	Room time.Duration
}

// What zero means for each of the Timeouts, and for SaveLimit.
const (
	DefaultTimeout   = time.Minute
	DefaultSaveLimit = time.Minute
)

// Validate returns the faults of a Config as [apportion.Faults].
// Negative times and counts are faults, but for Retries and Restarts, where they mean never.
func (c *Config) Validate() error {
	var faults apportion.Faults
	if err, ok := c.Kinds.Validate().(apportion.Faults); ok {
		faults = append(faults, err...)
	}
	check.NotNegative(&faults, apportion.Item{ID: "config"}, map[string]int{"Limit": c.Limit, "Keep": c.Keep})
	for _, d := range c.durations() {
		if *d.value < 0 {
			faults.Add(apportion.Item{ID: "config"}, d.field, apportion.ErrNegative, d.value.String())
		}
	}
	return faults.Err()
}

// duration is one of the durations of a Config and what zero means for it.
type duration struct {
	field string
	value *time.Duration
	zero  time.Duration
}

// durations lists the durations of a Config, so that checks and defaults do not forget one.
func (c *Config) durations() []duration {
	t := &c.Timeouts
	return []duration{
		{"Timeouts.Save", &t.Save, DefaultTimeout},
		{"Timeouts.Verify", &t.Verify, DefaultTimeout},
		{"Timeouts.Stop", &t.Stop, DefaultTimeout},
		{"Timeouts.Release", &t.Release, DefaultTimeout},
		{"Timeouts.Create", &t.Create, DefaultTimeout},
		{"Timeouts.Resume", &t.Resume, DefaultTimeout},
		{"Timeouts.Confirm", &t.Confirm, DefaultTimeout},
		{"Timeouts.Room", &t.Room, DefaultTimeout},
		{"Backoff", &c.Backoff, time.Second},
		{"MaxBackoff", &c.MaxBackoff, 30 * time.Second},
		{"MaxTick", &c.MaxTick, 10 * time.Second},
	}
}

// filled returns a copy with the defaults in place of zeros.
// The machine keeps this copy alone, so that no other place knows what zero means.
func (c Config) filled() Config {
	for _, d := range c.durations() {
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
	c.SaveLimit = cmp.Or(c.SaveLimit, DefaultSaveLimit)
	c.Retries = count(c.Retries, 2)
	c.Restarts = count(c.Restarts, 3)
	c.Keep = count(c.Keep, 2)
	return c
}

// count is n, or zero's meaning, or 0 where n is negative.
func count(n, zero int) int {
	if n == 0 {
		return zero
	}
	return max(n, 0)
}

// timeout is how long an effect may take.
// That of a Prune, for which no phase waits, is what whoever carries it out may take.
func (c *Config) timeout(action Action) time.Duration {
	t := &c.Timeouts
	switch action {
	case Save:
		return t.Save
	case Verify:
		return t.Verify
	case Stop:
		return t.Stop
	case Release:
		return t.Release
	case Create:
		return t.Create
	case Resume:
		return t.Resume
	default:
		return t.Confirm
	}
}

// Timeout returns how long an effect may take before the machine counts it as failed.
func (m *Machine) Timeout(action Action) time.Duration { return m.config.timeout(action) }

// pause is how long to wait after a number of failed tries, at least one.
func (c *Config) pause(tries int) time.Duration {
	// The pause doubles, and stops before it could overflow.
	pause := c.Backoff
	for range tries - 1 {
		if pause >= c.MaxBackoff/2 {
			return c.MaxBackoff
		}
		pause *= 2
	}
	return min(pause, c.MaxBackoff)
}
