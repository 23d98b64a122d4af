// This file implements the categories of a container and the one step between them that the
// monitors share, [Zheng] §5.1.2 (NL, WL, CL) and §5.2.1 (PC, WC, CC).

package growth

import "strconv"

// Category is where a container stands: FlowCon's lists and SpeCon's sets are the same ladder.
type Category uint8

// The categories. A container on a worker is in exactly one of the last three.
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

// String returns "outside", "progressing", "watching" or "converged".
func (c Category) String() string {
	return name(c, "outside", "progressing", "watching", "converged")
}

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

// Verdict is what a classifier says of one container at one check.
type Verdict uint8

// The verdicts.
const (
	// Unsure: no evidence either way; the container stays where it is.
	Unsure Verdict = iota
	// Slow: the container gains too little.
	Slow
	// Growing: the container still profits from resources.
	Growing
)

// String returns "unsure", "slow" or "growing".
func (v Verdict) String() string { return name(v, "unsure", "slow", "growing") }

// Classifier tells from the readings of one job whether it still grows. A Classifier keeps no
// state: what it needs is in the series, so one value serves all containers.
//
// [Threshold] is FlowCon's test, [Decline] is SpeCon's, [Prospect] is robust to noise.
type Classifier interface {
	// Judge is called after a reading was added; the series has at least one interval. It must
	// not change or keep the series.
	Judge(series *Series) Verdict
}

// name returns the name of an enumeration's value.
func name[T ~uint8](value T, names ...string) string {
	if int(value) < len(names) {
		return names[value]
	}
	return "unknown " + strconv.Itoa(int(value))
}
