// This file implements what happens to jobs: a slot ends, a job is cancelled, the capacity changes.

package deadline

import (
	"fmt"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Broken is a promise that cannot be kept any more. The job stays as one without a promise.
type Broken struct {
	ID       string   `json:"id"`
	Deadline Deadline `json:"deadline"`
}

// Finish is the end of a job in a slot, with what it earned.
type Finish struct {
	ID    string  `json:"id"`
	Slot  int     `json:"slot"`
	Value float64 `json:"value"`
}

// Outcome is what a slot brought.
type Outcome struct {
	Finished []Finish `json:"finished,omitempty"`
	// Lost are jobs that can no longer earn anything and are forgotten.
	Lost   []string `json:"lost,omitempty"`
	Broken []Broken `json:"broken,omitempty"`
}

// Advance ends the current slot. A job has done one worker-slot for each worker of [Scheduler.Run], or has left what the map
// says in worker-slots, rounded up. Promises that lost work breaks are named.
//
// Errors: a job in left that is unknown (ErrUnknown), or has less than nothing left (ErrNegative) or more than Width (ErrRange) of
// its Work; then nothing has changed. O(n log n + n x slots).
func (s *Scheduler) Advance(left map[string]int64) (Outcome, error) {
	if err := s.checkLeft(left); err != nil {
		return Outcome{}, err
	}
	var out Outcome
	s.jobs = slices.DeleteFunc(s.jobs, func(h *held) bool {
		h.Left = max(0, h.Left-h.Workers)
		if reported, ok := left[h.ID]; ok {
			h.Left = reported
		}
		h.Before, h.Workers = h.Workers, 0
		if h.Left == 0 {
			out.Finished = append(out.Finished, Finish{ID: h.ID, Slot: s.slot, Value: h.value(s.slot)})
		}
		return h.Left == 0
	})
	s.slot++
	out.Broken = s.repair()
	s.jobs = slices.DeleteFunc(s.jobs, func(h *held) bool {
		gone := h.value(s.slot) == 0
		if p := s.measure(h); !gone && p.width > 0 {
			gone = len(s.levels(p)) == 0
		}
		if gone {
			out.Lost = append(out.Lost, h.ID)
		}
		return gone
	})
	s.arrivals = slices.DeleteFunc(s.arrivals, func(a arrival) bool { return s.slot-a.Slot > forgotten })
	return out, nil
}

// checkLeft refuses a map that Advance cannot apply. The first fault by the order of offers is returned.
func (s *Scheduler) checkLeft(left map[string]int64) error {
	known := 0
	for _, h := range s.jobs {
		switch n, ok := left[h.ID]; {
		case !ok:
			continue
		case n < 0:
			return &apportion.FieldError{Item: check.Item("job", h.ID, 0), Field: "left", Err: apportion.ErrNegative, Detail: fmt.Sprint(n)}
		case n > h.Work:
			return &apportion.FieldError{Item: check.Item("job", h.ID, 0), Field: "left", Err: apportion.ErrRange, Detail: fmt.Sprint(n)}
		}
		known++
	}
	for _, id := range sortedKeys(left) {
		if known < len(left) && s.find(id) == nil {
			return &apportion.FieldError{Item: check.Item("job", id, 0), Field: "left", Err: apportion.ErrUnknown}
		}
	}
	return nil
}

// Cancel forgets a job. An unknown one is ErrUnknown.
func (s *Scheduler) Cancel(id string) error {
	h := s.find(id)
	if h == nil {
		return &apportion.FieldError{Item: check.Item("job", id, 0), Field: "ID", Err: apportion.ErrUnknown}
	}
	s.jobs = slices.DeleteFunc(s.jobs, func(other *held) bool { return other == h })
	return nil
}

// SetCapacity changes the total capacity from the current slot on, and returns every promise that this breaks: those that
// are worth least for their work left go first.
func (s *Scheduler) SetCapacity(capacity apportion.Resources) ([]Broken, error) {
	if err := checkCapacity(s.kinds, capacity); err != nil {
		return nil, err
	}
	s.pool = newPool(capacity.Clone())
	return s.repair(), nil
}

// Slot returns the current slot.
func (s *Scheduler) Slot() int { return s.slot }

// Has reports whether a job is there.
func (s *Scheduler) Has(id string) bool { return s.find(id) != nil }

// find returns a job that is there, or nil.
func (s *Scheduler) find(id string) *held {
	for _, h := range s.jobs {
		if h.ID == id {
			return h
		}
	}
	return nil
}

// from returns how many slots there are from the current one to a deadline, at least 0 and at most mostHorizon.
func (s *Scheduler) from(by int) int {
	switch {
	case by < s.slot:
		return 0
	case by >= s.slot+mostHorizon: // and by-s.slot may overflow
		return mostHorizon
	}
	return by - s.slot + 1
}

func (s *Scheduler) reach(jobs []*planned) int {
	slots := 1
	for _, j := range jobs {
		slots = max(slots, s.from(j.Deadlines[len(j.Deadlines)-1].By))
	}
	return slots
}

func (h *held) value(slot int) float64 {
	for _, d := range h.Deadlines {
		if slot <= d.By {
			return d.Value
		}
	}
	return 0
}

// clone returns a copy of a deadline, or nil.
func clone(d *Deadline) *Deadline {
	if d == nil {
		return nil
	}
	copied := *d
	return &copied
}
