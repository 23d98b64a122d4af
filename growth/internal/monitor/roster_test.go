// This file tests the comparison of two sets of jobs, and the checks on settings.

package monitor_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/internal/monitor"
)

// match makes a roster hold jobs; the state of a job is the number of the step that admitted it.
func match(r *monitor.Roster[int], step int, ids []string) error {
	return r.Match(len(ids), func(i int) string { return ids[i] }, func() *int { return &step })
}

// names returns the members of a roster.
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
		if r.Members[r.Where[i]].ID != id {
			t.Fatalf("%s is taken for %s", id, r.Members[r.Where[i]].ID)
		}
	}
	if !slices.IsSorted(r.Arrived) || !slices.IsSorted(names(r.Left)) {
		t.Fatalf("arrived %q, left %q", r.Arrived, names(r.Left))
	}
}

// Every fault of a step is named, and the step changes nothing.
func TestMatchFaults(t *testing.T) {
	var r monitor.Roster[int]
	if err := match(&r, 0, []string{"b", "a"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		ids  []string
		want string
	}{
		{[]string{"a", "a"}, `job "a": ID is there twice: "a"`},
		{[]string{"c", "b", "c"}, `job "c": ID is there twice: "c"`},
		{[]string{"", "a", "b", "b"}, "job 0: ID is empty\njob \"b\": ID is there twice: \"b\""},
	} {
		if err := match(&r, 1, test.ids); err == nil || err.Error() != test.want {
			t.Errorf("%q: %v, want %s", test.ids, err, test.want)
		}
		if got := names(r.Members); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%q: members %q", test.ids, got)
		}
	}
	if err := match(&r, 2, []string{"a", "b"}); err != nil || len(r.Arrived)+len(r.Left) > 0 {
		t.Errorf("afterwards: %v, arrived %q, left %q", err, r.Arrived, names(r.Left))
	}
}

// A fault of a job tells its place in the input, whether the job is new or was there before.
func TestMatchFaultsTellPlaces(t *testing.T) {
	var r monitor.Roster[int]
	if err := match(&r, 0, []string{"b"}); err != nil {
		t.Fatal(err)
	}
	err := match(&r, 1, []string{"z", "", "b", "z", "a", "b", "z"})
	var faults apportion.Faults
	if !errors.As(err, &faults) {
		t.Fatalf("error %v, want apportion.Faults", err)
	}
	var places []int
	for _, fault := range faults {
		places = append(places, fault.Item.Index)
	}
	if want := []int{1, 5, 3, 6}; !slices.Equal(places, want) {
		t.Errorf("places %v, want %v: %v", places, want, err)
	}
}

// The next step does not report who was taken out before it.
func TestRemove(t *testing.T) {
	var r monitor.Roster[int]
	for step, ids := range [][]string{{"a", "b", "c"}, {"a", "c"}} {
		if err := match(&r, step, ids); err != nil || len(r.Left) > 0 {
			t.Errorf("step %d: %v, left %q", step, err, names(r.Left))
		}
		if state, ok := r.Remove("b"); ok != (step == 0) || ok && *state != 0 {
			t.Errorf("step %d: removed %v", step, ok)
		}
	}
	if err := match(&r, 2, []string{"c", "b"}); err != nil || !slices.Equal(r.Arrived, []string{"b"}) || !slices.Equal(names(r.Left), []string{"a"}) {
		t.Errorf("%v, arrived %q, left %q", err, r.Arrived, names(r.Left))
	}
}

// Jobs that one step names in another order than the one before are the same jobs.
func TestMatchInAnyOrder(t *testing.T) {
	var r monitor.Roster[int]
	for step, ids := range [][]string{{"c", "a", "b"}, {"b", "c", "a"}, {"a", "b", "c"}} {
		if err := match(&r, step, ids); err != nil || (len(r.Arrived) > 0) != (step == 0) {
			t.Errorf("%q: %v, arrived %q", ids, err, r.Arrived)
		}
		for i, id := range ids {
			if m := r.Members[r.Where[i]]; m.ID != id || *m.State != 0 {
				t.Errorf("%q: %s is taken for %s of step %d", ids, id, m.ID, *m.State)
			}
		}
	}
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
		if err := r.Match(len(ids), id, fresh); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// broken is a classifier that refuses to work.
type broken struct{ growth.Classifier }

var errBroken = errors.New("broken")

func (broken) Validate() error { return errBroken }

func TestSettings(t *testing.T) {
	for name, test := range map[string]struct {
		check func(*apportion.Faults)
		want  error
	}{
		"no interval": {func(f *apportion.Faults) { monitor.CheckInterval(f, 0) }, apportion.ErrRange},
		"interval":    {func(f *apportion.Faults) { monitor.CheckInterval(f, 1) }, nil},
		"clock goes":  {func(f *apportion.Faults) { monitor.CheckClock(f, 1, 1) }, nil},
		"alpha": {func(f *apportion.Faults) {
			monitor.CheckClassifier(f, growth.Decline{Alpha: math.SmallestNonzeroFloat64})
		}, nil},
		"alpha 0":         {func(f *apportion.Faults) { monitor.CheckClassifier(f, growth.Prospect{}) }, apportion.ErrRange},
		"alpha infinite":  {func(f *apportion.Faults) { monitor.CheckClassifier(f, growth.Threshold{Alpha: math.Inf(1)}) }, apportion.ErrRange},
		"alpha NaN":       {func(f *apportion.Faults) { monitor.CheckClassifier(f, growth.Decline{Alpha: math.NaN()}) }, apportion.ErrRange},
		"confidence":      {func(f *apportion.Faults) { monitor.CheckClassifier(f, growth.Prospect{Alpha: 1, Confidence: -1}) }, apportion.ErrRange},
		"own error":       {func(f *apportion.Faults) { monitor.CheckClassifier(f, broken{}) }, errBroken},
		"says nothing":    {func(f *apportion.Faults) { monitor.CheckClassifier(f, struct{ growth.Classifier }{}) }, nil},
		"clock goes back": {func(f *apportion.Faults) { monitor.CheckClock(f, 1, 0) }, apportion.ErrRange},
	} {
		var faults apportion.Faults
		if test.check(&faults); !errors.Is(faults.Err(), test.want) {
			t.Errorf("%s: %v, want %v", name, faults, test.want)
		}
	}
	if got := monitor.Plus(math.MaxInt64-2, 3); got != math.MaxInt64 {
		t.Errorf("past the longest duration: %v", got)
	}
	if got := monitor.Plus(time.Second, 2); got != time.Second+2 {
		t.Errorf("sum %v", got)
	}
}
