// This file keeps what HiGHS has found while it still searches: for the log, and for a caller that
// leaves before the search has ended.

package ortools

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/apportion/apportion/alloc/milp"
)

// highsReport is a line of HiGHS' log (nodes < 0), or the state of an integer search, with objective and bound of the minimised
// model.
type highsReport struct {
	nodes            int64
	objective, bound float64
	text             string
}

// highsFound is the best point and bound of a search so far, of the minimised objective. HiGHS' thread
// writes it, and the caller reads it when it leaves; from then on nothing is handed to the log.
type highsFound struct {
	columns int
	sign    float64
	log     func(milp.Progress) // nil: none

	// mu guards what is below, and the calls of log.
	mu     sync.Mutex
	left   bool
	bound  float64
	values []float64 // nil: no point
}

// newHighsFound begins with nothing: no point, and the bound that says nothing.
func newHighsFound(model *milp.Model, log func(milp.Progress)) *highsFound {
	return &highsFound{columns: model.Variables(), sign: direction(model), log: log, bound: math.Inf(-1)}
}

// setBound takes a bound down. Bounds only grow: one that was proven once stays so.
func (f *highsFound) setBound(bound float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bound = math.Max(f.bound, bound)
}

// setPoint copies a point that is better than those before.
func (f *highsFound) setPoint(values []float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// The slice belongs to HiGHS and is overwritten by its next point.
	f.values = slices.Clone(values)
}

// report hands a report to the log, one at a time.
// The log is called under the lock, on HiGHS' thread: a log that blocks holds up the search, and the
// caller who wants to leave it.
func (f *highsFound) report(r highsReport) {
	if f.log == nil {
		return
	}
	// A line of text knows no numbers: NaN and an infinite bound stand for that.
	progress := milp.Progress{Objective: math.NaN(), Bound: f.sign * math.Inf(-1), Text: strings.TrimRight(r.text, "\n")}
	if r.nodes >= 0 {
		progress.Nodes, progress.Bound = r.nodes, f.sign*r.bound
		// HiGHS says infinite where it has no point yet.
		if !math.IsInf(r.objective, 0) {
			progress.Objective = f.sign * r.objective
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// After leave the caller may have returned: its log must not be called any more.
	if !f.left {
		f.log(progress)
	}
}

// leave returns the answer of a search that goes on without its caller: the best so far, as if it had been interrupted. What
// HiGHS finds afterwards is noted and read by nobody.
// The clone that setPoint made is handed out: later points are clones of their own.
func (f *highsFound) leave() highsAnswer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = true
	return highsAnswer{status: highsInterrupt, bound: f.bound, values: f.values}
}
