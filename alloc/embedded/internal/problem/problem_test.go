package problem

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
)

// Servers that hold as much of each type are one shape, however they differ in what nobody can use.
func TestShapes(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.5), instancetest.NN(0.5))
	inst.Capacity = append(inst.Capacity, apportion.Resources{4, 0, 17}, apportion.Resources{4, 0, 7}, apportion.Resources{4, 0, 17})
	p := New(instancetest.Finish(inst))
	if diff := cmp.Diff([]int32{0, 1, 1, 2, 1}, p.ShapeOf); diff != "" || p.shapes != 3 || len(p.Fits) != 3*len(p.Types) {
		t.Errorf("%d shapes, %d fits (-want +got):\n%s", p.shapes, len(p.Fits), diff)
	}
	for j := range inst.Capacity {
		for at := range p.Types {
			if want := apportion.Resources(p.DemandOf(int32(at))).CountIn(inst.Capacity[j]); p.Fit(j, int32(at)) != want {
				t.Errorf("server %d holds %d of type %d, want %d", j, p.Fit(j, int32(at)), at, want)
			}
		}
	}
}
