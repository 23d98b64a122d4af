// This file holds the checks of searches that are cut short.

package milptest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/apportion/apportion/alloc/milp"
)

// The market split problem of this size keeps solvers busy for minutes at least: five products,
// fifty customers ([CornuejolsDawande98]).
const (
	// The source takes 10 (products - 1) customers; ten more make the enumeration a thousand times
	// longer.
	products  = 5
	customers = 50
)

// marketSplit returns the problem of splitting customers in two halves by every product. With
// slack, a difference is allowed and minimised, so that every split is feasible.
func marketSplit(slack bool) *milp.Model {
	random := rand.New(rand.NewPCG(1998, products))
	b := milp.NewBuilder("market split")
	half := make([]milp.Var, customers)
	for k := range half {
		half[k] = b.Binary("")
	}
	var cost []milp.Term
	for range products {
		var terms []milp.Term
		// total is the demand for this product; each half of the customers is to have total/2 of
		// it.
		total := 0
		for _, x := range half {
			demand := random.IntN(100)
			total += demand
			terms = append(terms, milp.Term{Var: x, Coef: float64(demand)})
		}
		// more and less are what the split misses the half by. Their bounds are the total, which
		// no split can exceed.
		if slack {
			more, less := b.Integer(0, float64(total), ""), b.Integer(0, float64(total), "")
			terms = append(terms, milp.Term{Var: more, Coef: 1}, milp.Term{Var: less, Coef: -1})
			cost = append(cost, milp.Term{Var: more, Coef: 1}, milp.Term{Var: less, Coef: 1})
		}
		// Without slack the solutions, if there are any, are so few among 2^50 splits that no
		// search comes upon one in the time of a check.
		b.Equal("", terms, float64(total/2))
	}
	// Without slack cost is empty: any split would do.
	b.Minimize(cost, 0)
	model, err := b.Build()
	if err != nil {
		panic("milptest: " + err.Error())
	}
	return model
}

// limitChecks covers each limit, with and without a feasible point, and cancellation.
func limitChecks() []check {
	// Long enough for a first point where every split is one, and short enough for a suite with
	// several such waits.
	soon := 300 * time.Millisecond
	return []check{
		{"limit/nodes, no solution", milp.CanInteger | milp.CanNodeLimit,
			limited(false, &milp.Options{NodeLimit: 1})},
		{"limit/nodes, solution", milp.CanInteger | milp.CanNodeLimit,
			limited(true, &milp.Options{NodeLimit: 500})},
		{"limit/time, no solution", milp.CanInteger | milp.CanTimeLimit,
			limited(false, &milp.Options{TimeLimit: soon})},
		{"limit/time, solution", milp.CanInteger | milp.CanTimeLimit,
			limited(true, &milp.Options{TimeLimit: soon})},
		{"limit/memory", milp.CanInteger | milp.CanMemoryLimit,
			limited(false, &milp.Options{MemoryLimitBytes: 1})},
		{"cancel/before the start", milp.CanInteger | milp.CanInterrupt,
			func(ctx context.Context, solver milp.Solver) error { return cancelled(ctx, solver, 0) }},
		{"cancel/in the middle", milp.CanInteger | milp.CanInterrupt,
			func(ctx context.Context, solver milp.Solver) error { return cancelled(ctx, solver, soon) }},
	}
}

// limited solves the market split and expects that the limit ends the search.
func limited(slack bool, opts *milp.Options) func(context.Context, milp.Solver) error {
	return func(ctx context.Context, solver milp.Solver) error {
		start := time.Now()
		got, err := milp.Solve(ctx, solver, marketSplit(slack), opts)
		if err != nil {
			return err
		}
		// Machines that run tests are loaded, so a limit is kept within Patience, not to the
		// millisecond.
		if took := time.Since(start); opts.TimeLimit > 0 && took > opts.TimeLimit+Patience {
			return fmt.Errorf("returned after %v", took)
		}
		// Engines look at the limit between batches of nodes; twice the limit is lenient to them,
		// and still a limit.
		if opts.NodeLimit > 0 && got.Nodes > 2*opts.NodeLimit+10 {
			return fmt.Errorf("%d nodes with a limit of %d", got.Nodes, opts.NodeLimit)
		}
		// Without slack no point is found in this time, with it every split is one.
		want := milp.LimitReached
		if slack {
			want = milp.Feasible
		}
		if got.Status != want {
			return fmt.Errorf("status %v (%s), want %v", got.Status, got.Reason, want)
		}
		return nil
	}
}

// cancelled ends the context of a search after that time; 0: before it starts.
// A scheduler has a deadline for each decision, so that this is the limit that matters most.
func cancelled(ctx context.Context, solver milp.Solver, after time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// An ended context must give Cancelled without a search, see milp.Solve.
	if after == 0 {
		cancel()
	} else {
		defer time.AfterFunc(after, cancel).Stop()
	}
	start := time.Now()
	got, err := milp.Solve(ctx, solver, marketSplit(true), nil)
	if err != nil {
		return err
	}
	if took := time.Since(start); took > after+Patience {
		return fmt.Errorf("returned %v after the cancellation", took-after)
	}
	if got.Status != milp.Cancelled {
		return fmt.Errorf("status %v (%s), want cancelled", got.Status, got.Reason)
	}
	// A back-end that has a point and drops it when it is cancelled would be useless under a
	// deadline.
	if after > 0 && !got.HasSolution() {
		return fmt.Errorf("no solution after %v, where every split is one", after)
	}
	return nil
}
