// This program turns a decision into the steps that carry it out, [Dorm §III-C].

// Plan answers: what must stop and start?
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "plan:", err)
		os.Exit(1)
	}
}

// run lets a third application into a cluster that two others fill.
func run(w io.Writer) error {
	// One kind of resource keeps the numbers small: eight GPUs, all of them in use.
	problem := &alloc.Problem{
		Kinds: apportion.Kinds{"gpu"},
		Servers: []apportion.Server{
			{ID: "node-1", Capacity: apportion.Resources{4}},
			{ID: "node-2", Capacity: apportion.Resources{4}},
		},
		Applications: []alloc.Application{
			{ID: "bert", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}, Resume: []string{"resume.sh", "bert"}},
			{ID: "gru", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 4}},
			{ID: "vae", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 2}, Start: []string{"start.sh", "vae"}},
		},
		// Previous is what runs now, application by server. vae is not in it, so it is new.
		Previous: alloc.Allocation{"bert": {"node-1": 4, "node-2": 1}, "gru": {"node-2": 3}},
		// One running application in two may be adjusted; which one is the optimizer's choice.
		Theta1: 0.2, Theta2: 0.5,
	}
	// The decision says who has how many containers where from now on, and nothing of how to get there.
	decision, err := alloc.Reallocate(context.Background(), problem, nil)
	if err != nil {
		return err
	}
	for _, share := range decision.Shares {
		// Containers sums over the servers.
		fmt.Fprintf(w, "%-5s had %d, gets %d", share.ID, problem.Previous.Containers(share.ID), share.Containers)
		if share.Adjusted {
			fmt.Fprint(w, ": saved, stopped and resumed")
		}
		fmt.Fprintln(w)
	}

	// The order is safe: no server ever holds more than before or after, and state is saved before
	// anything of it stops.
	fmt.Fprintln(w)
	// A plan is data, too: a scheduler hands each step to the agent of a server. Save and resume stand
	// around whatever an application loses.
	for i, step := range alloc.NewPlan(problem, decision.Allocation).Steps {
		// Steps are numbered in the order in which they may be carried out.
		fmt.Fprintf(w, "%d. %s %s", i+1, step.Action, step.Application)
		if step.Containers > 0 {
			fmt.Fprintf(w, ": %d on %s", step.Containers, step.Server)
		}
		// The commands are those of the problem, carried along as they are.
		if len(step.Command) > 0 {
			fmt.Fprintf(w, ": %s", strings.Join(step.Command, " "))
		}
		fmt.Fprintln(w)
	}
	return nil
}
