// This file holds Colocation: which containers of a job may stand together. [OASiS] has workers and parameter servers on
// disjoint sets of servers.

package primaldual

import "github.com/apportion/apportion/internal/enum"

// Colocation says which containers that a job has in one slot may stand on one machine.
type Colocation uint8

// The rules.
const (
	// Anywhere: any of them.
	Anywhere Colocation = iota
	// Apart: no machine has workers and parameter servers of the job in the same slot.
	Apart
	// OneMachine: all containers of a slot stand on one machine, which need not be that of another slot. A job with
	// parameter servers then needs a server that is on both lists.
	OneMachine
)

var colocationTexts = []string{"anywhere", "apart", "on one machine"}

// String returns the rule in words.
func (c Colocation) String() string { return enum.String(c, colocationTexts) }

// MarshalText returns the text of String.
func (c Colocation) MarshalText() ([]byte, error) { return enum.Marshal(c, colocationTexts) }

// UnmarshalText reads a text of String.
func (c *Colocation) UnmarshalText(text []byte) error {
	return enum.Unmarshal(c, text, colocationTexts)
}

// stands reports whether the containers of a slot obey the rule of the job.
func (j *Job) stands(p *park, plan *SlotPlan) bool {
	// Machines are compared and not positions in lists: a server on both lists has two positions,
	// but is one machine. Anywhere asks for nothing. O(placements of either side multiplied).
	switch j.Colocation {
	case Apart:
		for _, placement := range plan.Workers {
			for _, other := range plan.PS {
				if p.on[Workers][placement.Server] == p.on[ParameterServers][other.Server] {
					return false
				}
			}
		}
	case OneMachine:
		// Servers of a side ascend strictly, so that two placements of a side are two machines.
		if len(plan.Workers) > 1 || len(plan.PS) > 1 {
			return false
		}
		for _, placement := range plan.Workers {
			for _, other := range plan.PS {
				return p.on[Workers][placement.Server] == p.on[ParameterServers][other.Server]
			}
		}
	}
	return true
}
