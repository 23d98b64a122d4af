// This file implements what a page answers to a person's question: why, and what if.

package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// Question is what a person asks about: a job, or a server.
type Question struct {
	// Job is asked about, or else Server.
	Job, Server string
	// If says that the job had ended, or the server were drained; else it is asked why the job has what it has.
	If bool
}

// errUnknown is the answer to a question about what no decision knows.
var errUnknown = errors.New("the newest decision does not know it")

// Answer answers a question about the newest decision in words: by its explanation, or by another decision on a copy of the problem,
// which begins with what was decided. p and d are not changed. The error is apportion.ErrUnknown for a job or a server that is not in
// the problem, or that of the decision. It takes as long as a decision, at most until ctx ends.
func Answer(ctx context.Context, p *alloc.Problem, d *alloc.Decision, q Question) (string, error) {
	if p == nil || d == nil {
		return "Nothing was decided yet.\n", nil
	}
	isIt := func(a alloc.Application) bool { return a.ID == q.Job }
	if q.Job != "" && !slices.ContainsFunc(p.Applications, isIt) || q.Job == "" && !slices.ContainsFunc(p.Servers, func(s apportion.Server) bool { return s.ID == q.Server }) {
		return "", fmt.Errorf("%q: %w: %w", q.Job+q.Server, apportion.ErrUnknown, errUnknown)
	}
	switch {
	case !q.If && q.Job != "":
		return why(p, d, q.Job)
	case q.Job != "":
		next := after(p, d)
		next.Applications = slices.DeleteFunc(next.Applications, isIt)
		delete(next.Previous, q.Job)
		return whatIf(ctx, d, next, "If "+q.Job+" had ended")
	}
	next := after(p, d)
	for i := range next.Servers {
		next.Servers[i].Cordoned = next.Servers[i].Cordoned || next.Servers[i].ID == q.Server
	}
	// Jobs may leave it at any price, since the question is about an empty one.
	next.Theta2 = 1
	return whatIf(ctx, d, next, "If "+q.Server+" were drained")
}

func why(p *alloc.Problem, d *alloc.Decision, job string) (string, error) {
	e, err := alloc.Explain(p, d)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, stop := range e.Applications {
		if stop.ID == job {
			fmt.Fprintf(&text, "%s has %d containers of %d to %d.\n", job, stop.Containers, stop.Min, stop.Max)
			if stop.Text != "" {
				fmt.Fprintf(&text, "What keeps it from more: %s.\n", strings.TrimSuffix(stop.Text, "."))
			}
			fmt.Fprintf(&text, "One more would bring %.4g, and take %.4g from others.\n", stop.Gain, stop.Price)
		}
	}
	for _, s := range d.Staying {
		if s.ID == job {
			fmt.Fprintf(&text, "A server is to be emptied: %s.\n", s.Reason.Text)
		}
	}
	for _, share := range d.Shares {
		if share.ID == job && share.Theoretical > 0 {
			fmt.Fprintf(&text, "It has %.1f %% of the cluster, and deserves %.1f %%.\n", 100*share.Actual, 100*share.Theoretical)
		}
	}
	return text.String(), nil
}

// after is the problem after a decision was carried out, with lists of its own.
func after(p *alloc.Problem, d *alloc.Decision) *alloc.Problem {
	next := *p
	d.HandOn(&next)
	next.Settled = nil
	next.Previous = d.Allocation.Clone()
	next.Servers, next.Applications = slices.Clone(p.Servers), slices.Clone(next.Applications)
	// Options may have changed by the decision, and what runs is to be in the one that it has.
	options := map[string]string{}
	for _, share := range d.Shares {
		options[share.ID] = share.Option
	}
	for i := range next.Applications {
		if option := options[next.Applications[i].ID]; option != "" {
			next.Applications[i].Option = option
		}
	}
	return &next
}

// whatIf decides on a problem, and compares.
func whatIf(ctx context.Context, d *alloc.Decision, next *alloc.Problem, title string) (string, error) {
	then, err := alloc.Reallocate(ctx, next, nil)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s:\n", title)
	one := NewDecision(0, 0, next, then, "")
	for _, c := range one.Changes {
		fmt.Fprintf(&text, "  %s: %s instead of %s", c.Job, orNothing(c.To), orNothing(c.From))
		if c.Why != "" {
			fmt.Fprintf(&text, ", for %s", c.Why)
		}
		text.WriteString("\n")
	}
	switch {
	case one.More > 0:
		fmt.Fprintf(&text, "  and %d more jobs\n", one.More)
	case len(one.Changes) == 0:
		text.WriteString("  no other job would have more or less.\n")
	}
	fmt.Fprintf(&text, "The objective would be %.4g, and is %.4g.\n", then.Objective, d.Objective)
	return text.String(), nil
}

func orNothing(places string) string {
	if places == "" {
		return "nothing"
	}
	return places
}
