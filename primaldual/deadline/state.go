// This file saves and restores a scheduler as JSON.

package deadline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/apportion/apportion"
)

const stateVersion = 1

// state is a scheduler in JSON.
type state struct {
	Version  int                 `json:"version"`
	Kinds    apportion.Kinds     `json:"kinds"`
	Capacity apportion.Resources `json:"capacity"`
	Options  Options             `json:"options,omitzero"`
	Start    int                 `json:"start"`
	Slot     int                 `json:"slot"`
	Jobs     []*held             `json:"jobs,omitempty"`
	Arrivals []arrival           `json:"arrivals,omitempty"`
}

// Snapshot returns the scheduler as JSON.
func (s *Scheduler) Snapshot() ([]byte, error) {
	return json.Marshal(state{stateVersion, s.kinds, s.pool.of, s.options, s.start, s.slot, s.jobs, s.arrivals})
}

// Restore returns the scheduler that a snapshot holds. It decides as the saved one would.
//
// Errors: those of encoding/json for text that is no snapshot, and an [*apportion.FieldError]: ErrUnknown for another version, ErrRange
// for a state that cannot be, and whatever [New] and [Scheduler.Offer] refuse.
func Restore(snapshot []byte) (*Scheduler, error) {
	var saved state
	if err := json.Unmarshal(snapshot, &saved); err != nil {
		return nil, err
	}
	if saved.Version != stateVersion {
		return nil, stateFault("version", apportion.ErrUnknown, fmt.Sprint(saved.Version))
	}
	s, err := New(saved.Kinds, saved.Capacity, saved.Slot, &saved.Options)
	if err != nil {
		return nil, err
	}
	if saved.Start > saved.Slot || saved.Start < -mostSlot {
		return nil, stateFault("start", apportion.ErrRange, fmt.Sprint(saved.Start))
	}
	s.start, s.arrivals = saved.Start, saved.Arrivals
	for i := range s.arrivals {
		a := &s.arrivals[i]
		if a.Slot < s.start || a.Slot > s.slot || a.Work < 1 || !(a.Value > 0) || len(a.Worker) != len(s.kinds) || a.Worker.IsZero() || slices.Min(a.Worker) < 0 {
			return nil, stateFault("arrivals", apportion.ErrRange, fmt.Sprint(i))
		}
	}
	for i, h := range saved.Jobs {
		if h == nil {
			return nil, stateFault("jobs", apportion.ErrMissing, fmt.Sprint(i))
		}
		if err := s.checkOffer(&h.Job); err != nil {
			return nil, err
		}
		if h.Left < 1 || h.Left > h.Work || min(h.Workers, h.Before) < 0 || max(h.Workers, h.Before) > h.Width || h.Promise != nil && !slices.Contains(h.Deadlines, *h.Promise) {
			return nil, stateFault("jobs", apportion.ErrRange, h.ID)
		}
		s.jobs = append(s.jobs, h)
	}
	return s, nil
}

func stateFault(field string, sort error, detail string) error {
	return &apportion.FieldError{Item: apportion.Item{ID: "snapshot"}, Field: field, Err: sort, Detail: detail}
}

func sortedKeys(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
