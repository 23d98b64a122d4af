// This file implements opening what a job may have put anything in the place of.

// Package regular opens files that another program may swap at any moment, for a pipe that nobody writes to or for a
// device, without waiting for it: open(2) of a pipe would wait for the other end, and hold up whoever has called.
//
// # Contract
//
// A file is opened without blocking, and looked at after that: what was opened is what is looked at, so there is no
// moment in between in which it could be swapped. What is no regular file is closed again and refused.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrIrregular: there is something of that name, and it is no regular file.
var ErrIrregular = errors.New("not a regular file")

// Open opens a regular file for reading, and follows no link in the place of the file itself.
func Open(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|nonblock|nofollow, 0)
	// What the system says of a link differs from one to the other.
	if info, linkErr := os.Lstat(name); err != nil && linkErr == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, ErrIrregular)
	}
	return check(file, err)
}

// Read reads at most limit bytes of a regular file, and follows no link in the place of the file itself. What is longer
// is cut.
func Read(name string, limit int64) ([]byte, error) {
	file, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit))
}

// OpenIn opens a regular file below a root for reading. Links are followed as far as they stay below.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return check(root.OpenFile(name, os.O_RDONLY|nonblock, 0))
}

// check closes what was opened and is no regular file.
func check(file *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", file.Name(), ErrIrregular)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// FS is what lies below a root, for those who read an [fs.FS]: regular files can be opened, directories listed, and
// everything looked at.
func FS(root *os.Root) fs.FS { return tree{root} }

type tree struct{ root *os.Root }

var (
	_ fs.StatFS    = tree{}
	_ fs.ReadDirFS = tree{}
)

func (t tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := t.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	// A directory is opened to be listed, which waits for nobody.
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return file, nil
	}
	// A nil *os.File must not become an fs.File that is not nil.
	if file, err = check(file, nil); err != nil {
		return nil, err
	}
	return file, nil
}

// Stat implements fs.StatFS: it looks without opening.
func (t tree) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return t.root.Stat(filepath.FromSlash(name))
}

func (t tree) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(t.root.FS(), name)
}
