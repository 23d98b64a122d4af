// This file solves P2 with ceilings of groups, (G) of the general program: without them first, and where the answer
// exceeds one, with each such ceiling divided among its applications.

package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// solveGroups answers an instance with ceilings. The answer without them is the best if it holds them, and its bound
// is one in any case. Else ceilings that are exceeded are divided: every application of such a group gets
// a maximum of its own, so that all together are below. That loses nothing that the bound would not show.
func (s *Solver) solveGroups(ctx context.Context, inst *solver.Instance) *solver.Solution {
	if conflict := impossible(inst); conflict != nil {
		return infeasible(conflict)
	}
	plain := *inst
	plain.Groups = nil
	// A quick answer tells as a rule whether ceilings are in the way, so that the effort is spent once.
	quick := *s
	quick.opts.Effort = min(quick.opts.Effort, Quick)
	relaxed := quick.solve(ctx, &plain)
	effort := relaxed.Effort
	if relaxed.Status.HasSolution() && inst.Check(relaxed.Counts) == nil || !relaxed.Status.HasSolution() && relaxed.Status != solver.Infeasible {
		relaxed = s.solve(ctx, &plain)
		relaxed.Effort += effort
	}
	if !relaxed.Status.HasSolution() || inst.Check(relaxed.Counts) == nil {
		return relaxed
	}
	best := &solver.Solution{Bound: relaxed.Bound, Certificate: relaxed.Certificate, Effort: relaxed.Effort, Interrupted: relaxed.Interrupted}
	// First with who stays as it is, which (16) charges nothing for; only where that gives nothing without.
	for _, stay := range [...]bool{true, false} {
		if best.Counts = s.divided(ctx, inst, relaxed.Counts, stay, best); best.Counts != nil {
			settle(best, inst)
			break
		}
	}
	return best
}

// divided solves the instance with every ceiling divided that the answers exceed, from counts on, and returns one that
// holds them all, nil where none was found. Effort is added to that of sum.
func (s *Solver) divided(ctx context.Context, inst *solver.Instance, counts solver.Counts, stay bool, sum *solver.Solution) solver.Counts {
	plain := *inst
	plain.Groups, plain.Apps = nil, slices.Clone(inst.Apps)
	// Once divided, a ceiling stays so: what one group gives up another may take, and there are as many rounds as
	// groups at most.
	for range inst.Groups {
		if !divide(inst, &plain, counts, stay) {
			return nil
		}
		sol := s.solve(ctx, &plain)
		sum.Effort += sol.Effort
		sum.Interrupted = sum.Interrupted || sol.Interrupted
		if !sol.Status.HasSolution() || inst.Check(sol.Counts) == nil {
			return sol.Counts
		}
		counts = sol.Counts
	}
	return nil
}

// impossible returns a ceiling that not even the fewest containers of all that must have some hold, nil where there is
// none.
func impossible(inst *solver.Instance) *solver.Conflict {
	for g := range inst.Groups {
		group := &inst.Groups[g]
		for k, limit := range group.Ceiling {
			if limit == solver.NoLimit {
				continue
			}
			need := 0.0
			for _, i := range group.Apps {
				// The sum is in floats: minima and demands may leave int64 together.
				need += float64(max(0, fewest(&inst.Apps[i]))) * float64(inst.Apps[i].Demand[k])
			}
			// What is too much by rounding only is left to the search.
			if need > float64(limit)*(1+0x1p-40) {
				return &solver.Conflict{Constraints: []solver.Constraint{solver.Ceiling}, Apps: slices.Clone(group.Apps), Kind: k, Need: need, Have: float64(limit)}
			}
		}
	}
	return nil
}

// fewest returns the fewest containers that an application may have, all that it has if it must stay, or -1.
func fewest(app *solver.App) int64 {
	if app.Pinned {
		return solver.Containers(app.Previous)
	}
	return app.AtLeast(0)
}

