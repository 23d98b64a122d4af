// This file takes back what was borrowed, and measures what is due to whom.

package main

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

// checkpoint is how often jobs save their work, in seconds: what came after the last time is lost.
const checkpoint = hour

// makeRoom takes back borrowed jobs for one of a project that stays within its guarantee, and reports whether there is
// room then. Nothing is taken in vain.
func (s *state) makeRoom(r *run) bool {
	used := make(map[string]int64)
	total := int64(0)
	var holdings []drf.Holding
	byID := make(map[string]*run)
	for _, x := range s.running {
		used[x.project] += x.gpus
		total += x.gpus
		holdings = append(holdings, drf.Holding{ID: x.id, Queue: x.project, Held: apportion.Resources{x.gpus}, Since: int64(x.started), Loss: s.unsaved(x)})
		byID[x.id] = x
	}
	for _, b := range s.sorter.Balances() {
		if b.ID == r.project && b.Lent[0] < r.gpus {
			return false
		}
	}
	order, err := s.tree.Reclaim(holdings)
	if err != nil {
		panic("queues: what runs is no input for Reclaim: " + err.Error())
	}
	free, enough := s.gpus-total, 0
	for free < r.gpus && enough < len(order) {
		free += order[enough].Held[0]
		enough++
	}
	if free < r.gpus {
		return false
	}
	for _, h := range order[:enough] {
		s.takeBack(byID[h.ID])
	}
	return true
}

// unsaved returns the seconds of work that a job would lose.
func (s *state) unsaved(r *run) float64 {
	done := s.now - r.started
	return done - checkpoint*float64(int64(done/checkpoint))
}

// takeBack puts a job back to the head of its user's queue, without what it has not saved.
func (s *state) takeBack(r *run) {
	s.out.taken++
	lost := s.unsaved(r)
	s.out.lost += lost * float64(r.gpus) / hour
	s.out.reclaimed += (r.started + r.left - s.now) * float64(r.gpus) / hour
	r.left -= s.now - r.started - lost
	s.queues[r.client] = append([]*run{r}, s.queues[r.client]...)
	if err := s.stop(r); err == nil {
		err = s.ask(r.client)
		if err == nil {
			return
		}
	}
	panic("queues: a job that runs cannot be stopped")
}

// measure adds what the next hours bring: what is above guarantees, and for each project what it has below its due.
// It is called before every change, so that the sums are exact.
func (s *state) measure(hours float64) error {
	used, wanted := make(map[string]int64), make(map[string]int64)
	for _, r := range s.running {
		used[r.project] += r.gpus
		wanted[r.project] += r.gpus
	}
	for _, waiting := range s.queues {
		for _, r := range waiting {
			wanted[r.project] += r.gpus
		}
	}
	var claims []drf.Claim
	for project, gpus := range wanted {
		claims = append(claims, drf.Claim{ID: project, Queue: project, Demand: apportion.Resources{1}, Weight: 1, Max: gpus})
	}
	filling, err := s.tree.FillWhole(claims)
	if err != nil {
		return err
	}
	for _, due := range filling.Claims {
		s.out.loss[due.ID] += hours * float64(max(0, due.Containers-used[due.ID]))
	}
	for _, q := range filling.Queues {
		s.out.borrowed += hours * float64(max(0, used[q.ID]-s.gpus/int64(s.count)))
	}
	return nil
}
