package embedded

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// ablations leave one part of the solver out each, by its numbers; that of the lattice changes the problem.
var ablations = []struct {
	part    string
	without func(n *tuning.Numbers)
}{
	{"nothing", func(*tuning.Numbers) {}},
	{"prices", func(n *tuning.Numbers) { n.Rounds, n.FewestRounds, n.PriceShares = 0, 1, []float64{0} }},
	{"annealing", func(n *tuning.Numbers) { n.Work, n.FreshWork = 0.1, 0.1 }},
	{"starts", func(n *tuning.Numbers) { n.ShortStart, n.FreshStart = math.MaxInt32, math.MaxInt32 }},
	{"repair", func(n *tuning.Numbers) { n.RepairMoves, n.Hope = 0, 0 }},
	{"polish", func(n *tuning.Numbers) { n.Polish = 0 }},
	{"sets", func(n *tuning.Numbers) { n.Tries = 0 }},
	{"climb", func(n *tuning.Numbers) { n.Stride = 0 }},
	{"slack of a container", func(n *tuning.Numbers) { n.SlackUnits = math.Inf(1) }},
	{"branch and bound", func(n *tuning.Numbers) { n.Nodes, n.Limits.Size = 0, 0 }},
	{"exact leaves", func(n *tuning.Numbers) { n.States, n.RestStates = 0, 0 }},
	{"least worth", func(n *tuning.Numbers) { n.LeastWorth = 0 }},
	{"recent", func(n *tuning.Numbers) { n.Recent = 0 }},
	{"limits", func(n *tuning.Numbers) { n.Limits.Size = 0 }},
	{"kept ceilings", func(n *tuning.Numbers) { n.Tried = 0 }},
	{"maxima", func(n *tuning.Numbers) { n.Divided = 0 }},
	{"near", func(n *tuning.Numbers) { n.Near = 0 }},
	{"joined servers", func(n *tuning.Numbers) { n.Totals = 0 }},
	{"choices", func(n *tuning.Numbers) { n.Packed = 1 }},
	{"placing", func(n *tuning.Numbers) { n.Packed = 0 }},
	{"ceiling work", func(n *tuning.Numbers) { n.CeilingWork = n.Work }},
	{"divided work", func(n *tuning.Numbers) { n.DividedWork = n.CeilingWork }},
	{"program", func(n *tuning.Numbers) { n.ProgramNodes = 0 }},
	{"fewest nodes", func(n *tuning.Numbers) { n.FewestNodes = 0 }},
	{"looks", func(n *tuning.Numbers) { n.Looks = 0 }},
	{"total rounds", func(n *tuning.Numbers) { n.TotalRounds = 1 }},
	{"warm-ups", func(n *tuning.Numbers) { n.WarmUps = 1 }},
	{"crowd", func(n *tuning.Numbers) { n.Crowd = math.Inf(1) }},
	{"lattice", func(*tuning.Numbers) {}},
}

// answerWith is Solve by the given numbers; with ceilings and without options it is the search that keeps them alone.
func answerWith(tune *tuning.Numbers, inst *solver.Instance, lattice bool) *solver.Solution {
	if len(inst.Choices) > 0 {
		s := New(nil)
		s.tune = tune
		return s.answerBest(context.Background(), inst)
	}
	p := problem.New(inst)
	if !lattice {
		p.Step = 0
	}
	r := newRun(p, &Options{Effort: Default}, tune)
	r.listed = len(inst.Groups) > 0
	r.search(context.Background())
	return r.solution()
}

// judges are the instances by which a part earns its place: both kinds of clusters full and half empty, decisions of the
// long days, the paper's cluster below ceilings, a few jobs on equal servers, jobs that may run on either of two kinds of
// accelerators, on servers of all sorts and below a ceiling too, clusters that minima fill to the last unit, and worths by number.
func judges() map[string][]instancetest.Known {
	known := map[string][]instancetest.Known{"decisions": instancetest.Decisions(), "half empty": instancetest.HalfEmpty()}
	for _, ref := range alloctest.References() {
		known["references"] = append(known["references"], instancetest.Known{Name: ref.Name, Instance: ref.Instance, Objective: ref.Objective})
	}
	for seed := range uint64(24) {
		inst := quartered(seed, 50, 48, seed%2 == 0, float64(int(1)<<(seed/2%3)))
		known["ceilings"] = append(known["ceilings"], instancetest.Known{Instance: inst})
	}
	for seed := range uint64(16) {
		// Programs settle those of four jobs.
		size := [...][2]int{{4, 4}, {20, 30}}[seed%2]
		inst := alloctest.Accelerators(seed, size[0], size[1], seed/2%2 == 0)
		known["options"] = append(known["options"], instancetest.Known{Instance: inst})
		known["options"] = append(known["options"], instancetest.Known{Instance: below(alloctest.Accelerators(seed, 4, 4, seed%2 == 0), 0.6)})
		known["options"] = append(known["options"], instancetest.Known{Instance: shrunk(seed, alloctest.Accelerators(seed, 20, 30, seed%2 == 0))})
		known["lists"] = append(known["lists"], instancetest.Known{Instance: listed(seed)})
		known["tight"] = append(known["tight"], instancetest.Known{Instance: tight(seed, 5, 8, 1)})
		worthy := alloctest.GPUs(seed, 20, 30, seed%2 == 0)
		alloctest.AddWorths(seed, worthy)
		known["worths"] = append(known["worths"], instancetest.Known{Instance: worthy})
		for _, n := range []int{4, 8, 16} {
			known["jobs"] = append(known["jobs"], instancetest.Known{Instance: jobs(seed, n)})
		}
	}
	return known
}

