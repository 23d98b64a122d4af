// This file tells the story of [Dorm] Fig. 5: a third application arrives in a cluster of three.

// Quickstart answers: who gets what, and where? It also prints what to do to get there, and why nobody gets
// more.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run asks and prints. app-1 and app-2 are running; app-3 needs the GPUs of slave-1, which is full.
// The numbers are those of the paper's figure.
func run(w io.Writer) error {
	// Quantities are whole numbers in the caller's own units: here CPUs, GPUs and gigabytes, in the order
	// of Kinds.
	problem := &alloc.Problem{
		Kinds: apportion.Kinds{"cpu", "gpu", "memory"},
		Servers: []apportion.Server{
			{ID: "slave-1", Capacity: apportion.Resources{6, 2, 48}},
			{ID: "slave-2", Capacity: apportion.Resources{4, 0, 32}},
			{ID: "slave-3", Capacity: apportion.Resources{4, 0, 32}},
		},
		Applications: []alloc.Application{
			{ID: "app-1", Executor: "MxNet", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 0, 8}, Max: 6, Min: 1}},
			{ID: "app-2", Executor: "TensorFlow", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 0, 8}, Max: 8, Min: 1},
				Resume: []string{"resume.sh"}},
			// Weight 2 makes a share twice as large as the others' due. Min and Max bound the containers.
			{ID: "app-3", Executor: "MPI-Caffe", Weight: 2, Form: alloc.Form{Demand: apportion.Resources{1, 1, 8}, Max: 5, Min: 1},
				Start: []string{"start.sh"}},
		},
		// Who is not in Previous is new, and starts instead of being adjusted.
		Previous: alloc.Allocation{
			"app-1": {"slave-1": 2, "slave-2": 4},
			"app-2": {"slave-1": 4, "slave-3": 4},
		},
		Theta1: 0.1, // tolerate that a tenth of all shares is lost
		Theta2: 0.1, // adjust one running application in ten, rounded up
		// The paper's restarts have no price; without this one costs an eighth of what an application has.
		Options: alloc.Options{RestartCost: new(float64)},
	}
	// nil is the built-in solver. The context could end the search early; the decision would say so.
	decision, err := alloc.Reallocate(context.Background(), problem, nil)
	if err != nil {
		return err
	}
	// Status says how the search ended, and the bound how much better any answer could be.
	fmt.Fprintf(w, "%s: utilization %.4g, at most %.4g is possible\n\n", decision.Status, decision.Objective, decision.Bound)
	// Shares come in the order of the applications.
	printAllocation(w, problem, decision)
	// The plan leads from Previous to the new allocation, in an order that always fits.
	printPlan(w, alloc.NewPlan(problem, decision.Allocation))
	explanation, err := alloc.Explain(problem, decision)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nwhy not more:\n%s", explanation)
	return nil
}

// printAllocation prints a line for each application: its shares and its containers by server.
// A share is the part of the cluster's resource of which an application has most.
func printAllocation(w io.Writer, problem *alloc.Problem, decision *alloc.Decision) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\tshare\tfair share")
	for _, server := range problem.Servers {
		fmt.Fprint(table, "\t", server.ID)
	}
	fmt.Fprintln(table)
	for _, share := range decision.Shares {
		fmt.Fprintf(table, "%s\t%.4f\t%.4f", share.ID, share.Actual, share.Theoretical)
		for _, server := range problem.Servers {
			// A server or an application that is not in the map counts as 0.
			before, after := problem.Previous[share.ID][server.ID], decision.Allocation[share.ID][server.ID]
			fmt.Fprintf(table, "\t%d", after)
			if after != before {
				fmt.Fprintf(table, " (was %d)", before)
			}
		}
		fmt.Fprintln(table)
	}
	// The errors of writing show at the last line that is written.
	table.Flush()
}

// printPlan prints a line for each step, with the command that the application brought along.
// Steps that are the application's own, such as save and resume, have no server.
func printPlan(w io.Writer, plan *alloc.Plan) {
	fmt.Fprintln(w, "\nplan:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, step := range plan.Steps {
		fmt.Fprintf(table, "%d\t%s\t%s", i+1, step.Action, step.Application)
		// Steps of containers name a server.
		if step.Containers > 0 {
			fmt.Fprintf(table, "\t%d on %s", step.Containers, step.Server)
		}
		// Only start and resume have a command.
		if len(step.Command) > 0 {
			fmt.Fprintf(table, "\t%s", strings.Join(step.Command, " "))
		}
		fmt.Fprintln(table)
	}
	table.Flush()
}
