// This file implements Mem: a file system in memory that can crash.

package vfstest

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// Mem is an FS in memory, for tests. It is as forgetful as FS allows: see Crash. It is safe for
// concurrent use.
type Mem struct {
	mu sync.Mutex
	// root is the directory ".", which is always there.
	root *node
}

var _ vfs.FS = (*Mem)(nil)

// node is a file or a directory.
type node struct {
	// entries are those of a directory now, durable those that survive a crash; nil for a file.
	// Both maps may point to the same node: a name is an entry, and a file that was moved has two of them
	// until both directories are synced.
	entries, durable map[string]*node
	// data is the content of a file, of which the first synced bytes survive a crash.
	data   []byte
	synced int
}

func newDir() *node { return &node{entries: make(map[string]*node), durable: make(map[string]*node)} }

func (n *node) isDir() bool { return n.entries != nil }

// NewMem returns an empty file system.
func NewMem() *Mem { return &Mem{root: newDir()} }

// Crash returns what a crash of the machine leaves of the file system at this moment; m itself goes on
// as if nothing had happened. Each entry of a directory that was changed and not synced is as before
// or as after, and of the bytes of a file that were not synced none, some or all are there, or zeros
// in their place. rng decides; nil: everything that was not synced is lost.
func (m *Mem) Crash(rng *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := crash{rng: rng, survivors: make(map[*node]*node)}
	return &Mem{root: c.node(m.root)}
}

// crash copies what survives. A file that was moved may survive under both names.
type crash struct {
	rng *rand.Rand
	// survivors has for each node its copy.
	survivors map[*node]*node
}

// flip decides at random; without a random source always for the worst.
func (c *crash) flip() bool { return c.rng != nil && c.rng.IntN(2) == 0 }

// node returns what survives of a file or directory. One that has two names is copied once.
func (c *crash) node(n *node) *node {
	if survivor, ok := c.survivors[n]; ok {
		return survivor
	}
	survivor := &node{}
	c.survivors[n] = survivor
	if !n.isDir() {
		survivor.data = c.content(n)
		survivor.synced = len(survivor.data)
		return survivor
	}
	*survivor = *newDir()
	// All names that were there before or after are walked in order, so that the draws from rng do not
	// depend on the order of a map and a seed gives the same disk.
	names := slices.Collect(maps.Keys(n.durable))
	names = slices.AppendSeq(names, maps.Keys(n.entries))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		// nil stands for no entry: it is one of the two outcomes of a creation, and of a removal.
		kept := n.durable[name]
		// The entry was changed and not synced: the disk may have either.
		if kept != n.entries[name] && c.flip() {
			kept = n.entries[name]
		}
		if kept != nil {
			survivor.entries[name] = c.node(kept)
		}
	}
	survivor.durable = maps.Clone(survivor.entries)
	return survivor
}

func (c *crash) content(n *node) []byte {
	data, loose := bytes.Clone(n.data[:n.synced]), n.data[n.synced:]
	// None of the bytes have arrived, or the first of them.
	if len(loose) == 0 || c.flip() || c.rng == nil {
		return data
	}
	// The disk writes in order here, so what arrived is a prefix. Bytes that arrive in another order look
	// like the zeros below to a reader with a checksum.
	arrived := c.rng.IntN(len(loose) + 1)
	data = append(data, loose[:arrived]...)
	if c.flip() { // the length was written, the rest of the bytes was not
		data = append(data, make([]byte, len(loose)-arrived)...)
	}
	return data
}

// find returns the node of a name, or an error for op.
// The caller holds the lock. O(depth of the name).
func (m *Mem) find(op, name string) (*node, error) {
	n := m.root
	if name == "." {
		return n, nil
	}
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	// A file has nil entries, so a path through one finds nothing: ErrNotExist, where a system may say that
	// it is no directory.
	for element := range strings.SplitSeq(name, "/") {
		next := n.entries[element]
		if next == nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		n = next
	}
	return n, nil
}

// parent returns the directory of a name, and its last element.
func (m *Mem) parent(op, name string) (*node, string, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	dir, err := m.find(op, path.Dir(name))
	if err == nil && !dir.isDir() {
		err = &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return dir, path.Base(name), err
}

func (m *Mem) add(op, name string, n *node) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent(op, name)
	if err == nil && dir.entries[base] != nil {
		err = &fs.PathError{Op: op, Path: name, Err: fs.ErrExist}
	}
	if err != nil {
		return err
	}
	dir.entries[base] = n
	return nil
}

