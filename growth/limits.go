// This file implements the limits of FlowCon, [Zheng] Algorithm 1, lines 14-26, and the reasons that
// a decision gives.

package growth

import "fmt"

// Reason says why a container changed its category.
type Reason uint8

// The reasons.
const (
	// Arrived: the container is new on the worker.
	Arrived Reason = iota
	// Left: the container is gone.
	Left
	// GrowsSlowly: the classifier found it slow.
	GrowsSlowly
	// GrowsAgain: the classifier found it growing.
	GrowsAgain
	// ValueDiverged: its evaluation function is not finite.
	ValueDiverged
)

// String returns the reason in words.
func (r Reason) String() string {
	return name(r, "arrived", "left", "grows slowly", "grows again", "value is not finite")
}

func reasonFor(verdict Verdict, outcome Outcome) Reason {
	switch {
	case outcome == Diverged:
		return ValueDiverged
	case verdict == Growing:
		return GrowsAgain
	default:
		return GrowsSlowly
	}
}

// Move is a change of one container's category.
type Move struct {
	ID       string
	From, To Category
	// Growth is what the container showed: growth efficiency of the steering kind for FlowCon,
	// gain for SpeCon; 0 for arrivals and exits.
	Growth float64
	Reason Reason
}

// String returns for instance "vae: progressing -> watching, grows slowly (0.04)".
func (m Move) String() string {
	text := fmt.Sprintf("%s: %v -> %v, %v", m.ID, m.From, m.To, m.Reason)
	if m.Reason == GrowsSlowly || m.Reason == GrowsAgain {
		text += fmt.Sprintf(" (%.4g)", m.Growth)
	}
	return text
}

// Rule says which rule set a limit.
type Rule uint8

// The rules.
const (
	// Unmeasured: growth is not known yet, which counts as infinitely efficient: limit 1.
	Unmeasured Rule = iota
	// FreeCompetition: every container is converged: limit 1 (line 16).
	FreeCompetition
	// GrowthShare: the container's share of all growth efficiency (lines 21 and 26).
	GrowthShare
	// LowerBound: that share is below 1/(beta n) (line 22).
	LowerBound
	// Kept: nothing changed it (line 24). Never listed in a Decision.
	Kept
)

// String returns the rule in words.
func (r Rule) String() string {
	return name(r, "not measured", "free competition", "share of growth", "lower bound", "kept")
}

// Limit is the new upper limit on one container's use of one kind. Limits are soft: they may add up
// to more than 1, and what a container leaves is free for the others.
type Limit struct {
	ID string
	// Kind is the position of the resource kind.
	Kind int
	// Value is the limit as a share of the worker, in [1/(Beta n), 1]; with BoundConvergedOnly a
	// growing container's may be lower. Was is the one before, 0 for a new container.
	Value, Was float64
	Rule       Rule
}

// String returns for instance "vae: kind 0 limit 1 -> 0.25, lower bound".
func (l Limit) String() string {
	return fmt.Sprintf("%s: kind %d limit %.6g -> %.6g, %v", l.ID, l.Kind, l.Was, l.Value, l.Rule)
}

// round is what all containers of one run of lines 14-26 have in common.
type round struct {
	free    bool // every container is converged
	waiting bool // a container is not measured yet
	bound   float64
	sums    []float64 // S of each kind
	option  bool      // BoundConvergedOnly
}

// limit sets the limits and lists those that changed.
func (f *FlowCon) limit(out *Decision) {
	now := f.round()
	for i := range f.roster.members {
		m := &f.roster.members[i]
		for k, was := range m.state.limits {
			value, rule := now.limit(m.state, k)
			if rule == Kept || value == was {
				continue
			}
			m.state.limits[k] = value
			out.Limits = append(out.Limits, Limit{ID: m.id, Kind: k, Value: value, Was: was, Rule: rule})
		}
	}
}

func (f *FlowCon) round() round {
	members := f.roster.members
	r := round{
		free:   f.allConverged(),
		bound:  1 / (f.options.Beta * float64(max(len(members), 1))),
		sums:   f.sums,
		option: f.options.BoundConvergedOnly,
	}
	clear(r.sums)
	for i := range members {
		state := members[i].state
		if !state.series.Measured() {
			r.waiting = true
			continue
		}
		for k, growth := range state.growth {
			r.sums[k] += growth
		}
	}
	return r
}

// limit returns the limit of one container for kind k, and the rule that sets it. While a newcomer
// is not measured its growth counts as infinite: the others' shares of S are 0, and containers that
// grow keep what they have until it is known how much there is to share.
func (r *round) limit(state *flowState, k int) (float64, Rule) {
	switch {
	case r.free:
		return 1, FreeCompetition
	case !state.series.Measured():
		return 1, Unmeasured
	case state.category == Watching, state.category == Progressing && r.waiting:
		return 0, Kept
	}
	share := 0.0
	if !r.waiting && r.sums[k] > 0 {
		share = state.growth[k] / r.sums[k]
	}
	if share < r.bound && (state.category == Converged || !r.option) {
		return r.bound, LowerBound
	}
	return share, GrowthShare
}
