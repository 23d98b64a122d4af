// This file tests what a move remembers, and that it is taken back.

package search

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// Any row of steps is taken back at once, with the totals to the last bit; the next move starts with nothing.
func TestMoveUndo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := warm(t, true)
		s := a.S
		before, sums := s.picture(), s.totals
		m := newMove(s.p.Servers).begin(s)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				a.clear(m, rapid.IntRange(0, s.p.Servers-1).Draw(t, "server"))
			case 1:
				if i := a.keptOn(rapid.IntRange(0, s.p.Servers-1).Draw(t, "server")); i >= 0 {
					a.evict(m, i)
				}
			case 2:
				a.keepOne(m)
			default:
				if len(s.active) > 0 {
					a.eject(m)
				}
			}
			s.check(t)
		}
		for _, j := range m.touched {
			if !m.isTouched[j] || slices.Index(m.touched, j) != len(m.touched)-1-slices.Index(reversed(m.touched), j) {
				t.Fatalf("touched %v: server %d is there twice, or not marked", m.touched, j)
			}
		}
		m.undo()
		if diff := cmp.Diff(before, s.picture(), cmp.AllowUnexported(problem.Slot{})); diff != "" || s.totals != sums {
			t.Fatalf("totals %+v after %+v, undo (-before +after):\n%s", s.totals, sums, diff)
		}
		s.check(t)
		if m.begin(s); len(m.changes)+len(m.touched)+len(m.freed) > 0 || slices.Contains(m.isTouched, true) {
			t.Fatalf("a new move has %+v", m)
		}
	})
}

func reversed(x []int32) []int32 {
	r := slices.Clone(x)
	slices.Reverse(r)
	return r
}

// A part that is added goes with the whole; what it touched and freed stays its own.
func TestMoveAdd(t *testing.T) {
	s := NewState(problem.New(alloctest.Mixed(1, 8, 12, true)))
	a := New(s, 1, tuning.Standard())
	before := s.picture()
	whole, part := newMove(s.p.Servers).begin(s), newMove(s.p.Servers)
	a.evict(whole, a.pickKept())
	touched := len(whole.touched)
	part.begin(s)
	a.evict(part, a.pickKept())
	whole.add(part)
	if len(whole.touched) != touched || len(whole.freed) != 1 {
		t.Errorf("touched %v, freed %v", whole.touched, whole.freed)
	}
	whole.undo()
	if diff := cmp.Diff(before, s.picture()); diff != "" {
		t.Errorf("undo (-before +after):\n%s", diff)
	}
}

// A move keeps nobody whom it has freed, even where there is nobody else, and leaves all as it was then.
func TestMoveKeepsNobodyItFreed(t *testing.T) {
	a := New(NewState(problem.New(alloctest.Table2(1, 8, 12, true))), 1, tuning.Standard())
	m := a.move.begin(a.S)
	for _, i := range a.pinnables {
		if !a.S.free[i] {
			m.free(i)
		}
	}
	if len(m.freed) < 2 {
		t.Fatal("hardly anybody was kept")
	}
	changes := len(m.changes)
	for range 20 {
		if a.keepOne(m) || len(m.changes) != changes {
			t.Fatal("somebody who was freed is kept")
		}
	}
	// Another move may keep each of them.
	if other := newMove(a.S.p.Servers).begin(a.S); !a.keepOne(other) {
		t.Error("nobody may be kept at all")
	}
}

// Who lost containers is named once, in the order of the losses; who only got some is not.
func TestLosers(t *testing.T) {
	s := NewState(problem.New(alloctest.Table2(1, 8, 12, false)))
	m := newMove(s.p.Servers).begin(s)
	var want []int32
	for _, typ := range s.active {
		for j := range s.p.Servers {
			if s.fitsOne(j, typ) {
				m.place(j, typ, 1)
				if typ%2 == 0 {
					m.place(j, typ, -1)
					want = append(want, typ)
				}
			}
		}
	}
	if want = slices.Compact(want); len(want) < 2 || !slices.Equal(m.losers(), want) {
		t.Errorf("%v lost containers, want %v", m.losers(), want)
	}
}

// A server that only got containers need not be filled again.
func TestPlacingTouchesNothing(t *testing.T) {
	s := NewState(problem.New(alloctest.Table2(1, 8, 12, false)))
	m := newMove(s.p.Servers).begin(s)
	if m.place(0, s.active[0], 1); len(m.touched) > 0 {
		t.Errorf("touched %v", m.touched)
	}
	if m.place(0, s.active[0], -1); !slices.Equal(m.touched, []int32{0}) {
		t.Errorf("touched %v, want server 0", m.touched)
	}
}
