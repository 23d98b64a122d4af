// Package managedtest has a cluster manager in memory, for tests of what stands on package managed, and of schedulers on that.
//
// # What it computes
//
// [Cluster] implements managed.Manager. It starts a [Container] for every rank of a run, and each has a guard, which claims at
// the desk of the master of the day, and a trainer, which runs while its guard has a lease and writes a checkpoint when it
// is asked for one. Trainers make no progress by themselves: a test ends them, or makes them mute or deaf.
//
// # Contract
//
// Nothing happens between two calls of Step, so that a test with a clock of its own plays every order of events. Real guards
// kill by themselves when a lease is over; here that is seen at the next Step, before anything is claimed.
//
// # Limits
//
// Containers that have ended are kept for ever, since tests count them: a Step takes O(containers that ever were).
package managedtest
