// This file implements write and rename: a file that is there as a whole or not at all.

package vfs

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
)

// ending is what the name of a temporary file ends with.
const ending = ".new"

// Write replaces a file with data, durably. It costs two syncs.
func Write(fsys FS, name string, data []byte) error {
	if err := replace(fsys, name, data, File.Sync); err != nil {
		return err
	}
	return fsys.SyncDir(path.Dir(name))
}

// WriteFile is Write at a path of the operating system, whose directory must exist.
func WriteFile(name string, data []byte) error {
	return within(name, func(disk FS, base string) error { return Write(disk, base, data) })
}

// Replace is Write without syncs: the death of a process finds the old content or the new one, a crash
// of the machine may find neither.
func Replace(fsys FS, name string, data []byte) error {
	return replace(fsys, name, data, func(File) error { return nil })
}

// ReplaceFile is Replace at a path of the operating system, whose directory must exist.
func ReplaceFile(name string, data []byte) error {
	return within(name, func(disk FS, base string) error { return Replace(disk, base, data) })
}

// Rename gives a file or directory, whose content is durable already, its name, and makes that
// durable. Both names must lie in one directory.
func Rename(fsys FS, from, to string) error {
	if err := fsys.Rename(from, to); err != nil {
		return err
	}
	return fsys.SyncDir(path.Dir(to))
}

// SyncFolder makes the entries of a directory durable, at a path of the operating system: what was made, renamed and removed
// in it.
func SyncFolder(name string) error {
	disk, err := NewOS(name)
	if err != nil {
		return err
	}
	return errors.Join(disk.SyncDir("."), disk.Close())
}

// within calls use with the directory of a path, as a file system, and the last element of the path.
func within(name string, use func(disk FS, base string) error) error {
	disk, err := NewOS(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(use(disk, filepath.Base(name)), disk.Close())
}

// replace writes a temporary file, in place of one that a crash may have left, lets sync make it
// durable and renames it. Where that fails nothing is left of it, as far as the disk lets it.
func replace(fsys FS, name string, data []byte, sync func(File) error) error {
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
