// Package world plays whole clusters in virtual time. A seed is a run, byte for byte, on every machine.
//
// # What it computes
//
// The program cluster holds the library's own masters, drivers, agents, journals and stores, with a network, disks, clocks and trainers
// that are played. It is built for WASI, whose runtime has one thread and asks its host for the time and for random bits. This package is that
// host: its clock stands still while anything runs and moves when everybody sleeps, its time of day jumps by an hour now and then, and its
// random bits are drawn from the seed. So an hour of the cluster takes a second, the order of goroutines and the choices of select belong
// to the seed, and a fault that was seen once is seen again.
//
// # Contract
//
// What a run is judged by is the truth of the played machines, and not what any part of the library says: at most one attempt of a job
// runs at any moment, none begins before what was saved for good, no server is over-committed, a job that is called completed has done
// its work, and when no more faults come every job ends.
//
// A run that has found something is repeated by its seed alone, and Shrink leaves out the faults that it does not need.
//
// # Limits
//
// Goroutines change where they wait and nowhere else: a data race is for the race detector. Guards are played, since they are
// processes of the kernel; so are the cluster managers.
package world
