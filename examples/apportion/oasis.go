// This file implements "apportion oasis": online admission and schedules, [OASiS] Algorithm 1.

package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual"
)

// oasisDecision answers a job. Payoff, utility and completion are 0 where it is not admitted.
//
// Payoff is the utility less the price of all that the schedule takes; a job is admitted if that is
// positive. Completion is the slot of its last work.
type oasisDecision struct {
	// Utility is what the job earns if it completes as planned, in the units of its utility function.
	ID         string  `json:"id"`
	Admitted   bool    `json:"admitted"`
	Payoff     float64 `json:"payoff"`
	Utility    float64 `json:"utility"`
	Completion int     `json:"completion"`
	// Reason is admitted, or why not. Schedule has the slots in which the job has work, ascending, and is
	// [] where it has none.
	Reason   string      `json:"reason"`
	Schedule []oasisSlot `json:"schedule"`
}

// Workers and PS are counts by server; servers without any are left out.
type oasisSlot struct {
	Slot    int              `json:"slot"`
	Workers map[string]int64 `json:"workers"`
	PS      map[string]int64 `json:"ps"`
}

// The answers to the verbs.
type (
	// Ended are the jobs whose last slot has passed, with what they have earned.
	oasisAdvance struct {
		Advance int           `json:"advance"`
		Ended   []oasisFinish `json:"ended"`
	}
	oasisFinish struct {
		ID         string  `json:"id"`
		Completion int     `json:"completion"`
		Utility    float64 `json:"utility"`
	}
	// What a cancelled job held is free again from the present slot on.
	oasisCancel struct {
		Cancel string `json:"cancel"`
	}
	// Completion is the slot that was reported, and Utility that of this slot, not of the planned one.
	oasisComplete struct {
		Complete   string  `json:"complete"`
		Completion int     `json:"completion"`
		Utility    float64 `json:"utility"`
	}
	// Displaced are the new decisions about all jobs that had work on the server, in the order of
	// admission.
	oasisFail struct {
		Fail      string          `json:"fail"`
		Slot      int             `json:"slot"`
		Displaced []oasisDecision `json:"displaced"`
	}
	// From Slot on the server takes work again. What was moved away stays where it is.
	oasisRepair struct {
		Repair string `json:"repair"`
		Slot   int    `json:"slot"`
	}
)

// oasisTotal is the last line. The ratio is absent where it is infinite.
type oasisTotal struct {
	// UpperBound is more than any schedules of these jobs can earn, even with all jobs known beforehand.
	TotalUtility   float64  `json:"total_utility"`
	UpperBound     float64  `json:"upper_bound"`
	CertifiedRatio *float64 `json:"certified_ratio,omitempty"`
}

// oasis is a run over a stream.
type oasis struct {
	*oasisHeader
	line   int  // of the header
	strict bool // as in command
	// bounds are U and L of the price function, from the first line or from all jobs.
	bounds    *primaldual.Bounds
	scheduler *primaldual.Scheduler
	// jobs are those of the stream so far that were decided, for the upper bound. They are kept whether admitted or not:
	// the bound is over what any schedule could earn. So the memory grows with the stream.
	jobs  []primaldual.Job
	tally oasisTally
}

// answerOASiS plays a stream: 1. read the first line, 2. set the bounds, 3. take up the state if there is
// one, 4. answer line by line, 5. close with the total.
func answerOASiS(_ context.Context, c *command) error {
	l, err := firstLine(c.in)
	if err != nil {
		return err
	}
	header, err := readOASiSHeader(l)
	if err != nil {
		return atLine(l.number, err)
	}
	// l.text is valid until the next line, so it is hashed now.
	state := newOASiSState(c.state, l.text)
	release, err := state.lock()
	if err != nil {
		return err
	}
	defer release()
	o := &oasis{oasisHeader: header, line: l.number, strict: c.strict}
	events := o.stream(l)
	// With bounds in the first line each job is answered before the next is read, as a scheduler in
	// operation needs it.
	if header.bounds != nil {
		o.bounds = header.bounds
		// Without them they depend on all jobs, so the whole stream is read first.
	} else if events, err = o.prepare(events); err != nil {
		return err
	}
	if err := state.resume(o); err != nil {
		return err
	}
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := o.answer(c, e, state); err != nil {
			return err
		}
	}
	if err := o.finish(c, state); err != nil {
		return err
	}
	return c.refusals()
}

// answer carries out one event, unless the state has done so before, prints the answer and saves.
//
// The answer is written before the state: a crash between the two repeats an answer, and never leaves
// one out.
func (o *oasis) answer(c *command, e *oasisEvent, state *oasisState) error {
	done, refused, err := state.skip(e)
	if err == nil && !done {
		if refused, err = o.respond(c, e); refused {
			state.refuse()
		}
	}
	if err != nil {
		return err
	}
	// The upper bound is over all jobs that were decided, in an earlier run too.
	if e.verb == "" && !refused {
		o.jobs = append(o.jobs, e.job)
	}
	if done {
		return nil
	}
	return state.save(o, e)
}

