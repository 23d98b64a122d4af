// This file checks for how long an agent vouches for its runs, by a clock of its own.

package agent_test

import (
	"errors"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

func TestVouch(t *testing.T) {
	b := newBench(t)
	vouches := func(attempt int64, part float64, fenced bool) {
		t.Helper()
		left, err := b.agent.Vouch("lr", attempt)
		want := time.Duration(part * float64(b.config.Lease))
		if errors.Is(err, checkpoint.ErrFenced) != fenced || (err != nil) != fenced || left != want {
			t.Errorf("attempt %d: %v, %v; want %v", attempt, left, err, want)
		}
	}
	vouches(1, 0, true) // nobody has asked for it
	b.must(checkpoint.Create, 1, 0)
	vouches(1, 0, true) // it was not to be started yet
	b.must(checkpoint.Resume, 1, 0)
	vouches(1, 1, false)
	vouches(2, 0, true)
	b.elapse(0.75)
	vouches(1, 0.25, false)
	b.awaitHeard()
	b.restart() // the next agent vouches for no more than the one before
	vouches(1, 0.25, false)
	b.elapse(0.125) // not all of it, for the agent would end the attempt at any moment then
	vouches(1, 0.125, false)
	b.greet()
	b.must(checkpoint.Confirm, 1, 0) // which hands the newest stamp back
	vouches(1, 1, false)
	b.must(checkpoint.Stop, 1, 0)
	vouches(1, 0, true)
}
