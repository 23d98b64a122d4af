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
	"text/tabwriter"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// whyOutput is the output of "why": what stops the application, and what would help.
type whyOutput struct {
	alloc.Stop
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

// answerWhy decides, and once more for each change.
func answerWhy(ctx context.Context, c *command) error {
	problem, err := readProblem(c.in)
	if err != nil {
		return err
	}
	o := slices.IndexFunc(problem.Applications, func(a alloc.Application) bool { return a.ID == c.job })
	if o < 0 {
		return unknown("application", c.job)
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	decision, err := alloc.Reallocate(ctx, problem, c.decider())
	if err != nil {
		return err
	}
	explanation, err := alloc.Explain(problem, decision)
	if err != nil {
		return err
	}
	out := whyOutput{Stop: explanation.Applications[o], Helps: []help{}}
	for _, tries := range attempts(problem, decision, o) {
		for _, ch := range tries {
			out.Tried++
			h, err := c.try(ctx, problem, o, ch)
			if err != nil {
				return err
			}
			// Of one setting the least change that helps is enough.
			if h != nil && h.Containers > decision.Shares[o].Containers {
				out.Helps = append(out.Helps, *h)
				break
			}
		}
	}
	slices.SortStableFunc(out.Helps, func(a, b help) int { return cmp.Compare(b.Containers, a.Containers) })
	if c.table {
		return out.print(c.out)
	}
	return c.write(out)
}

// try decides with one change; nil where the problem is none then.
func (c *command) try(ctx context.Context, p *alloc.Problem, o int, ch supposition) (*help, error) {
	id, changed := p.Applications[o].ID, *p
	if err := ch.apply(&changed); err != nil {
		return nil, err
	}
	d, err := alloc.Reallocate(ctx, &changed, c.decider())
	var faults apportion.Faults
	if errors.As(err, &faults) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(d.Shares, func(s alloc.Share) bool { return s.ID == id })
	return &help{Change: ch.text, Containers: d.Shares[at].Containers, Objective: d.Objective, Adjusted: d.Metrics.Adjusted}, nil
}

// attempts lists the changes that may help application o: lists of which the first that helps is enough.
func attempts(p *alloc.Problem, d *alloc.Decision, o int) [][]supposition {
	list := [][]supposition{
		settings("theta2", p.Theta2, func(p *alloc.Problem, theta float64) { p.Theta2 = theta }),
		settings("theta1", p.Theta1, func(p *alloc.Problem, theta float64) { p.Theta1 = theta }),
	}
	if !p.Options.Preempt {
		list = append(list, []supposition{{"preempt is set", func(p *alloc.Problem) error { p.Options.Preempt = true; return nil }}})
	}
	return append(append(list, more(p)...), others(d, o)...)
}

// settings are larger values of a threshold, tenth by tenth.
func settings(name string, theta float64, set func(*alloc.Problem, float64)) (list []supposition) {
	for tenths := int(math.Floor(theta*10)) + 1; tenths <= 10; tenths++ {
		value := float64(tenths) / 10
		list = append(list, supposition{fmt.Sprintf("%s is %g", name, value), func(p *alloc.Problem) error { set(p, value); return nil }})
	}
	return list
}

// more are servers that come, one like each that there is.
func more(p *alloc.Problem) (list [][]supposition) {
	known := make(map[string]bool)
	for j := range p.Servers {
		server := p.Servers[j]
		key := fmt.Sprint(server.Capacity, server.Labels) // maps are printed in the order of their keys
		if server.Cordoned || known[key] || len(list) == mostTried {
			continue
		}
		known[key] = true
		list = append(list, []supposition{{"another server like " + server.ID, func(p *alloc.Problem) error {
			for server.ID += "+"; slices.ContainsFunc(p.Servers, func(s apportion.Server) bool { return s.ID == server.ID }); server.ID += "+" {
			}
			p.Servers = append(slices.Clone(p.Servers), server)
			return nil
		}}})
	}
	return list
}

// others are applications that end, those with the largest shares first.
func others(d *alloc.Decision, o int) (list [][]supposition) {
	shares := slices.Clone(d.Shares)
	slices.SortStableFunc(shares, func(a, b alloc.Share) int { return cmp.Compare(b.Actual, a.Actual) })
	for _, s := range shares {
		if s.ID == d.Shares[o].ID || s.Containers == 0 || len(list) == mostTried {
			continue
		}
		list = append(list, []supposition{{s.ID + " ends", func(p *alloc.Problem) error {
			return without(&p.Applications, s.ID, "application", func(a *alloc.Application) string { return a.ID })
		}}})
	}
	return list
}

// print writes the output as a table.
func (o *whyOutput) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s has %d in [%d, %d]: %s\n\n", o.ID, o.Containers, o.Min, o.Max, o.Text)
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
