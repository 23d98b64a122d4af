// This file implements Explain: why a claim has what it has, in one line each.

package drf

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/apportion/apportion"
)

// Reason is why a claim has no more containers.
type Reason[N Amount] struct {
	Filled[N]
	// Needs is what one more container demands of the kind that the claim is short of, Left how
	// much of that kind is unused. Both are 0 for a claim that is not [Exhausted].
	Needs int64
	Left  N
	// AtMin is set for a claim that its Min holds above the level at which it stopped.
	AtMin bool
}

// Explanation is the reasons of all claims of a filling, in their order.
type Explanation[N Amount] struct {
	Kinds   apportion.Kinds
	Reasons []Reason[N]
	// ShortOf is [Filling].ShortOf.
	ShortOf int
}

// Explain says for each claim which kind stopped it, at which level, and why it has not one
// container more. claims are those that the filling was made of; kinds may be nil, then kinds are
// called by their number.
func Explain[N Amount](kinds apportion.Kinds, claims []Claim, filling *Filling[N]) *Explanation[N] {
	e := &Explanation[N]{Kinds: kinds, Reasons: make([]Reason[N], len(claims)), ShortOf: filling.ShortOf}
	for i, filled := range filling.Claims {
		reason := Reason[N]{Filled: filled}
		if k := filled.StoppedBy.Kind; filled.StoppedBy.Cause == Exhausted {
			reason.Needs, reason.Left = claims[i].Demand[k], filling.Unused[k]
			floor := N(claims[i].Min)
			reason.AtMin = filling.ShortOf < 0 && floor > 0 && filled.Containers == floor
		}
		e.Reasons[i] = reason
	}
	return e
}

// String returns one aligned line for each claim, and one before them where Min had to be dropped.
func (e *Explanation[N]) String() string {
	var text strings.Builder
	if e.ShortOf >= 0 {
		fmt.Fprintf(&text, "minima dropped: together they need more %s than there is\n", e.Kinds.Name(e.ShortOf))
	}
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for i := range e.Reasons {
		r := &e.Reasons[i]
		fmt.Fprintf(table, "%s\t%.6g containers\tshare %.6g\tlevel %.6g\t%s\n", r.ID, float64(r.Containers), r.Share, r.Level, r.why(e.Kinds))
	}
	table.Flush() // to a strings.Builder, which never fails
	return text.String()
}

// why returns the last column of the line.
func (r *Reason[N]) why(kinds apportion.Kinds) string {
	text := r.StoppedBy.Text(kinds)
	if r.Needs > 0 {
		text += fmt.Sprintf(": one more needs %d, %.6g left", r.Needs, float64(r.Left))
	}
	if r.AtMin {
		text += "; held by its minimum"
	}
	return text
}
