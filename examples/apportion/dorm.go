// This file implements "apportion dorm": the decision at an arrival or a completion, [Dorm §IV].

package main

import (
	"context"
	"io"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// dormOutput is the output of "dorm". Numbers that do not exist are left out: the bound and the gap
// of an allocation that was kept, or where the solver found no bound.
//
// The types within it are those of package alloc as they write themselves, so that an importer of the
// library and a reader of this output see the same names.
type dormOutput struct {
	// Status is decided, or with the paper's rule kept where no solution was found and what ran stays.
	Status    alloc.Status `json:"status"`
	Objective float64      `json:"objective"`
	// Bound is at least the objective of every allocation, and Gap how far the objective may be from it.
	Bound *float64 `json:"bound,omitempty"`
	Gap   *float64 `json:"gap,omitempty"`
	// OpenBound is at least what any other choice of who is let in is worth.
	OpenBound float64 `json:"open_bound,omitzero"`
	// LeftOut is how many of Waiting and Suspended were left out: Bound and Gap are about the others.
	LeftOut int `json:"left_out,omitzero"`
	// Proven says how far down the preference among optima the answer is proven.
	Proven      string        `json:"proven"`
	Interrupted bool          `json:"interrupted"`
	Metrics     alloc.Metrics `json:"metrics"`
	// Shares has every application that is in the problem, Queues every queue of it, Waiting the newcomers that get nothing, with a
	// reason.
	Shares  []alloc.Share    `json:"shares"`
	Queues  []alloc.QueueUse `json:"queues,omitempty"`
	Waiting []alloc.Waiting  `json:"waiting"`
	// Suspended has those that ran and are left with nothing, Draining those that leave cordoned servers and Staying those
	// that cannot, Yielding those that went elsewhere for one of higher priority.
	Suspended []alloc.Waiting `json:"suspended"`
	Draining  []string        `json:"draining,omitempty"`
	Staying   []alloc.Staying `json:"staying,omitempty"`
	Yielding  []string        `json:"yielding,omitempty"`
	// Reservations are what is kept for those that are due, to be handed back.
	Reservations []alloc.Reservation `json:"reservations,omitempty"`
	// Settled is to be handed back too: asked again with nothing new the answer is what runs.
	Settled    *alloc.Settled    `json:"settled,omitempty"`
	Reason     *apportion.Reason `json:"reason,omitempty"`
	Allocation alloc.Allocation  `json:"allocation"`
	// Plan leads from the previous allocation to Allocation in an order that always fits.
	Plan []alloc.Step `json:"plan"`
	// Explanation says for each application why it has no more; Prices what more of a resource is worth.
	Explanation []alloc.Stop `json:"explanation"`
	Prices      dormPrices   `json:"prices"`
	// Domains says to which domains the bound is held, and of which applications these are certified to be the fewest.
	Domains string `json:"domains,omitempty"`
	// Warnings name budgets that cannot bind.
	Warnings []string `json:"warnings,omitempty"`
}

// The prices are in units of the objective. Fairness is that of a whole share more of the budget (15).
// Kinds has for each kind what another unit on each server would be worth at most, in utilization.
type dormPrices struct {
	Kinds      []alloc.KindValue `json:"kinds"`
	Fairness   float64           `json:"fairness"`
	Adjustment float64           `json:"adjustment"`
	// Order says what the order of asking costs.
	Order string `json:"order,omitempty"`
}

// decided reads a problem and decides it.
func (c *command) decided(ctx context.Context, read func() (*alloc.Problem, error)) (*alloc.Problem, *alloc.Decision, error) {
	problem, err := read()
	if err != nil {
		return nil, nil, err
	}
	// The problem was read without the limit: only the search may be ended early.
	ctx, cancel := c.limited(ctx)
	defer cancel()
	// A problem without any allocation is a decision as well, and an error means that it is bad.
	decision, err := alloc.Reallocate(ctx, problem, c.decider())
	return problem, decision, err
}

// answerDorm decides, records the decision where that is asked for, and prints it with its plan and explanation.
func answerDorm(ctx context.Context, c *command) error {
	problem, decision, err := c.decided(ctx, func() (*alloc.Problem, error) { return readProblem(c.in) })
	if err != nil {
		return err
	}
	// The record is written before the answer. A scheduler that acts on an answer has its record then,
	// whatever happens to the process in between.
	if err := c.writeRecord(problem, decision); err != nil {
		return err
	}
	out, err := dormOutputOf(problem, decision)
	if err != nil {
		return err
	}
	return c.write(out)
}

// dormOutputOf is a decision with its plan and explanation.
func dormOutputOf(p *alloc.Problem, d *alloc.Decision) (*dormOutput, error) {
	explanation, err := alloc.Explain(p, d)
	if err != nil {
		return nil, err
	}
	out := &dormOutput{
		Status:      d.Status,
		Objective:   d.Objective,
		LeftOut:     leftOut(d),
		Proven:      d.Proven.String(),
		Interrupted: d.Interrupted,
		Metrics:     d.Metrics,
		Shares:      d.Shares,
		Queues:      d.Queues,
		// Lists that are nil in Go are [] here, so that a reader needs no case for null.
		Waiting:      append([]alloc.Waiting{}, d.Waiting...),
		Suspended:    append([]alloc.Waiting{}, d.Suspended...),
		Draining:     d.Draining,
		Staying:      d.Staying,
		Yielding:     d.Yielding,
		OpenBound:    d.OpenBound,
		Reservations: d.Reservations,
		Settled:      d.Settled,
		Reason:       d.Reason,
		Allocation:   d.Allocation,
		Plan:         append([]alloc.Step{}, alloc.NewPlan(p, d.Allocation, d.Shares...).Steps...),
		Explanation:  explanation.Applications,
		Prices:       dormPrices{explanation.Kinds, explanation.Fairness, explanation.Adjustment, explanation.Order},
		Domains:      explanation.Domains,
		Warnings:     explanation.Warnings,
	}
	// A kept or infeasible allocation has no bound of this problem's objective: to print one would
	// look like a proof.
	if d.Status == alloc.Decided {
		out.Bound, out.Gap = finite(d.Bound), finite(d.Gap)
	}
	return out, nil
}

// leftOut counts the applications that the decision was not about.
func leftOut(d *alloc.Decision) (n int) {
	for _, w := range slices.Concat(d.Waiting, d.Suspended) {
		if w.LeftOut {
			n++
		}
	}
	return n
}

// finite returns x for JSON, which has no infinities: nil for those and for NaN.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// readProblem reads an alloc.Problem as it stands in JSON.
func readProblem(in io.Reader) (*alloc.Problem, error) {
	p := &alloc.Problem{}
	return p, strictjson.Decode(in, p, problemOptions(p))
}

// problemOptions are those of a text that is read into p.
func problemOptions(p *alloc.Problem) *strictjson.Options {
	return &strictjson.Options{
		// Faults below previous are about the application whose name is the key.
		Items: map[string]string{"previous": "application"},
		Kinds: func() apportion.Kinds { return p.Kinds }, Validate: p.Validate,
	}
}
