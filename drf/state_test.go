// This file tests snapshots, batches and looks at what would be: bad states, order, and that nothing is left behind.

package drf_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// A state that nobody can be in is refused by name, whichever of its numbers is wrong.
func TestRestoreRefuses(t *testing.T) {
	tree := must.Have(drf.NewTree(apportion.Resources{10, 10}, []drf.Queue{node("q", "", 1, nil)}))(t)
	good := func() *drf.SorterState {
		return &drf.SorterState{Total: apportion.Resources{10, 10}, Clients: []drf.ClientState{
			{ID: "a", Weight: 1, Demand: apportion.Resources{1, 1}, Held: apportion.Resources{1, 0}},
			{ID: "b", Weight: 2, Demand: apportion.Resources{1, 0}, Held: apportion.Resources{0, 0}, Idle: true},
		}}
	}
	for _, test := range []struct {
		name   string
		change func(s *drf.SorterState)
		want   error
	}{
		{"no kinds", func(s *drf.SorterState) { s.Total = nil }, nil},
		{"negative total", func(s *drf.SorterState) { s.Total[0] = -1 }, apportion.ErrNegative},
		{"empty id", func(s *drf.SorterState) { s.Clients[0].ID = "" }, apportion.ErrEmpty},
		{"same id", func(s *drf.SorterState) { s.Clients[1].ID = "a" }, apportion.ErrDuplicate},
		{"weight 0", func(s *drf.SorterState) { s.Clients[0].Weight = 0 }, apportion.ErrRange},
		{"weight NaN", func(s *drf.SorterState) { s.Clients[0].Weight = math.NaN() }, apportion.ErrNotFinite},
		{"held of another length", func(s *drf.SorterState) { s.Clients[1].Held = apportion.Resources{1} }, apportion.ErrLength},
		{"negative held", func(s *drf.SorterState) { s.Clients[1].Held = apportion.Resources{1, -1} }, apportion.ErrNegative},
		{"no such queue", func(s *drf.SorterState) { s.Clients[0].Queue = "nobody" }, apportion.ErrUnknown},
		{"no demand", func(s *drf.SorterState) { s.Clients[0].Demand = apportion.Resources{0, 0} }, apportion.ErrNoDemand},
		{"demand of another length", func(s *drf.SorterState) { s.Clients[0].Demand = apportion.Resources{1} }, apportion.ErrLength},
	} {
		state := good()
		test.change(state)
		if _, err := tree.RestoreSorter(state); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
	must.Have(tree.RestoreSorter(good()))(t)
}

// Clients are written in the order of their IDs, whatever the order in which they came, and the state is a copy.
func TestSnapshotOrder(t *testing.T) {
	s := newSorter(t, 100)
	var want []string
	for i := range 40 {
		id := fmt.Sprintf("c%02d", (i*17+5)%40)
		add(t, s, id, 1, int64(i))
		want = append(want, id)
	}
	slices.Sort(want)
	for range 5 {
		state := s.Snapshot()
		var got []string
		for i := range state.Clients {
			got = append(got, state.Clients[i].ID)
		}
		must.Equal(t, cmp.Diff(want, got), "")
		state.Total[0], state.Clients[0].Held[0] = 7, 9999
	}
	if state := s.Snapshot(); state.Total[0] != 100 || state.Clients[0].Held[0] == 9999 {
		t.Errorf("a state that was changed has changed the sorter: %+v", state.Clients[0])
	}
}

// A batch that cannot be made leaves everything as it was, whichever of its changes is the wrong one.
func TestApplyAllOrNothing(t *testing.T) {
	s := newSorter(t, 100, 100)
	a, b := add(t, s, "a", 1, 5, 1), add(t, s, "b", 1, 2, 0)
	foreign := add(t, newSorter(t, 100, 100), "a", 1)
	before := s.Snapshot()
	sound := []drf.Change{{Client: a, Resources: apportion.Resources{2, 0}, Release: true}, {Client: b, Resources: apportion.Resources{1, 1}}}
	for _, test := range []struct {
		name string
		bad  drf.Change
		want error
	}{
		{"more than is held", drf.Change{Client: b, Resources: apportion.Resources{0, 2}, Release: true}, drf.ErrNotHeld},
		{"another sorter's client", drf.Change{Client: foreign, Resources: apportion.Resources{1, 1}}, apportion.ErrUnknown},
		{"nobody", drf.Change{Resources: apportion.Resources{1, 1}}, apportion.ErrUnknown},
		{"wrong length", drf.Change{Client: a, Resources: apportion.Resources{1}}, apportion.ErrLength},
		{"negative", drf.Change{Client: a, Resources: apportion.Resources{-1, 0}}, apportion.ErrNegative},
		{"overflow", drf.Change{Client: a, Resources: apportion.Resources{math.MaxInt64, 0}}, apportion.ErrOverflow},
	} {
		for at := range len(sound) + 1 {
			changes := slices.Insert(slices.Clone(sound), at, test.bad)
			looked := false
			for _, err := range []error{s.Apply(changes), s.WhatIf(changes, func() { looked = true })} {
				must.Err(t, err, test.want, test.name, "at", at)
			}
			if diff := cmp.Diff(before, s.Snapshot()); diff != "" || looked {
				t.Errorf("%s at %d: looked %t, and the sorter has become another: %s", test.name, at, looked, diff)
			}
		}
	}
	// What a change takes a later one may give again: they are made in their order.
	must.Do(t, s.Apply([]drf.Change{sound[0], {Client: a, Resources: apportion.Resources{3, 0}, Release: true}, sound[1]}))
	if err := s.Apply([]drf.Change{{Client: a, Resources: apportion.Resources{1, 0}, Release: true}, {Client: a, Resources: apportion.Resources{1, 0}}}); !errors.Is(err, drf.ErrNotHeld) {
		t.Errorf("taken before it is there: %v", err)
	}
}

// A look sees what would be, also whom a release would bring back, and afterwards those are skipped again.
func TestWhatIfSkipped(t *testing.T) {
	s := newSorter(t, 100)
	a, b := add(t, s, "a", 1, 5), add(t, s, "b", 1, 10)
	must.Do(t, s.Skip(a))
	seen := ""
	err := s.WhatIf([]drf.Change{{Client: b, Resources: apportion.Resources{1}, Release: true}}, func() {
		for _, c := range s.Order(nil) {
			seen += fmt.Sprint(c.ID(), c.Held(), " ")
		}
	})
	if err != nil || seen != "a[5] b[9] " {
		t.Errorf("seen %q, %v", seen, err)
	}
	if a.Active() || s.Next() != b || b.Held()[0] != 10 {
		t.Errorf("afterwards a is active: %t, next %s, which holds %v", a.Active(), s.Next().ID(), b.Held())
	}
}

// A client that is skipped comes back with SetDemand, and stays back although something is released afterwards; so with
// SetActive, and once it is removed nobody brings it back.
func TestSkippedComesBackOnce(t *testing.T) {
	tree := must.Have(drf.NewTree(apportion.Resources{10}, []drf.Queue{node("q", "", 1, nil)}))(t)
	s := tree.NewSorter()
	client := func(id string) *drf.Client {
		return must.Have(s.Add(drf.Claim{ID: id, Queue: "q", Weight: 1, Demand: apportion.Resources{2}}))(t)
	}
	a, b := client("a"), client("b")
	must := func(errs ...error) {
		t.Helper()
		must.Do(t, errors.Join(errs...))
	}
	must(s.Allocate(b, apportion.Resources{2}), s.Skip(a))
	if s.Next() != b {
		t.Error("a is skipped")
	}
	must(s.SetDemand(a, apportion.Resources{1}))
	if s.Next() != a || s.Snapshot().Clients[0].Skipped {
		t.Error("a needs something else, and is not back")
	}
	// Taken out, it stays out, whatever is released: it is not among those that are skipped any more.
	must(s.SetActive(a, false), s.Release(b, apportion.Resources{1}))
	if s.Next() != b {
		t.Error("a was taken out, and is back")
	}
	must(s.SetActive(a, true), s.Skip(a), s.Remove(a), s.Release(b, apportion.Resources{1}))
	if s.Next() != b || s.Len() != 1 {
		t.Errorf("%d clients after a was removed", s.Len())
	}
}
