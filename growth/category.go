// This file implements the categories of a job and the one step between them that the monitors
// share, [Zheng] §5.1.2 (NL, WL, CL) and §5.2.1 (PC, WC, CC).

package growth

import "github.com/apportion/apportion/internal/enum"

// Verdict is what a classifier says of one job at one check.
type Verdict string

// The verdicts.
const (
	// Unsure: no evidence either way; the job stays where it is.
	Unsure Verdict = "unsure"
	// Slow: the job gains too little.
	Slow Verdict = "slow"
	// Growing: the job still profits from resources.
	Growing Verdict = "growing"
)

// Category is where a job stands: FlowCon's lists and SpeCon's sets are the same ladder.
type Category uint8

// The categories. A job on a worker is in exactly one of the last three.
const (
	// Outside: not on the worker, before its arrival or after its exit.
	Outside Category = iota
	// Progressing: young or quickly growing. FlowCon's New List, SpeCon's PC.
	Progressing
	// Watching: near convergence. FlowCon's Watching List, SpeCon's WC.
	Watching
	// Converged: growing slowly. FlowCon's Completing List, SpeCon's CC.
	Converged
)

var categories = []string{"outside", "progressing", "watching", "converged"}

// String returns "outside", "progressing", "watching" or "converged".
func (c Category) String() string { return enum.String(c, categories) }

// MarshalText returns what String returns.
func (c Category) MarshalText() ([]byte, error) { return enum.Marshal(c, categories) }

// UnmarshalText reads what MarshalText writes.
func (c *Category) UnmarshalText(text []byte) error { return enum.Unmarshal(c, text, categories) }

// After returns the category that follows c under a verdict: [Slow] goes one step down and stays
// in Converged, [Growing] goes back to Progressing, [Unsure] stays.
func (c Category) After(v Verdict) Category {
	switch v {
	case Slow:
		return min(c+1, Converged)
	case Growing:
		return Progressing
	default:
		return c
	}
}
