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
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/placement"
)

// speconAnswer answers a tick. Times are in seconds.
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
	ID          string  `json:"id"`
	Progressing int64   `json:"progressing"`
	Watching    int64   `json:"watching"`
	Converged   int64   `json:"converged"`
	Score       float64 `json:"score"`
}

// speconRequest is a container that asks for another host, and what was decided.
type speconRequest struct {
	Container string  `json:"container"`
	Gain      float64 `json:"gain"`
	Decision  string  `json:"decision"`
}

type speconTransfer struct {
	Container string `json:"container"`
	From      string `json:"from"`
	To        string `json:"to"`
	Reason    string `json:"reason"`
}

// What is said of a request that waits, and of a container that is moved to even things out.
const (
	waits      = "waits: one migration at a time"
	rebalances = "rebalancing"
)

// speconRun is a run over a stream.
type speconRun struct {
	*speconHeader
	clock
	machine    *specon.Monitor
	containers []*tenant // in order of arrival
	byID       map[string]*tenant
	report     specon.Report
}

// tenant is a container on a worker.
type tenant struct {
	meter
	worker int
	demand apportion.Resources
	// category is that of the last tick, since when it converged or was decided on.
	category growth.Category
	since    time.Duration
	// decided: a host was chosen for it. rebalanced: it was moved to even things out.
	decided, rebalanced bool
}

func answerSpeCon(_ context.Context, c *command) error {
	l := newLines(c.in)
	if err := l.first(); err != nil {
		return err
	}
	header, err := readSpeCon(l)
	if err != nil {
		return atLine(l.number, err)
	}
	s := &speconRun{speconHeader: header, byID: map[string]*tenant{}}
	if s.machine, err = specon.NewMonitor(header.config, &header.options); err != nil {
		return atLine(l.number, err)
	}
	return monitor(l, &monitorForm{kinds: s.kinds, placed: true}, func(e *monitorEvent) error { return s.handle(c, e) })
}

// handle takes one event; a tick is answered.
func (s *speconRun) handle(c *command, e *monitorEvent) error {
	switch e.verb {
	case "tick":
		return s.step(c, e.at)
	case "exit":
		return s.exit(e.id)
	}
	t, err := s.tenant(e)
	if err == nil && e.reads {
		t.add(e)
	}
	return err
}

func (s *speconRun) exit(id string) error {
	t := s.byID[id]
	if t == nil {
		return unknownContainer(id)
	}
	delete(s.byID, id)
	s.containers = slices.DeleteFunc(s.containers, func(other *tenant) bool { return other == t })
	return nil
}

// tenant returns the container that a sample is of, on the worker and with the demand that the sample
// names.
func (s *speconRun) tenant(e *monitorEvent) (*tenant, error) {
	worker := slices.IndexFunc(s.workers, func(w apportion.Server) bool { return w.ID == e.worker })
	item, t := check.Item("container", e.id, 0), s.byID[e.id]
	switch {
	case e.worker != "" && worker < 0:
		return nil, &apportion.FieldError{Item: item, Field: "worker", Err: apportion.ErrUnknown, Detail: strconv.Quote(e.worker)}
	case t == nil && worker < 0:
		return nil, &apportion.FieldError{Item: item, Field: "worker", Err: apportion.ErrMissing, Detail: "the first sample of a container says where it is"}
	case t == nil:
		t = &tenant{meter: meter{id: e.id}, demand: make(apportion.Resources, len(s.kinds))}
		s.byID[e.id], s.containers = t, append(s.containers, t)
	}
	if worker >= 0 {
		t.worker = worker
	}
	if e.demand != nil {
		t.demand = e.demand
	}
	return t, nil
}

// step runs SpeCon's monitor and manager and prints what they decide.
func (s *speconRun) step(c *command, now time.Duration) error {
	if err := s.tick(now); err != nil {
		return err
	}
	if err := s.watch(now); err != nil {
		return err
	}
	answer := speconAnswer{Time: now.Seconds(), Ran: s.report.Ran, Next: s.report.Next.Seconds(),
		Moves: monitorMoves(s.report.Changes), Requests: []speconRequest{}, Rebalance: []speconTransfer{}}
	for _, request := range s.report.Requests {
		decision := waits
		if answer.Migration == nil {
			var err error
			if decision, answer.Migration, err = s.choose(request.Job, now); err != nil {
				return err
			}
		}
		answer.Requests = append(answer.Requests, speconRequest{request.Job, request.Gain, decision})
	}
	if err := s.rebalance(now, &answer); err != nil {
		return err
	}
	for _, w := range s.state() {
		score := float64(s.weights.Score(w.Counts)) / placement.ScoreUnit
		answer.Workers = append(answer.Workers, speconWorker{w.ID, w.Counts.Progressing, w.Counts.Watching, w.Counts.Converged, score})
	}
	return c.writeLine(answer)
}

