// This file fills the disk of a journal, breaks its openings, and gives it states that are too long for one frame.

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// small is a disk with room for so many bytes.
type small struct {
	vfs.FS
	free int
	held map[string]*int // the length of each file
}

func (s *small) Create(name string) (vfs.File, error) {
	file, err := s.FS.Create(name)
	if err != nil {
		return nil, err
	}
	s.held[name] = new(int)
	return &smallFile{file, s, s.held[name]}, nil
}

func (s *small) Remove(name string) error {
	err := s.FS.Remove(name)
	if err == nil {
		s.free += *s.held[name]
		delete(s.held, name)
	}
	return err
}

func (s *small) Rename(from, to string) error {
	err := s.FS.Rename(from, to)
	if err == nil {
		s.held[to] = s.held[from]
		delete(s.held, from)
	}
	return err
}

type smallFile struct {
	vfs.File
	disk   *small
	length *int
}

// Write writes what there is room for, as disks do.
func (f *smallFile) Write(data []byte) (int, error) {
	n := min(len(data), f.disk.free)
	n, err := f.File.Write(data[:n])
	f.disk.free -= n
	*f.length += n
	if err == nil && n < len(data) {
		err = syscall.ENOSPC
	}
	return n, err
}

func newSmall(free int) *small { return &small{vfstest.NewMem(), free, map[string]*int{}} }

// A disk that fills up takes the records that are under way, and a compaction, from the room that was kept; that is seen,
// and over when there is room again.
func TestFullDisk(t *testing.T) {
	disk := newSmall(1 << 20)
	m, j := mustOpen(t, disk)
	if !j.Spare() {
		t.Fatal("no room is kept")
	}
	taken := disk.free - 10 // so that the next record is cut in the middle
	disk.free = 10
	for i := range 20 {
		must.Do(t, appendEvent(m, j, server(fmt.Sprint("s", i))), "record", i)
	}
	if j.Spare() {
		t.Error("the room that was kept is there, and was used")
	}
	must.Do(t, j.Compact(m.Snapshot()), "compact")
	disk.free += taken
	if err := j.Compact(m.Snapshot()); err != nil || !j.Spare() {
		t.Errorf("compact with room: %v, kept %v", err, j.Spare())
	}
	if m, _ := mustOpen(t, disk); len(m.Servers()) != 20 {
		t.Errorf("%d servers after it, want 20", len(m.Servers()))
	}
}

// A record whose first bytes were on a disk that became full goes on behind them: whoever opens the journal before it is compacted
// reads every record.
func TestFullInTheMiddleOfARecord(t *testing.T) {
	for cut := range 60 {
		disk := newSmall(1 << 20)
		m, j := mustOpen(t, disk)
		disk.free = cut
		for _, name := range []string{"a", "b"} {
			must.Do(t, appendEvent(m, j, server(name)), cut, "bytes free")
		}
		again, _, err := Open(disk, oneKind())
		must.Do(t, err, cut, "bytes free")
		must.Equal(t, len(again.Servers()), 2, cut, "bytes free", "servers are on record")
	}
}

// Where nothing is left the error says so, and what was there before is there still.
func TestNoRoomAtAll(t *testing.T) {
	disk := newSmall(1 << 20)
	m, j := mustOpen(t, disk)
	must.Do(t, appendEvent(m, j, server("old")))
	must.Do(t, disk.Remove(spare))
	left := disk.free
	disk.free = 30
	must.Err(t, j.Compact(m.Snapshot()), syscall.ENOSPC, "compact on a full disk")
	if _, _, err := Open(disk, oneKind()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("open on a full disk: %v", err)
	}
	// Neither has left a part of a file behind, which would hold the disk full.
	entries, err := disk.List(".")
	if err != nil || slices.ContainsFunc(entries, func(e vfs.Entry) bool { return strings.HasSuffix(e.Name, claimed) }) || disk.free != 30 {
		t.Errorf("%v, %v, %d bytes free, want 30", entries, err, disk.free)
	}
	disk.free = left
	if m, _ := mustOpen(t, disk); !knows(m, "old") {
		t.Error("what was appended is lost")
	}
}

// 80 jobs with 10,000 containers each, on servers with long names, are 64 MiB and more: they are compacted, opened and
// added to.
func TestLongSnapshot(t *testing.T) {
	if testing.Short() {
		t.Skip("needs half a gigabyte and some seconds")
	}
	mem := vfstest.NewMem()
	m, j := mustOpen(t, mem)
	targets := map[string][]string{}
	var events []checkpoint.Event
	var containers []string
	for i := range 100 {
		id := fmt.Sprintf("%s-%03d.gpu.cluster.example.com", strings.Repeat("x", 60), i)
		events = append(events, checkpoint.ServerUp{Server: apportion.Server{ID: id, Capacity: apportion.Resources{1 << 20}}})
		containers = append(containers, slices.Repeat([]string{id}, 100)...)
	}
	for i := range 80 {
		name := fmt.Sprintf("job%02d", i)
		events = append(events, checkpoint.Submit{Job: name, Demand: apportion.Resources{1}})
		targets[name] = containers
	}
	for _, e := range append(events, checkpoint.Adjust{Targets: targets}) {
		must.Do(t, m.Step(e))
	}
	record := m.Ready().Record
	must.Do(t, j.Append(record))
	must.Do(t, j.Compact(m.Snapshot()))
	if j.Bytes() < 64<<20 {
		t.Errorf("only %d bytes: no journal before could not have held them", j.Bytes())
	}
	before := m.Jobs()
	m, j = mustOpen(t, mem)
	if after := m.Jobs(); len(after) != 80 || !slices.Equal(after[79].Target, before[79].Target) {
		t.Errorf("%d jobs", len(after))
	}
	must.Do(t, appendEvent(m, j, server("late")))
}

// A Config that the records do not fit, a damaged journal, and a disk that cannot be read fence nobody off.
func TestOpenClaimsLast(t *testing.T) {
	mem := vfstest.NewMem()
	m, j := mustOpen(t, mem)
	typo := checkpoint.Config{Kinds: apportion.Kinds{"slot", "gpu"}}
	must.Do(t, appendEvent(m, j, server("a")))
	created := 0
	watched := vfstest.Hooked(mem, func(op vfstest.Op, _ string) error {
		if op == vfstest.Create {
			created++
		}
		return nil
	})
	if _, _, err := Open(watched, typo); !errors.Is(err, checkpoint.ErrCorrupt) {
		t.Errorf("two kinds for one quantity: %v", err)
	}
	unreadable := vfstest.Hooked(mem, func(op vfstest.Op, _ string) error {
		if op == vfstest.Open {
			return fs.ErrPermission
		}
		return nil
	})
	if _, _, err := Open(unreadable, oneKind()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a disk that cannot be read: %v", err)
	}
	must.Do(t, appendEvent(m, j, server("b")), "the master that was running")
	// A number that is taken for a moment only would be enough to end the master that runs.
	if created > 0 {
		t.Errorf("%d files were made", created)
	}
}

// Room that could not be kept whole is given back.
func TestHalfASpare(t *testing.T) {
	disk := newSmall(leastSpare / 2)
	if _, j := mustOpen(t, disk); j.Spare() || disk.held[spare] != nil {
		t.Errorf("half of the room is there: %v", j.Spare())
	}
}
