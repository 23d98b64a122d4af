// This file proves that an instance has no solution by counting, before any search.

package counting

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// Conflict returns the first reason that counting finds, or nil. The search relies on it: past
// it every minimum fits the empty cluster, and sums of minima do not overflow.
func Conflict(p *problem.Problem) *solver.Conflict {
	for _, find := range [...]func(*problem.Problem) *solver.Conflict{oneTooLarge, allTooLarge, tooManyMoves, tooMuchLoss} {
		if conflict := find(p); conflict != nil {
			return conflict
		}
	}
	return nil
}

// oneTooLarge finds an application whose minimum the empty cluster does not hold.
func oneTooLarge(p *problem.Problem) *solver.Conflict {
	for i := range p.Apps {
		a := &p.Apps[i]
		if a.Min <= a.Max {
			continue
		}
		c := &solver.Conflict{
			Constraints: []solver.Constraint{solver.Minimum, solver.Capacity},
			Apps:        []int{i}, Kind: -1, Need: float64(a.Min), Have: float64(a.Max),
		}
		for k, q := range p.DemandOf(a.Type) {
			var largest int64
			for j := range p.Servers {
				largest = max(largest, p.Capacity[j*p.Kinds+k])
			}
			if q > largest {
				c.Constraints[0], c.Constraints[1] = solver.Capacity, solver.Minimum
				c.Kind, c.Need, c.Have = k, float64(q), float64(largest)
				break
			}
		}
		return c
	}
	return nil
}

// allTooLarge finds a kind of which the minima together demand more than there is.
func allTooLarge(p *problem.Problem) *solver.Conflict {
	for k := range p.Kinds {
		var need int64
		var apps []int
		for i := range p.Apps {
			if use := problem.MulSaturated(p.Apps[i].Min, p.DemandOf(p.Apps[i].Type)[k]); use > 0 {
				need = problem.AddSaturated(need, use)
				apps = append(apps, i)
			}
		}
		if need > p.Total[k] {
			return &solver.Conflict{
				Constraints: []solver.Constraint{solver.Capacity, solver.Minimum},
				Apps:        apps, Kind: k, Need: float64(need), Have: float64(p.Total[k]),
			}
		}
	}
	return nil
}

// tooManyMoves finds more applications that must move than the budget allows: those that cannot
// stay by themselves, and of those on each server that shrank below what they hold there as few as can be.
func tooManyMoves(p *problem.Problem) *solver.Conflict {
	c := &solver.Conflict{Kind: -1, Have: float64(p.Inst.AdjustBudget)}
	need := int64(len(p.MustMove))
	involved := make([]bool, len(p.Apps))
	for _, i := range p.MustMove {
		involved[i] = true
	}
	for j, residents := range p.Residents {
		if fewest := fewestMoves(p, j); fewest > 0 && !anyOf(involved, residents) {
			need += fewest
			for _, i := range residents {
				involved[i] = true
			}
		}
	}
	if need <= p.Inst.AdjustBudget {
		return nil
	}
	c.Constraints = causes(p, need > int64(len(p.MustMove)))
	for i, yes := range involved {
		if yes {
			c.Apps = append(c.Apps, i)
		}
	}
	c.Need = float64(need)
	return c
}

// NoRoom finds an application that does not stay and whose minimum has no room beside those that must.
func NoRoom(p *problem.Problem) *solver.Conflict {
	for i := range p.Apps {
		a := &p.Apps[i]
		if a.Pinnable {
			continue
		}
		var room int64
		for j := range p.Servers {
			residual := apportion.Resources(p.Residual[j*p.Kinds : (j+1)*p.Kinds])
			room = problem.AddSaturated(room, apportion.Resources(p.DemandOf(a.Type)).CountIn(residual))
		}
		if room < a.Min {
			c := &solver.Conflict{Apps: []int{i}, Kind: -1, Need: float64(a.Min), Have: float64(room)}
			c.Constraints = []solver.Constraint{solver.Minimum, solver.Adjust, solver.Capacity}
			return c
		}
	}
	return nil
}

// causes lists why applications must move: a server that became too small, a minimum above what
// is held; a displaced one, or one above its maximum, needs no further reason.
func causes(p *problem.Problem, shrank bool) []solver.Constraint {
	for _, i := range p.MustMove {
		for _, placed := range p.Inst.Apps[i].Previous {
			shrank = shrank || placed.Count > p.Fit(placed.Server, p.Apps[i].Type)
		}
	}
	constraints := []solver.Constraint{solver.Adjust}
	if shrank {
		constraints = append(constraints, solver.Capacity)
	}
	if belowMinimum(p) {
		constraints = append(constraints, solver.Minimum)
	}
	return constraints
}

// belowMinimum reports whether some application must move because it holds less than its minimum.
func belowMinimum(p *problem.Problem) bool {
	return slices.ContainsFunc(p.MustMove, func(i int) bool { return p.Apps[i].Held < p.Apps[i].Min })
}

func anyOf(marked []bool, apps []int32) bool {
	for _, i := range apps {
		if marked[i] {
			return true
		}
	}
	return false
}

// fewestMoves returns how many of its residents must leave server j at least, by the kind that is shortest:
// those that use most of it.
func fewestMoves(p *problem.Problem, j int) int64 {
	var fewest int64
	for k := range p.Kinds {
		var all int64
		var uses []int64
		for s, i := range p.Residents[j] {
			use := problem.MulSaturated(p.Holding[j][s], p.DemandOf(p.Apps[i].Type)[k])
			all, uses = problem.AddSaturated(all, use), append(uses, use)
		}
		slices.Sort(uses)
		over := all - p.Capacity[j*p.Kinds+k]
		n := int64(0)
		for ; over > 0; n++ {
			over -= uses[len(uses)-1-int(n)]
		}
		fewest = max(fewest, n)
	}
	return fewest
}

// tooMuchLoss finds that even the least loss exceeds the budget, with as few other constraints as
// that takes: none, the minima, the adjustment budget, or both.
func tooMuchLoss(p *problem.Problem) *solver.Conflict {
	for _, with := range [...]struct{ minima, adjust bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		if with.adjust && !with.minima && belowMinimum(p) {
			continue // without the minima more could stay
		}
		need := totalLoss(p, with.minima, with.adjust)
		if need <= p.Inst.LossBudget+solver.LossTolerance {
			continue
		}
		c := &solver.Conflict{Constraints: []solver.Constraint{solver.Fairness}, Kind: -1, Need: need, Have: p.Inst.LossBudget}
		if with.adjust {
			c.Constraints = append(c.Constraints, solver.Adjust)
		}
		if with.minima {
			c.Constraints = append(c.Constraints, solver.Minimum)
		}
		return c
	}
	return nil
}

// totalLoss returns the least loss that all applications can have one by one, within their minima
// or not; with adjust, those that may stay do so but for the ones where moving saves most.
func totalLoss(p *problem.Problem, minima, adjust bool) float64 {
	var total float64
	var savings []float64
	for i := range p.Apps {
		a := &p.Apps[i]
		loss := p.LeastLoss(int32(i), minima)
		if adjust && a.Pinnable {
			savings = append(savings, a.HeldLoss-loss)
			loss = a.HeldLoss
		}
		total += loss
	}
	slices.SortFunc(savings, func(x, y float64) int { return cmp.Compare(y, x) })
	for s, saving := range savings {
		if int64(s) < p.Budget && saving > 0 {
			total -= saving
		}
	}
	return total
}
