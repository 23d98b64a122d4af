// This file holds Options: limits, gaps, tolerances and the rest of what a caller may ask of a search.

package milp

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
)

// The defaults of a search.
const (
	// DefaultRelativeGap asks for proof: what is left is rounding.
	DefaultRelativeGap = 1e-9
	// DefaultAbsoluteGap asks for proof also where the objective is near 0.
	DefaultAbsoluteGap = 1e-9
	// DefaultFeasibilityTolerance is what a row or a bound may be missed by, relative to the larger
	// of 1 and the bound's size. It is the default of the usual solvers.
	DefaultFeasibilityTolerance = 1e-6
	// DefaultIntegralityTolerance is how far from a whole number a back-end may leave an integer
	// variable. It is the default of the usual solvers.
	DefaultIntegralityTolerance = 1e-6
	// maxTolerance is the largest tolerance that may be asked for; beyond it, 0 and 1 blur.
	maxTolerance = 1e-2
)

// Progress is one report of a running search.
type Progress struct {
	// Nodes counts the subproblems solved so far.
	Nodes int64
	// Objective is that of the best point so far, NaN where there is none; Bound as in Solution.
	Objective, Bound float64
	// Text is a line of the back-end's own log; empty where it reports numbers only.
	Text string
}

// Options says when to stop and how to search. The zero value, and nil, ask for the proven optimum
// with one worker and without any limit.
type Options struct {
	// TimeLimit ends the search after this much time; 0: no limit.
	TimeLimit time.Duration
	// NodeLimit ends the search after this many subproblems; 0: no limit.
	NodeLimit int64
	// MemoryLimitBytes ends the search when it holds this much; 0: no limit.
	MemoryLimitBytes int64
	// RelativeGap and AbsoluteGap: the search is over when |Objective - Bound| is at most
	// RelativeGap*|Bound| or at most AbsoluteGap. 0: the default.
	RelativeGap, AbsoluteGap float64
	// FeasibilityTolerance and IntegralityTolerance, in (0, 0.01]; 0: the default.
	FeasibilityTolerance, IntegralityTolerance float64
	// Workers is the number of threads; 0: 1.
	Workers int
	// Seed varies the choices of a search; 0 is the back-end's usual search.
	Seed int64
	// Log is called now and then from the goroutine of the search, which waits for it; nil: none.
	Log func(Progress)
	// Hint is a starting point: one value a variable, NaN for a variable without. It need not be
	// feasible or complete. nil: none.
	Hint []float64
}

// GapToObjective returns RelativeGap for a back-end that counts gaps in parts of the objective, as most
// do: where |Objective - Bound| is at most that part of |Objective|, it is at most RelativeGap*|Bound|.
// Let g be RelativeGap and h = g/(1+g). From |Obj - Bound| <= h|Obj| follows |Obj| <= |Bound| +
// h|Obj|, so |Obj| <= |Bound|/(1-h) = (1+g)|Bound|, and |Obj - Bound| <= h(1+g)|Bound| = g|Bound|.
func (o *Options) GapToObjective() float64 { return o.RelativeGap / (1 + o.RelativeGap) }

// needs returns the capabilities that the options call for. The defaults must be filled in.
func (o *Options) needs() Capability {
	// A default needs no capability: a back-end that cannot set its gap proves optimality, which
	// is what the default asks.
	var needs Capability
	// add notes what is asked for; one line for each option keeps the list in view.
	add := func(asked bool, c Capability) {
		if asked {
			needs |= c
		}
	}
	add(o.TimeLimit > 0, CanTimeLimit)
	add(o.NodeLimit > 0, CanNodeLimit)
	add(o.MemoryLimitBytes > 0, CanMemoryLimit)
	add(o.RelativeGap != DefaultRelativeGap || o.AbsoluteGap != DefaultAbsoluteGap, CanGaps)
	add(o.FeasibilityTolerance != DefaultFeasibilityTolerance ||
		o.IntegralityTolerance != DefaultIntegralityTolerance, CanTolerances)
	add(o.Workers > 1, CanWorkers)
	add(o.Seed != 0, CanSeed)
	add(o.Log != nil, CanLog)
	add(o.Hint != nil, CanHint)
	return needs
}

