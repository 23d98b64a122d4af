// This file puts containers where there is room, for policies that do not care where.

package harness

import (
	"maps"

	"github.com/apportion/apportion"
)

// Room is what is free, by server.
type Room map[string]apportion.Resources

// RoomOf returns the room of servers of which nothing is taken.
func RoomOf(servers []apportion.Server) Room {
	room := Room{}
	for _, server := range servers {
		room[server.ID] = server.Capacity.Clone()
	}
	return room
}

// Clone returns a copy that shares nothing with r.
func (r Room) Clone() Room {
	room := maps.Clone(r)
	for id := range room {
		room[id] = room[id].Clone()
	}
	return room
}

// Take takes a container's room on each of these servers. A server that is not there any more has none.
func (r Room) Take(servers []string, demand apportion.Resources) {
	for _, id := range servers {
		if room, ok := r[id]; ok {
			for k, q := range demand {
				room[k] -= q
			}
		}
	}
}

// RoundRobin puts n containers one after the other on the next server with room, and takes it; nil if not
// all fit, with some room taken.
func (r Room) RoundRobin(servers []apportion.Server, demand apportion.Resources, n int64) []string {
	var all []string
	for at, full := 0, 0; int64(len(all)) < n; at++ {
		if full == len(servers) {
			return nil
		}
		id := servers[at%len(servers)].ID
		if !demand.FitsIn(r[id]) {
			full++
			continue
		}
		full = 0
		r.Take([]string{id}, demand)
		all = append(all, id)
	}
	return all
}
