// Package vfs is the disk as the journal and the file store of checkpoints see it: [FS] has the few
// operations that decide what a crash leaves behind, and [OS] is the real one. Package vfstest has a
// model of it that can crash.
package vfs
