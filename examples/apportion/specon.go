//go:build !js

// This file implements "apportion specon": categories, migrations and rebalancing across workers,
// [Zheng] Algorithms 3, 4 and 5.

package main

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement"
)

// speconAnswer answers a tick. Times are in seconds.
//
// Ran says whether the monitor has judged anything at this tick: it does so once an interval.
type speconAnswer struct {
	Time      float64          `json:"time"`
	Ran       bool             `json:"ran"`
	Next      float64          `json:"next"`
	Moves     []monitorMove    `json:"moves"`
	Workers   []speconWorker   `json:"workers"`
	Requests  []speconRequest  `json:"requests"`
	Migration *speconTransfer  `json:"migration,omitempty"`
	Rebalance []speconTransfer `json:"rebalance"`
}

// speconWorker is a worker after the tick.
type speconWorker struct {
	// The three counts are containers by category, and Score is their weighted sum: the lower, the more
	// room for another container that still learns.
	ID          string  `json:"id"`
	Progressing int64   `json:"progressing"`
	Watching    int64   `json:"watching"`
	Converged   int64   `json:"converged"`
	Score       float64 `json:"score"`
}

// speconRequest is a container that asks for another host, and what was decided.
type speconRequest struct {
	Container string `json:"container"`
	// Gain is what the container still grows by an interval; Decision is where it goes, or why it stays.
	Gain     float64 `json:"gain"`
	Decision string  `json:"decision"`
}

// speconTransfer moves a container from one worker to another; Reason is why it goes there.
type speconTransfer struct {
	Container string `json:"container"`
	From      string `json:"from"`
	To        string `json:"to"`
	Reason    string `json:"reason"`
}

// speconRun is a run over a stream.
type speconRun struct {
	*speconHeader
	clock
	// manager has the containers, their workers and their categories; nothing of these is kept twice.
	manager *specon.Manager
}

// The caller carries migrations out; this only decides, and believes that they are done.
func answerSpeCon(_ context.Context, c *command) error {
	l, err := firstLine(c.in)
	if err != nil {
		return err
	}
	header, err := readSpeCon(l)
	if err != nil {
		return atLine(l.number, err)
	}
	s := &speconRun{speconHeader: header}
	if err := s.start(); err != nil {
		return atLine(l.number, err)
	}
	return monitor(c, l, &monitorForm{kinds: s.config.Kinds, placed: true}, func(e *monitorEvent) error { return s.handle(c, e) })
}

// start makes the manager of the workers in the first line.
func (s *speconRun) start() (err error) {
	s.manager, err = specon.NewManager(s.config, &s.options)
	for _, w := range s.workers {
		if err == nil {
			err = s.manager.Step(specon.Event{Kind: specon.WorkerUp, Worker: w.ID, Capacity: w.Capacity})
		}
	}
	return err
}

// handle takes one event; a tick is answered.
func (s *speconRun) handle(c *command, e *monitorEvent) error {
	job, known := s.manager.Job(e.id)
	switch {
	case e.verb == "tick":
		return s.step(c, e.at)
	case e.verb == "exit" && !known:
		return unknownContainer(e.id)
	case e.verb == "exit":
		return s.manager.Step(specon.Event{Kind: specon.Exit, Job: e.id})
	}
	if err := s.locate(e, job.Worker, known); err != nil || !e.reads {
		return err
	}
	return s.manager.Step(specon.Event{Kind: specon.Reading, Job: e.id, At: e.at, Value: e.value, Better: e.better, Usage: growth.Used(e.usage[s.steering])})
}

// locate tells the manager of the container that a sample is of, on the worker and with the demand that
// the sample names; where it names none they are as before.
func (s *speconRun) locate(e *monitorEvent, worker string, known bool) error {
	item := apportion.Item{Kind: "container", ID: e.id}
	switch {
	case e.worker != "" && !slices.ContainsFunc(s.workers, func(w apportion.Server) bool { return w.ID == e.worker }):
		return &apportion.FieldError{Item: item, Field: "worker", Err: apportion.ErrUnknown, Detail: strconv.Quote(e.worker)}
	case e.worker == "" && !known:
		return &apportion.FieldError{Item: item, Field: "worker", Err: apportion.ErrMissing, Detail: "the first sample of a container says where it is"}
	}
	event := specon.Event{Kind: specon.Runs, Job: e.id, Worker: e.worker, Demand: e.demand}
	if e.worker == "" {
		// The worker is where the manager has sent the container, also if it is still on its way.
		event.Worker = worker
	}
	if !known {
		event.Kind = specon.Arrival
	}
	// A container that does not say what it holds takes no room, so that room is a matter of those
	// that do.
	if !known && e.demand == nil {
		event.Demand = make(apportion.Resources, len(s.config.Kinds))
	}
	return s.manager.Step(event)
}

// step runs SpeCon's monitor and manager and prints what they decide. The caller carries it out before
// the next tick.
func (s *speconRun) step(c *command, now time.Duration) error {
	if err := s.tick(now); err != nil {
		return err
	}
	d, err := s.manager.Tick(now)
	if err != nil {
		return err
	}
	answer := speconAnswer{Time: now.Seconds(), Ran: d.Ran, Next: d.Next.Seconds(),
		Moves: monitorMoves(d.Changes), Requests: []speconRequest{}, Rebalance: []speconTransfer{}}
	for _, a := range d.Answers {
		answer.Requests = append(answer.Requests, speconRequest{a.Job, a.Gain, string(a.Verdict)})
	}
	// The manager is told at once that the container runs at its goal, so that the next tick counts
	// from there.
	for _, m := range d.Moves {
		if err := s.manager.Step(specon.Event{Kind: specon.Runs, Job: m.Job, Worker: m.To}); err != nil {
			return err
		}
		transfer := speconTransfer{m.Job, m.From, m.To, string(m.Why)}
		if m.Why == specon.Rebalancing {
			answer.Rebalance = append(answer.Rebalance, transfer)
		} else {
			answer.Migration = &transfer
		}
	}
	// Scores are counted in halves, as exact integers, and divided only for the reader.
	for _, w := range d.Workers {
		answer.Workers = append(answer.Workers, speconWorker{w.Worker, w.Progressing, w.Watching, w.Converged, float64(w.Score) / placement.ScoreUnit})
	}
	return c.writeLine(answer)
}
