// This file tries every allocation of an instance.

// Package p2oracle is the exhaustive twin of every P2 solver: it tries every allocation of a tiny
// instance and compares them literally. It shares nothing with a solver but the definitions of
// package solver, has no bound, no symmetry and no cleverness, and serves tests only.
//
// # Contract
//
// Best is deterministic and takes time exponential in servers x applications. It compares within the tolerances of
// solvers, so that what it puts first may be less than the most by as much for each solution it meets; [Most] knows no
// tolerance.
//
// # References
//
//	[Dorm] P. Sun, Y. Wen, N. B. D. Ta, S. Yan. Towards Distributed Machine Learning in Shared
//	       Clusters: A Dynamically-Partitioned Approach. 2017. (5)-(16).
package p2oracle

import (
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Best returns the allocation that the lexicographic preference of [solver.Rank] puts first and the
// number of allocations that are solutions; nil and 0 where there is none.
func Best(inst *solver.Instance) (solver.Counts, int) {
	// All cells are zero at first; visit fills them from the first to the last and leaves them zero again.
	// The number of cells is servers times applications, and each cell multiplies the cases: a handful of
	// either is the most.
	solutions := 0
	var best solver.Counts
	walkOver(inst, func(counts solver.Counts) {
		solutions++
		// best is the first allocation that nothing has beaten.
		if best == nil || preferred(inst, counts, best) {
			best = counts
		}
	})
	return best, solutions
}

// walk is the state of the search: x is the allocation under way, application by server.
type walk struct {
	inst *solver.Instance
	x    [][]int64
	// met is called with every solution.
	met func(solver.Counts)
}

// walkOver calls met with every solution of inst, in lexicographic order.
func walkOver(inst *solver.Instance, met func(solver.Counts)) {
	w := walk{inst: inst, x: make([][]int64, len(inst.Apps)), met: met}
	for i := range w.x {
		w.x[i] = make([]int64, len(inst.Capacity))
	}
	w.visit(0)
}

// visit tries every value of the cell-th x[i][j] that its server and its application's maximum
// allow by themselves; the first cell changes slowest, so that x comes in lexicographic order.
func (w *walk) visit(cell int) {
	servers := len(w.inst.Capacity)
	if cell == len(w.x)*servers {
		w.judge()
		return
	}
	i, j := cell/servers, cell%servers
	app := &w.inst.Apps[i]
	// From none to all that fit an empty server: what others hold is looked at below.
	for n := range min(app.Max, app.Demand.CountIn(w.inst.Capacity[j])) + 1 {
		w.x[i][j] = n
		if !w.fits(j) {
			// More of the same on this server would not fit either.
			break
		}
		w.visit(cell + 1)
	}
	w.x[i][j] = 0
}

// fits reports whether server j holds what is on it so far.
func (w *walk) fits(j int) bool {
	for k, capacity := range w.inst.Capacity[j] {
		var used int64
		for i := range w.x {
			// (6); cells that come later are zero.
			used += w.x[i][j] * w.inst.Apps[i].Demand[k]
		}
		if used > capacity {
			return false
		}
	}
	return true
}

// judge tells of x if it is a solution.
func (w *walk) judge() {
	counts := make(solver.Counts, len(w.x))
	for i, row := range w.x {
		for j, n := range row {
			if n > 0 {
				counts[i] = append(counts[i], apportion.Placement{Server: j, Count: n})
			}
		}
	}
	// (7)-(9), (15) and (16) as the contract of all solvers states them.
	if w.inst.Check(counts) == nil {
		w.met(counts)
	}
}

// preferred compares the four levels in turn; x itself decides by the order of the visits.
func preferred(inst *solver.Instance, counts, best solver.Counts) bool {
	// (10), then the loss of (2), then (3), then containers moved, as solver.Rank has them.
	if d := inst.Objective(counts) - inst.Objective(best); math.Abs(d) > solver.ObjectiveTolerance {
		return d > 0
	}
	if d := inst.FairnessLoss(counts) - inst.FairnessLoss(best); math.Abs(d) > solver.LossTolerance {
		return d < 0
	}
	if a, b := inst.AdjustedApps(counts), inst.AdjustedApps(best); a != b {
		return a < b
	}
	return inst.Moved(counts) < inst.Moved(best)
}
