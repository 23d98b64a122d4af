// This file implements faults: an FS whose operations fail when a test wants them to.

package vfstest

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// ErrInjected is what an operation fails with because a test wants it to.
var ErrInjected = errors.New("vfstest: injected fault")

// Op is one of the operations of FS and File.
type Op string

// The operations. Open stands for opening and reading, which are one operation.
const (
	// Those that change or read names.
	Create  Op = "create"
	Open    Op = "open"
	Link    Op = "link"
	Rename  Op = "rename"
	Remove  Op = "remove"
	Mkdir   Op = "mkdir"
	Clone   Op = "clone"
	Adopt   Op = "adopt"
	List    Op = "list"
	SyncDir Op = "syncdir"
	Write   Op = "write"
	// Write, Sync and Close are those of a file, which the hook knows by the name that it was created
	// under.
	Sync  Op = "sync"
	Close Op = "close"
)

// Hook is asked before each operation on a name. If it returns an error the operation fails with that
// and does nothing, but a Write writes the first half, and a Close closes.
type Hook func(op Op, name string) error

// FailAt returns a hook that lets the k-th operation fail, the first being 1. Use it from one
// goroutine.
func FailAt(k int, err error) Hook {
	return func(Op, string) error {
		k--
		if k == 0 {
			return err
		}
		return nil
	}
}

// Hooked returns fsys with a hook on each operation. It can log them, count them, or let them fail.
func Hooked(fsys vfs.FS, hook Hook) vfs.FS { return &hooked{fsys, hook} }

// hooked asks a hook before each operation on a file system.
type hooked struct {
	fsys vfs.FS
	hook Hook
}

// Create implements vfs.FS. The writes to the file go through the hook as well.
func (h *hooked) Create(name string) (vfs.File, error) {
	file, err := result(h, Create, name, func() (vfs.File, error) { return h.fsys.Create(name) })
	if err != nil {
		return nil, err
	}
	return &hookedFile{file, name, h.hook}, nil
}

func (h *hooked) Open(name string) (io.ReadSeekCloser, error) {
	return result(h, Open, name, func() (io.ReadSeekCloser, error) { return h.fsys.Open(name) })
}

// Clone implements vfs.Sharer, also where the file system behind does not. The hook is asked with the new name.
func (h *hooked) Clone(from *os.File, name string) (vfs.File, error) {
	return h.share(Clone, name, func(s vfs.Sharer) (vfs.File, error) { return s.Clone(from, name) })
}

// Adopt implements vfs.Sharer, as Clone.
func (h *hooked) Adopt(from *os.File, name string) (vfs.File, error) {
	return h.share(Adopt, name, func(s vfs.Sharer) (vfs.File, error) { return s.Adopt(from, name) })
}

// share is Clone or Adopt. A hook that refuses has the file copied, as Sharer says.
func (h *hooked) share(op Op, name string, do func(vfs.Sharer) (vfs.File, error)) (vfs.File, error) {
	sharer, ok := h.fsys.(vfs.Sharer)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	if err := h.hook(op, name); err != nil {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	file, err := do(sharer)
	if err != nil {
		return nil, err
	}
	return &hookedFile{file, name, h.hook}, nil
}

// result does an operation unless the hook refuses it.
func result[T any](h *hooked, op Op, name string, do func() (T, error)) (none T, err error) {
	if err := h.hook(op, name); err != nil {
		return none, err
	}
	return do()
}

// ask is result of an operation that has no other than its error.
func (h *hooked) ask(op Op, name string, do func() error) error {
	_, err := result(h, op, name, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// Link implements vfs.FS. The hook is asked with the name that is there.
func (h *hooked) Link(from, to string) error {
	return h.ask(Link, from, func() error { return h.fsys.Link(from, to) })
}

// Rename implements vfs.FS. The hook is asked with the old name.
func (h *hooked) Rename(from, to string) error {
	return h.ask(Rename, from, func() error { return h.fsys.Rename(from, to) })
}

func (h *hooked) Remove(name string) error {
	return h.ask(Remove, name, func() error { return h.fsys.Remove(name) })
}

func (h *hooked) Mkdir(name string) error {
	return h.ask(Mkdir, name, func() error { return h.fsys.Mkdir(name) })
}

func (h *hooked) List(dir string) ([]vfs.Entry, error) {
	return result(h, List, dir, func() ([]vfs.Entry, error) { return h.fsys.List(dir) })
}

func (h *hooked) SyncDir(dir string) error {
	return h.ask(SyncDir, dir, func() error { return h.fsys.SyncDir(dir) })
}

// hookedFile asks a hook before each operation on a file.
type hookedFile struct {
	file vfs.File
	// name is that of Create, also after the file was renamed.
	name string
	hook Hook
}

// Write implements vfs.File. A write that fails has written half of its bytes, as a full disk would.
func (f *hookedFile) Write(p []byte) (int, error) {
	if err := f.hook(Write, f.name); err != nil {
		n, _ := f.file.Write(p[:len(p)/2]) // the fault is err
		return n, err
	}
	return f.file.Write(p)
}

// Sync implements vfs.File. One that fails has synced nothing.
func (f *hookedFile) Sync() error {
	if err := f.hook(Sync, f.name); err != nil {
		return err
	}
	return f.file.Sync()
}

// Flush implements vfs.File. The hook is not asked: whether it happens or not, nothing else may follow from it.
func (f *hookedFile) Flush() { f.file.Flush() }

// Close implements vfs.File. It closes the file even where it fails.
func (f *hookedFile) Close() error { return errors.Join(f.hook(Close, f.name), f.file.Close()) }
