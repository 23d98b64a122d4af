// Package shards lets several writers write one checkpoint, each a share, into any store.
//
// # What it does
//
// A job of a hundred servers has its state on all of them. [New] puts before a store what lets each server write its own share
// at the same time as the others: [Store.BeginShard], and then, once all have committed, [Store.Join], which commits the
// one manifest. Who reads the checkpoint sees the parts of all shares as the parts of one, and opens only those shares of which
// it reads a part: with transfer.Only each server loads its own. Nobody ever reads all.
//
// # How it is kept
//
// Share i of checkpoint n of the job "lr" is a checkpoint itself: number n of the job "apportion-shard-i/lr". The checkpoint
// of the job "lr" that Join commits has one part, which lists the parts of every share with their lengths and sums. So
// everything that a store promises holds for shares as well, and nothing was added to any store. How many shares a
// job has ever had is the highest number of the job "apportion-shards/lr", an empty checkpoint that is committed before the
// first share: so none is overlooked by Fence, Delete and Prune.
//
// # Contract
//
// A checkpoint is there from Join's commit on, which is one commit of the store behind. A share that is not what Join has
// listed, or is gone, is an error that wraps store.ErrCorrupt where it is read. Delete removes the manifest first, and the
// shares after it; what it leaves when it dies in between, Prune takes. Names of jobs that begin like those above are
// refused, and so is a part that is called like the list.
//
// A store that deletes by itself, as filestore with Options.Keep, counts shares like checkpoints: it must keep them all.
package shards