// divide lowers the maxima of the applications in groups whose ceiling counts exceed, and reports whether they
// can have their fewest containers. stay says that who was to stay as it is comes first: a change would cost.
func divide(inst, plain *solver.Instance, counts solver.Counts, stay bool) bool {
	// What everybody has: nobody outside the groups concerned is limited by it.
	has := make([]int64, len(inst.Apps))
	for i := range has {
		has[i] = solver.Containers(counts[i])
	}
	concerned := exceeded(inst, has)
	for _, i := range concerned {
		has[i] = max(0, fewest(&plain.Apps[i]))
	}
	// What is left after the fewest goes to the one that is furthest below its share, up to what it had, and so on.
	order := slices.Clone(concerned)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(plain.Apps[b].Cost, plain.Apps[a].Cost) })
	for _, i := range order {
		app := &plain.Apps[i]
		if want := solver.Containers(counts[i]); stay && app.Running && !app.Adjusted(counts[i]) && want-has[i] <= inst.Room(i, has) {
			has[i] = max(has[i], want)
		}
	}
	level(inst, plain, counts, concerned, has)
	for _, i := range concerned {
		if has[i] < fewest(&plain.Apps[i]) || inst.Room(i, has) == 0 && overfull(inst, i, has) {
			return false
		}
		limit(&plain.Apps[i], has[i])
	}
	return true
}

// exceeded lists the applications of all groups whose ceiling is exceeded if they have so many containers, ascending.
func exceeded(inst *solver.Instance, has []int64) []int {
	var list []int
	for g := range inst.Groups {
		for _, i := range inst.Groups[g].Apps {
			if overfull(inst, i, has) {
				list = append(list, i)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// overfull reports whether a group of application i uses more than its ceiling.
func overfull(inst *solver.Instance, i int, has []int64) bool {
	for g := range inst.Groups {
		group := &inst.Groups[g]
		if !slices.Contains(group.Apps, i) {
			continue
		}
		for k, limit := range group.Ceiling {
			used := 0.0
			for _, a := range group.Apps {
				used += float64(has[a]) * float64(inst.Apps[a].Demand[k])
			}
			if limit < solver.NoLimit && used > float64(limit) {
				return true
			}
		}
	}
	return false
}

// levelSteps is in how many steps an application comes to what it had; a larger number divides more evenly.
const levelSteps = 64

// level raises has of the applications concerned as long as there is room, the one furthest below its share first.
func level(inst, plain *solver.Instance, counts solver.Counts, concerned []int, has []int64) {
	open := slices.Clone(concerned)
	for len(open) > 0 {
		at := 0
		for o, i := range open {
			if below(&plain.Apps[i], has[i]) > below(&plain.Apps[open[at]], has[open[at]]) {
				at = o
			}
		}
		i := open[at]
		app, had := &plain.Apps[i], solver.Containers(counts[i])
		next := app.AtLeast(max(has[i]+1, min(has[i]+had/levelSteps, had)))
		if next < 0 || next > had || next-has[i] > inst.Room(i, has) {
			open = slices.Delete(open, at, at+1)
			continue
		}
		has[i] = next
	}
}

// below returns how far an application with n containers is below its share.
func below(app *solver.App, n int64) float64 { return app.Share - float64(app.Delta*float64(n)) }

// limit gives an application a maximum of n containers. One that may have none then has none to choose from.
func limit(app *solver.App, n int64) {
	app.Max = min(app.Max, max(1, n))
	if n == 0 {
		// The maximum of an application is positive: one that no server is open to has none.
		app.Min, app.Step, app.Counts, app.Elective = 0, 0, nil, true
		app.Classes = []int{math.MaxInt}
		app.Displaced = app.Displaced || app.Running
		if app.Worth != nil {
			app.Worth = []float64{0}
		}
		return
	}
	// Worths are one for each number that it may have, or for each that is listed.
	if app.Worth != nil && app.Counts == nil {
		entries := 0
		for m := app.AtLeast(1); m > 0; m = app.AtLeast(m + 1) {
			entries++
		}
		app.Worth = app.Worth[:entries]
	}
}