// watch hands all samples to the container monitor, Algorithm 3.
func (s *speconRun) watch(now time.Duration) error {
	observations := make([]specon.Observation, len(s.containers))
	for i, t := range s.containers {
		observations[i] = specon.Observation{Job: t.id, Worker: s.workers[t.worker].ID, Migrated: t.decided,
			Missing: !t.fresh, At: t.at, Value: t.value}
		if usage := t.usage(); len(usage) > 0 {
			observations[i].Usage = growth.Used(usage[s.steering])
		}
	}
	if err := s.machine.Step(now, observations, &s.report); err != nil {
		return err
	}
	for _, t := range s.containers {
		if s.report.Ran || t.category == growth.Outside {
			t.take(0)
		}
		status, _ := s.machine.Standing(t.id)
		if status.Category == growth.Converged && t.category != growth.Converged {
			t.since = now
		}
		t.category = status.Category
	}
	return nil
}

// state returns every worker with its counts, usage and room.
func (s *speconRun) state() []placement.Worker {
	workers := make([]placement.Worker, len(s.workers))
	for w, server := range s.workers {
		workers[w] = placement.Worker{ID: server.ID, Free: server.Capacity.Clone()}
	}
	for _, t := range s.containers {
		w := &workers[t.worker]
		switch t.category {
		case growth.Converged:
			w.Counts.Converged++
		case growth.Watching:
			w.Counts.Watching++
		default:
			w.Counts.Progressing++
		}
		if len(t.current) > 0 {
			w.Usage += t.current[s.steering]
		}
		for k, q := range t.demand {
			w.Free[k] -= q
		}
	}
	return workers
}

// choose decides on one request, Algorithm 4. A container that stays for good is not asked again.
func (s *speconRun) choose(id string, now time.Duration) (string, *speconTransfer, error) {
	t := s.byID[id]
	host, err := placement.ChooseHost(placement.HostRequest{
		Kinds: s.kinds, Workers: s.state(), Current: t.worker, Demand: t.demand,
	}, &placement.HostOptions{Weights: s.weights, IgnoreRoom: s.ignoreRoom})
	if err != nil {
		return "", nil, err
	}
	if host.Decided {
		t.decided, t.since = true, now
	}
	if host.Worker == t.worker {
		return host.Reason.String(), nil, nil
	}
	return "moves", s.move(t, host.Worker, host.Reason.String()), nil
}

// move notes that a container goes to another worker: the caller carries it out before the next tick.
func (s *speconRun) move(t *tenant, worker int, reason string) *speconTransfer {
	transfer := &speconTransfer{t.id, s.workers[t.worker].ID, s.workers[worker].ID, reason}
	t.worker = worker
	return transfer
}

// rebalance is Algorithm 5. It waits until all containers are converged, whether or not each was
// decided on: one that converges last on its worker never asks for another host.
func (s *speconRun) rebalance(now time.Duration, answer *speconAnswer) error {
	if s.noRebalance {
		return nil
	}
	request := placement.RebalanceRequest{Now: now, Kinds: s.kinds}
	for _, w := range s.state() {
		request.Free = append(request.Free, w.Free)
	}
	for _, t := range s.containers {
		request.Containers = append(request.Containers, placement.Active{ID: t.id, Worker: t.worker, Demand: t.demand,
			Migrated: t.category == growth.Converged, Since: t.since, Rebalanced: t.rebalanced})
	}
	plan, err := placement.Rebalance(request, &s.balance)
	if err != nil {
		return err
	}
	for _, transfer := range plan.Transfers {
		t := s.containers[transfer.Container]
		t.decided, t.rebalanced = true, true
		answer.Rebalance = append(answer.Rebalance, *s.move(t, transfer.To, rebalances))
	}
	return nil
}
