// This file puts containers where there is room, for policies that do not care where.

package harness

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement"
)

// Room is what is free of a list of servers, which jobs know by ID.
// It forgets nothing: what is taken stays taken until it is released.
type Room struct {
	servers []apportion.Server
	packer  *placement.Packer
}

// RoomOf returns the room of servers of which nothing is taken.
func RoomOf(kinds apportion.Kinds, servers []apportion.Server) (*Room, error) {
	packer, err := placement.NewPacker(placement.RoundRobin, kinds, placement.Bins(servers))
	return &Room{servers, packer}, err
}

// Take takes a container's room on each of these servers. One that is not among them, or not there any
// more, has none.
func (r *Room) Take(ids []string, demand apportion.Resources) error {
	for _, id := range ids {
		at := slices.IndexFunc(r.servers, func(s apportion.Server) bool { return s.ID == id })
		if at < 0 {
			continue
		}
		if err := r.packer.Take(at, demand, 1); err != nil {
			return err
		}
	}
	return nil
}

// RoundRobin puts n containers one after the other on the next server with room, and takes it; nil if not
// all fit, with nothing taken.
// Where the last container went matters for the next.
func (r *Room) RoundRobin(demand apportion.Resources, n int64) []apportion.Placement {
	placed, ok := r.packer.Place(demand, n, nil)
	if !ok {
		return nil
	}
	return placed
}

// Release gives back what was placed.
func (r *Room) Release(placed []apportion.Placement, demand apportion.Resources) error {
	for _, p := range placed {
		if err := r.packer.Release(p.Server, demand, p.Count); err != nil {
			return err
		}
	}
	return nil
}

// Names returns the servers of placed containers, one for each, ascending.
func (r *Room) Names(placed []apportion.Placement) []string {
	var names []string
	for _, p := range placed {
		names = append(names, slices.Repeat([]string{r.servers[p.Server].ID}, int(p.Count))...)
	}
	slices.Sort(names)
	return names
}
