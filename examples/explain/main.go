// This program explains a decision: what stops each application, and what one more unit is worth.

// Explain answers: why did I not get more?
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "explain:", err)
		os.Exit(1)
	}
}

// run decides about three applications of which each is stopped by something else.
func run(w io.Writer) error {
	// A problem is all that the optimizer is told: servers, applications, what runs now, and two
	// thresholds.
	problem := &alloc.Problem{
		Kinds: apportion.Kinds{"gpu", "cpu"},
		Servers: []apportion.Server{
			{ID: "node-1", Capacity: apportion.Resources{4, 32}},
			// The second server has no GPU, so that CPUs alone are left there.
			{ID: "node-2", Capacity: apportion.Resources{0, 32}},
		},
		Applications: []alloc.Application{
			{ID: "resnet", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 4}, Min: 1, Max: 8}},   // GPUs run out
			{ID: "word2vec", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{0, 4}, Min: 1, Max: 3}}, // has its maximum
			{ID: "xgboost", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{0, 6}, Min: 1, Max: 20}}, // CPUs run out
		},
		// Theta1 bounds how unfair the outcome may be, Theta2 how many running applications may be
		// disturbed; both are parts of the most that is possible.
		Theta1: 0.5, Theta2: 0.5,
	}
	// The last argument is the solver; nil takes the one that is built in, which needs no library.
	decision, err := alloc.Reallocate(context.Background(), problem, nil)
	if err != nil {
		return err
	}
	// An explanation needs the problem and the decision and nothing else, so that it can be made later, or
	// elsewhere.
	explanation, err := alloc.Explain(problem, decision)
	if err != nil {
		return err
	}

	// The whole, as a person reads it.
	fmt.Fprint(w, explanation)

	// The same as data: what stands in the way, with the numbers behind it.
	fmt.Fprintln(w, "\nas data:")
	for _, stop := range explanation.Applications {
		fmt.Fprintf(w, "  %s: %s", stop.ID, stop.Constraint)
		if stop.Kind != "" {
			fmt.Fprintf(w, " of %s: needs %g, has %g", stop.Kind, stop.Need, stop.Have)
		}
		fmt.Fprintln(w)
	}

	// Prices say what to buy: the worth of one more unit of each kind, in utilization.
	fmt.Fprintln(w, "\nwhat one more unit would bring at most:")
	// A price of 0 says that more of it would bring nothing.
	for _, kind := range explanation.Kinds {
		fmt.Fprintf(w, "  %-4s %.3f on %s\n", kind.Kind, kind.Highest, kind.Server)
	}
	return nil
}
