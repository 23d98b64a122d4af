// This file makes scenarios of workloads: jobs with measured speeds and what they have to do, [Qiao21] §5.1.

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/examples/studies/elastic/schedulers"
	"github.com/apportion/apportion/placement/sim"
)

// The files are CSV, as package trace reads it; data/NOTICE.md says where they come from.
var (
	//go:embed data/workloads.csv
	workloadsData []byte
	//go:embed data/traces.csv
	tracesData []byte
	//go:embed data/others.csv
	othersData []byte
)

// perServer is that of the machines on which steps were measured.
const (
	// perServer is how many GPUs a server has.
	perServer = 4
	// restart is how long a job stands still when its containers change, [Qiao21] §5.3.
	restart = 30 * time.Second
)

// workload is a list of jobs and the servers for them.
type workload struct {
	name    string
	servers int
	jobs    []trace.Job
}

// shape is a workload by name, and the servers that hold about what its jobs ask for.
// The published workloads were made for 16 servers; for the others the number is such that about as much is
// asked for as there is.
type shape struct {
	name    string
	servers int
}

// shapes are the workloads of the tables.
var shapes = []shape{
	{"workload-1", 16}, {"workload-2", 16}, {"workload-3", 16}, {"workload-4", 16},
	{"philly", 8}, {"itp", 16}, {"theta", 6},
}

// otherShapes are stretches of the same traces, and of other clusters of ITP, that had no say in any setting.
var otherShapes = []shape{
	{"philly-1", 32}, {"philly-3", 32}, {"philly-5", 32}, {"philly-7", 16}, {"philly-9", 19}, {"philly-11", 32},
	{"itp-5", 8}, {"itp-7", 26}, {"theta-c", 8}, {"theta-d", 8},
}

// readWorkloads returns the workloads of the tables, in the order of shapes.
func readWorkloads() ([]*workload, error) {
	byName := map[string][]trace.Job{}
	if err := readJobs(byName, "workloads.csv", workloadsData); err != nil {
		return nil, err
	}
	if err := readJobs(byName, "traces.csv", tracesData); err != nil {
		return nil, err
	}
	return shaped(byName, shapes)
}

// readOthers returns the workloads that had no say, in the order of otherShapes.
func readOthers() ([]*workload, error) {
	byName := map[string][]trace.Job{}
	if err := readJobs(byName, "others.csv", othersData); err != nil {
		return nil, err
	}
	return shaped(byName, otherShapes)
}

// readJobs adds the jobs of a file by workload.
func readJobs(byName map[string][]trace.Job, name string, data []byte) error {
	for job, err := range trace.Jobs(name, bytes.NewReader(data)) {
		if err != nil {
			return err
		}
		byName[job.Group] = append(byName[job.Group], job)
	}
	return nil
}

// shaped gives workloads their servers.
func shaped(byName map[string][]trace.Job, shapes []shape) ([]*workload, error) {
	var all []*workload
	for _, s := range shapes {
		if len(byName[s.name]) == 0 {
			return nil, fmt.Errorf("no jobs of %s", s.name)
		}
		all = append(all, &workload{s.name, s.servers, byName[s.name]})
	}
	return all, nil
}

// judged returns the workloads that had no say in the settings of the worth, and are large enough for three types of servers.
func judged(loads []*workload) []*workload {
	return []*workload{loads[2], loads[3], loads[5]}
}

// ncfSamples is how many samples a second a GPU trains a recommender: no step times of it were published, and this is what a P100 was
// measured to do of [Narayanan20]'s, 8192 samples a step.
const ncfSamples = 5.548441 * 8192

// world is what was measured of models and accelerators.
type world struct {
	models    map[string]*model
	trainings map[string][]training
	// faster is by accelerator and model how much faster it computes than what was measured.
	faster map[string]map[string]float64
}

// readWorld reads all measurements; an error names the file.
func readWorld() (*world, error) {
	models, err := readModels()
	if err != nil {
		return nil, err
	}
	trainings, err := readTrainings()
	if err != nil {
		return nil, err
	}
	faster, err := readRatios()
	return &world{models, trainings, faster}, err
}

// accelerators returns so many servers with the types in turn; no types: one without a name.
func accelerators(servers int, types []string) []apportion.Server {
	all := make([]apportion.Server, servers)
	for h := range all {
		all[h] = apportion.Server{ID: fmt.Sprintf("n%02d", h), Capacity: apportion.Resources{perServer}}
		if len(types) > 0 {
			all[h].Labels = map[string]string{schedulers.Accelerator: types[h%len(types)]}
		}
	}
	return all
}

