// This file turns the checks on.

//go:build invariants

package invariant

// Enabled tells whether this build checks its invariants. It is a constant, so that what stands
// under "if invariant.Enabled" costs nothing where it is false.
const Enabled = true
