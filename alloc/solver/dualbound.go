// This file recomputes an upper bound of P2 from multipliers alone: Lagrangian relaxation of the
// capacities (6), the fairness budget (15) and the ceilings (G), with the adjustment budget (16) kept exactly.

package solver

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// DualBound returns an upper bound on the utilization of every solution of inst, proved by m:
//
//	bound = sum_jk p_jk c_jk + lambda (LossBudget + LossTolerance) + sum_gk nu_gk L_gk + sum_new free_i
//	        + sum_running keep_i + the best gains free_i - keep_i that AdjustBudget pays for
//	free_i = max over allowed n of fill_i(n) + w_i(n) - (lambda + LossPrice) |delta_i n - share_i|
//	fill_i(n) = the n containers with the largest v_i - e_i - p_j d_i, at most room_ij of them on server j
//	room_ij = floor((c_j - what all but the largest that AdjustBudget lets leave use)/d_i), at most
//	          PerServer, and 0 on servers that are not open to i
//	keep_i = sum_j xprev_ij (v_i - e_i - p_j d_i) + App.Kept - (lambda + LossPrice) |delta_i nprev_i - share_i|
//	e_i = the sum of nu_g d_i over the groups g of i
//
// where w_i(n) is App.Extra, and |..| stands for App.Loss, both of any shape. What servers cost, App.Spread, is 0 in free_i. Of a Choice free is the best of its
// options, with n above 0 in one of them or, where it is not Required, in none, and keep that of the option that it runs
// with. Without prices on ceilings (G) they are left out: what holds without them holds with them.
//
// A running application that cannot stay as it is (displaced, outside its bounds, too large for a
// server by itself) must take its gain and uses up the budget. The bound is -Inf where the
// minimum of an application does not fit the empty cluster, or more applications must move than
// the budget allows. Weak duality makes it valid for any m, whoever computed it.
//
// With prices on pieces the bound has the most beside that each server charges for the pieces on it, and fill_i(n) is the lesser
// of the above and split_i(n), see splits; keep_i pays for the pieces that it has.
//
// One that may change for nothing, if it grows above FreeAbove, may do so with any number here. Of unequal costs the last gain counts in part, as the knapsack's relaxation has it. An application that may
// stay on server j does so unless it is adjusted, so that in each kind at least all but the largest that
// AdjustBudget pays for remain; those that must move come off the budget.
//
// Cost: O(demands x servers x (kinds + log servers) + applications x profits + entries of Worth and Losses + applications of all groups x kinds),
// whatever the numbers of containers are.
func DualBound(inst *Instance, m *Multipliers) (float64, error) {
	if err := m.check(inst); err != nil {
		return 0, err
	}
	choices, of := inst.Choices, inst.choiceOf()
	inst, added := inst.Apart()
	bound := float64(m.Loss*(inst.LossBudget+LossTolerance)) - added + m.chargePieces(inst)
	// What there is of everything scarce, at its price.
	for j, prices := range m.Server {
		for k, price := range prices {
			bound += float64(price * float64(inst.Capacity[j][k]))
		}
	}
	for g, prices := range m.Group {
		for k, price := range prices {
			bound += float64(price * float64(inst.Groups[g].Ceiling[k]))
		}
	}
	// Every application brings what it brings at best as it is, and the knapsack pays for those that gain most by leaving.
	k := knapsack{budget: inst.AdjustBudget}
	f, net := filler{Multipliers: m, inst: inst, room: inst.roomWithin(), known: make(map[string][]step)}, m.netOfCeilings(inst)
	add := func(i int, free, keep float64) {
		switch {
		case !inst.Apps[i].Running:
			bound += free
		case inst.Apps[i].Pinned:
			bound += keep
		case math.IsInf(keep, -1):
			bound += free
			k.must(inst.Apps[i].leastCost())
		default:
			bound += keep
			k.add(free-keep, inst.Apps[i].leastCost())
		}
	}
	// Applications first, then choices, each as one that is in use.
	for i := range inst.Apps {
		if of[i] < 0 {
			none, some := f.free(i, net[i])
			add(i, math.Max(none, some), m.keep(inst, i, net[i]))
		}
	}
	for c := range choices {
		add(f.choose(&choices[c], net))
	}
	return bound + k.best(), nil
}

