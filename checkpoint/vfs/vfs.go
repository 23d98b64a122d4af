// This file declares FS: the few operations on files that decide whether data outlives a crash.

package vfs

import "io"

// FS is a tree of directories and files. Names are relative to its root, with forward slashes; "." is
// the root. Errors match fs.ErrNotExist, fs.ErrExist and the like with errors.Is.
//
// What survives a crash of the machine: the bytes of a file that were written before a Sync of it
// returned nil, and the entries of a directory (files created, renamed, removed in it) as they were
// when a SyncDir of it returned nil. Of everything later, each part may survive or not, in any
// combination. A crash of the process alone loses nothing that was written.
type FS interface {
	// Create makes a new, empty file for writing; fs.ErrExist if the name is taken, also by a
	// directory or a link. Of several callers at the same time exactly one succeeds.
	Create(name string) (File, error)
	// Open opens a file for reading from its beginning. Behind its end there is nothing to read.
	Open(name string) (io.ReadSeekCloser, error)
	// Link gives a file a second name in one step; fs.ErrExist if that is taken, also by a directory or a link. Of
	// several callers at the same time exactly one succeeds. A file system that has no such names returns another
	// error, and does nothing.
	Link(from, to string) error
	// Rename moves a file or directory. A file replaces a file of the new name in one step; a
	// directory neither replaces anything nor is replaced.
	Rename(from, to string) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
	// Mkdir makes a directory; fs.ErrExist if the name is taken. The parent must exist.
	Mkdir(name string) error
	// List returns what a directory holds, ascending by name.
	List(dir string) ([]Entry, error)
	// SyncDir makes the entries of a directory durable, not those of directories below it.
	SyncDir(dir string) error
}

// File is a file open for writing, each write after the one before.
type File interface {
	io.Writer
	// Sync makes durable what was written. After an error it is unknown what of the bytes since the
	// last Sync is durable, and a further Sync does not tell: give the file up.
	Sync() error
	// Flush tells the system that it may begin to write what it holds, and waits for none of that: a Sync that follows
	// finds less to do. It makes nothing durable, and where a system knows no such thing it does nothing. What goes
	// wrong then is told by Sync.
	Flush()
	// Close closes the file; it does not make it durable.
	Close() error
}

// Entry is what a directory holds under one name.
type Entry struct {
	// Name is the last element of the path.
	Name string
	// Dir says that it is a directory, Regular that it is a file. A link is neither.
	Dir, Regular bool
	// Bytes is the length of a regular file.
	Bytes int64
}

// together is an FS that can make several things durable at the same time. A disk that is asked for one after the other has to
// empty its cache for each, and a file system to close its journal.
type together interface {
	// SyncTogether does what Sync of each file and SyncDir of each directory do, in any order or all at once, and returns
	// the errors of all.
	SyncTogether(dirs []string, files []File) error
}

// SyncAll makes files and the entries of directories durable: at the same time where the file system can, otherwise
// one after the other, the files first, until one fails. What of them is durable after an error is unknown.
func SyncAll(fsys FS, dirs []string, files ...File) error {
	if t, ok := fsys.(together); ok {
		return t.SyncTogether(dirs, files)
	}
	for _, f := range files {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	for _, dir := range dirs {
		if err := fsys.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}