// respond carries out one event and prints the answer to it, or what is wrong with it.
func (o *oasis) respond(c *command, e *oasisEvent) (refused bool, err error) {
	if e.fault == nil {
		answer, err := o.apply(e)
		switch {
		case err == nil:
			return false, c.writeLine(answer)
		case !isFault(err):
			return false, atLine(e.line, err)
		}
		e.fault = err
	}
	return true, c.refuse(e.line, e.fault)
}

// apply carries out one event.
//
// The scheduler refuses what makes no sense, as a slot that has passed, with an error, and then has changed nothing; nor has
// the tally.
func (o *oasis) apply(e *oasisEvent) (any, error) {
	switch e.verb {
	case "":
		decision, err := o.scheduler.Offer(e.job)
		if decision.Admitted {
			o.tally.Running = append(o.tally.Running, oasisEarning{e.job.ID, decision.Utility})
		}
		return o.decision(e.job.ID, &decision), err
	case "advance":
		ended, err := o.scheduler.Advance(e.slot)
		answer := oasisAdvance{e.slot, []oasisFinish{}}
		for _, finish := range ended {
			o.tally.settle(finish.ID, finish.Utility)
			answer.Ended = append(answer.Ended, oasisFinish{finish.ID, finish.Slot, finish.Utility})
		}
		return answer, err
	// A cancelled job earns nothing, however far it has come.
	case "cancel":
		err := o.scheduler.Cancel(e.id)
		if err == nil {
			o.tally.settle(e.id, 0)
		}
		return oasisCancel{e.id}, err
	// The job ended at another slot than planned, and earns the utility of that one.
	case "complete":
		finish, err := o.scheduler.Complete(e.id, e.slot)
		if err == nil {
			o.tally.settle(e.id, finish.Utility)
		}
		return oasisComplete{e.id, finish.Slot, finish.Utility}, err
	// Each job that had work on the server is decided anew; one that is refused now loses what it was
	// promised.
	case "fail":
		displaced, err := o.scheduler.Fail(e.id, e.slot)
		answer := oasisFail{e.id, e.slot, []oasisDecision{}}
		for i := range displaced {
			o.tally.change(displaced[i].ID, &displaced[i].Decision)
			answer.Displaced = append(answer.Displaced, o.decision(displaced[i].ID, &displaced[i].Decision))
		}
		return answer, err
	}
	return oasisRepair{e.id, e.slot}, o.scheduler.Repair(e.id, e.slot)
}

// decision writes servers by name.
func (o *oasis) decision(id string, d *primaldual.Decision) oasisDecision {
	out := oasisDecision{ID: id, Admitted: d.Admitted, Reason: string(d.Verdict), Schedule: []oasisSlot{}}
	if !d.Admitted {
		return out
	}
	// Numbers of a job that was refused mean nothing to the reader, who would add them up.
	out.Payoff, out.Utility, out.Completion = d.Payoff, d.Utility, d.Completion
	for _, plan := range d.Schedule {
		out.Schedule = append(out.Schedule, oasisSlot{plan.Slot,
			named(plan.Workers, o.cluster.WorkerServers), named(plan.PS, o.cluster.PSServers)})
	}
	return out
}

func named(placements []apportion.Placement, servers []apportion.Server) map[string]int64 {
	// Servers of one side have different names, so no count is lost.
	counts := make(map[string]int64, len(placements))
	for _, p := range placements {
		counts[servers[p.Server].ID] = p.Count
	}
	return counts
}

// finish prints the last line.
func (o *oasis) finish(c *command, state *oasisState) error {
	// No total for a stream that is shorter than the one that was answered.
	if err := state.done(); err != nil {
		return err
	}
	ledger, err := o.span()
	if err != nil {
		return err
	}
	steps := o.steps
	steps = cmp.Or(steps, -1) // none; in Go 0 stands for the default
	// The total counts running jobs as completed: a schedule that was admitted is a promise.
	total := o.tally.total()
	// Certify takes any prices as a start and improves them: by weak duality each of its bounds is
	// right.
	certificate, err := primaldual.Certify(ledger, o.jobs, total, &primaldual.CertificateOptions{Steps: steps})
	if err != nil {
		return fmt.Errorf("upper bound: %w", err)
	}
	return c.writeLine(oasisTotal{total, certificate.Bound, finite(certificate.Ratio)})
}

// span returns a ledger over all slots of the run, whose prices guide the upper bound: the scheduler's
// own, or an empty one where that has moved on.
//
// The bound needs prices for every slot in which a job could have run, and a scheduler that has
// advanced has forgotten the earliest.
func (o *oasis) span() (*primaldual.Ledger, error) {
	if o.scheduler.First() == 1 {
		return o.scheduler.Ledger(), nil
	}
	// A copy, since the header's own number of slots is the length of the scheduler's window.
	whole := o.cluster
	whole.Slots = o.scheduler.Last()
	return primaldual.NewLedger(&whole, o.bounds)
}
