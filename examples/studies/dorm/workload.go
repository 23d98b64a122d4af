// This file holds the paper's testbed and workload, [Dorm §V-A, Table II].

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/placement/sim"
)

// The paper's setting.
const (
	paperApps    = 50
	interarrival = 20 * time.Minute
	// longRunning and longShare are the one thing the paper says about durations: about 90 % of
	// the applications of the production cluster run for more than 6 hours (Fig. 1).
	longRunning = 6 * time.Hour
	longShare   = 0.9
	// longMedian is our choice for what it leaves open.
	longMedian = 8 * time.Hour
)

// longQuantile is the standard normal quantile of longShare.
var longQuantile = math.Sqrt2 * math.Erfinv(2*longShare-1)

// Every vector of this workload is in this order.
var paperKinds = apportion.Kinds{"cpu", "gpu", "memory_gb"}

// model is a row of Table II, and the containers that the static baseline gives it (§V-A4).
// number is how many applications of this row there are, fixed what Swarm gives to each.
type model struct {
	name, system string
	demand       apportion.Resources
	weight       float64
	max, min     int64
	number       int
	fixed        int64
}

// The two numbers before the last are the paper's count of applications and, from its text, Swarm's
// containers.
var tableII = []model{
	{"LR", "MxNet", apportion.Resources{2, 0, 8}, 1, 32, 1, 20, 8},
	{"MF", "TensorFlow", apportion.Resources{2, 0, 6}, 2, 32, 1, 20, 8},
	{"CaffeNet", "MPI-Caffe", apportion.Resources{4, 0, 6}, 4, 8, 1, 6, 4},
	{"VGG-16", "MxNet", apportion.Resources{4, 1, 32}, 1, 5, 1, 1, 2},
	{"GoogLeNet", "TensorFlow", apportion.Resources{6, 1, 16}, 1, 5, 1, 1, 2},
	{"AlexNet", "Petuum", apportion.Resources{6, 1, 16}, 2, 5, 1, 1, 2},
	{"ResNet-50", "MPI-Caffe", apportion.Resources{4, 1, 32}, 4, 5, 1, 1, 3},
}

// testbed returns the paper's 20 slaves: 240 CPU cores, 5 GPUs and 2.5 TB together. Each has 12
// cores and 128 GB, every fourth one a GPU.
func testbed() []apportion.Server {
	servers := make([]apportion.Server, 20)
	for j := range servers {
		servers[j] = apportion.Server{
			ID:       fmt.Sprintf("slave-%02d", j+1),
			Capacity: apportion.Resources{12, 0, 128},
		}
		if j%4 == 0 {
			servers[j].Capacity[1] = 1
		}
	}
	return servers
}

// settings is what a run of the workload may vary.
type settings struct {
	apps int
	// median is that of the durations before they are scaled by scale.
	median  time.Duration
	scale   float64
	speedup sim.Speedup
	cost    time.Duration
	// reading is Dorm's reading of the paper.
	reading alloc.Options
}

// paperScenario draws the workload: the applications of Table II in random order, exponential
// times between their arrivals, and durations under the baseline as drawHours has them.
func paperScenario(set settings, seed uint64) *sim.Scenario {
	rng := rand.New(rand.NewPCG(seed, 0))
	scenario := &sim.Scenario{Kinds: paperKinds, Servers: testbed(), AdjustCost: set.cost}
	var at time.Duration
	for i, m := range submissions(rng, set.apps) {
		at += time.Duration(rng.ExpFloat64() * float64(interarrival))
		hours := float64(set.scale * drawHours(rng, set.median))
		scenario.Jobs = append(scenario.Jobs, sim.Job{
			Application: alloc.Application{
				ID:       fmt.Sprintf("%02d-%s", i+1, m.name),
				Executor: m.system,
				Weight:   m.weight,
				Form:     alloc.Form{Demand: m.demand, Max: m.max, Min: m.min},
				Start:    []string{"start.sh"},
				Resume:   []string{"resume.sh"},
			},
			Arrival: at,
			Fixed:   m.fixed,
			Work:    work(set.speedup, m.fixed, time.Duration(math.Round(hours*3600))*time.Second),
			Speedup: set.speedup,
		})
	}
	return scenario
}

// work returns the work of an application that runs for a time on n containers. Whole seconds at our
// speed-ups are neither refused nor rounded.
func work(speedup sim.Speedup, n int64, d time.Duration) time.Duration {
	w, err := sim.WorkOn(speedup, n, d)
	if err != nil {
		panic(err)
	}
	return w
}

// duration returns how long an application runs on the containers that the baseline gives it.
func duration(app *sim.Job) time.Duration {
	d, err := app.TimeOn(app.Fixed)
	if err != nil {
		panic(err)
	}
	return d
}

// submissions returns n models in random order, drawn from Table II without replacement as long as
// it lasts.
func submissions(rng *rand.Rand, n int) []*model {
	var all []*model
	for len(all) < n {
		var table []*model
		for m := range tableII {
			for range tableII[m].number {
				table = append(table, &tableII[m])
			}
		}
		rng.Shuffle(len(table), func(i, j int) { table[i], table[j] = table[j], table[i] })
		all = append(all, table...)
	}
	return all[:n]
}

// drawHours draws a log-normal time with the given median of which longShare exceed longRunning:
// sigma = ln(median / longRunning) / longQuantile.
// A median of longRunning or less would make sigma 0 or negative: no study has that.
func drawHours(rng *rand.Rand, median time.Duration) float64 {
	sigma := math.Log(float64(median)/float64(longRunning)) / longQuantile
	return median.Hours() * math.Exp(float64(sigma*rng.NormFloat64()))
}

// modelOf returns the name of the model that an application of paperScenario trains.
func modelOf(app *sim.Job) string {
	_, name, _ := strings.Cut(app.ID, "-")
	return name
}
