// Package journal keeps the records of a [checkpoint.Machine] on a disk, so that a master that dies is
// followed by one that knows all that it knew.
//
// # What it does
//
// [Open] reads the records in a directory and recovers the machine that they tell of; if that went well it claims the
// journal, reads and recovers once more and begins a new file with the snapshot. [Journal.Append] makes a record durable
// before anything is done of it. [Journal.Compact] replaces a long journal by a snapshot. FORMAT.md
// describes every byte.
//
// # Contract
//
// When Append has returned nil, every master that opens the journal later reads the record. A master
// that has been replaced gets [checkpoint.ErrFenced] from its next Append or Compact, before it can act
// on a record that its successor may not have seen. So the number of the journal file is the epoch of
// its master, and epochs ascend.
//
// Bytes that were damaged after they were durable are an error, with the offset; nothing is dropped
// silently but the record that a crash cut short, which nobody has acted on. A journal that has lost its end later looks
// the same: the servers notice, see [checkpoint.Witness].
//
// A journal keeps some room, so that a disk that fills up takes some more records and a compaction. What is not
// finished leaves no file behind.
//
// A journal belongs to one goroutine and uses a disk through [vfs.FS]. All masters that may open it must
// see each other's files at once: a local file system, not one that caches directories.
package journal
