// Package world plays whole clusters in virtual time. A seed is a run, byte for byte, on every machine.
//
// # What it computes
//
// The program cluster holds the library's own masters, drivers, agents, guards, journals and stores, with a network, disks, clocks and trainers
// that are played. It runs in a bubble of internal/synctest, whose clock stands still while anything runs and moves when everybody
// sleeps, and it is built with some lines of Go's own library changed, see overlay.go: nobody is preempted, a stopped process may sleep
// with a lock, and what select, maps and crypto/rand draw comes from the seed. The time of day jumps by an hour now and then. So an hour
// of the cluster takes seconds, the order of goroutines belongs to the seed, and a fault that was seen once is seen again.
//
// # Why not elsewhere
//
// The same program built for WASI, below a runtime with one thread and a clock of ours, is a run for each seed too, and took eight times
// the processor time. Bubbles alone are as fast as this and no run twice the same.
//
// # Contract
//
// What a run is judged by is the truth of the played machines, and not what any part of the library says: at most one attempt of a job
// runs at any moment, none outlives its lease, or its guard, none begins before what was saved for good, no server is over-committed, a job that is called completed has done
// its work, and when no more faults come every job ends.
//
// Orders are judged by the rules of checkpoint/RUN.tla as they arrive; package model searches all states of that specification. With the flag
// -steps a run tells of each job what has happened to it as steps of RUN, until records are lost, and TLC says whether that is a behaviour of
// RUN: for some seeds in a test, for all of "make world" with ARGS=-tlc.
//
// A run that has found something is repeated by its seed alone, as long as neither the library nor the world is changed, and Shrink leaves
// out the faults that it does not need. The program planted says what finds a bug: a seed, or a test.
//
// # Limits
//
// Goroutines change where they wait and nowhere else: a data race is for the race detector. Of guards and keepers the kernel is played: what
// is killed with whom, timers that go off while a process is stopped, signals, pipes; how they start processes and find what these have
// forked, and control groups, are for tests with real processes. So are trainers' output, saves that are asked for by a desk, and cluster managers.
package world
