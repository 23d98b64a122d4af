// This file names the policies of the study and plays them, [Qiao21] §5.3.

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/elastic/schedulers"
	"github.com/apportion/apportion/placement/sim"
)

// entry is a policy under its name in the tables; fresh makes one for a run.
type entry struct {
	name  string
	fresh func(observe func(*alloc.Problem, *alloc.Decision)) sim.Policy
}

// power is the exponent of the weight by attained service; it was chosen on workload-1, workload-2 and philly. The horizon of
// the price of a restart, the exponent of the utility and the free number of GPUs were chosen on workload-1, workload-2 and nine
// other stretches of the traces, see README.
// horizon is the time within which a restart must pay for itself.
const (
	power   = 0.5
	horizon = 200 * time.Second
)

// root values a speed by its square root, between proportional fairness and the work done; the exponent is a legal one.
var root, _ = worth.Alpha(0.5)

// dorm is the paper's Dorm with its thresholds, and n_max as submitted or by a threshold.
// A threshold of 0 leaves n_max as it was submitted; otherwise it is the largest number of GPUs at which
// each still brings that part of the speed of one.
func dorm(threshold float64) func(func(*alloc.Problem, *alloc.Decision)) sim.Policy {
	return func(observe func(*alloc.Problem, *alloc.Decision)) sim.Policy {
		return &schedulers.Dorm{Threshold: threshold, Theta1: 0.1, Theta2: 0.1, Observe: observe}
	}
}

// byWorth is the worth in full, with a change.
// change gets a worth with all its parts, and takes one away.
func byWorth(change func(*schedulers.Worth)) func(func(*alloc.Problem, *alloc.Decision)) sim.Policy {
	return func(observe func(*alloc.Problem, *alloc.Decision)) sim.Policy {
		p := inFull()
		p.Observe = observe
		change(&p)
		return &p
	}
}

// inFull is the worth with all its parts.
func inFull() schedulers.Worth {
	return schedulers.Worth{Utility: root, Price: schedulers.Flat, Horizon: horizon, Any: true, Power: power}
}

// plainly makes an entry of a policy that has nothing to observe.
func plainly(name string, fresh func() sim.Policy) entry {
	return entry{name, func(func(*alloc.Problem, *alloc.Decision)) sim.Policy { return fresh() }}
}

// The names that the tables compare with.
const (
	nameLAS   = "least attained"
	nameDorm  = "Dorm, as submitted"
	nameHalf  = "Dorm, n_max at 0.5"
	nameMore  = "Dorm, n_max at 0.7"
	nameGavel = "Gavel"
	nameWorth = "worth"
	// nameBlocks is the worth of blocks of 1, 2 and 4 GPUs.
	nameBlocks = "roots, in blocks"
)

// contest is the list of all policies.
func contest() []entry {
	return []entry{
		plainly("static", func() sim.Policy { return &schedulers.Static{} }),
		plainly(nameLAS, func() sim.Policy { return &schedulers.Tiresias{} }),
		plainly("marginal gain", func() sim.Policy { return &schedulers.Optimus{} }),
		plainly("Sia", func() sim.Policy { return &schedulers.Sia{} }),
		{nameDorm, dorm(0)},
		{nameHalf, dorm(0.5)},
		{nameMore, dorm(0.7)},
		{nameWorth, byWorth(func(*schedulers.Worth) {})},
	}
}

// thresholds is the list for the workloads that had no say.
// The two thresholds are the best of five on the workloads of the tables.
func thresholds() []entry {
	all := contest()
	return append(all[1:2:2], all[4:]...)
}

// ablation is the worth, and the worth without each of its parts.
func ablation() []entry {
	return []entry{
		{nameWorth, byWorth(func(*schedulers.Worth) {})},
		{"no curve", byWorth(func(p *schedulers.Worth) { p.Linear = true })},
		{"restarts free", byWorth(func(p *schedulers.Worth) { p.Price = schedulers.Free })},
		{"restarts priced by age", byWorth(func(p *schedulers.Worth) { p.Price = schedulers.Age })},
		{"no attained service", byWorth(func(p *schedulers.Worth) { p.Power = 0 })},
		{"whole servers only", byWorth(func(p *schedulers.Worth) { p.Any = false })},
		{"sum of speed-ups", byWorth(func(p *schedulers.Worth) { p.Utility = worth.Speedup })},
		{"proportional fairness", byWorth(func(p *schedulers.Worth) { p.Utility = worth.Fair })},
		{"with preemption", byWorth(func(p *schedulers.Worth) { p.Preempt = true })},
		{"theta 0.1, 0.1", byWorth(func(p *schedulers.Worth) { p.Theta1, p.Theta2 = 0.1, 0.1 })},
		{"first growth charged too", byWorth(func(p *schedulers.Worth) { p.Theta1, p.Theta2, p.ChargeGrowth = 0.1, 0.1, true })},
		{"theta 0.1 of speed, 0.1", byWorth(func(p *schedulers.Worth) { p.Theta1, p.Theta2, p.Loss = 0.1, 0.1, alloc.LossInWorth })},
		{"theta 0.1 of speed, 1", byWorth(func(p *schedulers.Worth) { p.Theta1, p.Loss = 0.1, alloc.LossInWorth })},
	}
}

