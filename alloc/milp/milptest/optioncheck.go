// This file holds the checks of options: hints, gaps, logs, refusals.

package milptest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/apportion/apportion/alloc/milp"
)

// knapsack returns max 8a + 11b + 6c + 4d with 5a + 7b + 4c + 3d <= 14 over bits: 21 at (0,1,1,1).
// The optimum is the only one, and the relaxation takes another point, (1, 1, 1/2, 0): a search
// has to branch.
func knapsack() *milp.Model {
	model, err := build("knapsack", func(b *milp.Builder) {
		x := []milp.Var{b.Binary("a"), b.Binary("b"), b.Binary("c"), b.Binary("d")}
		b.AtMost("weight", sum(x, 5, 7, 4, 3), 14)
		b.Maximize(sum(x, 8, 11, 6, 4), 0)
	})
	if err != nil {
		panic("milptest: " + err.Error())
	}
	return model
}

// optionChecks covers every option that is not a limit.
func optionChecks() []check {
	nan := math.NaN()
	all := []check{
		{"option/invalid", milp.CanInteger, invalid},
		{"option/refusals", milp.CanInteger, refusals},
		{"option/log", milp.CanInteger | milp.CanLog, logged},
		{"option/gap", milp.CanInteger | milp.CanGaps, gap},
		{"option/concurrent", milp.CanInteger, concurrent},
	}
	// None of these options may change the answer, however bad the advice is. The foolish hint is
	// beyond the bounds, fractional, huge, and missing.
	for name, opts := range map[string]milp.Options{
		"optimal hint":    {Hint: []float64{0, 1, 1, 1}},
		"feasible hint":   {Hint: []float64{1, 0, 0, 0}},
		"partial hint":    {Hint: []float64{nan, 1, nan, nan}},
		"infeasible hint": {Hint: []float64{1, 1, 1, 1}},
		"foolish hint":    {Hint: []float64{-7, 0.5, 1e15, nan}},
		"tolerances":      {FeasibilityTolerance: 1e-7, IntegralityTolerance: 1e-7},
		"workers":         {Workers: 2},
		"seed":            {Seed: 42},
	} {
		all = append(all, check{"option/" + name, milp.CanInteger | needsOf(opts), func(ctx context.Context, solver milp.Solver) error {
			return stillRight(ctx, solver, opts)
		}})
	}
	// Maps have no order; the names of sub-tests are to be the same in every run.
	slices.SortFunc(all[5:], func(x, y check) int { return strings.Compare(x.name, y.name) })
	return all
}

// needsOf returns the capabilities that these options call for.
func needsOf(opts milp.Options) milp.Capability {
	switch {
	case opts.Hint != nil:
		return milp.CanHint
	case opts.Workers > 1:
		return milp.CanWorkers
	case opts.Seed != 0:
		return milp.CanSeed
	}
	return milp.CanTolerances
}

// stillRight solves the knapsack under options that must not change the answer, and checks that
// the options are left alone.
func stillRight(ctx context.Context, solver milp.Solver, opts milp.Options) error {
	// milp.Solve hands out a copy, so a change of the caller's hint would be a fault of Solve;
	// this check sees either.
	before := slices.Clone(opts.Hint)
	got, err := milp.Solve(ctx, solver, knapsack(), &opts)
	if err != nil {
		return err
	}
	for j, x := range before {
		// NaN differs from itself and stands for "no value".
		if x != opts.Hint[j] && !math.IsNaN(x) {
			return fmt.Errorf("the hint was changed to %v", opts.Hint)
		}
	}
	return oneCase{want: milp.Optimal, objective: 21, values: []float64{0, 1, 1, 1}}.compare(got)
}

// invalid expects bad options to be refused with the status Invalid.
// They never reach a back-end: the check is that milp.Solve stands before it.
func invalid(ctx context.Context, solver milp.Solver) error {
	// One fault of each sort: negative counts, a number that is none, a hint for another model.
	for _, opts := range []milp.Options{
		{NodeLimit: -1}, {TimeLimit: -1}, {RelativeGap: math.NaN()}, {Hint: []float64{1}},
	} {
		got, err := milp.Solve(ctx, solver, knapsack(), &opts)
		if err == nil || got.Status != milp.Invalid {
			return fmt.Errorf("options %+v: status %v, error %v, want invalid and an error", opts, got.Status, err)
		}
	}
	return nil
}

// refusals asks for everything that the back-end does not claim; each must be a CapabilityError.
// CanInteger, CanContinuous, CanInfiniteBounds and CanInterrupt belong to models and contexts, not
// to options.
func refusals(ctx context.Context, solver milp.Solver) error {
	lacks := milp.CanEverything &^ milp.Capabilities(solver)
	for capability, opts := range map[milp.Capability]milp.Options{
		milp.CanTimeLimit: {TimeLimit: 1e9}, milp.CanNodeLimit: {NodeLimit: 9}, milp.CanMemoryLimit: {MemoryLimitBytes: 9},
		milp.CanGaps: {RelativeGap: 0.1}, milp.CanTolerances: {FeasibilityTolerance: 1e-7}, milp.CanWorkers: {Workers: 2},
		milp.CanSeed: {Seed: 1}, milp.CanLog: {Log: func(milp.Progress) {}}, milp.CanHint: {Hint: make([]float64, 4)},
	} {
		if capability&lacks == 0 {
			continue
		}
		_, err := milp.Solve(ctx, solver, knapsack(), &opts)
		var refusal *milp.CapabilityError
		// Exactly that capability must be missing: one that is refused together with others was
		// not looked at by itself.
		if !errors.As(err, &refusal) || refusal.Missing != capability {
			return fmt.Errorf("%v is not claimed, but the error is %v", capability, err)
		}
	}
	return nil
}

// logged expects at least one call of the log.
// The log is called from the goroutine of the search, which has ended when Solve returns: calls
// needs no lock.
func logged(ctx context.Context, solver milp.Solver) error {
	calls := 0
	opts := &milp.Options{Log: func(milp.Progress) { calls++ }}
	if _, err := milp.Solve(ctx, solver, knapsack(), opts); err != nil {
		return err
	}
	// How often a back-end reports is its own business, but a search must not stay silent from
	// start to end.
	if calls == 0 {
		return errors.New("the log was never called")
	}
	return nil
}

// gap asks for half the optimum: the search may end early, and must say that this is what was asked for.
func gap(ctx context.Context, solver milp.Solver) error {
	got, err := milp.Solve(ctx, solver, knapsack(), &milp.Options{RelativeGap: 0.5})
	if err != nil {
		return err
	}
	// The knapsack's relaxation is worth 22, so a point worth 11 suffices, which the item b alone
	// is. That an optimal answer keeps the gap is the referee's care, in milp.Solve; an engine that
	// ends by its gap and calls that a limit is ours.
	if got.Status != milp.Optimal {
		return fmt.Errorf("status %v with gap %g, want optimal within 0.5", got.Status, got.Gap())
	}
	return nil
}

// concurrent solves the knapsack four times at once with one back-end.
// A scheduler of several clusters has one back-end and many goroutines.
func concurrent(ctx context.Context, solver milp.Solver) error {
	var (
		group sync.WaitGroup
		errs  [4]error
	)
	// A back-end holds no state: four searches at once must not meet, which the race detector sees
	// as well.
	for k := range errs {
		group.Go(func() { errs[k] = stillRight(ctx, solver, milp.Options{}) })
	}
	group.Wait()
	return errors.Join(errs[:]...)
}
