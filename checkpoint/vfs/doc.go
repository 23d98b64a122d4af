// Package vfs is the disk as the journal and the file store of checkpoints see it: the few operations
// that decide what a crash leaves behind. [OS] is the real one, [Mem] a model of it that can crash and
// forgets what was not synced, and [Hooked] either of them with operations that fail on demand.
package vfs
