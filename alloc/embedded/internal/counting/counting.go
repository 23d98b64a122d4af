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
//
// Each reason is sound alone, and the order is that of what a reader understands fastest. All of them
// together take O(applications x (kinds + log applications) + residents x kinds); a nil result proves nothing.
func Conflict(p *problem.Problem) *solver.Conflict {
	for _, find := range [...]func(*problem.Problem) *solver.Conflict{oneTooLarge, allTooLarge, tooManyMoves, tooMuchLoss} {
		if conflict := find(p); conflict != nil {
			return conflict
		}
	}
	return nil
}

// oneTooLarge finds an application whose minimum the empty cluster does not hold.
// Need and Have are containers, or units of Kind where one container alone is larger
// than every server.
func oneTooLarge(p *problem.Problem) *solver.Conflict {
	for i := range p.Apps {
		a := &p.Apps[i]
		// problem.New has lowered Max to what the empty cluster holds: only that puts it below
		// Min.
		if a.Min <= a.Max {
			continue
		}
		// The weaker reason first: all servers together hold fewer containers than the
		// minimum.
		c := &solver.Conflict{
			Constraints: []solver.Constraint{solver.Minimum, solver.Capacity},
			Apps:        []int{i}, Kind: -1, Need: float64(a.Min), Have: float64(a.Max),
		}
		// The sharper reason: no server at all has as much of one kind as a single container
		// asks for.
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
// Need and Have are units of Kind, summed over the cluster as if it were one server: a
// necessary condition, as splitting it into servers can only make less fit. Saturated
// sums stay too large.
func allTooLarge(p *problem.Problem) *solver.Conflict {
	// The kinds go by index, and the first one that is short is reported: a reader needs one reason, not all
	// of them.
	for k := range p.Kinds {
		var need int64
		var apps []int
		for i := range p.Apps {
			// Apps lists only those that demand the kind; the others are no part of the reason.
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
// Need and Have are applications. The sum over servers is a lower bound only because
// no application is counted twice: involved marks all residents of a server once one
// of them has been counted.
func tooManyMoves(p *problem.Problem) *solver.Conflict {
	c := &solver.Conflict{Kind: -1, Have: float64(p.Allowed)}
	// Those that cannot stay by themselves are certain; servers add to them.
	need := int64(len(p.MustMove))
	involved := make([]bool, len(p.Apps))
	for _, i := range p.MustMove {
		involved[i] = true
	}
	// Servers go by index, first come first counted; another order might prove more.
	for j, residents := range p.Residents {
		// A server that shares a resident with one counted before is left out: the same application could
		// answer for both.
		if fewest := fewestMoves(p, j); fewest > 0 && !anyOf(involved, residents) {
			need += fewest
			for _, i := range residents {
				involved[i] = true
			}
		}
	}
	if need <= p.Allowed {
		return nil
	}
	// A need above MustMove comes from servers that shrank.
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
// It is separate since it is no reason that the search relies on, but one that prices
// need: there they would only find an infinite bound. Need and Have are containers.
// p.Residual is what is left beside the residents that no choice of adjustments can
// free, so that room is an upper bound.
func NoRoom(p *problem.Problem) *solver.Conflict {
	for i := range p.Apps {
		a := &p.Apps[i]
		// What may stay needs no room elsewhere.
		if a.Pinnable {
			continue
		}
		// Containers of its demand that fit server by server, each server taken by itself.
		var room int64
		for j := range p.Servers {
			residual := apportion.Resources(p.Residual[j*p.Kinds : (j+1)*p.Kinds])
			room = problem.AddSaturated(room, apportion.Resources(p.DemandOf(a.Type)).CountIn(residual))
		}
		// room counts each server alone and this application alone, so that it is an upper bound: less than
		// Min is a proof.
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
// The first constraint, Adjust, is the one that is violated; the others say why so
// many must move.
func causes(p *problem.Problem, shrank bool) []solver.Constraint {
	for _, i := range p.MustMove {
		for _, placed := range p.Inst.Apps[i].Previous {
			// More containers than the empty server holds: it shrank, or was closed to the type.
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

// anyOf reports whether any of apps is marked.
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
// For one kind: the fewest residents whose uses sum to at least what is too much, hence the largest
// first, which is exact. Over kinds the largest of these numbers is still a lower bound: all of them must fit.
// Whoever leaves at no cost is taken to be gone, since only moves that the budget pays for are counted.
func fewestMoves(p *problem.Problem, j int) int64 {
	var fewest int64
	for k := range p.Kinds {
		var all int64
		var uses []int64
		for s, i := range p.Residents[j] {
			// A fixed one of weight 0 counts: it stays, and others have to go for it.
			if a := &p.Apps[i]; a.Weight == 0 && !a.Fixed {
				continue
			}
			use := problem.MulSaturated(p.Holding[j][s], p.DemandOf(p.Apps[i].Type)[k])
			all, uses = problem.AddSaturated(all, use), append(uses, use)
		}
		slices.Sort(uses)
		// The loop ends: the uses sum to all, and a capacity is never negative.
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
// Need and Have are loss. The relaxation forgets capacity altogether: every
// application has the count it likes best. The first combination that is too much
// names fewest constraints.
func tooMuchLoss(p *problem.Problem) *solver.Conflict {
	for _, with := range [...]struct{ minima, adjust bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		if with.adjust && !with.minima && belowMinimum(p) {
			continue // without the minima more could stay
		}
		need := totalLoss(p, with.minima, with.adjust)
		// The tolerance is that of the referee: what it would accept is no conflict.
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
//
//	total = sum_i least_i, or with adjust sum_stay held_i + sum_others least_i - the budget largest
//	        positive held_i - least_i
//
// Choosing the largest savings is exact, since without capacity nobody's saving depends on another's.
func totalLoss(p *problem.Problem, minima, adjust bool) float64 {
	var total float64
	var savings []float64
	for i := range p.Apps {
		a := &p.Apps[i]
		// least_i, in shares: the least loss within its bounds.
		loss := p.LeastLoss(int32(i), minima)
		if adjust && a.Pinnable {
			savings = append(savings, a.HeldLoss-loss)
			loss = a.HeldLoss
		}
		total += loss
	}
	// The largest savings come first. Only their sum matters, and so ties may lie in any order.
	slices.SortFunc(savings, func(x, y float64) int { return cmp.Compare(y, x) })
	for s, saving := range savings {
		if int64(s) < p.Budget && saving > 0 {
			total -= saving
		}
	}
	return total
}
