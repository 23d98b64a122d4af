// Package lease has guards claim their runs by Leases of Kubernetes (coordination.k8s.io/v1), and a desk answer them there: for clusters
// in which a pod reaches the API server and nothing else.
//
// # Who writes what
//
// Each guard has a Lease of its own, named by [Name]. Both sides write into it, each its own fields, and always against the version
// that they have read, so that of two writes at the same moment one is made again.
//
//	field                  written by   holds
//	spec.holderIdentity    the guard    its server and its life: a second guard of the run is not that one
//	spec.renewTime         the guard    when it claimed, for people: nobody compares clocks of two machines
//	annotation claim       the guard    guard.Claim, with the guard's own clock
//	spec.leaseDuration...  the desk     the length of the lease in seconds, rounded up, for people
//	annotation grant       the desk     guard.Grant, with the clock of the claim that it answers
//
// # Contract
//
// An answer hands the clock of its claim back and the lease counts from there, so it does not matter how late either side sees what
// the other wrote, how slow the API server is, or what the time of day does: see package guard. That the API server keeps the Lease
// vouches for nothing; the desk does. While either of them is away nothing is renewed, and runs end when their leases do.
//
// A Lease that is deleted fences its run off: a guard that has claimed by it and does not find it any more ends the run, and a pod whose
// Lease names it as its owner takes it away with itself. Whoever may delete Leases can so end a run by hand. The desk is not told by
// that, and takes the run for ended when its lease is over.
//
// A guard needs the verbs get, create and update on leases in one namespace, a desk list, watch and update; rbac.yaml has both.
//
// # Limits
//
// Whoever may write a Lease can answer in the desk's place. A trainer in the guard's container can use the token of its service account,
// unless it runs as a user of its own (apportion-guard's -user) who cannot read it.
//
// A claim costs the API server a read and a write, and its answer a write: a hundred guards that claim every five seconds make 60 calls
// a second. The flag -every of a guard says how often; it is also how late a save or a fence is heard of.
package lease
