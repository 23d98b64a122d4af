// Package medium is what stores of checkpoints have in common, whatever they keep them on: the form of
// a manifest, the order in which a writer may be used, the names of what is not committed yet, and
// parts whose sums are computed while they are written and compared while they are read.
//
// # What it does
//
// A store brings a [Medium], which creates, commits and drops objects; [NewWriter] makes a
// [store.Writer] of it. It brings a function that opens an object; [NewReader] makes a
// [store.Reader] of that. [Encode] and [Decode] turn a [Record], a manifest and the place of its
// parts, with the contents of small parts into bytes that know whether they are damaged.
//
// # Contract
//
// A writer and each part of it are used by one goroutine at a time, and so is a part of a reader; the
// parts of a reader may be used at the same time. A writer that failed stays failed: nothing of it is
// committed afterwards. After the context has ended every method but Abort and Close returns its error.
// Sums are CRC-32C, one for each chunk. Where [Form] asks for digests as well, these are SHA-256, and that of a large
// block is computed while the block is written, by a goroutine that ends before Write returns.
//
// What is said to be damaged is damaged: every error that wraps [store.ErrCorrupt] stands for
// bytes that were read and are not those that were committed. An object that could not be read for
// another reason keeps its error.
package medium
