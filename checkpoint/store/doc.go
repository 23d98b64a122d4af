// Package store declares where checkpoints are kept: the contract between the protocol and a store.
//
// # What it declares
//
// [Store] begins, opens, lists and deletes the checkpoints of jobs; [Writer] writes one, [Reader] reads
// one, and [Manifest] says what it consists of. Packages filestore and blobstore implement it, package
// storetest holds an implementation to every sentence of the contract, and package medium has what
// implementations share.
package store
