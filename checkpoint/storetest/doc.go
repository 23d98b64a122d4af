// Package storetest helps to test stores of checkpoints and what uses them.
//
// [Run] holds a [store.Store] to every sentence of its contract, [RunSharded] a [store.Sharded]. A store shows more of itself
// by the optional interfaces [Damager] and [Restarter]; what a store does not show is skipped by name. A store that holds
// whole parts in memory by its nature says so by a method InMemory().
//
// [MemStore] is a store in memory for tests of the protocol: it can crash, and its checkpoints can be damaged. [Faulty] puts
// itself before any store and makes the k-th call fail, with or without its effect. [Write] and [Read] make and read
// checkpoints of one part.
package storetest
