// This file implements Cluster: the two sets of servers and the span of slots, [OASiS] §3.1.

package primaldual

import (
	"maps"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/enum"
	"github.com/apportion/apportion/primaldual/internal/schedule"
)

// Side is one of the two lists of servers.
type Side uint8

// The two sides. Workers run on the servers of the one list only, parameter servers on those of the other.
const (
	Workers Side = iota
	ParameterServers
)

var sideTexts = []string{"worker", "ps"}

// String returns "worker" or "ps".
func (s Side) String() string { return enum.String(s, sideTexts) }

// MarshalText returns the text of String.
func (s Side) MarshalText() ([]byte, error) { return enum.Marshal(s, sideTexts) }

// UnmarshalText reads a text of String.
func (s *Side) UnmarshalText(text []byte) error { return enum.Unmarshal(s, text, sideTexts) }

// Cluster is what jobs are scheduled on. Slots are numbered from 1.
type Cluster struct {
	// Kinds names the quantities of every Capacity and every demand.
	Kinds apportion.Kinds `json:"kinds"`
	// Slots is T: the number of slots that a schedule may reach over, at least 1.
	Slots int `json:"slots"`
	// WorkerServers and PSServers are the H and K servers of the two sides; neither is empty, and no ID is twice, on
	// one side or on both: the paper has two disjoint sets. What is cordoned counts as any other: Fail says from which slot on
	// nothing runs there.
	WorkerServers []apportion.Server `json:"worker_servers"`
	PSServers     []apportion.Server `json:"ps_servers"`
}

// Validate returns what is wrong with the cluster as [apportion.Faults], or nil. O((H+K) R).
func (c *Cluster) Validate() error {
	var faults apportion.Faults
	if err := c.Kinds.Validate(); err != nil {
		faults = append(faults, err.(apportion.Faults)...)
	}
	if c.Slots < 1 {
		faults.Add(apportion.Item{}, "Slots", apportion.ErrRange, strconv.Itoa(c.Slots)+" is not positive")
	}
	c.checkSide(&faults, c.WorkerServers, "WorkerServers")
	c.checkSide(&faults, c.PSServers, "PSServers")
	workers := make(map[string]bool, len(c.WorkerServers))
	for _, server := range c.WorkerServers {
		workers[server.ID] = true
	}
	for k, server := range c.PSServers {
		// Servers without an ID are faults of checkSide already.
		if server.ID != "" && workers[server.ID] {
			faults.Add(check.Item("server", server.ID, k), "ID", apportion.ErrConflict, "it is a worker server too; the two sides are disjoint")
		}
	}
	return faults.Err()
}

// checkSide checks one side and names it in faults that belong to the list as a whole.
func (c *Cluster) checkSide(faults *apportion.Faults, servers []apportion.Server, field string) {
	before := len(*faults)
	check.Servers(faults, c.Kinds, servers)
	for _, fault := range (*faults)[before:] {
		if fault.Item.IsZero() {
			fault.Field = field
		}
	}
}

func (c *Cluster) servers(side Side) []apportion.Server {
	if side == ParameterServers {
		return c.PSServers
	}
	return c.WorkerServers
}

// clone returns a copy that shares nothing with c.
// A ledger holds a copy, since prices and room follow from capacities: they must not change behind
// its back.
func (c *Cluster) clone() *Cluster {
	return &Cluster{
		Kinds:         append(apportion.Kinds(nil), c.Kinds...),
		Slots:         c.Slots,
		WorkerServers: cloneServers(c.WorkerServers),
		PSServers:     cloneServers(c.PSServers),
	}
}

func cloneServers(servers []apportion.Server) []apportion.Server {
	out := make([]apportion.Server, len(servers))
	for h, server := range servers {
		out[h] = server
		out[h].Capacity, out[h].Labels = server.Capacity.Clone(), maps.Clone(server.Labels)
	}
	return out
}

// defaultMaxCells is the limit on the size of any table where the options leave it 0: 2^27 cells of
// eight bytes are one GiB.
const defaultMaxCells = schedule.DefaultMaxCells

// ErrTooLarge reports that a computation would need a table with more cells than the limit of the
// options. Nothing was allocated for it and no state has changed.
var ErrTooLarge = schedule.ErrTooLarge

// cellLimit returns the limit that MaxCells of some options asks for, and refuses a negative one.
// No value switches the limit off, as one job with very many chunks could then take all memory of a
// service.
func cellLimit(option int64) (int64, error) {
	switch {
	case option < 0:
		detail := strconv.FormatInt(option, 10)
		return 0, &apportion.FieldError{Item: apportion.Item{ID: "options"}, Field: "MaxCells", Err: apportion.ErrNegative, Detail: detail}
	case option == 0:
		return defaultMaxCells, nil
	}
	return option, nil
}
