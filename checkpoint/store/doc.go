// Package store declares where checkpoints are kept: the contract between the protocol and a store.
//
// # What it declares
//
// [Store] begins, opens, lists and deletes the checkpoints of jobs; [Writer] writes one, [Reader] reads
// one, and [Manifest] says what it consists of. Packages filestore and blobstore implement it, package
// storetest holds an implementation to every sentence of the contract, and package medium has what
// implementations share.
//
// # Names
//
// A job may be called as [CheckJob] allows, which is the rule of all packages for jobs, applications and
// servers. [FolderOf] turns the name into one element of a path, so that no name leads anywhere else and
// no two jobs meet. A part of a checkpoint is called as [CheckPart] allows: a relative path.
package store
