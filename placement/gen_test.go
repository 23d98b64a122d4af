// This file generates clusters for the property tests, and prints plans.

package placement_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement"
)

// moves prints the transfers of a plan: container, from, to.
func moves(containers []placement.Active, plan placement.RebalancePlan) (lines []string) {
	for _, m := range plan.Transfers {
		lines = append(lines, fmt.Sprintf("%s %d %d", containers[m.Container].ID, m.From, m.To))
	}
	return lines
}

// resources draws a vector over two kinds with quantities up to most.
func resources(most int64) *rapid.Generator[apportion.Resources] {
	return rapid.Custom(func(t *rapid.T) apportion.Resources {
		return apportion.Resources{rapid.Int64Range(0, most).Draw(t, "cpu"), rapid.Int64Range(0, most).Draw(t, "gpu")}
	})
}

// clusters draws 1 to 6 workers with 0 to 24 converged containers; many were marked at the same time.
var clusters = rapid.Custom(func(t *rapid.T) placement.RebalanceRequest {
	request := placement.RebalanceRequest{Now: time.Hour, Kinds: apportion.Kinds{"cpu", "gpu"}}
	for range rapid.IntRange(1, 6).Draw(t, "workers") {
		request.Free = append(request.Free, resources(6).Draw(t, "free"))
	}
	for i := range rapid.IntRange(0, 24).Draw(t, "containers") {
		request.Containers = append(request.Containers, placement.Active{
			ID:         fmt.Sprint("c", i),
			Worker:     rapid.IntRange(0, rapid.IntRange(0, len(request.Free)-1).Draw(t, "skew")).Draw(t, "worker"),
			Demand:     resources(4).Draw(t, "demand"),
			Migrated:   true,
			Since:      time.Duration(rapid.IntRange(0, 9).Draw(t, "since")),
			Rebalanced: rapid.IntRange(0, 9).Draw(t, "rebalanced") == 0,
		})
	}
	return request
})

// packing is a packer's input and the gangs that come.
type packing struct {
	bins  []placement.Bin
	gangs []gang
}

type gang struct {
	demand apportion.Resources
	count  int64
}

var packings = rapid.Custom(func(t *rapid.T) (p packing) {
	for range rapid.IntRange(0, 6).Draw(t, "servers") {
		p.bins = append(p.bins, placement.Bin{
			Free:       resources(12).Draw(t, "free"),
			Containers: rapid.Int64Range(0, 3).Draw(t, "containers"),
		})
	}
	for range rapid.IntRange(1, 8).Draw(t, "gangs") {
		p.gangs = append(p.gangs, gang{resources(4).Draw(t, "demand"), rapid.Int64Range(0, 5).Draw(t, "count")})
	}
	return p
})
