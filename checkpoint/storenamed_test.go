// This file checks what a machine makes of the name of the store that its checkpoints are in.

package checkpoint_test

import (
	"errors"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// The first name is on record, in the record of its step and in snapshots, and in the effects; another one is refused, also
// by the master that follows.
func TestStoreNamed(t *testing.T) {
	m := recovered(t, 1, named("j"))
	if m.Ready(); m.Store() != "" {
		t.Errorf("a machine that begins has store %q", m.Store())
	}
	must.Err(t, m.Step(checkpoint.StoreNamed{}), apportion.ErrEmpty, "no name")
	steps(t, m, checkpoint.StoreNamed{ID: "A"})
	first := m.Ready().Record
	if first.Store != "A" || m.Snapshot().Store != "A" {
		t.Errorf("the record says %q and the snapshot %q", first.Store, m.Snapshot().Store)
	}
	steps(t, m, checkpoint.StoreNamed{ID: "A"})
	if r := m.Ready().Record; !r.Empty() {
		t.Errorf("what is no news is written: %+v", r)
	}
	m = recovered(t, 2, named("j"), first)
	if err := m.Step(checkpoint.StoreNamed{ID: "B"}); !errors.Is(err, apportion.ErrConflict) || m.Store() != "A" {
		t.Errorf("another name: %v, and %q", err, m.Store())
	}
	if r := m.Ready().Record; !r.Empty() {
		t.Errorf("a refused name is written: %+v", r)
	}
	// A record without the name takes nothing back.
	m = recovered(t, 3, first, checkpoint.Record{Next: 1})
	steps(t, m, slotted("s1"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	ready := m.Ready()
	if ready.Record.Store != "" || len(ready.Effects) != 1 || ready.Effects[0].Store != "A" {
		t.Errorf("%+v", ready)
	}
}
