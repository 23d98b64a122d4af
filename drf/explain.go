// This file implements Explain: why a claim has what it has, in one line each.

package drf

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/apportion/apportion"
)

// ClaimExplanation is what a claim has, and why it has no more.
type ClaimExplanation[N Amount] struct {
	Filled[N]
	// Reason says why the claim has not one container more. Its Constraint is the text of
	// StoppedBy.Cause. For a claim that is [Exhausted], Need is what one more container demands of
	// the kind that is short, and Have how much of that kind is unused.
	Reason apportion.Reason `json:"reason"`
	// AtMin is set for a claim that its Min holds above the level at which it stopped.
	AtMin bool `json:"at_min,omitempty"`
}

// Explanation explains all claims of a filling, in their order.
type Explanation[N Amount] struct {
	Claims []ClaimExplanation[N] `json:"claims"`
	// ShortOf is the name of the kind that does not suffice for all Min together, so that these
	// were dropped; empty where every Min is honoured.
	ShortOf string `json:"short_of,omitempty"`
}

// Explain says for each claim which kind stopped it, at which level, and why it has not one
// container more. claims are those that the filling was made of; kinds may be nil, then kinds are
// called by their number. O(K n).
//
// The error is [apportion.Faults] with all that shows that the filling is one of other claims: another number of them
// (ErrLength), other IDs (ErrConflict), kinds that they do not have (ErrLength, ErrRange).
func Explain[N Amount](kinds apportion.Kinds, claims []Claim, filling *Filling[N]) (*Explanation[N], error) {
	var faults apportion.Faults
	if belongs(&faults, claims, filling); len(faults) > 0 {
		return nil, faults
	}
	return explain(kinds, claims, filling), nil
}

// explain is Explain of a filling that belongs to the claims.
// A claim that its Min holds up has just that number, so that the comparison needs no tolerance.
func explain[N Amount](kinds apportion.Kinds, claims []Claim, filling *Filling[N]) *Explanation[N] {
	e := &Explanation[N]{Claims: make([]ClaimExplanation[N], len(claims))}
	if filling.ShortOf >= 0 {
		e.ShortOf = kinds.Name(filling.ShortOf)
	}
	for i, filled := range filling.Claims {
		// A dropped Min holds nobody up, whatever it was.
		floor := N(claims[i].Min)
		held := filling.ShortOf < 0 && floor > 0 && filled.Containers == floor
		e.Claims[i] = ClaimExplanation[N]{
			Filled: filled,
			Reason: reasonOf(kinds, &claims[i], filled.StoppedBy, filling),
			AtMin:  held && filled.StoppedBy.Cause == Exhausted,
		}
	}
	return e
}

// reasonOf returns why a claim that stopped so has not one container more.
// Have is what is left at the end of the filling: others may have taken of it since the claim stopped.
func reasonOf[N Amount](kinds apportion.Kinds, claim *Claim, stop Stop, filling *Filling[N]) apportion.Reason {
	reason := apportion.Reason{Constraint: stop.Cause.String(), Text: stop.Text(kinds)}
	if stop.Kind >= 0 {
		reason.Kind = kinds.Name(stop.Kind)
	}
	// Of the other causes nothing is short: there are no numbers to tell.
	if stop.Cause == Exhausted {
		need := claim.Demand[stop.Kind]
		reason.Need, reason.Have = float64(need), float64(filling.Unused[stop.Kind])
		reason.Text += fmt.Sprintf(": one more needs %d, %.6g left", need, reason.Have)
	}
	return reason
}

// String returns one aligned line for each claim, and one before them where Min had to be dropped.
func (e *Explanation[N]) String() string {
	var text strings.Builder
	if e.ShortOf != "" {
		fmt.Fprintf(&text, "minima dropped: together they need more %s than there is\n", e.ShortOf)
	}
	// Columns are as wide as their widest cell, two spaces apart.
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for i := range e.Claims {
		c := &e.Claims[i]
		why := c.Reason.Text
		if c.AtMin {
			why += "; held by its minimum"
		}
		fmt.Fprintf(table, "%s\t%.6g containers\tshare %.6g\tlevel %.6g\t%s\n", c.ID, float64(c.Containers), c.Share, c.Level, why)
	}
	table.Flush() // to a strings.Builder, which never fails
	return text.String()
}
