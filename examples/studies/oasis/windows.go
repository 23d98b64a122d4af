// This file draws windows out of real traces: stretches of jobs, sizes of cluster, values.

package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/primaldual"
	"github.com/apportion/apportion/primaldual/deadline"
)

// What a window is.
const (
	// traceSlot is the length of a slot, traceValue what a job is worth where the trace does not say. A job on g GPUs becomes one of
	// up to elastic x g workers of one GPU, of which perPS share a parameter server.
	traceSlot  = 10 * time.Minute
	traceValue = "10"
	elastic    = 4
	perPS      = 4
	windowJobs = 200
	// windowSlots is how many slots the arrivals may span: slots are longer than ten minutes where they span more.
	windowSlots = 150
	// Jobs with a deadline more than farthest slots after their arrival are left out.
	farthest  = 300
	perServer = 8
)

// window is a stretch of a trace on a cluster.
type window struct {
	family string
	seed   uint64
	gpus   int
	jobs   []job
}

// value is the form of the jobs' worth over time.
type value string

// Deadlines are those of the trace; linear falls to nothing at twice the deadline, the sigmoid has its middle at the deadline.
const (
	deadlines value = "deadlines"
	linear    value = "linear"
	sigmoid   value = "sigmoid"
)

// source is a trace by group, with deadlines.
type source struct {
	family string
	groups [][]trace.Job
	soft   bool // every second job is worth something after its deadline
}

// readSources reads the four traces of a folder. A job of ThetaGPU is to end by the wall time that its user asked for and half of it
// more, one of Philly by twice its duration.
func readSources(folder string) ([]source, error) {
	var out []source
	for _, s := range []struct {
		family, file string
		deadline     func(*trace.Job) float64
	}{
		{"Chronus", "chronus_slo.csv.gz", nil},
		{"ITP", "ms_itp_2021.csv.gz", nil},
		{"ThetaGPU", "thetagpu_2023.csv.gz", func(row *trace.Job) float64 { return 1.5 * row.Estimate.Value.Seconds() }},
		{"Philly", "philly_vcs.csv.gz", func(row *trace.Job) float64 { return 2 * row.Duration.Value.Seconds() }},
	} {
		rows, err := readRows(filepath.Join(folder, s.file))
		if err != nil {
			return nil, err
		}
		byGroup := make(map[string][]trace.Job)
		for _, row := range rows {
			if s.deadline != nil {
				row.Extra = map[string]string{"deadline_s": strconv.FormatFloat(s.deadline(&row), 'f', -1, 64)}
			}
			group := row.Group
			if s.family == "ThetaGPU" || s.family == "Chronus" {
				group = ""
			}
			if row.Duration.Value > 0 && row.GPUs.Value >= 1 {
				byGroup[group] = append(byGroup[group], row)
			}
		}
		from := source{family: s.family, soft: s.family == "Chronus"}
		for _, name := range slices.Sorted(maps.Keys(byGroup)) {
			if len(byGroup[name]) >= 2*windowJobs {
				from.groups = append(from.groups, byGroup[name])
			}
		}
		out = append(out, from)
	}
	return out, nil
}

// readRows reads a trace.
func readRows(path string) ([]trace.Job, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var rows []trace.Job
	for row, err := range trace.Jobs(filepath.Base(path), file) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// draw returns a window of a source: a random group, a random start, a cluster of a quarter to 1.4 times
// the GPUs that its jobs keep busy.
func (s *source) draw(seed uint64, v value) (*window, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	group := s.groups[random.IntN(len(s.groups))]
	stride := 1
	if s.soft {
		stride = 4 // 6,000 jobs in 27 hours: every one would make a window of an hour
	}
	from := random.IntN(len(group) - windowJobs*stride)
	var rows []trace.Job
	for i := range windowJobs {
		rows = append(rows, group[from+i*stride])
	}
	pressure := math.Exp2(2.5*random.Float64() - 2)
	w, err := cut(rows, func(busy float64) int { return int(math.Round(pressure * busy)) }, v, s.soft)
	if err != nil {
		return nil, err
	}
	w.family, w.seed = s.family, seed
	return w, nil
}

// cut makes a window of rows on as many GPUs as size makes of those that the jobs keep busy, a multiple of perServer.
func cut(rows []trace.Job, size func(busy float64) int, v value, soft bool) (*window, error) {
	span := (rows[len(rows)-1].Submit - rows[0].Submit).Truncate(time.Second)
	slot := max(traceSlot, (span / windowSlots).Round(time.Minute))
	w := &window{}
	busy := 0.0
	for i, row := range rows {
		row.Submit -= rows[0].Submit / slot * slot
		j, err := cutJob(&row, slot, v, soft && i%2 == 1)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", row.ID, err)
		}
		if n := len(j.Deadlines); n > 0 && j.Deadlines[n-1].By-j.arrival <= farthest {
			w.jobs = append(w.jobs, j)
			busy += row.Duration.Value.Seconds() * row.GPUs.Value
		}
	}
	w.gpus = perServer * max(1, (size(busy/max(slot, span).Seconds())+perServer/2)/perServer)
	return w, nil
}

