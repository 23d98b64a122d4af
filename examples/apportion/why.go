// This file implements "apportion why": what keeps an application from more containers, and which single change would give it some.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// whyOutput is the output of "why": what stops the application, and what would help.
type whyOutput struct {
	alloc.Stop
	// Staying says why it is left on cordoned servers; empty: it is on none.
	Staying string `json:"staying,omitempty"`
	// Starts says when it starts, by replays of the decisions to come; empty: it has containers, or nothing is known of lengths.
	Starts string `json:"starts,omitempty"`
	// Tried is how many changes were tried, Helps has those that give it more, the most first.
	Tried int    `json:"tried"`
	Helps []help `json:"helps"`
}

// help is a change with which the application has more: a decision was taken with it.
type help struct {
	Change     string `json:"change"`
	Containers int64  `json:"containers"`
	// Objective is that of the whole cluster then, Adjusted how many applications are restarted for it.
	Objective float64 `json:"objective"`
	Adjusted  int     `json:"adjusted"`
}

// mostTried is how many servers, and how many other applications, are tried.
const mostTried = 16

// answerWhy reads a problem, or a record, and explains.
func answerWhy(ctx context.Context, c *command) error {
	problem, err := c.readAsked()
	if err != nil {
		return err
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	out, err := why(ctx, problem, c.job, c.decider)
	if err != nil {
		return err
	}
	return c.present(out)
}

// why decides, and once more for each change.
func why(ctx context.Context, p *alloc.Problem, job string, by func() solver.Solver) (*whyOutput, error) {
	o := slices.IndexFunc(p.Applications, func(a alloc.Application) bool { return a.ID == job })
	if o < 0 {
		return nil, &apportion.FieldError{Item: apportion.Item{Kind: "application", ID: job}, Field: "id", Err: apportion.ErrUnknown}
	}
	decision, err := alloc.Reallocate(ctx, p, by())
	if err != nil {
		return nil, err
	}
	explanation, err := alloc.Explain(p, decision)
	if err != nil {
		return nil, err
	}
	out := &whyOutput{Stop: explanation.Applications[o], Helps: []help{}}
	if at := slices.IndexFunc(decision.Staying, func(s alloc.Staying) bool { return s.ID == job }); at >= 0 {
		out.Staying = decision.Staying[at].Reason.Text
	}
	if out.Containers == 0 {
		if out.Starts, err = starts(ctx, p, job); err != nil {
			return nil, err
		}
	}
	for _, tries := range attempts(p, decision, o) {
		for _, a := range tries {
			out.Tried++
			h, err := a.try(ctx, p, job, by())
			if err != nil {
				return nil, err
			}
			// Of one setting the least change that helps is enough.
			if h != nil && h.Containers > decision.Shares[o].Containers {
				out.Helps = append(out.Helps, *h)
				break
			}
		}
	}
	slices.SortStableFunc(out.Helps, func(a, b help) int { return cmp.Compare(b.Containers, a.Containers) })
	return out, nil
}

// attempt is a change that may help, in words.
type attempt struct {
	text string
	alloc.Change
}

// try decides with the change; nil where the problem is none then.
func (a *attempt) try(ctx context.Context, p *alloc.Problem, job string, by solver.Solver) (*help, error) {
	changed, err := p.After([]alloc.Change{a.Change}, "")
	if err != nil {
		return nil, err
	}
	d, err := alloc.Reallocate(ctx, changed, by)
	var faults apportion.Faults
	if errors.As(err, &faults) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(d.Shares, func(s alloc.Share) bool { return s.ID == job })
	return &help{Change: a.text, Containers: d.Shares[at].Containers, Objective: d.Objective, Adjusted: d.Metrics.Adjusted}, nil
}

// attempts lists the changes that may help application o: lists of which the first that helps is enough.
func attempts(p *alloc.Problem, d *alloc.Decision, o int) [][]attempt {
	list := [][]attempt{
		larger("theta2", p.Theta2, func(theta *float64) alloc.Settings { return alloc.Settings{Theta2: theta} }),
		larger("theta1", p.Theta1, func(theta *float64) alloc.Settings { return alloc.Settings{Theta1: theta} }),
	}
	if !p.Options.Preempt {
		preempt := true
		list = append(list, []attempt{{"preempt is set", alloc.Change{Set: &alloc.Settings{Preempt: &preempt}}}})
	}
	return append(append(list, more(p)...), others(d, o)...)
}

// larger are larger values of a threshold, tenth by tenth.
func larger(name string, theta float64, set func(*float64) alloc.Settings) (list []attempt) {
	for tenths := int(math.Floor(theta*10)) + 1; tenths <= 10; tenths++ {
		value := float64(tenths) / 10
		s := set(&value)
		list = append(list, attempt{fmt.Sprintf("%s is %g", name, value), alloc.Change{Set: &s}})
	}
	return list
}

// more are servers that come, one like each that there is.
func more(p *alloc.Problem) (list [][]attempt) {
	known := make(map[string]bool)
	for j := range p.Servers {
		server := p.Servers[j]
		key := fmt.Sprint(server.Capacity, server.Labels) // maps are printed in the order of their keys
		if server.Cordoned || known[key] || len(list) == mostTried {
			continue
		}
		known[key] = true
		text := "another server like " + server.ID
		for server.ID += "+"; slices.ContainsFunc(p.Servers, func(s apportion.Server) bool { return s.ID == server.ID }); server.ID += "+" {
		}
		list = append(list, []attempt{{text, alloc.Change{Join: &server}}})
	}
	return list
}

// others are applications that end, those with the largest shares first.
func others(d *alloc.Decision, o int) (list [][]attempt) {
	shares := slices.Clone(d.Shares)
	slices.SortStableFunc(shares, func(a, b alloc.Share) int { return cmp.Compare(b.Actual, a.Actual) })
	for _, s := range shares {
		if s.ID == d.Shares[o].ID || s.Containers == 0 || len(list) == mostTried {
			continue
		}
		list = append(list, []attempt{{s.ID + " ends", alloc.Change{End: &s.ID}}})
	}
	return list
}

// printBlockers writes what keeps it off the servers, a line for each sort of servers and for what holds for all of them.
func printBlockers(w io.Writer, list []apportion.Blocker) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "what keeps it off\tservers\tfirst\tneeds\tfree\tlargest\tfits\tsetting")
	for at := range list {
		b := &list[at]
		what := b.Cause
		for _, part := range []string{b.Label, b.Queue, b.Kind, strings.Join(b.Applications, " ")} {
			if part != "" {
				what += " " + part
			}
		}
		quantities := "\t\t"
		if b.Need > 0 {
			quantities = fmt.Sprintf("%d\t%d\t%d", b.Need, b.Free, b.Largest)
		}
		servers := "all"
		if b.Servers > 0 {
			servers = strconv.FormatInt(b.Servers, 10)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", what, servers, b.Server, quantities, b.Fits, b.Setting)
	}
	fmt.Fprintln(w)
}

// print writes the output as a table.
func (o *whyOutput) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s has %d in [%d, %d]: %s\n\n", o.ID, o.Containers, o.Min, o.Max, o.Text)
	printBlockers(w, o.Blockers)
	if o.Staying != "" {
		fmt.Fprintf(w, "%s: %s\n\n", o.ID, o.Staying)
	}
	if o.Starts != "" {
		fmt.Fprintf(w, "%s starts %s\n\n", o.ID, o.Starts)
	}
	if len(o.Helps) == 0 {
		fmt.Fprintf(w, "none of %d changes gives it more\n", o.Tried)
		return w.Flush()
	}
	fmt.Fprintln(w, "what would help\tcontainers\tobjective\trestarted")
	for _, h := range o.Helps {
		fmt.Fprintf(w, "%s\t%d\t%.4g\t%d\n", h.Change, h.Containers, h.Objective, h.Adjusted)
	}
	return w.Flush()
}
