// This file searches the protocol, and without each of its rules, when it must be found that the job runs twice.

package model

import "testing"

func TestNeverTwice(t *testing.T) {
	c := Config{Lease: 2, Grace: 2, Attempts: 2}
	states, twice := c.Search()
	if twice != nil || states < 10_000 {
		t.Errorf("%d states: %q", states, twice)
	}
	t.Logf("%d states", states)
	for _, rule := range []string{"stamp", "mark", "over"} {
		c := c
		c.Without = rule
		_, twice := c.Search()
		if twice == nil {
			t.Errorf("without the rule %q the job never runs twice", rule)
		}
		t.Logf("without %q: %q", rule, twice)
	}
	// A grace that is shorter than the lease is another such.
	c.Grace = 0
	if _, twice := c.Search(); twice == nil {
		t.Error("with a grace that is shorter than the lease the job never runs twice")
	}
}
