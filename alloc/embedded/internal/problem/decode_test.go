package problem

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// Containers go to the application that has them there already.
func TestDecodePrefersWhatIsHeld(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.5, apportion.Placement{Server: 0, Count: 2}), instancetest.LR(0.5, apportion.Placement{Server: 1, Count: 2}))
	p := New(inst)
	best := &Incumbent{Free: []bool{true, true}, On: [][]Slot{{{0, 3}}, {{0, 2}}}}
	want := solver.Counts{{{Server: 0, Count: 3}}, {{Server: 1, Count: 2}}}
	if diff := cmp.Diff(want, p.Decode(best)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A member that can have exactly what it holds comes before others that overlap with it.
func TestDecodeKeepsWholeApplications(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.125, apportion.Placement{Server: 0, Count: 2}), instancetest.LR(0.25, apportion.Placement{Server: 0, Count: 2}))
	best := &Incumbent{Free: []bool{true, true}, On: [][]Slot{{{0, 2}}, {{0, 1}}}}
	want := solver.Counts{{{Server: 1, Count: 1}}, {{Server: 0, Count: 2}}}
	if diff := cmp.Diff(want, New(inst).Decode(best)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