// below gives all applications of inst together a part of what there is.
func below(inst *solver.Instance, part float64) *solver.Instance {
	all := solver.Group{Ceiling: inst.Total.Clone()}
	for k, q := range all.Ceiling {
		all.Ceiling[k] = int64(float64(q) * part)
	}
	for i := range inst.Apps {
		all.Apps = append(all.Apps, i)
	}
	inst.Groups = []solver.Group{all}
	return inst
}

// shrunk makes the servers of inst unlike each other: each loses up to two fifths of every kind.
func shrunk(seed uint64, inst *solver.Instance) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 5))
	for j, capacity := range inst.Capacity {
		inst.Capacity[j] = capacity.Clone()
		for k, q := range capacity {
			inst.Capacity[j][k] -= q * r.Int64N(40) / 100
		}
	}
	return instancetest.Finish(inst)
}

// listed draws 30 jobs for 20 servers that may have lists of numbers alone, and lose little together.
func listed(seed uint64) *solver.Instance {
	inst, _ := alloctest.Families()[seed%2].Draw(seed, 20, 30, seed/2%2 == 0)
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Min, app.Counts = min(app.Min, 1), []int64{1, 2, 4, 8, 16, 32}
	}
	inst.LossBudget /= 2
	return inst
}

// tight draws a cluster that is filled to the last unit, and asks for that part of the containers in it at least. The price
// on loss keeps it from the searches that are made for the paper's P2.
func tight(seed uint64, servers, apps int, part float64) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 9))
	inst := &solver.Instance{LossBudget: float64(apps), AdjustBudget: int64(apps), LossPrice: 1e-9}
	for range apps {
		demand := apportion.Resources{1 + r.Int64N(8), 1 + r.Int64N(8), r.Int64N(3)}
		inst.Apps = append(inst.Apps, solver.App{Demand: demand, Max: 50, Cost: 1, Share: 1 / float64(apps)})
	}
	for range servers {
		capacity := make(apportion.Resources, 3)
		for capacity[0] < 30 {
			app := &inst.Apps[r.IntN(apps)]
			for k, q := range app.Demand {
				capacity[k] += q
			}
			if r.Float64() < part {
				app.Min++
			}
		}
		inst.Capacity = append(inst.Capacity, capacity)
	}
	return instancetest.Finish(inst)
}

// jobs draws so many jobs for 16 servers of eight accelerators, half of them with lists of counts, whose losses are two
// fifths of their shares at most.
func jobs(seed uint64, n int) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 16))
	inst := &solver.Instance{AdjustBudget: int64(n)}
	for range 16 {
		inst.Capacity = append(inst.Capacity, apportion.Resources{64, 8})
	}
	for i := range n {
		app := solver.App{Demand: apportion.Resources{4 + r.Int64N(8), 1}, Min: 1, Max: 16 + r.Int64N(48), Share: 1 / float64(n)}
		if i%2 == 1 {
			app.Counts = []int64{1, 2, 4, 8, 16, 32}
		}
		inst.Apps = append(inst.Apps, app)
	}
	inst = instancetest.Finish(inst)
	inst.LossBudget = 0.4
	return inst
}

// BenchmarkAblation prints what each part of the search brings: the mean gap that is left without it, how
// many instances are proven, and how many end with less and with more utilization than the whole solver
// finds. Run it with
//
//	go test -run NONE -bench Ablation -benchtime 1x -v ./alloc/embedded
//
// or, for one sort of judges, with -bench Ablation/ceilings. A part that is for none of them is left out.
func BenchmarkAblation(b *testing.B) {
	for name, instances := range judges() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ablate(b, instances)
			}
		})
	}
}

