// This file implements Sharer on a Mem: files from outside of it, of which a crash leaves what it leaves of every file.

package vfstest

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apportion/apportion/checkpoint/vfs"
)

var _ vfs.Sharer = (*Mem)(nil)

// Clone implements vfs.Sharer. Until a Sync a crash may take the bytes, whatever has become of those of the other file.
func (m *Mem) Clone(from *os.File, name string) (vfs.File, error) {
	info, err := from.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	data := make([]byte, info.Size())
	if _, err := from.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	n := &node{data: data}
	if err := m.add("clone", name, n); err != nil {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return &memFile{m: m, n: n}, nil
}

// Adopt implements vfs.Sharer. The two have nothing in common here, so that nobody can touch what was adopted; a hook on
// Sync can say that somebody did.
func (m *Mem) Adopt(from *os.File, name string) (vfs.File, error) {
	file, err := m.Clone(from, name)
	if err != nil {
		return nil, err
	}
	return adopted{file}, nil
}

// adopted is a file that is not written.
type adopted struct{ vfs.File }

func (adopted) Write([]byte) (int, error) { return 0, os.ErrPermission }