// choose returns the entry of a Choice that runs, or one of them, and what the Choice brings at best placed anew, and as
// it is.
func (f *filler) choose(choice *Choice, net []float64) (runs int, free, keep float64) {
	// nothing is what all entries bring without containers, which most and own are measured from.
	var nothing float64
	most, own := math.Inf(-1), 0.0 // the most that one option adds to what all bring without containers
	runs = choice.Apps[0]
	for _, i := range choice.Apps {
		none, some := f.free(i, net[i])
		nothing += none
		most = math.Max(most, some-none)
		if f.inst.Apps[i].Running {
			runs, own = i, none
		}
	}
	if !choice.Required {
		most = math.Max(most, 0)
	}
	return runs, nothing + most, nothing - own + f.keep(f.inst, runs, net[runs])
}

// netOfCeilings returns v_i - e_i of every application: what a container of it is worth beside what it uses of the
// ceilings, at their prices. An application below several ceilings pays for each. O(applications of all groups x kinds).
func (m *Multipliers) netOfCeilings(inst *Instance) []float64 {
	net := make([]float64, len(inst.Apps))
	for i := range net {
		net[i] = inst.Apps[i].Value
	}
	for g, prices := range m.Group {
		for _, i := range inst.Groups[g].Apps {
			for k, price := range prices {
				net[i] -= float64(price * float64(inst.Apps[i].Demand[k]))
			}
		}
	}
	return net
}

// profit returns net - p_j d_i, where net is v_i - e_i: what one container on server j brings beside what its resources cost
// there. It may be negative.
func (m *Multipliers) profit(inst *Instance, i, j int, net float64) float64 {
	for k, d := range inst.Apps[i].Demand {
		net -= float64(m.Server[j][k] * float64(d))
	}
	return net
}

// keep returns keep_i, or -Inf where the application cannot stay as it is.
func (m *Multipliers) keep(inst *Instance, i int, net float64) float64 {
	if !inst.MayStay(i) {
		return math.Inf(-1)
	}
	// Nothing is chosen here: what it has is what it brings, at the prices of its servers.
	app := &inst.Apps[i]
	n := Containers(app.Previous)
	keep := app.Kept() - float64((m.Loss+inst.LossPrice)*app.Loss(n))
	for _, p := range app.Previous {
		keep += float64(float64(p.Count)*m.profit(inst, i, p.Server, net)) - m.piece(inst, i, p.Server, p.Count)
	}
	return keep
}

// roomWithin returns what every server has at most for applications that do not stay. The vectors are fresh. A solution in
// which r applications leave has at least as many of the residents of each server left as there are less r, and in each kind
// these use at least as much as the smallest users. O(residents log residents x kinds).
func (inst *Instance) roomWithin() []apportion.Resources {
	// In each kind the largest users are assumed to leave: the least that can remain is what makes
	// room a bound. Those that cost nothing leave in any case.
	k, cheapest := knapsack{budget: inst.AdjustBudget}, int64(math.MaxInt64)
	uses := make([][][]int64, len(inst.Capacity)) // by server, by kind: what each that may stay uses
	for i := range inst.Apps {
		app := &inst.Apps[i]
		if !inst.MayStay(i) {
			if app.Running {
				k.must(app.leastCost())
			}
			continue
		}
		if app.MayGrow() && !app.Pinned {
			continue
		}
		if !app.Pinned {
			cheapest = min(cheapest, app.Cost)
		}
		for _, p := range app.Previous {
			if uses[p.Server] == nil {
				uses[p.Server] = make([][]int64, len(inst.Total))
			}
			for k, d := range app.Demand {
				uses[p.Server][k] = append(uses[p.Server][k], p.Count*d)
			}
		}
	}
	leave := max(0, k.budget) / cheapest // so many at most
	room := make([]apportion.Resources, len(inst.Capacity))
	for j, capacity := range inst.Capacity {
		room[j] = capacity.Clone()
		for k, used := range uses[j] {
			slices.Sort(used)
			for _, u := range used[:max(0, int64(len(used))-leave)] {
				room[j][k] = max(0, room[j][k]-u)
			}
		}
	}
	return room
}

// step is a run of containers with the same profit: those that the servers where they have it can hold.
type step struct {
	profit float64
	count  int64
}

// filler computes free_i; applications of equal demand that may be on the same servers have their steps in common.
type filler struct {
	*Multipliers
	inst  *Instance
	room  []apportion.Resources
	known map[string][]step // those of ordered
}

