// This file tests how a master that writes nothing finds out that it was replaced.

package journal

import (
	"errors"
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// A journal leads from Open on, in the middle of its own Compact as well, until another is opened, whether that comes to an
// end or not.
func TestLeads(t *testing.T) {
	mem := vfstest.NewMem()
	var first *Journal
	asked := 0
	var broken error
	fsys := vfstest.Hooked(mem, func(op vfstest.Op, _ string) error {
		if first == nil || op == vfstest.List {
			return broken
		}
		asked++
		if err := first.Leads(); err != nil && broken == nil {
			t.Errorf("in the middle of its work: %v", err)
		}
		return nil
	})
	m, j := mustOpen(t, fsys)
	first = j
	for range 3 {
		must.Do(t, errors.Join(appendEvent(m, j, server("s")), j.Compact(m.Snapshot()), j.Leads()))
	}
	if asked < 10 {
		t.Errorf("asked %d times", asked)
	}
	broken = errors.New("no answer")
	if err := j.Leads(); !errors.Is(err, broken) || errors.Is(err, checkpoint.ErrFenced) {
		t.Errorf("a disk that does not answer: %v", err)
	}
	broken, first = nil, nil
	// Another has taken the next number, and has not come to an end with it.
	claim := must.Have(mem.Create(name(j.number+1, claimed)))(t)
	must.Err(t, j.Leads(), checkpoint.ErrFenced, "the first while another opens")
	must.Do(t, errors.Join(claim.Close(), mem.Remove(name(j.number+1, claimed))))
	_, second := mustOpen(t, mem)
	must.Err(t, j.Leads(), checkpoint.ErrFenced, "the first after the second")
	must.Do(t, second.Leads(), "the second")
	must.Err(t, j.Compact(m.Snapshot()), checkpoint.ErrFenced, "a compaction of the first")
	must.Err(t, j.Leads(), checkpoint.ErrFenced, "the first after it has tried")
}
