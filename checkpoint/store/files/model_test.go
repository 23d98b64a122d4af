// This file is the caller's side of the crash tests: what it does to a store, what it then knows, and what
// it demands of whatever is left.

package files

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// fate is what is known of a checkpoint.
type fate int

const (
	absent  fate = iota // it was never begun, or its Delete returned nil
	unknown             // something was tried and its answer is not known, or was an error
	there               // its Commit returned nil
)

// model is what a caller knows of a store. Each number is only ever written with one content.
type model struct {
	fates map[int64]fate
	// replaced are checkpoints that retention may delete, each with the number whose commit entitles it
	// to: only if that is there may they be gone. 0: that commit has returned nil.
	replaced map[int64]int64
}

func newModel() model {
	return model{make(map[int64]fate), make(map[int64]int64)}
}

// contentOf is long where the number is odd: then a checkpoint is a directory, otherwise one file.
func contentOf(number int64) string {
	return fmt.Sprintf("content of checkpoint %d", number) + strings.Repeat(" and more", int(number%2))
}

// step is one action on the store.
type step struct {
	verb   string
	number int64
}

// script passes through everything that touches the disk: commits, one of them twice, one by a writer
// that was late, an abort, deletions, a writer that is left behind, and retention, which keeps three and
// number 1, which is pinned.
var script = []step{
	{"commit", 1}, {"commit", 2}, {"delete", 2}, {"abort", 3}, {"commit", 3}, {"commit", 3},
	{"leave", 4}, {"commit", 5}, {"delete", 5}, {"delete", 5}, {"commit", 6}, {"commit", 7}, {"commit", 8},
	{"collect", 0}, {"commit", 8}, {"commit", 9},
}

// scripts are what a process does from its start to its end. What the last step leaves is not made
// durable by a later one.
var scripts = [][]step{
	script,
	{{"commit", 1}},
	{{"commit", 1}, {"delete", 1}},
	{{"commit", 2}},
	{{"commit", 2}, {"delete", 2}},
	{{"commit", 1}, {"commit", 2}, {"delete", 1}},
	{{"abort", 1}},
	takeScript,
	{{"take", 1}},
}

// takeScript has the store take the long parts as files, one of them twice, and beside one that was written.
var takeScript = []step{{"take", 1}, {"take", 2}, {"take", 3}, {"take", 3}, {"commit", 5}, {"take", 5}, {"delete", 3}, {"take", 7}}

// scriptOptions are those of every store here. No other process exists.
var scriptOptions = Options{Keep: 3, Pinned: func(_ string, number int64) bool { return number == 1 }, Grace: -1,
	Form: store.Form{InlineBytes: 30}}

// run takes the steps and keeps the model up to date: a fate is unknown before the step that may change
// it. After an error the caller aborts and goes on.
func run(t *testing.T, fsys vfs.FS, m model, script []step) error {
	s, err := New(fsys, &scriptOptions)
	if err != nil {
		return err
	}
	var faults []error
	for _, step := range script {
		faults = append(faults, m.take(t, s, step))
	}
	return errors.Join(faults...)
}

func (m model) take(t *testing.T, s *Store, step step) error {
	n := step.number
	switch step.verb {
	case "collect":
		return s.Collect(t.Context())
	case "delete":
		m.fates[n] = unknown
		err := s.Delete(t.Context(), "job", n)
		if err == nil {
			m.fates[n] = absent
		}
		return err
	}
	w, err := m.write(t, s, step)
	switch {
	case w == nil:
		return err
	case step.verb == "leave":
		return err
	case step.verb == "abort" || err != nil:
		return errors.Join(err, w.Abort())
	}
	if m.fates[n] != there { // a commit again deletes nothing
		m.fates[n] = unknown
		m.mayRetain(n)
	}
	if _, err := w.Commit(); err != nil {
		return errors.Join(err, w.Abort())
	}
	m.fates[n] = there
	for number, by := range m.replaced {
		if by == n {
			m.replaced[number] = 0
		}
	}
	return nil
}

// write writes the one part of a checkpoint, or has the store take it as a file.
func (m model) write(t *testing.T, s *Store, step step) (store.Writer, error) {
	if step.verb != "take" {
		return storetest.Write(t.Context(), s, "job", step.number, contentOf(step.number))
	}
	w, err := s.Begin(t.Context(), "job", step.number)
	if err != nil {
		return nil, err
	}
	file := outside(t, contentOf(step.number))
	defer file.Close()
	_, err = w.(store.Taker).Take("part", file, true)
	if !errors.Is(err, errors.ErrUnsupported) {
		return w, err
	}
	part, err := w.Part("part")
	if err == nil {
		_, err = io.WriteString(part, contentOf(step.number))
		err = errors.Join(err, part.Close())
	}
	return w, err
}

