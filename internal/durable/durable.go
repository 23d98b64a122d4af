// This file implements write and rename: a file that is there as a whole or not at all.

// Package durable replaces files so that nobody ever finds half of one, whoever is killed and whatever
// crashes meanwhile. Every place of this project that writes a file and renames it does it here.
//
// # What it does
//
// [Write] replaces a file on any [vfs.FS], [WriteFile] one at a path of the operating system. Both write
// a temporary file beside it, sync that, rename it and sync the directory. [Replace] and [ReplaceFile]
// leave the two syncs out, for what need not outlive the machine. [Rename] is the second half for those who fill
// their file, or their directory, themselves.
//
// # Contract
//
// Whatever dies at any moment, the name stands for the old content or for the new one. When Write,
// WriteFile or Rename has returned nil, it is the new one, also after a crash of the machine; after an
// error it may be either. Replace and ReplaceFile promise both for a crash of the process alone: after a crash of
// the machine the content may be anything.
//
// The temporary file is called as the file is, with ".new" behind. One that a crash has left is
// replaced by the next call. Writers of one file must exclude each other.
//
// The new file can be read by its owner only.
package durable

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// ending is what the name of a temporary file ends with.
const ending = ".new"

// Write replaces a file with data, durably. It costs two syncs.
func Write(fsys vfs.FS, name string, data []byte) error {
	if err := replace(fsys, name, data, vfs.File.Sync); err != nil {
		return err
	}
	return fsys.SyncDir(path.Dir(name))
}

// WriteFile is Write at a path of the operating system, whose directory must exist.
func WriteFile(name string, data []byte) error {
	return within(name, func(disk vfs.FS, base string) error { return Write(disk, base, data) })
}

// Replace is Write without syncs: the death of a process finds the old content or the new one, a crash
// of the machine may find neither.
func Replace(fsys vfs.FS, name string, data []byte) error {
	return replace(fsys, name, data, func(vfs.File) error { return nil })
}

// ReplaceFile is Replace at a path of the operating system, whose directory must exist.
func ReplaceFile(name string, data []byte) error {
	return within(name, func(disk vfs.FS, base string) error { return Replace(disk, base, data) })
}

// Rename gives a file or directory, whose content is durable already, its name, and makes that
// durable. Both names must lie in one directory.
func Rename(fsys vfs.FS, from, to string) error {
	if err := fsys.Rename(from, to); err != nil {
		return err
	}
	return fsys.SyncDir(path.Dir(to))
}

// SyncFolder makes the entries of a directory durable, at a path of the operating system: what was made, renamed and removed
// in it.
func SyncFolder(name string) error {
	disk, err := vfs.NewOS(name)
	if err != nil {
		return err
	}
	return errors.Join(disk.SyncDir("."), disk.Close())
}

// within calls use with the directory of a path, as a file system, and the last element of the path.
func within(name string, use func(disk vfs.FS, base string) error) error {
	disk, err := vfs.NewOS(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(use(disk, filepath.Base(name)), disk.Close())
}

// replace writes a temporary file, in place of one that a crash may have left, lets sync make it
// durable and renames it. Where that fails nothing is left of it, as far as the disk lets it.
func replace(fsys vfs.FS, name string, data []byte, sync func(vfs.File) error) error {
	temporary := name + ending
	if err := fsys.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := fsys.Create(temporary)
	if err != nil {
		return err
	}
	if _, err = file.Write(data); err == nil {
		err = sync(file)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = fsys.Rename(temporary, name)
	}
	if err != nil {
		_ = fsys.Remove(temporary) // the error before is what matters
	}
	return err
}