// Create implements FS.
func (m *Mem) Create(name string) (vfs.File, error) {
	n := &node{}
	if err := m.add("create", name, n); err != nil {
		return nil, err
	}
	return &memFile{m: m, n: n}, nil
}

// Mkdir implements FS.
func (m *Mem) Mkdir(name string) error { return m.add("mkdir", name, newDir()) }

// Open implements FS. What is written after it is not read.
func (m *Mem) Open(name string) (io.ReadSeekCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("open", name)
	if err == nil && n.isDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return memReader{bytes.NewReader(bytes.Clone(n.data))}, nil
}

// memReader reads what a file held when it was opened.
type memReader struct{ *bytes.Reader }

func (memReader) Close() error { return nil }

// Link implements FS. Both names lead to one node, of which a crash leaves each, neither or both.
func (m *Mem) Link(from, to string) error {
	m.mu.Lock()
	n, err := m.find("link", from)
	m.mu.Unlock()
	if err == nil && n.isDir() {
		err = &fs.PathError{Op: "link", Path: from, Err: fs.ErrInvalid}
	}
	if err != nil {
		return err
	}
	// Between the two steps the old name may go: the file is linked all the same, as one that was open is.
	return m.add("link", to, n)
}

// Rename implements FS.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	fromDir, fromBase, err := m.parent("rename", from)
	if err == nil && fromDir.entries[fromBase] == nil {
		err = &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	toDir, toBase, err := m.parent("rename", to)
	if err != nil {
		return err
	}
	moved, replaced := fromDir.entries[fromBase], toDir.entries[toBase]
	switch {
	// A directory cannot be moved into itself.
	case moved.isDir() && within(from, to):
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrInvalid}
	// Directories are neither replaced nor replace anything; rename(2) would let an empty one go.
	case replaced != nil && (moved.isDir() || replaced.isDir()):
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	}
	// Deleting comes before adding: a file that is renamed to its own name would vanish in the other order.
	delete(fromDir.entries, fromBase)
	toDir.entries[toBase] = moved
	return nil
}

func within(dir, name string) bool { return strings.HasPrefix(name, dir+"/") }

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent("remove", name)
	switch {
	case err != nil:
		return err
	case dir.entries[base] == nil:
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	case len(dir.entries[base].entries) > 0:
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrExist}
	}
	delete(dir.entries, base)
	return nil
}

// List implements FS.
func (m *Mem) List(dir string) ([]vfs.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.dir("list", dir)
	if err != nil {
		return nil, err
	}
	entries := make([]vfs.Entry, 0, len(n.entries))
	for _, name := range slices.Sorted(maps.Keys(n.entries)) {
		child := n.entries[name]
		entries = append(entries, vfs.Entry{Name: name, Dir: child.isDir(), Regular: !child.isDir(), Bytes: int64(len(child.data))})
	}
	return entries, nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.dir("sync", dir)
	if err == nil {
		n.durable = maps.Clone(n.entries)
	}
	return err
}

// dir returns a directory, or an error for op.
// Package fs has no sentinel for what is no directory, so that it is ErrInvalid.
func (m *Mem) dir(op, name string) (*node, error) {
	n, err := m.find(op, name)
	if err == nil && !n.isDir() {
		err = &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return n, err
}

type memFile struct {
	m      *Mem
	n      *node
	closed bool
}

// open returns an error if the file was closed.
// The caller holds the lock of the file system, which guards closed as well.
func (f *memFile) open() error {
	if f.closed {
		return fs.ErrClosed
	}
	return nil
}

func (f *memFile) Write(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.open(); err != nil {
		return 0, err
	}
	f.n.data = append(f.n.data, p...)
	return len(p), nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.open(); err != nil {
		return err
	}
	f.n.synced = len(f.n.data)
	return nil
}

// Flush implements vfs.File. What it begins may be lost all the same, so there is nothing to begin.
func (f *memFile) Flush() {}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.open(); err != nil {
		return err
	}
	f.closed = true
	return nil
}
