// This file holds random instances that are small enough for enumeration, and one sort that is not.

package solvertest

import (
	"fmt"
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// enumerated compares random instances of the paper's program with enumeration.
func enumerated(p *probe) error { return p.enumerates("Small", Small, p.opts.Instances) }

// general compares random instances of the whole program with enumeration.
func general(p *probe) error { return p.enumerates("General", General, p.opts.General) }

// worths compares random instances with worths by number with enumeration.
func worths(p *probe) error { return p.enumerates("Worth", Worth, p.opts.General) }

// losses compares random instances with losses by number with enumeration.
func losses(p *probe) error { return p.enumerates("Loss", Loss, p.opts.General) }

// enumerates compares so many instances, drawn by the function of this name, with enumeration.
// The seeds count from 0, so that a smaller number of instances is a prefix of a larger one.
func (p *probe) enumerates(draw string, instance func(seed uint64) *solver.Instance, count int) error {
	for seed := range uint64(count) {
		name, inst := fmt.Sprintf("solvertest.%s(%d)", draw, seed), instance(seed)
		s, err := p.ask(name, inst)
		if err != nil {
			return err
		}
		best, _ := p2oracle.Best(inst)
		if err := p.opts.compare(inst, s, best); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Small draws an instance that can be enumerated: one or two servers, up to three applications of up to
// three containers, up to three kinds. Applications run where there was room once, or not: a server may
// hold too much, and some of what ran may be on a server that is gone.
func Small(seed uint64) *solver.Instance {
	// The second number of a PCG is another for each function here, so that one seed means unlike draws.
	r := rand.New(rand.NewPCG(seed, 2))
	kinds := 1 + r.IntN(3)
	inst := &solver.Instance{
		Total: make(apportion.Resources, kinds),
		// From a budget that nearly always binds to one that never does; of three kinds 6 is 2m.
		LossBudget:   []float64{0.1, 0.4, 1, 6}[r.IntN(4)],
		AdjustBudget: r.Int64N(4),
	}
	addServers(r, inst, 1+r.IntN(2))
	for range 1 + r.IntN(3) {
		inst.Apps = append(inst.Apps, smallApp(r, inst))
	}
	return inst
}

// addServers draws so many servers, each kind by itself: large in one and small in another, which is where
// packing goes wrong.
func addServers(r *rand.Rand, inst *solver.Instance, n int) {
	for range n {
		capacity := make(apportion.Resources, len(inst.Total))
		for k := range capacity {
			// A kind may be absent from a server, or from all of them.
			capacity[k] = r.Int64N(8)
			inst.Total[k] += capacity[k]
		}
		inst.Capacity = append(inst.Capacity, capacity)
	}
}

// smallApp draws an application of a small instance.
// Value and Delta are those of (10) and (2); the share is drawn, not computed, as a solver must
// take it as it is.
func smallApp(r *rand.Rand, inst *solver.Instance) solver.App {
	// Shares in quarters make ties, where only the lower levels of the preference decide.
	app := solver.App{Demand: make(apportion.Resources, len(inst.Total)), Min: r.Int64N(3), Share: float64(r.IntN(5)) / 4}
	app.Max = max(1, app.Min) + r.Int64N(2)
	// One unit of some kind at least: a demand of nothing is no application.
	app.Demand[r.IntN(len(app.Demand))] = 1
	for k, total := range inst.Total {
		app.Demand[k] = max(app.Demand[k], r.Int64N(4))
		if total > 0 {
			part := float64(app.Demand[k]) / float64(total)
			app.Value += part
			app.Delta = max(app.Delta, part)
		}
	}
	// What runs is drawn without a look at its server, which may have shrunk since.
	for j := range inst.Capacity {
		if r.IntN(3) == 0 {
			app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: 1 + r.Int64N(2)})
		}
	}
	// A displaced application may have nothing left on the servers that exist.
	app.Displaced = r.IntN(8) == 0
	app.Cost = 1
	app.Running = app.Displaced || len(app.Previous) > 0
	return app
}

// General draws an instance of the same sizes with all that P2 has beyond the paper: classes of servers,
// numbers with steps and lists, applications that need not run or must stay, limits by server and of servers,
// costs of adjustments, and sometimes a price of loss. It is the instance of Small with this seed made
// general, so that a fault may be narrowed down between the two. Somewhat more than half have a solution.
func General(seed uint64) *solver.Instance {
	inst := Small(seed)
	generalize(rand.New(rand.NewPCG(seed, 3)), inst)
	return inst
}

// Medium draws an instance like those of General on four servers with five applications: too large to be
// enumerated, and small enough for any general solver.
func Medium(seed uint64) *solver.Instance { return medium(seed, 4, 5) }

// medium is Medium with other sizes.
func medium(seed uint64, servers, apps int) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 4))
	// Budgets grow with the number of applications, so that they bind as often as in small instances.
	inst := &solver.Instance{Total: make(apportion.Resources, 1+r.IntN(3)), LossBudget: []float64{1, 2, 6}[r.IntN(3)], AdjustBudget: 2 + r.Int64N(6)}
	addServers(r, inst, servers)
	for range apps {
		inst.Apps = append(inst.Apps, smallApp(r, inst))
	}
	generalize(r, inst)
	return inst
}

