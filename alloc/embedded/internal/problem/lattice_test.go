package problem

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
)

// The lattice step divides every utilization: values are whole multiples of it, and there is no larger
// one.
func TestLatticeStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(instancetest.Tiny(draws(t)))
		if len(p.Types) == 0 {
			t.Skip("no types")
		}
		step := p.latticeStep()
		all := int64(0)
		for _, typ := range p.Types {
			if typ.Value == 0 {
				continue
			}
			n := math.Round(typ.Value / step)
			if math.Abs(n*step-typ.Value) > 1e-9 {
				t.Fatalf("step %g, value %g", step, typ.Value)
			}
			all = gcd(all, int64(n))
		}
		if all > 1 {
			t.Fatalf("step %g could be %d times as large", step, all)
		}
	})
	inst := instancetest.Worked(instancetest.LR(0.75))
	inst.Apps[0].Value = math.Pi / 30
	if step := New(inst).latticeStep(); step != 0 {
		t.Errorf("values that follow from no demand have step %g", step)
	}
}
