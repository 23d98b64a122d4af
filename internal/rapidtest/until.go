// This file implements Until and Runs: a random test that must meet something draws until it has met it, or more often.

// Package rapidtest runs random tests whose claim is empty unless they meet a case of some sort.
package rapidtest

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// patience is how often Until runs a test: what half of all runs meet is missed once in a million tests.
const patience = 20

// Until runs rapid.Check until met, with another seed each time, and fails if what is still missing after 20 runs. A test that
// asks this of a single run fails by chance.
func Until(t *testing.T, what string, met func() bool, prop func(*rapid.T)) {
	t.Helper()
	if !run(t, patience, met, prop) {
		t.Errorf("after %d runs with other seeds: %s", patience, what)
	}
}

// Runs runs rapid.Check n times, with another seed each time, or until a run fails.
func Runs(t *testing.T, n uint64, prop func(*rapid.T)) {
	t.Helper()
	run(t, n, func() bool { return false }, prop)
}

// run runs rapid.Check up to n times, and reports whether it has ended before, by met or by a failure. A seed that was given, by RAPID_SEED
// too, draws the same in each run of Check, so that each run has a seed of its own.
func run(t *testing.T, n uint64, met func() bool, prop func(*rapid.T)) bool {
	t.Helper()
	seed := flag.Lookup("rapid.seed").Value
	given, err := strconv.ParseUint(seed.String(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = seed.Set(strconv.FormatUint(given, 10)) }() // it was read from there
	for i := range n {
		if given != 0 {
			_ = seed.Set(strconv.FormatUint(given+i, 10)) // digits are always taken
		}
		if rapid.Check(t, prop); met() || t.Failed() {
			return true
		}
	}
	return false
}