// complete returns a copy of the options with every default filled in, or every fault.
func (o *Options) complete(m *Model) (*Options, error) {
	// A copy: the caller's options are never written to, and the solver gets the copy.
	full := Options{}
	// nil options are the zero value, whose every field means its default.
	if o != nil {
		full = *o
	}
	var faults apportion.Faults
	// A negative limit is no "no limit" here: it is more likely a subtraction gone wrong.
	for _, limit := range []struct {
		field string
		value int64
	}{
		{"TimeLimit", int64(full.TimeLimit)}, {"NodeLimit", full.NodeLimit},
		{"MemoryLimitBytes", full.MemoryLimitBytes}, {"Workers", int64(full.Workers)},
	} {
		if limit.value < 0 {
			faults.Add(apportion.Item{ID: "options"}, limit.field, apportion.ErrNegative, strconv.FormatInt(limit.value, 10))
		}
	}
	fill(&faults, "RelativeGap", &full.RelativeGap, DefaultRelativeGap)
	fill(&faults, "AbsoluteGap", &full.AbsoluteGap, DefaultAbsoluteGap)
	fill(&faults, "FeasibilityTolerance", &full.FeasibilityTolerance, DefaultFeasibilityTolerance)
	fill(&faults, "IntegralityTolerance", &full.IntegralityTolerance, DefaultIntegralityTolerance)
	checkTolerance(&faults, "FeasibilityTolerance", full.FeasibilityTolerance)
	checkTolerance(&faults, "IntegralityTolerance", full.IntegralityTolerance)
	checkHint(&faults, full.Hint, m)
	// Back-ends get their own hint, so that one that writes into it does not reach the caller's.
	full.Hint = slices.Clone(full.Hint)
	full.Workers = max(full.Workers, 1)
	return &full, faults.Err()
}

// fill replaces 0 by the default, and reports what is negative or not finite.
func fill(faults *apportion.Faults, field string, value *float64, otherwise float64) {
	switch {
	// NaN comes first: it compares false with everything below and would slip through.
	case math.IsNaN(*value) || math.IsInf(*value, 0):
		faults.Add(apportion.Item{ID: "options"}, field, apportion.ErrNotFinite, formatNumber(*value))
	case *value < 0:
		faults.Add(apportion.Item{ID: "options"}, field, apportion.ErrNegative, formatNumber(*value))
	case *value == 0:
		*value = otherwise
	}
}

// checkTolerance adds a tolerance above the largest that may be asked for.
func checkTolerance(faults *apportion.Faults, field string, value float64) {
	// fill has reported an infinite one already: one fault, one report.
	if value > maxTolerance && !math.IsInf(value, 1) {
		faults.Add(apportion.Item{ID: "options"}, field, apportion.ErrRange, fmt.Sprintf("%g > %g", value, maxTolerance))
	}
}

// checkHint adds a starting point of the wrong length, or with an infinite value.
func checkHint(faults *apportion.Faults, hint []float64, m *Model) {
	// A hint of the wrong length belongs to another model; looking at its values would mislead.
	if hint != nil && len(hint) != m.Variables() {
		faults.Add(apportion.Item{ID: "options"}, "Hint", apportion.ErrLength,
			fmt.Sprintf("%d values for %d variables", len(hint), m.Variables()))
		return
	}
	for j, value := range hint {
		// NaN means "no value for this one" and is fine.
		if math.IsInf(value, 0) {
			faults.Add(apportion.Item{ID: "options"}, "Hint["+m.VariableName(j)+"]", apportion.ErrNotFinite, formatNumber(value))
		}
	}
}
