package alloctest_test

import (
	"fmt"

	"github.com/apportion/apportion/alloc/alloctest"
)

// The paper's testbed, full, with two newcomers: hand it to a solver.Solver, then verify the answer
// with Check and solver.DualBound.
func ExampleTable2() {
	inst := alloctest.Table2(1, 20, 30, true)
	fmt.Println(inst.Total, len(inst.Apps), inst.LossBudget, inst.AdjustBudget)
	// Output:
	// [240 5 2560] 30 1 3
}

// What a general solver found on an instance of the same kind.
func ExampleReferences() {
	for _, ref := range alloctest.References() {
		if ref.Name == "table2_20x30_prev_0" {
			fmt.Println(ref.Objective, ref.Bound, ref.Relaxed)
		}
	}
	// Output:
	// 2.1234375 2.1234375 false
}
