// This file says when a budget of a decision cannot bind, so that whoever set it is not misled, [Dorm (15), (16)].

package alloc

import (
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// warnings lists the budgets that cannot bind, whatever is decided, and those that a ceiling has more than
// doubled. A threshold of 1 is meant to be no limit, and is not warned about; nor is a budget that is what it is by default.
func (s *stopper) warnings(r *resolved) []string {
	var found []string
	inst, p := s.instance, s.problem
	// 1. The fairness budget: as P2 has it, which is the least loss where that is larger.
	if theta := p.Theta1; theta < 1 && len(inst.Apps) > 0 && (r.printed() || p.Options.Loss == LossInWorth) {
		if most := mostLoss(inst); inst.LossBudget >= most {
			found = append(found, fmt.Sprintf("the fairness budget of %.4g cannot bind: no allocation loses more than %.4g", inst.LossBudget, most))
		}
		// What the caller meant is theta1 2m. With few kinds the ceiling makes much more of a small theta1: with three
		// of them 0.01 becomes 1, as much as a sixth would be.
		stated := theta * float64(2*r.kinds())
		if budget := r.printedLoss(); p.Options.Loss == LossInShares && stated > 0 && budget > 2*stated {
			found = append(found, fmt.Sprintf("the ceiling of (15) raises the fairness budget from %.4g to %.4g", stated, budget))
		}
	}
	// 2. The adjustment budget: with few running applications the ceiling of (16) pays for all of them. Of one it is meant to.
	if all := mostCost(inst); p.Theta2 < 1 && all > 1 && inst.AdjustBudget >= all {
		found = append(found, fmt.Sprintf("the adjustment budget of %d cannot bind: all adjustments together cost %d", inst.AdjustBudget, all))
	}
	return append(found, p.ignored(r)...)
}

// ignored lists what applications and options state that has no effect, or not the one that it seems to have; each with those
// whom it concerns.
func (p *Problem) ignored(r *resolved) []string {
	var found []string
	for _, o := range [...]struct {
		set  bool
		text string
	}{
		{r.given.Options.AdmitPrefix && !r.given.Options.Paper, "admit_prefix has no effect without paper_rule"},
		{r.given.Options.Displace && !r.given.Options.Paper, "displace has no effect without paper_rule"},
		{r.given.Options.Preempt && r.given.Options.Paper, "preempt has no effect with paper_rule"},
		{r.given.Options.Paper && len(r.given.Compact) > 0, "compact has no effect with paper_rule"},
		{r.given.Options.Paper && slices.ContainsFunc(p.Applications, func(app Application) bool { return app.Most > 0 }), "most has no effect with paper_rule"},
		{r.given.Options.Paper && slices.ContainsFunc(p.Applications, func(app Application) bool { return app.SpreadCost != nil }), "spread_cost has no effect with paper_rule"},
		{r.given.Options.Paper && (r.given.Options.RestartCost != nil || r.given.Options.MinGain > 0 || r.given.Options.MinRun > 0), "restart_cost, min_gain and min_run have no effect with paper_rule"},
		{r.given.Options.Paper && slices.ContainsFunc(p.Applications, func(app Application) bool { return app.RestartCost != nil }), "restart_cost of an application has no effect with paper_rule"},
		{r.given.Options.Moves > 0 && len(r.compact) == 0, "moves has no effect without compact, nor with paper_rule"},
		{r.given.Options.ReclaimLevel && !r.given.Options.Preempt, "reclaim_level has no effect without preempt"},
		{p.namesUnknown(), "a reservation for an application or a server that is not here has no effect"},
		{r.scaled, "the guarantees of the queues exceed what there is for them, and were scaled"},
	} {
		if o.set {
			found = append(found, o.text)
		}
	}
	found = append(found, r.topologyWarnings()...)
	for _, w := range warnedAbout {
		var ids []string
		for i := range p.Applications {
			if w.holds(r, i) {
				ids = append(ids, p.Applications[i].ID)
			}
		}
		if ids = slices.Compact(ids); len(ids) > 0 { // options follow each other
			found = append(found, w.text+": "+listIDs(ids))
		}
	}
	return found
}

// warnedAbout is what may hold of an entry, and is told.
var warnedAbout = [...]struct {
	text  string
	holds func(r *resolved, i int) bool
}{
	{"a speed has no effect unless losses are measured in worth", func(r *resolved, i int) bool {
		return r.problem.Applications[i].Speed != nil && r.problem.Options.Loss != LossInWorth
	}},
	{"what was let in past it has no effect, as it runs", func(r *resolved, i int) bool {
		return r.problem.Applications[i].Passed > 0 && r.runs(r.of[i]) >= 0
	}},
	{"what staying is worth has no effect, as it does not run", func(r *resolved, i int) bool {
		return r.problem.Applications[i].StayWorth != nil && r.runs(r.of[i]) < 0
	}},
	{"to stay is worth as much as its number, which is more than stated: it could be restarted where it is", func(r *resolved, i int) bool {
		stay, app := r.problem.Applications[i].StayWorth, r.app(i)
		held := solver.Containers(app.Previous)
		app.Stay = 0
		return stay != nil && app.Running && app.Allows(held) && *stay < app.WorthOf(app.Previous)
	}},
	{"it runs with a number of containers that it may not have, and cannot stay", func(r *resolved, i int) bool {
		numbers := r.problem.Applications[i].numbers()
		return len(r.previous[i]) > 0 && !numbers.Allows(solver.Containers(r.previous[i]))
	}},
	{"it runs with an option that it does not have, and cannot stay", func(r *resolved, i int) bool {
		app := &r.given.Applications[r.of[i]]
		return app.present(app.Option) < 0
	}},
	{"no number of containers is within its bounds, step and counts", func(r *resolved, i int) bool {
		numbers := r.problem.Applications[i].numbers()
		return numbers.AtLeast(1) < 0
	}},
	{"to have none is worth no less than its fewest containers, so that it may wait for ever", func(r *resolved, i int) bool {
		app := &r.problem.Applications[i]
		return app.Worth != nil && app.Min == 0 && len(app.Worth) > 0 && app.Worth[0] <= app.IdleWorth
	}},
}

// mostLoss returns an upper bound on the fairness loss of every allocation: what each loses at the end of its numbers
// where it loses more, or all actual shares, one a kind at most, and all theoretical ones.
func mostLoss(inst *solver.Instance) float64 {
	var ends, due float64
	stated := false // shares bound no losses that are stated by number
	// Of an application with options the one counts that may lose most: the others are counted where they stand.
	worst := make(map[int]float64)
	for c := range inst.Choices {
		apps := inst.Choices[c].Apps
		for _, i := range apps {
			app := &inst.Apps[i]
			worst[apps[0]] = math.Max(worst[apps[0]], app.MostLoss(0, max(0, app.AtMost(app.Max))))
			if i != apps[0] {
				worst[i] = 0
			}
		}
		due -= float64(float64(len(apps)-1) * inst.Apps[apps[0]].Loss(0))
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		least, most := app.AtLeast(0), app.AtMost(app.Max)
		due += app.Share
		stated = stated || app.Losses != nil
		if loss, optional := worst[i]; optional {
			ends += loss
			continue
		}
		if least < 0 {
			continue // it may have no number, and no allocation exists
		}
		ends += app.MostLoss(least, most)
	}
	if stated {
		return ends
	}
	// |s - s^| is at most s + s^, and the actual shares of all together are at most one for each kind.
	kinds := 0
	for _, total := range inst.Total {
		if total > 0 {
			kinds++
		}
	}
	return math.Min(ends, float64(kinds)+due)
}

// mostCost returns what it costs to adjust all that may be adjusted, or the largest number where that is less: the pinned may
// not, and the forced cost nothing.
// Sums stay at the largest number instead of wrapping around, and that is above every budget.
func mostCost(inst *solver.Instance) int64 {
	var sum int64
	for i := range inst.Apps {
		if app := &inst.Apps[i]; app.Running && !app.Pinned {
			sum = min(sum, math.MaxInt64-app.Cost) + app.Cost
		}
	}
	return sum
}
