// Package files keeps the checkpoints of jobs in a directory of a file system.
//
// # What it does
//
// [Store] implements [store.Store]. A checkpoint is written into a directory of its own, a manifest with the checksums of
// all parts and of itself follows, files and directory are synced, the directory gets its number by one rename, and the
// directories above are synced. Small parts are in the file of the manifest; where all of them are, there is no directory, and
// that file gets the number as its name. Only then is anything older deleted. FORMAT.md describes what lies where, and what earlier versions have written, which is read as well.
//
// # Contract
//
// That of store.Store. On the durability of a file system it assumes what [vfs.FS] says. Beyond:
//
//   - A commit is one rename, or one link. Of several writers of one number, in whatever processes, exactly one wins;
//     the others learn whether what they wrote is the same.
//   - A fence is an empty directory that stays, and keeps that of its job.
//   - A writer that died leaves a file or a directory whose name tells when it began. [New], [Open] and
//     [Store.Collect] delete such when they are older than Options.Grace, but never those of
//     the store's own writers. A writer of another process that is slower than that finds its draft
//     gone: its Commit fails, and nothing of it is visible. So a clock that jumps can cost an attempt to
//     save, not a checkpoint.
//   - Nothing outside of the directory is read or written, whatever symbolic links lie in it: they are
//     never followed out of it, and deleted, not followed, where something is deleted. What they show
//     inside of it passes as a checkpoint only if it is the one that was committed.
//   - A writer has one or two files open from Begin to the end of Commit or Abort: one of them must be called.
//   - A checkpoint that is damaged stays, and is reported as such, until Delete is called or retention
//     reaches it. Files that the store did not make are left alone.
//   - A file on the same disk can become a part without a copy of its bytes, see [store.Taker]: by a reflink (XFS,
//     Btrfs), or by a second name if its owner has given it away. Then it must be a regular file of this user's, with one
//     name, and open for writing nowhere; a lease tells who opens it until the commit is done.
//   - The disk may be read-only: then Open, List and the readers work, and Begin fails.
//
// Names of parts never become names of files, so no file system restricts them. Names of jobs do: a file
// system that takes upper and lower case for the same cannot keep jobs apart that differ only in that;
// the second is refused, not mixed up with the first.
//
// # Cost
//
// A commit of small parts syncs one file and the directory of the job; the root is synced too, and has nothing new but
// for a job's first checkpoint. Where a part has its own file, the manifest and its directory are synced with the last such
// part, all at the same time, see [vfs.SyncAll]; each part before adds a sync. Of a part that is longer than 8 MiB the disk gets each 8 MiB while the rest is written,
// on Linux, and nothing waits for that before the one sync at the end. Parts of up to a MiB are short:
// a plain file that must not be lost needs two syncs as well, its own and that of the directory.
//
// What that comes to says -bench Commit, beside a plain file that is written and synced, and one that gets its name behind
// that. A part of 64 MiB or more is no slower than either. A part of a MiB cannot reach 95 percent of the first: a rename and
// the sync of its directory alone leave 88 percent, on ext4 and a disk that syncs in a millisecond, for they are a second
// commit of the journal. The store adds to that a copy of the MiB and its sums, a look for fences, a second name, and a sync of the root
// that finds nothing new and has the disk empty its cache all the same.
//
// CRC-32C sums cost a few percent; a digest, see [store.Form], costs more than the disk. List reads the
// manifests of a job with the small parts, Open one. Reading a part, or a range of one, computes its sums once more.
package files
