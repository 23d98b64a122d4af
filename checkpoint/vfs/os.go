// This file implements FS on a directory of the operating system.

package vfs

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
)

// Permissions of what is created: readable by its owner only, for checkpoints hold what a model has
// learnt.
const (
	filePerm = 0o600
	dirPerm  = 0o700
)

// OS is the directory dir of the operating system. It is an [os.Root]: no name and no symbolic link
// leads out of it, even while others move its directories. Close it when nothing uses it any more.
type OS struct{ root *os.Root }

// NewOS opens a directory, which must exist.
func NewOS(dir string) (*OS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &OS{root}, nil
}

// Close releases the directory. Files that are open stay so.
func (o *OS) Close() error { return o.root.Close() }

// Create implements FS.
func (o *OS) Create(name string) (File, error) {
	f, err := o.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// osFile is a file of the operating system open for writing. It implements File.
type osFile struct{ *os.File }

func (f osFile) Flush() { flush(f.File) }

// Open implements FS.
func (o *OS) Open(name string) (io.ReadSeekCloser, error) {
	f, err := o.root.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Link implements FS.
func (o *OS) Link(from, to string) error { return o.root.Link(from, to) }

// Rename implements FS.
func (o *OS) Rename(from, to string) error { return o.root.Rename(from, to) }

// Remove implements FS.
func (o *OS) Remove(name string) error { return o.root.Remove(name) }

// Mkdir implements FS.
func (o *OS) Mkdir(name string) error { return o.root.Mkdir(name, dirPerm) }

// List implements FS. What vanishes while it looks is left out.
func (o *OS) List(dir string) ([]Entry, error) {
	f, err := o.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	infos, err := f.Readdir(-1)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(infos))
	for i, info := range infos {
		entries[i] = Entry{Name: info.Name(), Dir: info.IsDir(), Regular: info.Mode().IsRegular(), Bytes: info.Size()}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}

// SyncDir implements FS.
func (o *OS) SyncDir(dir string) error {
	f, err := o.root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// SyncTogether syncs as [SyncAll] does, all at the same time. The goroutines end before it returns. On a journaling file system one commit of the
// journal, and one flush of the disk, serve all of them then, while the bytes of the files are on their way.
func (o *OS) SyncTogether(dirs []string, files []File) error {
	errs := make([]error, len(dirs)+len(files))
	var running sync.WaitGroup
	for i, f := range files {
		running.Go(func() { errs[i] = f.Sync() })
	}
	for i, dir := range dirs {
		running.Go(func() { errs[len(files)+i] = o.SyncDir(dir) })
	}
	running.Wait()
	return errors.Join(errs...)
}
