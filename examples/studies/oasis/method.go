// This file plays the method of primaldual/deadline.

package main

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual/deadline"
)

// method is a scheduler of primaldual/deadline. A value plays one window.
type method struct {
	options   deadline.Options
	scheduler *deadline.Scheduler
	capacity  int64
	// broken counts the promises that were taken back, excused those at a failure of a server.
	broken, excused int
}

func (m *method) decide(now int, jobs []*live, capacity int64) (err error) {
	if err := m.begin(now, jobs, capacity); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.arrival != now {
			continue
		}
		if _, err := m.scheduler.Offer(j.Job); err != nil {
			return fmt.Errorf("slot %d: %w", now, err)
		}
	}
	given := make(map[string]int64)
	for _, share := range m.scheduler.Run() {
		given[share.ID] = share.Workers
	}
	for _, j := range jobs {
		j.given = given[j.ID]
	}
	return nil
}

// begin ends the slot before, with what was really done, and tells of failures.
func (m *method) begin(now int, jobs []*live, capacity int64) (err error) {
	if m.scheduler == nil {
		m.scheduler, err = deadline.New(apportion.Kinds{"gpu"}, apportion.Resources{capacity}, now, &m.options)
		m.capacity = capacity
		return err
	}
	left := make(map[string]int64)
	for _, j := range jobs {
		if m.scheduler.Has(j.ID) {
			left[j.ID] = j.whole()
		}
	}
	outcome, err := m.scheduler.Advance(left)
	if err != nil {
		return err
	}
	m.broken += len(outcome.Broken)
	if capacity != m.capacity {
		m.capacity = capacity
		broken, err := m.scheduler.SetCapacity(apportion.Resources{capacity})
		if err != nil {
			return err
		}
		m.excused += len(broken)
	}
	return nil
}
