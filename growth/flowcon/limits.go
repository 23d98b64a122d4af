// This file implements the limits of FlowCon, [Zheng] Algorithm 1, lines 14-26.

package flowcon

import (
	"fmt"
	"time"

	"github.com/apportion/apportion/growth"
)

// Rule says which rule set a limit.
type Rule string

// The rules.
const (
	// Unmeasured: growth is not known yet, which counts as infinitely efficient: limit 1.
	Unmeasured Rule = "not measured"
	// FreeCompetition: every job is converged: limit 1 (line 16).
	FreeCompetition Rule = "free competition"
	// GrowthShare: the job's share of all growth efficiency (lines 21 and 26).
	GrowthShare Rule = "share of growth"
	// LowerBound: that share is below the lower bound (line 22).
	LowerBound Rule = "lower bound"
	// Kept: nothing changed it (line 24). Never listed in a Decision.
	Kept Rule = "kept"
)

// Limit is the new upper limit on one job's use of one kind. Limits are soft: they may add up to
// more than 1, and what a job leaves is free for the others.
type Limit struct {
	// Job is the job's ID.
	Job string
	// Kind is the position of the resource kind.
	Kind int
	// Value is the limit as a share of the worker, in [1/(Beta n), 1], or [1/(n+1), 1] with BoundOneMore; with BoundConvergedOnly a
	// growing job's may be lower. Was is the one before, 0 for a new job.
	Value, Was float64
	Rule       Rule
}

// String returns for instance "vae: kind 0 limit 1 -> 0.25, lower bound".
func (l Limit) String() string {
	return fmt.Sprintf("%s: kind %d limit %.6g -> %.6g, %v", l.Job, l.Kind, l.Was, l.Value, l.Rule)
}

// jobState is what FlowCon knows of one job.
type jobState struct {
	track    growth.Track
	category growth.Category
	growth   []float64     // growth efficiency by kind, (4.2); valid where growth is measured
	limits   []float64     // by kind; 0 before the first
	there    time.Duration // when it arrived
	silent   bool
	nothing  bool // its growth counts as 0 for want of a reading
	verdict  growth.Verdict
}

// measured reports whether growth is known: that of a job that has fallen silent, or is taken for 0, is 0.
func (s *jobState) measured() bool { return s.silent || s.nothing || s.track.Series().Measured() }

// round is what all jobs of one run of lines 14-26 have in common.
type round struct {
	free    bool // every job is converged
	waiting bool // a job is not measured yet
	rated   bool // the classifier says how fast jobs grow, see growth.Rater
	bound   float64
	sums    []float64 // S of each kind
	option  bool      // BoundConvergedOnly
}

// keeps reports whether a measured job of that category keeps its limit, line 24.
func (r *round) keeps(category growth.Category) bool {
	return !r.rated && (category == growth.Watching || category == growth.Progressing && r.waiting)
}

// limit returns the limit of one job for kind k, and the rule that sets it. While a newcomer is not
// measured its growth counts as infinite: the others' shares of S are 0, and jobs that grow keep
// what they have until it is known how much there is to share.
//
// Where growth is rated no limit is kept. Jobs arrive more often than an interval passes, so that some newcomer
// is waited for at most runs, and noise leaves many a job in between: both kept limits of 1 for long that nothing had
// earned. Measured jobs that grow share among all that are measured instead, and what they leave is the newcomer's.
func (r *round) limit(state *jobState, k int) (float64, Rule) {
	switch {
	case r.free:
		return 1, FreeCompetition
	case !state.measured():
		return 1, Unmeasured
	case r.keeps(state.category):
		return 0, Kept
	}
	share, yields := 0.0, r.waiting && (!r.rated || state.category == growth.Converged)
	if !yields && r.sums[k] > 0 {
		share = state.growth[k] / r.sums[k]
	}
	if share < r.bound && (state.category != growth.Progressing || !r.option) {
		return r.bound, LowerBound
	}
	return share, GrowthShare
}
