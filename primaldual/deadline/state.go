// This file saves and restores a scheduler as JSON.

package deadline

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/apportion/apportion"
)

// state is a scheduler in JSON.
type state struct {
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
	return json.Marshal(state{s.kinds, s.pool.of, s.options, s.start, s.slot, s.jobs, s.arrivals})
}

// Restore returns the scheduler that a snapshot holds. It decides as the saved one would.
//
// Errors: text that is no snapshot, and whatever [New] and [Scheduler.Offer] refuse.
func Restore(snapshot []byte) (*Scheduler, error) {
	var saved state
	if err := json.Unmarshal(snapshot, &saved); err != nil {
		return nil, err
	}
	s, err := New(saved.Kinds, saved.Capacity, saved.Slot, &saved.Options)
	if err != nil {
		return nil, err
	}
	for _, h := range saved.Jobs {
		if err := s.checkOffer(&h.Job); err != nil {
			return nil, err
		}
		s.jobs = append(s.jobs, h)
		if err := s.checkLeft(map[string]int64{h.ID: h.Left}); err != nil {
			return nil, err
		}
	}
	s.start, s.arrivals = saved.Start, saved.Arrivals
	return s, nil
}

// sortedKeys returns the keys of a map in order.
func sortedKeys(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
