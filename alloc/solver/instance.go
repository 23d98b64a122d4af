// This file holds the Instance: P2 with every name resolved, [Dorm §IV].

package solver

import (
	"slices"

	"github.com/apportion/apportion"
)

// The tolerances of every comparison of sums of float64.
const (
	// LossTolerance is how far the fairness loss may exceed its budget and still count as within
	// it: sums of shares carry rounding errors of about 1e-16 a term.
	LossTolerance = 1e-9
	// ObjectiveTolerance is how far two utilizations may differ and still count as equal. One
	// container of the smallest demand in a cluster of 10^7 units changes it by more.
	ObjectiveTolerance = 1e-9
)

// Instance is one decision to take: servers, the applications A^t, and what runs now.
type Instance struct {
	// Capacity[j][k] is the capacity of server j in kind k. At least one server; every vector has
	// the same length.
	Capacity []apportion.Resources
	// Total[k] is C_k, the sum over all servers.
	Total apportion.Resources
	// Apps lists the applications of A^t in the order of their submission.
	Apps []App
	// LossBudget is the right side of (15), in shares.
	LossBudget float64
	// AdjustBudget is the right side of (16) rounded down, in applications.
	AdjustBudget int64
}

// App is one application of an Instance.
type App struct {
	// Demand of one container, not zero in all kinds.
	Demand apportion.Resources
	// Min and Max bound the number of containers: 0 <= Min <= Max, 1 <= Max.
	Min, Max int64
	// Value is v_i: what one container adds to the utilization (10).
	Value float64
	// Delta is delta_i: the dominant share of one container.
	Delta float64
	// Share is s^_i, the theoretical dominant share.
	Share float64
	// Running says that the application held containers before, so that it is in A^t-1 and a
	// change of its containers counts against AdjustBudget.
	Running bool
	// Displaced says that some of its containers are on a server that is gone: whatever the
	// decision, it is adjusted. Previous then lists the others.
	Displaced bool
	// Previous is where its containers are now, ascending in Server, each Count positive.
	// It may overfill a server that shrank, and its sum may lie outside [Min, Max].
	Previous []apportion.Placement
}

// Counts says where the containers of every application are: Counts[i] is ascending in Server and
// each Count is positive. It is the sparse form of Dorm's x[i][j].
type Counts [][]apportion.Placement

// Containers returns n_i, the number of containers in placed.
func Containers(placed []apportion.Placement) int64 {
	var n int64
	for _, p := range placed {
		n += p.Count
	}
	return n
}

// Loss returns l_i = |delta_i n - share_i|, the fairness loss of the application with n
// containers (2).
func (a *App) Loss(n int64) float64 {
	loss := float64(a.Delta*float64(n)) - a.Share
	if loss < 0 {
		return -loss
	}
	return loss
}

// Adjusted returns whether placed differs from what the application holds now (3). An application
// that was not running is never adjusted.
func (a *App) Adjusted(placed []apportion.Placement) bool {
	return a.Running && (a.Displaced || !SamePlaces(a.Previous, placed))
}

// mayStay reports whether application i can keep exactly what it has, as far as it alone decides.
//
// Other applications may still be in its way on a server that shrank; that is for (6) to say. An
// application that may not stay costs one of AdjustBudget in every solution.
func (inst *Instance) mayStay(i int) bool {
	app := &inst.Apps[i]
	n := Containers(app.Previous)
	tooLarge := func(p apportion.Placement) bool { return p.Count > app.Demand.CountIn(inst.Capacity[p.Server]) }
	return app.Running && !app.Displaced && n >= app.Min && n <= app.Max && !slices.ContainsFunc(app.Previous, tooLarge)
}

// SamePlaces reports whether two placements are the same, container by container.
func SamePlaces(a, b []apportion.Placement) bool {
	if len(a) != len(b) {
		return false
	}
	for s := range a {
		if a[s] != b[s] {
			return false
		}
	}
	return true
}
