// Package storetest helps to test stores of checkpoints and what uses them.
//
// # What it does
//
// [Run] holds a [store.Store] to every sentence of its contract. A store that can do more, or
// that the test can look into, shows that by the optional interfaces [Damager], [Restarter] and
// [InMemory]; what a store does not show is skipped by name.
//
// [MemStore] is a store in memory for tests of the protocol: it can crash, and its checkpoints can be
// damaged. [Faulty] puts itself before any store and makes the k-th call fail, with or without its effect.
// [Write] and [Read] are for further tests of a store, whose checkpoints have one part.
//
// # Contract
//
// Run wants a store without checkpoints for each of its tests and closes nothing. It starts
// goroutines and ends them, and uses up to about 70 MiB on the store's medium, 9 MiB with -short.
package storetest