// ordered returns what servers of one profit hold of application i, the largest profit first. It must not be changed. O(servers x (kinds +
// log servers)) for the first of its demand.
func (f *filler) ordered(i int, net float64) []step {
	app := &f.inst.Apps[i]
	key := binary.LittleEndian.AppendUint64(nil, math.Float64bits(net))
	key = binary.LittleEndian.AppendUint64(key, uint64(app.PerServer))
	for _, d := range app.Demand {
		key = binary.LittleEndian.AppendUint64(key, uint64(d))
	}
	for _, class := range app.Classes {
		key = binary.LittleEndian.AppendUint64(key, uint64(class))
	}
	if app.Classes != nil {
		key = append(key, 'c') // no class at all is not every class
	}
	if steps, ok := f.known[string(key)]; ok {
		return steps
	}
	steps := make([]step, len(f.inst.Capacity))
	for j := range steps {
		steps[j] = step{f.profit(f.inst, i, j, net), f.inst.most(i, j, f.room[j])}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(b.profit, a.profit) })
	// Most servers have the prices of others that are like them.
	few := steps[:0]
	for _, s := range steps {
		if last := len(few) - 1; last >= 0 && few[last].profit == s.profit {
			few[last].count += min(s.count, math.MaxInt64-few[last].count)
		} else {
			few = append(few, s)
		}
	}
	few = slices.Clone(few)
	f.known[string(key)] = few
	return few
}

// free returns free_i in two parts: without containers, and with some. Without Worth the sum of fill_i and minus the loss is
// on a line between any two of these: the ends of steps, the n whose share is share_i, the points of Losses, and the bounds.
// The maximum so is at an allowed number next to one of them; with Worth it may be at any.
func (from *filler) free(i int, net float64) (none, some float64) {
	app := &from.inst.Apps[i]
	// Having nothing is apart, since a choice needs both parts of each option.
	f := filling{inst: from.inst, app: app, lossPrice: from.Loss + from.inst.LossPrice, best: math.Inf(-1)}
	f.try(0, 0)
	none, f.best = f.best, math.Inf(-1)
	if splits := from.splits(i, net); splits != nil {
		f.trySplits(from.ordered(i, net), splits)
		return none, f.best
	}
	fair, next, points := app.fairCount(), app.AtLeast(1), app.Losses
	for _, s := range from.ordered(i, net) {
		if f.n == app.Max {
			break
		}
		f.step = s
		f.end = f.n + min(s.count, app.Max-f.n)
		// Where numbers have worths of their own each is looked at once, in the step that it ends in.
		for app.Worth != nil && next >= 0 && next <= f.end {
			f.within(next)
			next = app.after(next)
		}
		// So is each point of the losses. A number next to it in another step is the first or the last one there, and looked
		// at for that reason.
		for len(points) > 0 && points[0].N <= f.end {
			app.around(points[0].N, f.within)
			points = points[1:]
		}
		app.around(f.n+1, f.within)
		for _, stop := range [...]int64{fair, fair + 1, f.end} {
			app.around(stop, f.within)
		}
		f.filled += float64(float64(f.end-f.n) * s.profit)
		f.n = f.end
	}
	return none, f.best
}

// filling is the evaluation of one free_i, step by step.
type filling struct {
	inst      *Instance
	app       *App
	lossPrice float64
	best      float64
	n         int64   // containers in the steps before this one
	filled    float64 // and what they are worth
	step      step
	end       int64 // containers with this step
}

// within tries n containers if the present step reaches them.
func (f *filling) within(n int64) {
	if n > f.n && n <= f.end {
		f.try(n, f.filled+float64(float64(n-f.n)*f.step.profit))
	}
}

// try takes n containers that are worth value into account, if the application may have them. best is the maximum so far,
// -Inf before any number was allowed.
func (f *filling) try(n int64, value float64) {
	if f.app.Allows(n) {
		f.best = math.Max(f.best, value+f.app.Extra(n)-float64(f.lossPrice*f.app.Loss(n)))
	}
}

// trySplits tries every number, with the lesser of what it brings by the steps and by splits.
func (f *filling) trySplits(steps []step, splits []float64) {
	for n := f.app.AtLeast(1); n > 0; n = f.app.after(n) {
		for len(steps) > 0 && steps[0].count < n-f.n {
			f.n, f.filled = f.n+steps[0].count, f.filled+float64(float64(steps[0].count)*steps[0].profit)
			steps = steps[1:]
		}
		if len(steps) == 0 {
			return
		}
		f.try(n, math.Min(splits[n], f.filled+float64(float64(n-f.n)*steps[0].profit)))
	}
}
