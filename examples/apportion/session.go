//go:build !js

// This file implements "apportion session": dorm's decisions one after the other, from a problem and what changes in it.

package main

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// session is a cluster that is decided again and again, event by event. What it is can be read from it at any time, as a problem, and begins
// another session that goes on alike, but for what the solver has learned and the prices that bound events.
type session struct {
	effort  embedded.Effort
	decider alloc.Decider
	// problem is the one that was decided last as a whole, decision its answer.
	problem  *alloc.Problem
	decision *alloc.Decision
	// waiting is all that wait after the last event; nil: those that decision lists.
	waiting []alloc.Waiting
}

// question is a line behind the first: exactly one of Changes, Why, WhatIf and Show is set.
type question struct {
	// Changes have happened, of which there may be none: the cluster is decided with them. Whole asks for all of the answer, as dorm
	// writes it, and not for what is new.
	Changes []alloc.Change `json:"changes,omitempty"`
	Whole   bool           `json:"whole,omitempty"`
	// Why names an application, WhatIf changes that have not happened: nothing changes by these.
	Why    *id            `json:"why,omitempty"`
	WhatIf []alloc.Change `json:"what_if,omitempty"`
	// Show is problem, what the next decision begins from, or record, the last decision of the whole, for verify and replay.
	Show string `json:"show,omitempty"`
}

// news is the answer to changes: what is otherwise than before.
type news struct {
	// Whole says why the whole cluster was decided; empty: the event was decided by itself.
	Whole       string        `json:"whole,omitempty"`
	Status      alloc.Status  `json:"status"`
	Objective   float64       `json:"objective"`
	Bound       *float64      `json:"bound,omitempty"`
	Gap         *float64      `json:"gap,omitempty"`
	OpenBound   float64       `json:"open_bound,omitzero"`
	Interrupted bool          `json:"interrupted,omitempty"`
	Metrics     alloc.Metrics `json:"metrics"`
	// Allocation has the applications whose containers are others now, Plan the steps that lead there.
	Allocation alloc.Allocation `json:"allocation"`
	Plan       []alloc.Step     `json:"plan"`
	// Waiting and Suspended are as dorm has them, all of them.
	Waiting   []alloc.Waiting `json:"waiting"`
	Suspended []alloc.Waiting `json:"suspended"`
}

// answerSession answers lines until they end.
func answerSession(ctx context.Context, c *command) error {
	l, err := firstLine(c.in)
	if err != nil {
		return err
	}
	s, out, err := newSession(ctx, l.text, c.effort)
	if err != nil {
		return atLine(l.number, err)
	}
	for {
		if err := c.writeLine(out); err != nil {
			return err
		}
		if out, err = s.nextAnswer(ctx, c, l); err == io.EOF {
			return c.refusals()
		} else if err != nil {
			return err
		}
	}
}

// nextAnswer reads on until a line has an answer.
func (s *session) nextAnswer(ctx context.Context, c *command, l *lines) (any, error) {
	for {
		if err := l.next(); err != nil {
			return nil, err
		}
		out, err := s.answer(ctx, l.text)
		if err == nil || !isFault(err) {
			return out, err
		}
		if err := c.refuse(l.number, err); err != nil {
			return nil, err
		}
	}
}

// newSession decides the problem in a text, and returns the answer beside the session.
func newSession(ctx context.Context, text []byte, effort int64) (*session, any, error) {
	s := &session{problem: &alloc.Problem{}, effort: embedded.Effort(effort)}
	s.decider.Effort = s.effort
	if err := strictjson.Unmarshal(text, s.problem, problemOptions(s.problem)); err != nil {
		return nil, nil, err
	}
	if err := s.decide(ctx, s.problem); err != nil {
		return nil, nil, err
	}
	out, err := dormOutputOf(s.problem, s.decision)
	return s, out, err
}

// decide decides p; after an error the session is what it was.
func (s *session) decide(ctx context.Context, p *alloc.Problem) error {
	d, err := s.decider.Reallocate(ctx, p)
	if err == nil {
		s.problem, s.decision, s.waiting = p, d, nil
	}
	return err
}

// after returns the problem that the last decision leaves.
func (s *session) after() *alloc.Problem { return s.decider.Snapshot().Problem }

// answer answers a question; after an error the session is what it was.
func (s *session) answer(ctx context.Context, text []byte) (any, error) {
	var q question
	if err := strictjson.Unmarshal(text, &q, &strictjson.Options{
		Kinds: func() apportion.Kinds { return s.problem.Kinds }, Validate: q.validate,
	}); err != nil {
		return nil, err
	}
	switch {
	case q.Why != nil:
		return why(ctx, s.after(), string(*q.Why), s.solver)
	case q.WhatIf != nil:
		return whatIf(ctx, s.after(), q.WhatIf, "what_if", s.solver)
	case q.Show == "problem":
		return s.after(), nil
	case q.Show == "record":
		return alloc.NewRecord(s.problem, s.decision), nil
	}
	if !q.Whole && len(q.Changes) > 0 {
		return s.event(ctx, q.Changes)
	}
	next, err := s.after().After(q.Changes, "changes")
	if err != nil {
		return nil, err
	}
	if err := s.decide(ctx, next); err != nil {
		return nil, err
	}
	if q.Whole {
		return dormOutputOf(s.problem, s.decision)
	}
	return s.news("it was asked for"), nil
}