// cutJob turns a row into a job: as many worker-slots as GPU time in the trace, up to elastic times as many workers as GPUs.
func cutJob(row *trace.Job, slot time.Duration, v value, soft bool) (job, error) {
	seconds, err := strconv.ParseFloat(row.Extra["deadline_s"], 64)
	if err != nil {
		return job{}, err
	}
	worth, err := strconv.ParseFloat(cmp.Or(row.Extra["value"], traceValue), 64)
	if err != nil {
		return job{}, err
	}
	j := job{arrival: int((row.Submit+slot-1)/slot) + 1}
	gpus := int64(row.GPUs.Value)
	j.ID, j.Width, j.Worker = row.ID, elastic*gpus, apportion.Resources{1}
	j.Work = int64(math.Ceil(row.Duration.Value.Seconds() * float64(gpus) / slot.Seconds()))
	end := int((row.Submit.Seconds() + seconds) / slot.Seconds()) // the last whole slot before the deadline
	within := end - j.arrival
	if within < 0 || worth <= 0 {
		return j, nil
	}
	j.Deadlines = deadline.Deadlines(worthOf(v, worth, within, soft), j.arrival, end+2*within+2)
	return j, nil
}

// worthOf returns a job's worth by the slots from its arrival.
func worthOf(v value, worth float64, within int, soft bool) func(int) float64 {
	slots := float64(within + 1)
	switch {
	case v == linear:
		return primaldual.Linear{Start: worth, PerSlot: worth / (2 * slots)}.Value
	case v == sigmoid:
		return primaldual.Sigmoid{Gamma1: worth, Gamma2: 4 / slots, Gamma3: slots}.Value
	}
	steps := primaldual.Steps{{Within: within, Value: worth}}
	if soft {
		steps = softened(steps)
	}
	return steps.Value
}

// softened gives a job with one deadline two more: six tenths of its value by one and a half times its slots, a quarter by
// two and a half times.
func softened(steps primaldual.Steps) primaldual.Steps {
	slots, value := float64(steps[0].Within+1), steps[0].Value
	for _, later := range []struct{ slots, part float64 }{{1.5, 0.6}, {2.5, 0.25}} {
		if within := int(later.slots*slots) - 1; within > steps[len(steps)-1].Within {
			steps = append(steps, primaldual.Step{Within: within, Value: later.part * value})
		}
	}
	return steps
}

// longest returns the most slots from an arrival to a last deadline, last the last of all.
func (w *window) longest() int {
	most := 1
	for i := range w.jobs {
		most = max(most, w.jobs[i].final()-w.jobs[i].arrival+1)
	}
	return most
}

// last returns the last slot in which a job may earn anything.
func (w *window) last() int {
	most := 1
	for i := range w.jobs {
		most = max(most, w.jobs[i].final())
	}
	return most
}

// final returns the last deadline.
func (j *job) final() int { return j.Deadlines[len(j.Deadlines)-1].By }

// trained states a job for the paper's algorithm.
func trained(j *job) primaldual.Job {
	steps := make(primaldual.Steps, len(j.Deadlines))
	for i, d := range j.Deadlines {
		steps[i] = primaldual.Step{Within: d.By - j.arrival, Value: d.Value}
	}
	return primaldual.Job{
		ID: j.ID, Arrival: j.arrival, Epochs: 1, Chunks: j.Width, Minibatches: 1, MinibatchSlots: float64(j.Work) / float64(j.Width),
		WorkerBandwidth: 1, PSBandwidth: perPS, Worker: apportion.Resources{1, 0}, PS: apportion.Resources{0, 1}, Utility: steps,
	}
}

// traceCluster returns a cluster of so many GPUs, eight a server, and as many servers for parameter servers, which never run
// short.
func traceCluster(gpus int) *primaldual.Cluster {
	c := &primaldual.Cluster{Kinds: apportion.Kinds{"gpu", "slot"}}
	for h := range gpus / perServer {
		c.WorkerServers = append(c.WorkerServers, apportion.Server{ID: fmt.Sprint("worker", h), Capacity: apportion.Resources{perServer, 0}})
		c.PSServers = append(c.PSServers, apportion.Server{ID: fmt.Sprint("ps", h), Capacity: apportion.Resources{0, perServer}})
	}
	return c
}