// Everything draws an instance like those of Medium on seven servers with ten applications, which has what all others here
// have: worths and losses by number for some, ceilings in half of them, and two applications that are options of one in a
// third.
func Everything(seed uint64) *solver.Instance {
	inst := medium(seed, 7, 10)
	r := rand.New(rand.NewPCG(seed, 9))
	// So much together leaves few solutions, unless budgets are larger and most may have nothing.
	inst.LossBudget += float64(2 * r.IntN(5))
	inst.AdjustBudget += r.Int64N(20)
	for i := range inst.Apps {
		inst.Apps[i].Elective = inst.Apps[i].Elective || r.IntN(8) > 0
		if r.IntN(3) == 0 {
			addWorth(r, &inst.Apps[i])
		}
		if r.IntN(4) == 0 {
			addLosses(r, &inst.Apps[i])
		}
	}
	if r.IntN(3) == 0 {
		inst.Apps[4].Losses = inst.Apps[3].Losses // of the two together
		choice := solver.Choice{Apps: []int{3, 4}, Required: r.IntN(3) == 0}
		inst.Choices = append(inst.Choices, choice)
		makeOptions(inst, &choice)
	}
	if r.IntN(2) == 0 {
		Grouped(inst, seed)
	}
	return inst
}

// generalize gives an instance some of what the paper's have not. Each feature is there in some instances and missing in
// others, so that a solver that forgets one is caught, and that by few instances at once.
func generalize(r *rand.Rand, inst *solver.Instance) {
	// Three classes for two servers: some applications find all closed to them.
	if r.IntN(3) > 0 {
		for range inst.Capacity {
			inst.Class = append(inst.Class, r.IntN(3))
		}
	}
	// Equal servers are what forms by class pool, and what searches prune as symmetric.
	if r.IntN(3) == 0 {
		equalize(inst)
	}
	// Half of the instances ask for the least loss, alone or beside the utilization.
	inst.LossPrice = []float64{0, 0, 0, .5, 3, 1}[r.IntN(6)]
	// Three of four leave some freedom, or few would have a solution: one budget is large, and most
	// applications need not run.
	loose := r.IntN(4)
	switch loose {
	case 1:
		inst.LossBudget = 6
	case 2, 3:
		inst.LossBudget += 1
		inst.AdjustBudget += 2 * int64(len(inst.Apps))
	}
	for i := range inst.Apps {
		// At a price of 1 nothing else counts: the program of the least loss.
		if inst.LossPrice == 1 {
			inst.Apps[i].Value = 0
		}
		inst.Apps[i].Elective = r.IntN(4) < 1+loose
		generalizeApp(r, &inst.Apps[i])
	}
}

// equalize makes every server as small as the smallest in each kind. Values are then less than what a
// container is of the whole, which P2 allows, while more would break the cap.
func equalize(inst *solver.Instance) {
	// The sums must follow, or the instance would be none. What runs may now overfill its server, as after a
	// failure of parts of it.
	for k := range inst.Total {
		least := inst.Capacity[0][k]
		for _, capacity := range inst.Capacity {
			least = min(least, capacity[k])
		}
		for j := range inst.Capacity {
			inst.Capacity[j][k] = least
		}
		inst.Total[k] = least * int64(len(inst.Capacity))
	}
}

// Worth draws the instance of General with this seed, with worths by number for most applications: concave, convex,
// in steps, falling and below nothing; with worths of having none, and prices of restarts.
func Worth(seed uint64) *solver.Instance {
	inst := General(seed)
	r := rand.New(rand.NewPCG(seed, 6))
	for i := range inst.Apps {
		app := &inst.Apps[i]
		// Half of them have a worth beside their utilization, as the form of the instance allows.
		if r.IntN(4) > 0 {
			addWorth(r, app)
		}
		if r.IntN(2) == 0 {
			app.Stay = []float64{0.05, 0.3, 2}[r.IntN(3)]
		}
	}
	return inst
}

