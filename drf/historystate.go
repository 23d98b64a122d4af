// This file holds snapshots of histories.

package drf

import (
	"fmt"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// HistoryState is all that a [History] knows, as data: two with the same state give the same answers for ever.
type HistoryState struct {
	HalfLife int64 `json:"half_life"`
	Kinds    int   `json:"kinds"`
	// Queues are in the order of their IDs; one that has used nothing is not there.
	Queues []QueueMean `json:"queues"`
}

// QueueMean is the mean use of one queue: Units of each kind and, beside these, Parts of 2^-40 units, below 2^40.
type QueueMean struct {
	ID    string              `json:"id"`
	Units apportion.Resources `json:"units"`
	Parts []int64             `json:"parts"`
}

// Snapshot returns the state of the history, which shares nothing with it. O(q (K + log q)).
func (h *History) Snapshot() *HistoryState {
	state := &HistoryState{HalfLife: h.halfLife, Kinds: len(h.kinds), Queues: make([]QueueMean, 0, len(h.means))}
	for _, id := range slices.Sorted(maps.Keys(h.means)) {
		q := QueueMean{ID: id, Units: make(apportion.Resources, len(h.kinds)), Parts: make([]int64, len(h.kinds))}
		for k, m := range h.means[id] {
			q.Units[k], q.Parts[k] = split40(m)
		}
		state.Queues = append(state.Queues, q)
	}
	return state
}

// RestoreHistory returns a history with the state; queues may come in any order. The error is [apportion.Faults] with
// everything in the state that no Snapshot has: what NewHistory refuses, an empty or repeated ID, vectors of another length,
// negative units, parts outside [0, 2^40), a queue that has used nothing (ErrEmpty).
func RestoreHistory(state *HistoryState) (*History, error) {
	h, err := NewHistory(state.Kinds, state.HalfLife)
	if err != nil {
		return nil, err
	}
	var faults apportion.Faults
	seen := make(map[string]bool)
	for i := range state.Queues {
		q, before := &state.Queues[i], len(faults)
		item := check.Item("queue", q.ID, i)
		check.ID(&faults, seen, q.ID, item)
		check.Resources(&faults, h.kinds, q.Units, item, "Units")
		check.Resources(&faults, h.kinds, q.Parts, item, "Parts")
		if len(faults) > before {
			continue
		}
		means := make([]mean, len(h.kinds))
		for k, parts := range q.Parts {
			if parts >= 1<<meanBits {
				faults.Add(item, fmt.Sprintf("Parts[%d]", k), apportion.ErrRange, fmt.Sprintf("%d is not below 2^%d", parts, meanBits))
			}
			means[k] = mean{uint64(q.Units[k]) >> (64 - meanBits), uint64(q.Units[k])<<meanBits | uint64(parts)}
		}
		if !slices.ContainsFunc(means, func(m mean) bool { return m != mean{} }) {
			faults.Add(item, "Units", apportion.ErrEmpty, "a queue that has used nothing is not in a state")
		}
		h.means[q.ID] = means
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return h, nil
}
