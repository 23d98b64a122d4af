// This file holds snapshots of sorters, batches of changes, and looks at what would be.

package drf

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
)

// SorterState is all that a [Sorter] knows, as data: two with the same state give the same
// answers for ever. The tree is not part of it, so that a state may be taken over by a tree with other weights,
// guarantees and ceilings.
type SorterState struct {
	Total apportion.Resources `json:"total"`
	// Clients are in the order of their IDs.
	Clients []ClientState `json:"clients"`
}

// ClientState is one client of a SorterState.
type ClientState struct {
	ID     string              `json:"id"`
	Queue  string              `json:"queue,omitempty"`
	Weight float64             `json:"weight"`
	Demand apportion.Resources `json:"demand,omitempty"`
	Held   apportion.Resources `json:"held"`
	// Idle is set for a client that SetActive has taken out of the order, Skipped for one that Skip has.
	Idle    bool `json:"idle,omitempty"`
	Skipped bool `json:"skipped,omitempty"`
}

// Snapshot returns the state of the sorter, without its tree. O(n (K + log n)).
func (s *Sorter) Snapshot() *SorterState {
	state := &SorterState{Total: s.total.Clone(), Clients: make([]ClientState, 0, len(s.clients))}
	for _, c := range s.clients {
		state.Clients = append(state.Clients, ClientState{
			ID: c.id, Queue: c.Queue(), Weight: c.weight, Demand: c.demand.Clone(), Held: c.held.Clone(),
			Idle: !c.active, Skipped: c.skipped,
		})
	}
	slices.SortFunc(state.Clients, func(a, b ClientState) int { return cmp.Compare(a.ID, b.ID) })
	return state
}

// RestoreSorter returns a sorter of the tree with the state; clients may come in any order. The error is one that SetTotal,
// Add or Allocate returns: a queue that the tree does not have is ErrUnknown.
func (t *Tree) RestoreSorter(state *SorterState) (*Sorter, error) {
	s := t.NewSorter()
	if err := s.SetTotal(state.Total); err != nil {
		return nil, err
	}
	for i := range state.Clients {
		c := &state.Clients[i]
		client, err := s.Add(Claim{ID: c.ID, Queue: c.Queue, Weight: c.Weight, Demand: c.Demand})
		if err == nil {
			err = s.Allocate(client, c.Held)
		}
		if err == nil && c.Idle {
			err = s.SetActive(client, false)
		}
		if err == nil && c.Skipped {
			err = s.Skip(client)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Change is one of a batch: Resources come to a client, or leave it.
// The client is one of the sorter that makes the change, as for Allocate and Release.
type Change struct {
	Client    *Client
	Resources apportion.Resources
	Release   bool
}

// Apply makes all changes, in their order, or none: the error is that of the first which cannot be made.
// Clients that a release has brought back stay so, also after an error.
func (s *Sorter) Apply(changes []Change) error {
	for i, change := range changes {
		if err := change.make(s, change.Release); err != nil {
			undo(s, changes[:i])
			return err
		}
	}
	return nil
}

// WhatIf makes all changes, calls look, and takes them back, so that look sees the order as it would be. look must only
// read. Everything is as before afterwards, clients that are skipped too; with an error nothing was
// changed, and look was not called.
// The sorter really changes meanwhile: it must be the caller's alone, and a look that panics leaves the
// changes made.
func (s *Sorter) WhatIf(changes []Change, look func()) error {
	// A release wakes clients that are skipped; they are noted before and skipped again whatever happens.
	skipped := slices.Clone(s.skipped)
	err := s.Apply(changes)
	if err == nil {
		look()
		undo(s, changes)
	}
	for _, client := range skipped {
		if again := s.Skip(client); again != nil {
			panic("drf: a client was skipped that is not of this sorter: " + again.Error())
		}
	}
	return err
}

// make makes a change, or takes it back.
func (c *Change) make(s *Sorter, release bool) error {
	if release {
		return s.Release(c.Client, c.Resources)
	}
	return s.Allocate(c.Client, c.Resources)
}

// undo takes changes back that have been made, the last first. What was taken is there to be given, and what was
// given is held: an error would be a bug of this package, and a sorter with half of the changes must not go on.
func undo(s *Sorter, changes []Change) {
	for i := len(changes) - 1; i >= 0; i-- {
		if err := changes[i].make(s, !changes[i].Release); err != nil {
			panic("drf: a change cannot be taken back: " + err.Error())
		}
	}
}
