// This file runs the suite. Each check gets an agent of its own, so that none depends on what another has left.

package agenttest

import (
	"context"
	"testing"
	"time"
)

// limit is how long each check may take. A check of real processes takes seconds.
const limit = time.Minute

// Run holds agents to the promises of [checkpoint.Effect], each as a subtest of t. open returns a new agent
// with an empty memory for every check, and may use t.Cleanup. A check that fails says which step of it, what was seen and
// what was wanted, and none of the steps behind that were done.
func Run(t *testing.T, open func(t *testing.T) *Subject) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			// The limit is one of the context: an agent that hangs and does not listen to it hangs the test, and
			// the limit of go test ends that, with a dump of where it hangs.
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			s := open(t)
			// A check that is left out is shown as skipped, so that nobody takes it for one that was
			// passed.
			if missing := c.missing(s); missing != "" {
				t.Skipf("the Subject has no %s", missing)
			}
			if err := c.try(ctx, s); err != nil {
				t.Error(err)
			}
		})
	}
}