// Loss draws the instance of Worth with this seed, in which most applications state what they lose by their number: more
// and more away from some number, as much beyond it, and of any other shape.
func Loss(seed uint64) *solver.Instance {
	inst := Worth(seed)
	r := rand.New(rand.NewPCG(seed, 8))
	for i := range inst.Apps {
		if r.IntN(4) > 0 {
			addLosses(r, &inst.Apps[i])
		}
	}
	return inst
}

// addLosses draws what an application loses with 0, 1, and so on, with gaps between these, and not always up to its Max.
func addLosses(r *rand.Rand, app *solver.App) {
	// A sharp least loss, a flat one beyond it, or none at all.
	shape, best := r.IntN(3), r.Int64N(4)
	app.Losses = []solver.LossPoint{}
	for n := range max(2, app.Max+1-r.Int64N(2)) {
		// The losses that solvers know as a formula, those of a speed that grows less and less, and any others.
		loss := float64(max(n-best, best-n)) / 4
		switch {
		case shape == 1 && n > best:
			loss = 1 - 1/float64(1+n-best)
		case shape == 2:
			loss = float64(r.IntN(5)) / 4
		}
		if n == 0 || r.IntN(5) > 0 {
			app.Losses = append(app.Losses, solver.LossPoint{N: n, Loss: loss})
		}
	}
}

// addWorth draws a worth for each number that an application may have, in quarters: rising less and less, more and more, in
// steps of one height, or anyhow.
func addWorth(r *rand.Rand, app *solver.App) {
	if r.IntN(2) == 0 {
		app.Value = 0
	}
	// Quarters make ties, where only the lower levels of the preference decide.
	app.Idle = float64(r.IntN(5)-2) / 4
	step, falls := float64(r.IntN(5))/4, []float64{.25, .5, -.25, 0}[r.IntN(4)]
	arbitrary := r.IntN(3) == 0
	app.Worth = []float64{}
	worth, last := float64(r.IntN(5)-2)/4, app.Max
	if app.Counts != nil {
		last = int64(len(app.Counts))
	}
	// Of a list every entry has a worth, else each number that is allowed.
	for n := int64(1); n <= last; n++ {
		if app.Counts == nil && !app.Allows(n) {
			continue
		}
		if arbitrary {
			worth = float64(r.IntN(17)-8) / 4
		}
		app.Worth = append(app.Worth, worth)
		worth, step = worth+step, step-falls
	}
}

// generalizeApp gives an application some of what the paper's have not, each by a draw of its own: all of them together are
// drawn now and then.
func generalizeApp(r *rand.Rand, app *solver.App) {
	// A cost of 0 is an adjustment that the budget does not see, of 3 one that it may not pay for.
	app.Cost = r.Int64N(4)
	// Larger maxima than in small instances, or steps and lists would leave no choice.
	app.Max += r.Int64N(3)
	switch r.IntN(4) {
	case 0:
		app.Step = 2
	case 1:
		// A list may name numbers outside the bounds, which do not count, and leave nothing.
		for n := int64(1); n <= 4; n++ {
			if r.IntN(2) == 0 {
				app.Counts = append(app.Counts, n)
			}
		}
	}
	// What it holds may break either limit: then it must move.
	if r.IntN(4) == 0 {
		app.PerServer = 1 + r.Int64N(2)
	}
	if r.IntN(3) == 0 {
		app.MaxServers = 1
	}
	// Half are open to all, a quarter to one class, a quarter to two.
	switch r.IntN(4) {
	case 0:
		app.Classes = []int{r.IntN(3)}
	case 1:
		app.Classes = []int{0, 2}
	}
	// Only who may have what it has can be pinned, as App.Pinned says; whether there is room for it beside
	// the others is for (6), and may leave no solution.
	if r.IntN(6) == 0 && app.Allows(solver.Containers(app.Previous)) {
		app.Pinned = app.Running && !app.Displaced
	}
}

// makeOptions gives the entries of a choice what options have in common: a share, a worth of having nothing, leave to have
// nothing, and at most one that runs, the first that did.
func makeOptions(inst *solver.Instance, choice *solver.Choice) {
	// A worth of having nothing needs a Worth, so that one option without any takes it from all.
	first := &inst.Apps[choice.Apps[0]]
	idle, runs := first.Idle, false
	for _, i := range choice.Apps {
		if inst.Apps[i].Worth == nil {
			idle = 0
		}
	}
	for _, i := range choice.Apps {
		app := &inst.Apps[i]
		app.Share, app.Idle, app.Elective = first.Share, idle, true
		if runs {
			app.Running, app.Displaced, app.Pinned, app.Previous = false, false, false, nil
		}
		runs = runs || app.Running
	}
}
