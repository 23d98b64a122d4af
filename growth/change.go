// This file implements Change, what a monitor says of a job that moved between the categories, and
// why: [Zheng] Algorithm 1, lines 2-13, Algorithm 2 and Algorithm 3.

package growth

import (
	"fmt"
)

// Cause says why a job changed its category.
type Cause string

// The causes.
const (
	// Arrived: the job is new on the worker.
	Arrived Cause = "arrived"
	// Left: the job is gone.
	Left Cause = "left"
	// GrowsSlowly: the classifier found it slow.
	GrowsSlowly Cause = "grows slowly"
	// GrowsAgain: the classifier found it growing.
	GrowsAgain Cause = "grows again"
	// ValueDiverged: its evaluation function is not finite.
	ValueDiverged Cause = "value is not finite"
	// FellSilent: nothing was read of it for too long.
	FellSilent Cause = "fell silent"
)

// CauseOf returns why a check changed a category: the verdict, or a value that is not finite.
func CauseOf(verdict Verdict, outcome Outcome) Cause {
	switch {
	case outcome == Diverged:
		return ValueDiverged
	case verdict == Growing:
		return GrowsAgain
	default:
		return GrowsSlowly
	}
}

// Change is a change of one job's category.
type Change struct {
	// Job is the job's ID.
	Job      string
	From, To Category
	// Growth is what the job showed: growth efficiency of the steering kind under FlowCon, gain
	// under SpeCon; 0 for arrivals and exits.
	Growth float64
	Cause  Cause
}

// String returns for instance "vae: progressing -> watching, grows slowly (0.04)".
func (c Change) String() string {
	text := fmt.Sprintf("%s: %v -> %v, %v", c.Job, c.From, c.To, c.Cause)
	if c.Cause == GrowsSlowly || c.Cause == GrowsAgain {
		text += fmt.Sprintf(" (%.4g)", c.Growth)
	}
	return text
}
