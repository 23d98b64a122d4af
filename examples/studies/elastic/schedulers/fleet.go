// This file holds the servers by type of accelerator, and how fast a job would be on some of a type, [Narayanan20] §3.

package schedulers

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
)

// Accelerator is the label of a server that names its type. Servers without it are of one type, named "".
const Accelerator = "accelerator"

// kind is one type of servers.
type kind struct {
	name string
	// servers are the positions of its servers, ascending.
	servers []int
}

// kinds returns the types of servers in the order in which they first come. O(servers).
func kinds(servers []apportion.Server) []kind {
	var all []kind
	at := map[string]int{}
	for h := range servers {
		name := servers[h].Labels[Accelerator]
		i, known := at[name]
		if !known {
			i = len(all)
			at[name], all = i, append(all, kind{name: name})
		}
		all[i].servers = append(all[i].servers, h)
	}
	return all
}

// room returns how many containers of a demand fit into what is free.
func room(free, demand apportion.Resources) int64 {
	most := int64(math.MaxInt64)
	for k, q := range demand {
		if q > 0 {
			most = min(most, free[k]/q)
		}
	}
	return most
}

// holds returns how many containers of a job all servers of a type hold, and the most that one of them holds.
// A type with all = 0 is of no use to the job, and every policy must pass it over.
func (k *kind) holds(servers []apportion.Server, demand apportion.Resources) (all, one int64) {
	for _, h := range k.servers {
		n := room(servers[h].Capacity, demand)
		all, one = all+n, max(one, n)
	}
	return all, one
}

// speeds returns how fast a job is with 1, 2 and more containers, up to what the type holds or the job may have, packed
// on as few empty servers of the type as hold them. The error is that of the job's speed. O(n servers) for n containers.
func (k *kind) speeds(servers []apportion.Server, job *sim.Job) ([]float64, error) {
	all, _ := k.holds(servers, job.Demand)
	speeds := make([]float64, min(all, job.Max))
	free := make([]apportion.Resources, len(servers))
	for i := range speeds {
		for _, h := range k.servers {
			free[h] = servers[h].Capacity
		}
		// Rates are asked for in the simulator's own millionths, so that what a policy believes is what will
		// happen.
		rate, err := job.RateOn(pack(free, k.servers, job.Demand, int64(i+1)))
		if err != nil {
			return nil, err
		}
		speeds[i] = float64(rate) / float64(sim.Whole)
	}
	return speeds, nil
}

// pack returns places for n containers on some of the servers: each time on the one that holds all that are left and has
// the least room to spare, or else on the one with the most room; nil where they do not all fit. It changes nothing.
// O(servers x the servers that are needed).
// Containers of a job are alike, so that to take the largest rooms first needs the fewest servers there
// can be, and the tightest one for the rest leaves large rooms to others.
func pack(free []apportion.Resources, servers []int, demand apportion.Resources, n int64) []apportion.Placement {
	var on []apportion.Placement
	used := map[int]bool{}
	for n > 0 {
		// most is the room of best. A server that holds all of the rest ends the search at the smallest such one;
		// until then the largest leads, so that the fewest servers are used.
		best, most := -1, int64(0)
		for _, h := range servers {
			if used[h] {
				continue
			}
			r := room(free[h], demand)
			if better := r > most && most < n || r >= n && r < most; better {
				best, most = h, r
			}
		}
		if best < 0 {
			return nil
		}
		count := min(n, most)
		used[best] = true
		on, n = append(on, apportion.Placement{Server: best, Count: count}), n-count
	}
	slices.SortFunc(on, func(a, b apportion.Placement) int { return a.Server - b.Server })
	return on
}
