// This file gives random instances worths by number: curves of training jobs that scale more or less well.

package alloctest

import (
	"math"
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// AddWorths gives every application of an instance a worth by its number of containers, in place of its utilization:
// its weight times the logarithm of a speed-up by Amdahl's law, or times the speed-up itself, as seed has it for all of
// them; every fourth application may have 1, 2, 4, 8 ... containers only. Those that run have a price of restarts.
func AddWorths(seed uint64, inst *solver.Instance) {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	// Weights lie between 1/e and e, and serial parts between a third of a percent and a half, small ones more often.
	logarithm := seed%2 == 0
	for i := range inst.Apps {
		app := &inst.Apps[i]
		serial, weight := math.Exp(-5*r.Float64())/2, math.Exp(2*r.Float64()-1)
		if r.IntN(4) == 0 {
			addPowers(app)
		}
		app.Value, app.Worth = 0, nil
		for n := app.AtLeast(1); n > 0; n = app.AtLeast(n + 1) {
			speed := 1 / (serial + (1-serial)/float64(n))
			if logarithm {
				speed = math.Log(speed)
			}
			app.Worth = append(app.Worth, weight*speed)
		}
		if app.Running {
			app.Stay = 0.1 * weight * r.Float64()
		}
	}
}

// addPowers restricts an application to powers of two within its bounds, and to what it has: it must be able to stay.
func addPowers(app *solver.App) {
	held, counts := solver.Containers(app.Previous), []int64{}
	for n := int64(1); n <= app.Max; n *= 2 {
		// What it has stands between the powers that surround it, so that the list ascends.
		if held > n/2 && held < n {
			counts = append(counts, held)
		}
		if n >= app.Min {
			counts = append(counts, n)
		}
	}
	// No power lies above it where its maximum does not.
	if held > counts[len(counts)-1] {
		counts = append(counts, held)
	}
	app.Counts = counts
}

// GPUs draws jobs for servers of four GPUs, one GPU a container, up to 16 of them, as schedulers of training jobs know
// them; with previous all but the last two run.
func GPUs(seed uint64, servers, apps int, previous bool) *solver.Instance {
	g := generator{rand: newRand(seed), previous: previous, draw: func(r *rand.Rand) claim {
		return claim{demand: apportion.Resources{1}, weight: float64(int(1) << r.IntN(3)), min: 1, max: int64(1 + r.IntN(16))}
	}}
	// One kind, and servers alike: placing is easy, so that worths alone make the difference.
	capacity := make([]apportion.Resources, servers)
	for j := range capacity {
		capacity[j] = apportion.Resources{4}
	}
	inst, _ := g.instance(capacity, apps)
	return inst
}
