// This file improves an answer by neighbourhoods: some applications are free and all others stay as the answer has them, which
// leaves a small program that branch and bound settles, [Shaw98].

package embedded

import (
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/rng"
	"github.com/apportion/apportion/alloc/internal/program"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/solver"
)

const (
	// fewestFree is how many applications are free at first; there is one more after a program that was settled, and one less
	// after another.
	fewestFree = 6
	// neighbourhoodNodes are the nodes of one program.
	neighbourhoodNodes = 100
)

// around searches neighbourhoods of the answer until the work is spent, in nodes times the square of the rows.
func (p *programmer) around(ctx context.Context, work float64) {
	units := p.units()
	source := rng.Source(p.opts.Seed)
	for size := fewestFree; work > 0 && p.sol.Status.HasSolution() && !p.done(ctx) && size < len(units); {
		free := p.pick(units, size, &source)
		inst, apps := remainder(p.inst, p.sol.Counts, free)
		linear, err := program.Build(inst, program.Disjunctive, false)
		if err != nil || linear.Relaxed || linear.MILP.Rows() > mostProgramRows {
			return
		}
		have := make(solver.Counts, len(apps))
		for a, i := range apps {
			have[a] = p.sol.Counts[i]
		}
		answer, err := milp.Solve(ctx, bb.Solver{}, linear.MILP, &milp.Options{NodeLimit: neighbourhoodNodes, Hint: linear.Hint(have)})
		if err != nil {
			return
		}
		p.sol.Effort += answer.Nodes
		work -= programWork(answer.Nodes, linear.MILP)
		if size++; answer.Status != milp.Optimal {
			size = max(fewestFree, size-2)
		}
		if answer.HasSolution() {
			counts := slices.Clone(p.sol.Counts)
			for a, placed := range linear.Counts(answer.Values) {
				counts[apps[a]] = placed
			}
			p.offer(ctx, counts)
		}
	}
}

// units lists the applications, each with all its options.
func (p *programmer) units() [][]int {
	inChoice := make([]bool, len(p.inst.Apps))
	var units [][]int
	for _, choice := range p.inst.Choices {
		units = append(units, choice.Apps)
		for _, i := range choice.Apps {
			inChoice[i] = true
		}
	}
	for i := range p.inst.Apps {
		if !inChoice[i] {
			units = append(units, []int{i})
		}
	}
	return units
}

// pick draws so many units and marks their entries: a quarter each of those that are adjusted, that the relaxation would have
// otherwise, that have something on one server, or had, and of all.
func (p *programmer) pick(units [][]int, size int, source *rng.Source) []bool {
	free, left := make([]bool, len(p.inst.Apps)), size
	order := make([]int, len(units))
	for u := range order {
		at := source.Below(u + 1)
		order[u], order[at] = order[at], u
	}
	server := source.Below(len(p.inst.Capacity))
	for part, wanted := range [...]func(unit []int) bool{
		p.adjusted,
		p.differs,
		func(unit []int) bool { return p.touches(unit, server) },
		func([]int) bool { return true },
	} {
		for _, u := range order {
			if left > size*(3-part)/4 && !free[units[u][0]] && wanted(units[u]) {
				left--
				for _, i := range units[u] {
					free[i] = true
				}
			}
		}
	}
	return free
}

// adjusted reports whether one of the entries runs and does not stay: without these nobody else could be adjusted.
func (p *programmer) adjusted(unit []int) bool {
	return slices.ContainsFunc(unit, func(i int) bool { return p.inst.Apps[i].Adjusted(p.sol.Counts[i]) })
}

// differs reports whether the relaxation has another number of containers for one of the entries, or another answer to whether it
// stays.
func (p *programmer) differs(unit []int) bool {
	if p.amounts == nil {
		return false
	}
	for _, i := range unit {
		app, want := &p.inst.Apps[i], p.amounts[i]
		have := program.Amount{Containers: float64(solver.Containers(p.sol.Counts[i]))}
		if app.Running && !app.Adjusted(p.sol.Counts[i]) {
			have = program.Amount{Stays: 1}
		}
		if math.Abs(have.Stays-want.Stays) > whole || math.Abs(have.Containers-want.Containers) > whole {
			return true
		}
	}
	return false
}

// touches reports whether one of the entries has something on a server, or had before.
func (p *programmer) touches(unit []int, server int) bool {
	for _, i := range unit {
		on := func(placed apportion.Placement) bool { return placed.Server == server }
		if slices.ContainsFunc(p.sol.Counts[i], on) || slices.ContainsFunc(p.inst.Apps[i].Previous, on) {
			return true
		}
	}
	return false
}

// remainder returns the instance of the free applications beside all others as counts have them, and their positions in inst.
func remainder(inst *solver.Instance, counts solver.Counts, free []bool) (rest *solver.Instance, apps []int) {
	left := *inst
	left.Apps, left.Groups, left.Choices, left.Start, left.Capacity = nil, nil, nil, nil, slices.Clone(inst.Capacity)
	position := make([]int, len(inst.Apps))
	for j := range left.Capacity {
		left.Capacity[j] = left.Capacity[j].Clone()
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		if free[i] {
			position[i] = len(apps)
			left.Apps, apps = append(left.Apps, *app), append(apps, i)
			continue
		}
		left.LossBudget -= app.Loss(solver.Containers(counts[i]))
		if app.Adjusted(counts[i]) {
			left.AdjustBudget -= app.Cost
		}
		for _, placed := range counts[i] {
			for k, q := range app.Demand {
				left.Capacity[placed.Server][k] -= placed.Count * q
			}
		}
	}
	for _, choice := range inst.Choices {
		if !free[choice.Apps[0]] {
			// What having nothing loses was taken off for each option, and counts once.
			left.LossBudget += float64(len(choice.Apps)-1) * inst.Apps[choice.Apps[0]].Loss(0)
			continue
		}
		all := make([]int, len(choice.Apps))
		for o, i := range choice.Apps {
			all[o] = position[i]
		}
		left.Choices = append(left.Choices, solver.Choice{Apps: all, Required: choice.Required})
	}
	for _, group := range inst.Groups {
		left.Groups = append(left.Groups, freePart(inst, counts, group, free, position))
	}
	return &left, apps
}

// freePart returns the free part of a group: its ceiling less what the others use.
func freePart(inst *solver.Instance, counts solver.Counts, group solver.Group, free []bool, position []int) solver.Group {
	part := solver.Group{Ceiling: group.Ceiling.Clone()}
	for _, i := range group.Apps {
		if free[i] {
			part.Apps = append(part.Apps, position[i])
			continue
		}
		n := solver.Containers(counts[i])
		for k, q := range inst.Apps[i].Demand {
			if part.Ceiling[k] != solver.NoLimit {
				part.Ceiling[k] -= n * q
			}
		}
	}
	return part
}