// scenario makes a workload a scenario on servers of some types.
func (w *world) scenario(load *workload, types []string) (*sim.Scenario, error) {
	s := &sim.Scenario{Kinds: apportion.Kinds{"gpu"}, Servers: accelerators(load.servers, types), AdjustCost: restart}
	for i := range load.jobs {
		job, err := w.job(&load.jobs[i], s.Servers)
		if err != nil {
			return nil, err
		}
		// A job runs on one type, and no type has all servers.
		job.Fixed = min(job.Fixed, int64(load.servers/max(1, len(types))*perServer))
		s.Jobs = append(s.Jobs, *job)
	}
	return s, nil
}

// job makes a row of a workload a job.
// The work is in seconds on one GPU as measured, which SpeedOn is relative to.
func (w *world) job(row *trace.Job, servers []apportion.Server) (*sim.Job, error) {
	gpus := int64(math.Round(row.GPUs.Value))
	j := &sim.Job{Arrival: row.Submit, Fixed: gpus}
	j.ID, j.Demand, j.Weight, j.Min = row.ID, apportion.Resources{1}, 1, 1
	name, batch := row.Kind, 0.0
	if name == "" {
		name, batch = likeModel(row.Duration.Value, gpus)
	} else {
		size, err := strconv.ParseFloat(row.Extra["batch_size"], 64)
		if err != nil {
			return nil, fmt.Errorf("job %s: batch size: %w", row.ID, err)
		}
		batch = size
	}
	j.Model = name
	one := []apportion.Placement{{Server: 0, Count: 1}}
	iteration, err := w.iterationOf(name, batch)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", row.ID, err)
	}
	alone := iteration(one, 1)
	// A model without step times runs on one GPU.
	j.Max = 1
	if m := w.models[name]; m != nil {
		j.Max = max(gpus, m.mostGPUs(batch))
	}
	j.Max = min(j.Max, int64(len(servers)*perServer))
	j.Fixed = min(j.Fixed, j.Max)
	j.SpeedOn = func(on []apportion.Placement) float64 { return alone / iteration(on, w.slowest(servers, on, name)) }
	seconds := alone * iterationsAt(w.trainings[name], batch)
	if row.Duration.Known {
		plain := func(on []apportion.Placement) float64 { return alone / iteration(on, 1) }
		seconds = row.Duration.Value.Seconds() * plain(packed(j.Fixed))
	}
	j.Work = time.Duration(seconds * float64(time.Second))
	return j, nil
}

// iterationOf returns the seconds of an iteration of a model on a placement of GPUs that compute so much faster.
func (w *world) iterationOf(name string, batch float64) (func(on []apportion.Placement, fast float64) float64, error) {
	if name == "ncf" {
		return func(_ []apportion.Placement, fast float64) float64 { return batch / ncfSamples / fast }, nil
	}
	m := w.models[name]
	if m == nil {
		return nil, fmt.Errorf("no model is called %q", name)
	}
	return func(on []apportion.Placement, fast float64) float64 { return m.iteration(on, batch, fast) }, nil
}

// packed returns places for GPUs on servers that are full but the last.
func packed(n int64) []apportion.Placement {
	var on []apportion.Placement
	for h := 0; n > 0; h++ {
		on = append(on, apportion.Placement{Server: h, Count: min(n, perServer)})
		n -= min(n, perServer)
	}
	return on
}

// slowest returns how much faster than measured the slowest of the servers of a job is: all wait for it.
func (w *world) slowest(servers []apportion.Server, on []apportion.Placement, name string) float64 {
	slowest := math.Inf(1)
	for _, p := range on {
		fast := 1.0
		if accelerator, typed := servers[p.Server].Labels[schedulers.Accelerator]; typed {
			fast = w.faster[accelerator][name]
		}
		slowest = min(slowest, fast)
	}
	return slowest
}

// likeModel returns a model and its batch size for a job of which only time and GPUs are known, by the GPU time of the
// models' trainings, [Qiao21] Table 1: below 1 GPU hour small, below 10 medium, below 100 large. A job on one GPU has a
// batch that fits one.
func likeModel(d time.Duration, gpus int64) (name string, batch float64) {
	switch hours := d.Hours() * float64(gpus); {
	case hours < 1:
		return "cifar10", []float64{2048, 4096}[slices.Min([]int64{gpus / 9, 1})]
	case hours < 10:
		return "deepspeech2", []float64{320, 640}[slices.Min([]int64{gpus / 9, 1})]
	case hours < 30 && gpus <= 16:
		return "yolov3", 64
	case gpus <= 16 && hours < 100:
		return "bert", 384
	default:
		return "imagenet", []float64{3200, 6400}[slices.Min([]int64{gpus / 25, 1})]
	}
}