// ablate prints a line for each part that matters to some of the instances.
func ablate(b *testing.B, instances []instancetest.Known) {
	whole := make([]float64, len(instances))
	for _, a := range ablations {
		matters := func(known instancetest.Known) bool { return looksAt(a.part, known.Instance) }
		if a.part != "nothing" && !slices.ContainsFunc(instances, matters) {
			continue
		}
		tune := tuning.Standard()
		a.without(tune)
		b.Logf("without %-20s %s", a.part, compare(instances, whole, func(inst *solver.Instance) *solver.Solution {
			return answerWith(tune, inst, a.part != "lattice")
		}))
	}
}

// compare describes the answers to all instances; the first call fills in what the whole solver attains.
func compare(instances []instancetest.Known, whole []float64, answer func(*solver.Instance) *solver.Solution) string {
	var gap float64
	var proven, less, more, none int
	start := time.Now()
	for i, known := range instances {
		sol := answer(known.Instance)
		if !sol.Status.HasSolution() {
			none++
			continue
		}
		gap += sol.Gap() / float64(len(instances))
		if sol.Status == solver.Optimal {
			proven++
		}
		switch {
		case whole[i] == 0:
			whole[i] = sol.Objective
		case sol.Objective < whole[i]-solver.ObjectiveTolerance:
			less++
		case sol.Objective > whole[i]+solver.ObjectiveTolerance:
			more++
		}
	}
	return fmt.Sprintf("mean gap %.4f %%  proven %d of %d  less %d  more %d  none %d  %d ms", 100*gap, proven, len(instances), less, more, none, time.Since(start).Milliseconds())
}

// Each ablation is one: it changes the answers, or at least the way to them, of some instance.
func TestAblationsMatter(t *testing.T) {
	if testing.Short() {
		t.Skip("solves some instances a dozen times")
	}
	instances := []*solver.Instance{alloctest.Mixed(1, 15, 20, true), alloctest.Table2(2, 20, 30, true), instancetest.Recorded("scarce"), instancetest.Recorded("fifth"),
		quartered(4, 20, 24, true, 1), quartered(3, 20, 24, false, 2),
		alloctest.Table2(1, 500, 400, true), alloctest.Accelerators(0, 4, 4, false),
		alloctest.Accelerators(1, 20, 30, true), alloctest.Accelerators(3, 20, 30, false), below(alloctest.Accelerators(7, 4, 4, false), 0.6), below(alloctest.Accelerators(1, 12, 16, false), 0.6)}
	instances = append(instances, jobs(12, 5), jobs(0, 6), jobs(2, 6))
	worthy := alloctest.GPUs(1, 6, 8, true)
	alloctest.AddWorths(1, worthy)
	instances = append(instances, worthy, shrunk(0, alloctest.Accelerators(0, 20, 30, true)), tight(0, 5, 8, 1), tight(1, 5, 8, 1), alloctest.Mixed(1, 600, 300, false), instancetest.Recorded("jumps"))
	effort := func(tune *tuning.Numbers, inst *solver.Instance, lattice bool) string {
		if len(inst.Choices) > 0 {
			sol := answerWith(tune, inst, lattice)
			return fmt.Sprintf("%g %g %d", sol.Objective, sol.Bound, sol.Effort)
		}
		p := problem.New(inst)
		if !lattice {
			p.Step = 0
		}
		r := newRun(p, &Options{Effort: Default}, tune)
		r.listed = len(inst.Groups) > 0
		r.search(t.Context())
		return fmt.Sprintf("%g %g %d", r.a.Best.Objective, r.bound(), r.effort())
	}
	var whole []string
	for _, a := range ablations {
		tune := tuning.Standard()
		a.without(tune)
		var ways []string
		for i, inst := range instances {
			if whole != nil && !looksAt(a.part, inst) {
				ways = append(ways, whole[i])
				continue
			}
			ways = append(ways, effort(tune, inst, a.part != "lattice"))
		}
		if whole == nil {
			whole = ways
		} else if slices.Equal(whole, ways) {
			t.Errorf("without %s everything is the same", a.part)
		}
	}
}

// looksAt reports whether an instance is for that part: ceilings matter to those that have some, what is made for large
// clusters to the large one, several choices to the one that begins with a start, and the other parts to the others.
func looksAt(part string, inst *solver.Instance) bool {
	switch part {
	case "kept ceilings", "maxima", "near", "ceiling work", "divided work":
		return len(inst.Groups) > 0
	case "program", "fewest nodes", "looks":
		return len(inst.Choices) > 0
	case "choices":
		return slices.ContainsFunc(inst.Apps, func(app solver.App) bool { return app.Counts != nil })
	case "climb", "slack of a container", "crowd":
		return len(inst.Apps) >= 200
	}
	return len(inst.Groups)+len(inst.Choices) == 0 && len(inst.Apps) < 200 && inst.Start == nil
}