// places is the worth by what it knows of servers, by square roots and by what a recipe of logarithms would have: containers of one GPU,
// and blocks of 1, 2 and 4.
func places() []entry {
	return []entry{
		{nameBlocks, byWorth(func(p *schedulers.Worth) { p.Place = schedulers.InBlocks })},
		{"roots, by number", byWorth(func(*schedulers.Worth) {})},
		{"roots, by servers", byWorth(func(p *schedulers.Worth) { p.Place = schedulers.ByServers })},
		{"logs, by number", byWorth(func(p *schedulers.Worth) { p.Utility, p.Price, p.Any = worth.Fair, schedulers.Age, false })},
		{"logs, by servers", byWorth(func(p *schedulers.Worth) {
			p.Utility, p.Price, p.Place = worth.Fair, schedulers.Age, schedulers.ByServers
		})},
	}
}

// onTypes is the list for several types of accelerators.
// Thresholds on n_max and the marginal gain are left out: they know nothing of types.
func onTypes() []entry {
	all := contest()
	return []entry{all[1], plainly(nameGavel, func() sim.Policy { return &schedulers.Gavel{} }), all[3], all[4], all[7]}
}

// played is what came of one policy on one workload.
type played struct {
	*schedulers.Measures
	// decisions are those of the optimizer, and proven how many of them are within its gap.
	decisions, proven int
	// took is the longest time of a decision, and mean the mean.
	took, mean time.Duration
}

// timed measures a policy's decisions.
type timed struct {
	sim.Policy
	n          int
	sum, worst time.Duration
}

// Decide passes on the question and takes the time.
func (p *timed) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	began := time.Now()
	orders, err := p.Policy.Decide(ctx, state)
	took := time.Since(began)
	p.n, p.sum, p.worst = p.n+1, p.sum+took, max(p.worst, took)
	return orders, err
}

// within is the gap that counts as proven: what the policies ask for, and the rounding of a bound.
// 1e-9 covers that a bound is a float.
const within = 0.001 + 1e-9

// play runs one policy on one workload.
func (w *world) play(ctx context.Context, load *workload, types []string, e entry) (*played, error) {
	s, err := w.scenario(load, types)
	if err != nil {
		return nil, err
	}
	out := &played{}
	p := &timed{Policy: e.fresh(func(_ *alloc.Problem, d *alloc.Decision) {
		out.decisions++
		// A decision is also proven when the search has ruled out all else.
		if d.Gap <= within || d.Proven != solver.Rank(0) {
			out.proven++
		}
	})}
	r, err := sim.Run(ctx, s, p)
	if err != nil {
		return nil, err
	}
	if late := slices.IndexFunc(r.Jobs, func(o sim.Outcome) bool { return !o.Completed }); late >= 0 {
		return nil, fmt.Errorf("%s on %s: job %s never completes", e.name, load.name, r.Jobs[late].ID)
	}
	out.took, out.mean = p.worst, p.sum/time.Duration(max(1, p.n))
	out.Measures, err = schedulers.Measure(s, r)
	return out, err
}

// table holds by policy, in their order, what came of it by workload.
type table struct {
	loads   []*workload
	entries []entry
	cells   [][]*played
}

// playAll plays all policies on all workloads.
func (w *world) playAll(ctx context.Context, loads []*workload, types []string, entries []entry, stderr io.Writer) (*table, error) {
	cells, err := command.Grid(ctx, [2]int{len(entries), len(loads)}, stderr, "playing", func(ctx context.Context, i, k int) (*played, error) {
		return w.play(ctx, loads[k], types, entries[i])
	})
	return &table{loads, entries, cells}, err
}

// row returns what came of a policy.
// nil: there is no such policy in this table.
func (t *table) row(name string) []*played {
	for i, e := range t.entries {
		if e.name == name {
			return t.cells[i]
		}
	}
	return nil
}
