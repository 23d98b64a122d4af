// Package invariant holds the switch for checks that cost too much for every call: with the build
// tag "invariants" a state machine compares itself with a recount from scratch after each step,
// and without it the compiler removes the check. Checks on the caller's input are no invariants:
// they are always on and return an error.
//
// # Contract
//
// A failed check is our own bug, never the caller's, so it panics.
package invariant
