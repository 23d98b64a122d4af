// This file tests the comparison of two sets of jobs, and the checks on settings.

package monitor_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth/internal/monitor"
	"github.com/apportion/apportion/internal/must"
)

// match makes a roster hold jobs; the state of a job is the number of the step that admitted it.
func match(r *monitor.Roster[int], step int, ids []string) error {
	return r.Match(len(ids), func(i int) string { return ids[i] }, func() *int { return &step })
}

func names(members []monitor.Member[int]) (ids []string) {
	for _, m := range members {
		ids = append(ids, m.ID)
	}
	return ids
}

// TestPropRoster compares the roster with plain sets, over steps of which some are refused and jobs that
// are taken out in between.
func TestPropRoster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r monitor.Roster[int]
		admitted := map[string]int{}
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			ids := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", ""}), 0, 7).Draw(t, "jobs")
			sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
			bad := len(sorted) < len(ids) || slices.Contains(ids, "")
			if err := match(&r, step, ids); (err != nil) != bad {
				t.Fatalf("%q: %v", ids, err)
			}
			if !bad {
				checkRoster(t, &r, admitted, ids, step)
			}
			if out := rapid.SampledFrom([]string{"a", "b", "c", "x"}).Draw(t, "removed"); rapid.Bool().Draw(t, "remove") {
				_, known := admitted[out]
				if state, ok := r.Remove(out); ok != known || ok && *state != admitted[out] {
					t.Fatalf("%s is removed: %v, was there: %v", out, ok, known)
				}
				delete(admitted, out)
			}
			if got := names(r.Members); len(got) != len(admitted) || !slices.IsSorted(got) {
				t.Fatalf("members %q, want %d", got, len(admitted))
			}
			for id, step := range admitted {
				if state := r.Get(id); state == nil || *state != step {
					t.Fatalf("state of %s", id)
				}
			}
		}
	})
}

// checkRoster checks what a good step found, and notes who is there.
func checkRoster(t *rapid.T, r *monitor.Roster[int], admitted map[string]int, ids []string, step int) {
	for _, left := range r.Left {
		if _, known := admitted[left.ID]; !known || slices.Contains(ids, left.ID) {
			t.Fatalf("%s has left", left.ID)
		}
		delete(admitted, left.ID)
	}
	for _, id := range r.Arrived {
		if _, known := admitted[id]; known || !slices.Contains(ids, id) {
			t.Fatalf("%s has arrived", id)
		}
		admitted[id] = step
	}
	for i, id := range ids {
		must.Equal(t, r.Members[r.Where[i]].ID, id, "is taken for")
	}
	if !slices.IsSorted(r.Arrived) || !slices.IsSorted(names(r.Left)) {
		t.Fatalf("arrived %q, left %q", r.Arrived, names(r.Left))
	}
}

// A fault of a job tells its place in the input, whether the job is new or was there before.
func TestMatchFaultsTellPlaces(t *testing.T) {
	var r monitor.Roster[int]
	must.Do(t, match(&r, 0, []string{"b"}))
	err := match(&r, 1, []string{"z", "", "b", "z", "a", "b", "z"})
	var faults apportion.Faults
	if !errors.As(err, &faults) {
		t.Fatalf("error %v, want apportion.Faults", err)
	}
	var places []int
	for _, fault := range faults {
		places = append(places, fault.Item.Index)
	}
	must.Same(t, places, []int{1, 5, 3, 6}, "places", err)
}

// A set that stays the same, or that lost one, is matched without allocating, in any order.
func TestMatchDoesNotAllocate(t *testing.T) {
	var r monitor.Roster[int]
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	id := func(i int) string { return ids[i] }
	fresh := func() *int { return new(int) }
	run := func() {
		must.Do(t, r.Match(len(ids), id, fresh))
	}
	run()
	if n := testing.AllocsPerRun(20, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