// outside opens a file that is not the store's.
func outside(t *testing.T, content string) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "outside")
	must.Do(t, os.WriteFile(name, []byte(content), 0o600))
	return must.Have(os.Open(name))(t)
}

// mayRetain notes what a commit may delete: all but number 1 that have enough above them.
func (m model) mayRetain(n int64) {
	for number, fate := range m.fates {
		if fate == absent || number >= n || number == 1 || m.countBetween(number, n) < scriptOptions.Keep-1 {
			continue
		}
		m.fates[number] = unknown
		if by, done := m.replaced[number]; !done || by != 0 {
			m.replaced[number] = n
		}
	}
}

// countBetween counts the checkpoints that may be there, above one number and below another. Retention
// counts no more than these, so it deletes nothing that has fewer above it.
func (m model) countBetween(low, high int64) int {
	count := 0
	for number, fate := range m.fates {
		if low < number && number < high && fate != absent {
			count++
		}
	}
	return count
}

// verify opens a store on what is left and compares it with the model. Then it uses the store: collects,
// compares again, and commits a further checkpoint.
func (m model) verify(t *testing.T, mem *vfstest.Mem) error {
	s, err := New(mem, &scriptOptions)
	if err != nil {
		return fmt.Errorf("New: %w", err)
	}
	if err := m.compare(t, s); err != nil {
		return err
	}
	if err := staysVisible(t, s, mem); err != nil {
		return err
	}
	if err := s.Collect(t.Context()); err != nil {
		return fmt.Errorf("Collect: %w", err)
	}
	if err := m.compare(t, s); err != nil {
		return fmt.Errorf("after Collect: %w", err)
	}
	if err := noLeftovers(s); err != nil {
		return err
	}
	w, err := storetest.Write(t.Context(), s, "job", 100, contentOf(100))
	if err != nil {
		return fmt.Errorf("the next checkpoint: %w", err)
	}
	if _, err := w.Commit(); err != nil {
		return fmt.Errorf("the next Commit: %w", err)
	}
	return nil
}

// staysVisible fails if a crash takes away what a new store shows: a caller may have relied on it.
func staysVisible(t *testing.T, s *Store, mem *vfstest.Mem) error {
	again, err := New(mem.Crash(nil), &scriptOptions)
	if err != nil {
		return err
	}
	if before, after := numbersOf(t, s, "job"), numbersOf(t, again, "job"); !slices.Equal(before, after) {
		return fmt.Errorf("%d were visible, %d after another crash", before, after)
	}
	return nil
}

func (m model) compare(t *testing.T, s *Store) error {
	list, err := s.List(t.Context(), "job")
	if err != nil {
		return fmt.Errorf("List: %w", err)
	}
	present := make(map[int64]bool)
	for n := int64(1); n <= 9; n++ {
		data, err := storetest.Read(t.Context(), s, "job", n)
		present[n] = err == nil
		listed := slices.ContainsFunc(list, func(m store.Manifest) bool { return m.Number == n })
		switch {
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("checkpoint %d: %w", n, err)
		case err != nil && m.fates[n] == there:
			return fmt.Errorf("checkpoint %d was committed and is lost", n)
		case err == nil && m.fates[n] == absent:
			return fmt.Errorf("checkpoint %d was not committed or was deleted, and is there", n)
		case err == nil && data != contentOf(n):
			return fmt.Errorf("checkpoint %d holds %q", n, data)
		case listed != (err == nil):
			return fmt.Errorf("checkpoint %d listed is %v, opening it said %v", n, listed, err)
		}
	}
	for n, by := range m.replaced {
		if !present[n] && by != 0 && !present[by] {
			return fmt.Errorf("checkpoint %d was deleted for the sake of %d, which is not there", n, by)
		}
	}
	return nil
}

// noLeftovers fails if Collect has left anything but the second name of a checkpoint.
func noLeftovers(s *Store) error {
	entries, err := s.disk.fs.List("job")
	if err != nil && !strings.Contains(err.Error(), "not exist") {
		return err
	}
	for _, e := range entries {
		l, ok := parseLeftover(e.Name)
		if ok && !s.disk.isTwin("job", l.number, "job/"+e.Name) {
			return fmt.Errorf("%s stayed", e.Name)
		}
	}
	return nil
}

func (m model) clone() model { return model{maps.Clone(m.fates), maps.Clone(m.replaced)} }
