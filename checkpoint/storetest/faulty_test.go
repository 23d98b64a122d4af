// This file tests Faulty: without a fault it is the store behind it, with one it fails exactly where it
// was told to.

package storetest_test

import (
	"errors"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/vfstest"
)

// faulty is a Faulty as Run wants it.
type faulty struct{ *storetest.Faulty }

func (faulty) InMemory() {}

func TestFaultyWithoutFault(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store {
		return faulty{storetest.NewFaulty(new(storetest.MemStore))}
	})
}

// TestFaultyEachCall fails every call of a save and a load in turn, in both ways.
func TestFaultyEachCall(t *testing.T) {
	const content = "content"
	session := func(s store.Store) (saved, loaded, listed, deleted error) {
		saved = trySave(t, s, 1, content)
		_, loaded = storetest.Read(t.Context(), s, "job", 1)
		_, listed = s.List(t.Context(), "job")
		return saved, loaded, listed, s.Delete(t.Context(), "job", 2)
	}
	clean := storetest.NewFaulty(new(storetest.MemStore))
	if saved, loaded, listed, deleted := session(clean); errors.Join(saved, loaded, listed, deleted) != nil {
		t.Fatal(saved, loaded, listed, deleted)
	}
	calls := clean.Calls()
	// Begin, Part, Write, Close, Commit; Open, Part, at least one Read; List; Delete.
	if calls < 10 {
		t.Fatalf("%d calls were counted", calls)
	}
	visible := map[storetest.When]int{}
	for _, when := range []storetest.When{storetest.Before, storetest.After} {
		for k := int64(1); k <= calls; k++ {
			mem := new(storetest.MemStore)
			s := storetest.NewFaulty(mem)
			s.FailAt(k, when)
			saved, loaded, listed, deleted := session(s)
			failures := 0
			for _, err := range []error{saved, loaded, listed, deleted} {
				if errors.Is(err, vfstest.ErrInjected) {
					failures++
				}
			}
			// The read that ends with io.EOF has no answer that could be lost.
			if failures != 1 && !(when == storetest.After && failures == 0 && loaded == nil) {
				t.Errorf("call %d failing: %v, %v, %v, %v", k, saved, loaded, listed, deleted)
			}
			if data, err := storetest.Read(t.Context(), mem, "job", 1); err == nil && data != content {
				t.Errorf("call %d failing left %q", k, data)
			} else if err == nil && saved != nil {
				visible[when]++
			}
		}
	}
	// Only a Commit whose answer was lost leaves a checkpoint beside an error.
	if visible[storetest.Before] != 0 || visible[storetest.After] != 1 {
		t.Errorf("a save that failed left a checkpoint %v times", visible)
	}
}

func TestFaultyFailAtReplaces(t *testing.T) {
	s := storetest.NewFaulty(new(storetest.MemStore))
	s.FailAt(1, storetest.Before)
	s.FailAt(2, storetest.Before)
	_, first := s.List(t.Context(), "job")
	_, second := s.List(t.Context(), "job")
	s.FailAt(1, storetest.Before)
	s.FailAt(0, storetest.Before)
	_, third := s.List(t.Context(), "job")
	if first != nil || !errors.Is(second, vfstest.ErrInjected) || third != nil {
		t.Errorf("List three times: %v, %v, %v; want the second to fail", first, second, third)
	}
}
