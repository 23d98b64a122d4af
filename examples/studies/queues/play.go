// This file plays a month under one policy, and measures it.

package main

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

var policies = []policy{{name: "flat"}, {name: "tree", projects: true}, {name: "tree, reclaiming", projects: true, reclaim: true}}

// guarantees returns the queues of all projects: each is guaranteed the same part of the cluster.
func guarantees(jobs []job, gpus int64) []drf.Queue {
	var projects []string
	for _, j := range jobs {
		projects = append(projects, j.project)
	}
	slices.Sort(projects)
	projects = slices.Compact(projects)
	var queues []drf.Queue
	for _, p := range projects {
		queues = append(queues, drf.Queue{ID: p, Weight: 1, Guarantee: apportion.Resources{gpus / int64(len(projects))}})
	}
	return queues
}

// newState returns a month at its beginning, in which nobody has come yet. The projects are those of the jobs.
func newState(jobs []job, gpus int64, p policy) (*state, error) {
	queues := guarantees(jobs, gpus)
	tree, err := drf.NewTree(apportion.Resources{gpus}, queues)
	if err != nil {
		return nil, err
	}
	// The sorter of the flat policy knows no projects; what is due is measured by the tree in both.
	served := tree
	if !p.projects {
		if served, err = drf.NewTree(apportion.Resources{gpus}, nil); err != nil {
			return nil, err
		}
	}
	return &state{
		policy: p, gpus: gpus, tree: tree, count: len(queues), sorter: served.NewSorter(), queues: make(map[*drf.Client][]*run), clients: make(map[string]*drf.Client),
		out: &outcome{policy: p, loss: make(map[string]float64)},
	}, nil
}

// play plays a month until its last job has ended.
// Time jumps from event to event; ends come before arrivals of the same second.
func play(jobs []job, gpus int64, p policy) (*outcome, error) {
	s, err := newState(jobs, gpus, p)
	if err != nil {
		return nil, err
	}
	for next := 0; next < len(jobs) || len(s.running) > 0; {
		at := math.Inf(1)
		if next < len(jobs) {
			at = jobs[next].submit
		}
		for _, r := range s.running {
			at = min(at, r.started+r.left)
		}
		if err := s.advance(at); err != nil {
			return nil, err
		}
		for ; next < len(jobs) && jobs[next].submit <= s.now; next++ {
			if err := s.submit(jobs[next]); err != nil {
				return nil, err
			}
		}
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	return s.out, nil
}

// advance measures the time until at, and ends the jobs whose work is done then.
func (s *state) advance(at float64) error {
	if err := s.measure((at - s.now) / hour); err != nil {
		return err
	}
	s.now = at
	for _, r := range slices.Clone(s.running) {
		if r.started+r.left <= s.now {
			if err := s.stop(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// submit queues a job behind those of its user.
func (s *state) submit(j job) error {
	id := j.project + "/" + j.user
	client := s.clients[id]
	if client == nil {
		queue := ""
		if s.policy.projects {
			queue = j.project
		}
		var err error
		if client, err = s.sorter.Add(drf.Claim{ID: id, Queue: queue, Weight: 1, Demand: apportion.Resources{j.gpus}}); err != nil {
			return err
		}
		s.clients[id] = client
	}
	s.queues[client] = append(s.queues[client], &run{job: j, client: client, left: j.length, started: -1})
	return s.ask(client)
}

// start starts whoever is next as long as anybody fits.
func (s *state) start() error {
	for client := s.sorter.Next(); client != nil; client = s.sorter.Next() {
		r := s.queues[client][0]
		if kind, _ := s.sorter.Room(client); kind >= 0 && !(s.policy.reclaim && s.makeRoom(r)) {
			if err := s.sorter.Skip(client); err != nil {
				return err
			}
			continue
		}
		if err := s.sorter.Allocate(client, apportion.Resources{r.gpus}); err != nil {
			return err
		}
		if !r.waited {
			s.out.waiting = append(s.out.waiting, (s.now-r.submit)/hour)
		}
		r.started, r.waited = s.now, true
		s.running = append(s.running, r)
		s.queues[client] = s.queues[client][1:]
		if err := s.ask(client); err != nil {
			return err
		}
	}
	return nil
}
