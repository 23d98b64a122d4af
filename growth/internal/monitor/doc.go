// Package monitor holds what FlowCon and SpeCon have in common: the set of jobs that a monitor
// watches, and the checks on their settings.
//
// # What it computes
//
// A [Roster] compares the jobs that a monitor is told of with those of the step before, [Zheng]
// Algorithm 2, and holds a state for each, sorted by id.
//
// # Contract
//
// A Roster changes only in Match and Remove; a Match that returns an error leaves its members as they
// were. Sums over members are taken in the order of their IDs, so they do not depend on the order of
// the input. Checks add to the faults that they are given, so a caller has all faults at once.
package monitor
