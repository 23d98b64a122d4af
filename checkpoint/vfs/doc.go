// Package vfs is the disk as the journal and the file store of checkpoints see it: [FS] has the few
// operations that decide what a crash leaves behind, and [OS] is the real one.
//
// # Files as a whole
//
// [Write] replaces a file on any [FS], [WriteFile] one at a path of the operating system: they write a temporary file beside it, sync
// that, rename it and sync the directory. Whatever dies at any moment, the name stands for the old content or for the new one; when
// they have returned nil it is the new one, also after a crash of the machine. [Replace] and [ReplaceFile] leave the two syncs out,
// for what need not outlive the machine. [Rename] is the second half, for a file or a directory that is durable already. The
// temporary file is called as the file is, with ".new" behind; one that a crash has left is replaced by the next call. Writers of one
// file must exclude each other. The new file can be read by its owner only.
package vfs
