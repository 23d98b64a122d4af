// This file holds snapshots of sorters, batches of changes, and looks at what would be.

package drf

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// SorterState is all that a [Sorter] or a [TreeSorter] knows, as data: two with the same state give the same
// answers for ever. The tree of a TreeSorter is not part of it, so that a state may be taken over by a tree with other weights,
// guarantees and ceilings.
type SorterState struct {
	Total apportion.Resources `json:"total"`
	// Clients are in the order of their IDs.
	Clients []ClientState `json:"clients"`
}

// ClientState is one client of a SorterState.
type ClientState struct {
	ID string `json:"id"`
	// Queue and Demand are those of a client of a TreeSorter.
	Queue  string              `json:"queue,omitempty"`
	Weight float64             `json:"weight"`
	Demand apportion.Resources `json:"demand,omitempty"`
	Held   apportion.Resources `json:"held"`
	// Idle is set for a client that SetActive has taken out of the order, Skipped for one that Skip has.
	Idle    bool `json:"idle,omitempty"`
	Skipped bool `json:"skipped,omitempty"`
}

// Snapshot returns the state of the sorter. O(n (K + log n)).
func (s *Sorter) Snapshot() *SorterState {
	state := stateOf(s.total, s.clients)
	for i := range state.Clients {
		client := s.clients[state.Clients[i].ID]
		// Out of the order without being skipped: SetActive has taken it out.
		state.Clients[i].Idle = client.place < 0 && !client.skipped
	}
	return state
}

// Snapshot returns the state of the sorter, without its tree. O(n (K + log n)).
func (s *TreeSorter) Snapshot() *SorterState {
	state := stateOf(s.total, s.clients)
	for i := range state.Clients {
		client, c := s.clients[state.Clients[i].ID], &state.Clients[i]
		c.Queue, c.Demand, c.Idle = client.Queue(), client.branch.demand.Clone(), !client.branch.active
	}
	return state
}

// stateOf returns what both sorts of clients have in common, by ID.
// The vectors are copies, so that the state stays what it was while the sorter goes on.
func stateOf(total apportion.Resources, clients map[string]*Client) *SorterState {
	state := &SorterState{Total: total.Clone(), Clients: make([]ClientState, 0, len(clients))}
	// The order of the map is not that of the list: it is sorted below.
	for _, client := range clients {
		state.Clients = append(state.Clients, ClientState{
			ID: client.id, Weight: client.weight, Held: client.held.Clone(), Skipped: client.skipped,
		})
	}
	slices.SortFunc(state.Clients, func(a, b ClientState) int { return cmp.Compare(a.ID, b.ID) })
	return state
}

// RestoreSorter returns a sorter with the state. The error is one that NewSorter, Add or Allocate
// returns.
// Clients may come in any order. More held than the total is no error, as it is none for Allocate.
func RestoreSorter(state *SorterState) (*Sorter, error) {
	s, err := NewSorter(state.Total)
	if err != nil {
		return nil, err
	}
	return s, restore(state, s, func(c *ClientState) (*Client, error) {
		if c.Queue != "" {
			return nil, &apportion.FieldError{Item: clientItem(c.ID), Field: "Queue", Err: apportion.ErrUnknown, Detail: strconv.Quote(c.Queue)}
		}
		return s.Add(c.ID, c.Weight)
	})
}

// RestoreSorter returns a sorter of the tree with the state. The error is one that SetTotal, Add or Allocate
// returns: a queue that the tree does not have is ErrUnknown.
func (t *Tree) RestoreSorter(state *SorterState) (*TreeSorter, error) {
	s := t.NewSorter()
	if err := s.SetTotal(state.Total); err != nil {
		return nil, err
	}
	return s, restore(state, s, func(c *ClientState) (*Client, error) { return s.Add(c.ID, c.Queue, c.Weight, c.Demand) })
}

// sorting is what both sorters have in common.
type sorting interface {
	Allocate(*Client, apportion.Resources) error
	Release(*Client, apportion.Resources) error
	SetActive(*Client, bool) error
	Skip(*Client) error
}

// restore adds the clients of a state, each by add.
func restore(state *SorterState, s sorting, add func(*ClientState) (*Client, error)) error {
	for i := range state.Clients {
		c := &state.Clients[i]
		// In the order in which a scheduler would have called: what is held must be booked before a client is
		// taken out.
		client, err := add(c)
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
			return err
		}
	}
	return nil
}

// Change is one of a batch: Resources come to a client, or leave it.
// The client is one of the sorter that makes the change, as for Allocate and Release.
type Change struct {
	Client    *Client
	Resources apportion.Resources
	Release   bool
}

// Apply makes all changes, in their order, or none: the error is that of the first which cannot be made.
func (s *Sorter) Apply(changes []Change) error { return apply(s, changes) }

// Apply makes all changes, in their order, or none: the error is that of the first which cannot be made.
func (s *TreeSorter) Apply(changes []Change) error { return apply(s, changes) }

// WhatIf makes all changes, calls look, and takes them back, so that look sees the order as it would be. look must only
// read. Everything is as before afterwards, those who are skipped too; with an error nothing was
// changed, and look was not called.
// The sorter really changes meanwhile: it must be the caller's alone, and a look that panics leaves the
// changes made.
func (s *Sorter) WhatIf(changes []Change, look func()) error {
	skipped := slices.Clone(s.skipped)
	return whatIf(s, skipped, changes, look)
}

// WhatIf makes all changes, calls look, and takes them back, as [Sorter.WhatIf] does.
func (s *TreeSorter) WhatIf(changes []Change, look func()) error {
	skipped := slices.Clone(s.skipped)
	return whatIf(s, skipped, changes, look)
}

// apply makes all changes or none.
// Clients that a release has brought back stay so, also after an error; whatIf is the one to skip them
// again.
func apply(s sorting, changes []Change) error {
	// Checks of one change depend on those before it, so that they are made one by one and taken back on the first
	// error.
	for i, change := range changes {
		if err := change.make(s, change.Release); err != nil {
			undo(s, changes[:i])
			return err
		}
	}
	return nil
}

// make makes a change, or takes it back.
func (c *Change) make(s sorting, release bool) error {
	if release {
		return s.Release(c.Client, c.Resources)
	}
	return s.Allocate(c.Client, c.Resources)
}

// undo takes changes back that have been made, the last one first. What was taken is there to be given, and what was
// given is held, so that no error is possible.
// An error here would be one of this package, and a sorter with half of the changes must not go on.
func undo(s sorting, changes []Change) {
	for i := len(changes) - 1; i >= 0; i-- {
		if err := changes[i].make(s, !changes[i].Release); err != nil {
			panic("drf: a change cannot be taken back: " + err.Error())
		}
	}
}

// whatIf makes changes, looks, takes them back, and skips again whom a release has brought back.
func whatIf(s sorting, skipped []*Client, changes []Change, look func()) error {
	// A release wakes those who are skipped; they are noted before and skipped again whatever happens.
	err := apply(s, changes)
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
