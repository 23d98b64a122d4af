// This file implements "apportion plan" and "apportion fragmentation": what a decision does step by step, and what is free in pieces.

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/apportion/apportion/alloc"
)

// planOutput is the output of "plan".
type planOutput struct {
	// Restarts is how many running applications are stopped and resumed.
	Restarts int          `json:"restarts"`
	Steps    []alloc.Step `json:"steps"`
}

// answerPlan decides, and answers with the plan alone.
func answerPlan(ctx context.Context, c *command) error {
	problem, decision, err := c.decided(ctx, c.readAsked)
	if err != nil {
		return err
	}
	plan := alloc.NewPlan(problem, decision.Allocation, decision.Shares...)
	return c.present(&planOutput{Restarts: decision.Metrics.Adjusted, Steps: append([]alloc.Step{}, plan.Steps...)})
}

// print writes the output as a table.
func (o *planOutput) print(out io.Writer) error {
	if len(o.Steps) == 0 {
		_, err := fmt.Fprintln(out, "nothing changes")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tstep\tapplication\tserver\tcontainers\tcommand")
	for n, s := range o.Steps {
		containers := ""
		if s.Containers > 0 {
			containers = fmt.Sprint(s.Containers)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", n+1, s.Action, s.Application, s.Server, containers, strings.Join(s.Command, " "))
	}
	fmt.Fprintf(w, "\nrunning applications that restart: %d\n", o.Restarts)
	return w.Flush()
}

// fragmentationOutput is the output of "fragmentation": a report on each kind.
type fragmentationOutput struct {
	Kinds []*alloc.Fragmentation `json:"kinds"`
}

// answerFragmentation measures what runs now, without a decision.
func answerFragmentation(_ context.Context, c *command) error {
	problem, err := c.readAsked()
	if err != nil {
		return err
	}
	out := &fragmentationOutput{Kinds: []*alloc.Fragmentation{}}
	for _, kind := range problem.Kinds {
		f, err := alloc.NewFragmentation(problem, kind, problem.Previous)
		if err != nil {
			return err
		}
		out.Kinds = append(out.Kinds, f)
	}
	return c.present(out)
}

// print writes the output as a table.
func (o *fragmentationOutput) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kind\tfree\tsize\tfit now\tafter moves\tat most\tmoves")
	for _, f := range o.Kinds {
		fmt.Fprintf(w, "%s\t%d", f.Kind, f.Free)
		moves, first := strings.Join(f.Moves, ", "), true
		for _, piece := range f.Fragments {
			if piece.Most == 0 {
				continue // larger than all that is free
			}
			if !first {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprintf(w, "\t%d\t%d\t%d\t%d\t%s\n", piece.Size, piece.Fit, piece.Consolidated, piece.Most, moves)
			moves, first = "", false
		}
		if first {
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}