// event decides what changes do, and returns what is otherwise.
func (s *session) event(ctx context.Context, changes []alloc.Change) (*news, error) {
	e, err := s.decider.Apply(ctx, changes...)
	if err != nil {
		return nil, err
	}
	if e.Decision != nil {
		s.problem, s.decision, s.waiting = e.Problem, e.Decision, nil
		return s.news(e.Whole), nil
	}
	out := &news{Status: alloc.Decided, Objective: e.Objective, Bound: finite(e.Bound), Gap: finite(e.Gap), Allocation: e.Allocation,
		Plan: append([]alloc.Step{}, e.Plan...), Waiting: s.waitOn(changes, e), Suspended: []alloc.Waiting{},
		Metrics: alloc.Metrics{Utilization: e.Utilization, FairnessLoss: e.FairnessLoss, LossBudget: e.LossBudget, Adjusted: e.Adjusted, Forced: e.Forced,
			AdjustCost: e.AdjustCost, AdjustBudget: e.AdjustBudget, ExtraServers: e.ExtraServers}}
	for _, u := range e.Utilization {
		out.Metrics.ResourceUtilization += u
	}
	for _, w := range e.Waiting {
		if _, ran := e.Allocation[w.ID]; ran {
			out.Suspended = append(out.Suspended, w)
		}
	}
	s.waiting = append(out.Waiting[:len(out.Waiting):len(out.Waiting)], out.Suspended...)
	return out, nil
}

// waitOn lists the applications that wait after an event, but for those that it has suspended.
func (s *session) waitOn(changes []alloc.Change, e *alloc.Event) []alloc.Waiting {
	if s.waiting == nil {
		s.waiting = slices.Concat(s.decision.Waiting, s.decision.Suspended)
	}
	ended := func(w alloc.Waiting) bool {
		return slices.ContainsFunc(changes, func(c alloc.Change) bool { return c.End != nil && *c.End == w.ID })
	}
	list := []alloc.Waiting{}
	for _, w := range s.waiting {
		if _, in := e.Allocation[w.ID]; !in && !ended(w) {
			list = append(list, w)
		}
	}
	for _, w := range e.Waiting {
		if _, ran := e.Allocation[w.ID]; !ran {
			list = append(list, w)
		}
	}
	return list
}

// solver returns what answers questions that change nothing: they begin from nothing learned, so that they change nothing to come.
func (s *session) solver() solver.Solver { return embedded.New(&embedded.Options{Effort: s.effort}) }

// validate says whether it is one question.
func (q *question) validate() error {
	var faults apportion.Faults
	set := 0
	for _, is := range []bool{q.Changes != nil, q.Why != nil, q.WhatIf != nil, q.Show != ""} {
		if is {
			set++
		}
	}
	if set != 1 {
		faults.Add(apportion.Item{}, "changes", apportion.ErrConflict, "one of changes, why, what_if and show must be there")
	}
	if q.Show != "" && q.Show != "problem" && q.Show != "record" {
		faults.Add(apportion.Item{}, "show", apportion.ErrUnknown, q.Show+": problem or record")
	}
	if q.WhatIf != nil && len(q.WhatIf) == 0 {
		faults.Add(apportion.Item{}, "what_if", apportion.ErrEmpty, "")
	}
	if q.Whole && q.Changes == nil {
		faults.Add(apportion.Item{}, "whole", apportion.ErrConflict, "it is for changes")
	}
	return faults.Err()
}

// news says what is otherwise than before the last decision, which was of the whole for this reason.
func (s *session) news(whole string) *news {
	d := s.decision
	out := &news{Whole: whole, Status: d.Status, Objective: d.Objective, OpenBound: d.OpenBound, Interrupted: d.Interrupted, Metrics: d.Metrics,
		Allocation: alloc.Allocation{}, Plan: append([]alloc.Step{}, alloc.NewPlan(s.problem, d.Allocation, d.Shares...).Steps...),
		Waiting: append([]alloc.Waiting{}, d.Waiting...), Suspended: append([]alloc.Waiting{}, d.Suspended...)}
	if d.Status == alloc.Decided {
		out.Bound, out.Gap = finite(d.Bound), finite(d.Gap)
	}
	for i := range d.Shares {
		name := d.Shares[i].ID
		if now := d.Allocation[name]; !maps.Equal(now, s.problem.Previous[name]) {
			out.Allocation[name] = now
			if now == nil {
				out.Allocation[name] = map[string]int64{}
			}
		}
	}
	return out
}
