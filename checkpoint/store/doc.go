// Package store keeps checkpoints: the contract between the protocol and a store, what all stores have in common, and the
// transfers between a store and the disk of a job.
//
// # What it does
//
// [Store] begins, opens, lists and deletes the checkpoints of jobs; [Writer] writes one, [Reader] reads one, and [Manifest]
// says what it consists of. A store of one's own implements [Medium], which creates, commits and drops objects;
// [NewPortable] makes a Store of it. Packages files and blobstore have one for directories and one for buckets, and package
// storetest holds an implementation to every sentence of the contract.
//
// [Save] copies the files that a framework wrote into a store, [Verify] reads a stored checkpoint to its end and compares
// every checksum, [Load] writes one into a directory from which a framework resumes. Contents stream through buffers of
// 1 MiB, so a checkpoint may be larger than memory. Verify reads at most eight pieces of parts at the same time.
//
// # Checkpoints of several writers
//
// A job of a hundred servers has its state on all of them. [NewShards] puts before a store what lets each server write its
// own share at the same time as the others: [Shards.BeginShard], and then, once all have committed, [Shards.Join], which
// commits the one manifest. A reader of the checkpoint sees the parts of all shares as the parts of one, and opens only those
// shares of which it reads a part: with [Only] each server loads its own.
//
// Share i of checkpoint n of the job "lr" is a checkpoint itself: number n of the job "apportion-shard-i/lr". The checkpoint
// of the job "lr" that Join commits has one part, which lists the parts of every share with their lengths and sums. How many
// shares a job has ever had is the highest number of the job "apportion-shards/lr", an empty checkpoint that is committed
// before the first share: so none is overlooked by Fence, Delete and Prune. Names of jobs that begin like these are refused,
// and so is a part that is called like the list. A store that deletes by itself, as files with Options.Keep, counts shares
// like checkpoints: it must keep them all.
//
// # Contract
//
// A writer and each part of it are used by one goroutine at a time, and so is a part of a reader; the parts of a reader may
// be used at the same time. A writer that failed stays failed. After the context has ended every method but Abort and Close
// returns its error. Sums are CRC-32C, one for each chunk. Where [Form] asks for digests as well, these are SHA-256, and that
// of a large block is computed while the block is written, by a goroutine that ends before Write returns.
//
// Every error that wraps [ErrCorrupt] stands for bytes that were read and are not those that were committed. An object that
// could not be read for another reason keeps its error.
//
// Save, Verify and Load are safe to repeat: Save of the same files under the same number returns the manifest of the first
// time, Load replaces what an interrupted Load left. A directory that Load has filled is complete. They read and write inside
// the directory that they are given only, whatever the names in a manifest and the symbolic links in the directory say.
//
// # Names
//
// A job may be called as [CheckJob] allows, which is the rule of all packages for jobs, applications and
// servers. [FolderOf] turns the name into one element of a path, so that no name leads anywhere else and
// no two jobs meet. A part of a checkpoint is called as [CheckPart] allows: a relative path.
package store
