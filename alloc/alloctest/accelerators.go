// This file draws jobs that may run on either of two kinds of accelerators, with options of one application each.

package alloctest

import (
	"math"
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Accelerators draws jobs for servers of four accelerators, by turns of an old kind and of a new one. Every job may use
// either, an accelerator a container, up to 16 of them: it has two entries in Apps, and a Choice. A new accelerator is
// 1.2 to 4 times as fast as an old one, and the worth of a job is its weight times the logarithm of its speed-up by
// Amdahl's law. With previous all but the last two run, on the kind where there was room, and may stay. A third of the
// jobs must run.
func Accelerators(seed uint64, servers, apps int, previous bool) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 0xacce1))
	inst := &solver.Instance{Total: apportion.Resources{0, 0}, LossBudget: float64(apps), AdjustBudget: int64(apps+9) / 10}
	for j := range servers {
		inst.Capacity = append(inst.Capacity, apportion.Resources{4 * int64(1-j%2), 4 * int64(j%2)})
		inst.Total[j%2] += 4
	}
	// left is what the applications before have left of each server. Servers of even positions have the old kind.
	left := make([]int64, servers)
	for j := range left {
		left[j] = 4
	}
	for i := range apps {
		weight, serial, faster := math.Exp(2*r.Float64()-1), math.Exp(-5*r.Float64())/2, 1.2+2.8*r.Float64()
		most, runs := int64(1+r.IntN(16)), -1
		if previous && i < apps-2 {
			runs = r.IntN(2)
		}
		// Both entries have the same maximum and share, as options of one application do; Elective says that either may
		// be the one without containers.
		choice := solver.Choice{Apps: []int{2 * i, 2*i + 1}, Required: r.IntN(3) == 0}
		for kind := range 2 {
			app := solver.App{Demand: apportion.Resources{0, 0}, Max: most, Elective: true, Cost: 1, Share: 1 / float64(apps)}
			app.Demand[kind] = 1
			if inst.Total[kind] > 0 {
				app.Delta = 1 / float64(inst.Total[kind])
			}
			// Amdahl's law: the serial part takes as long on any number.
			for n := range most {
				speed := 1 / (serial + (1-serial)/float64(n+1))
				if kind == 1 {
					speed *= faster
				}
				app.Worth = append(app.Worth, weight*math.Log(1+speed))
			}
			if kind == runs {
				hold(&app, kind, left, int64(1+r.IntN(4)))
				app.Stay = 0.1 * weight * r.Float64()
			}
			if !app.Running {
				app.Stay = 0
			}
			inst.Apps = append(inst.Apps, app)
		}
		inst.Choices = append(inst.Choices, choice)
	}
	return inst
}

// hold lets an application run with up to n containers, and its maximum, on servers of its kind that have some left: those
// at positions kind, kind+2 and so on, the first ones first. left is charged with them.
func hold(app *solver.App, kind int, left []int64, n int64) {
	n = min(n, app.Max)
	for j := kind; j < len(left) && n > 0; j += 2 {
		if count := min(n, left[j]); count > 0 {
			app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: count})
			left[j] -= count
			n -= count
		}
	}
	app.Running = len(app.Previous) > 0
}
