// This file cuts windows out of real traces: families of traces, starting points, sizes of cluster.

package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/trace"
	"github.com/apportion/apportion/primaldual"
)

// What a window is.
// Five starts of 300 jobs show how much a result depends on the stretch.
const (
	// windowJobs is the most jobs of a window, windowStarts the number of starting points in a trace.
	windowJobs   = 300
	windowStarts = 5
	// chronusEvery: of the Chronus trace, which has 6,000 jobs in 27 hours, every fourth job counts.
	// Every job counts would make a window of an hour.
	chronusEvery = 4
)

// pressures are the sizes of cluster, as parts of the GPUs that the jobs of the window keep busy on average between
// the first arrival and the last.
var pressures = []float64{0.5, 1, 2}

// window is a stretch of a trace on a cluster.
// The rows are shared by the windows of one stretch, on clusters of several sizes, and are never written.
type window struct {
	family string
	start  int
	gpus   int
	size   string // of the cluster, in words
	rows   []trace.Job
	// soft: every second job is still worth something after its deadline.
	soft bool
}

// name tells windows apart.
// People count starts from 1.
func (w *window) name() string {
	return fmt.Sprintf("%s, start %d, %d GPUs", w.family, w.start+1, w.gpus)
}

// readWindows returns all windows of the traces in a folder, family by family, on clusters of so many GPUs, or as many as
// pressures say where none are given.
// The order of the result is fixed: by family, start and size, so that -every takes the same windows each
// time.
func readWindows(folder string, gpus []int) ([]window, error) {
	chronus, err := readRows(filepath.Join(folder, "chronus_slo.csv.gz"))
	if err != nil {
		return nil, err
	}
	itp, err := readRows(filepath.Join(folder, "ms_itp_2021.csv.gz"))
	if err != nil {
		return nil, err
	}
	var windows []window
	for start := range windowStarts {
		from := start * len(chronus) / windowStarts
		var rows []trace.Job
		for i := 0; i < windowJobs && from+i*chronusEvery < len(chronus); i++ {
			rows = append(rows, chronus[from+i*chronusEvery])
		}
		windows = append(windows, sized("chronus", start, rows, gpus)...)
	}
	return append(windows, byGroup("ITP ", itp, gpus)...), nil
}

// readHeld returns windows of traces on which no setting was chosen. Neither has deadlines: a job of ThetaGPU is to end
// by the wall time that its user asked for, one of Philly by twice its duration, both counted from the submission.
// They judge settings that were chosen elsewhere, so that nobody may choose anything by them.
func readHeld(folder string, gpus []int) ([]window, error) {
	theta, err := readRows(filepath.Join(folder, "thetagpu_2023.csv.gz"))
	if err != nil {
		return nil, err
	}
	philly, err := readRows(filepath.Join(folder, "philly_vcs.csv.gz"))
	if err != nil {
		return nil, err
	}
	theta = timed(theta, "ThetaGPU", func(row *trace.Job) float64 { return row.Estimate.Value.Seconds() })
	philly = timed(philly, "", func(row *trace.Job) float64 { return 2 * row.Duration.Value.Seconds() })
	return append(byGroup("", theta, gpus), byGroup("Philly ", philly, gpus)...), nil
}

// timed returns the rows of jobs that run and have a deadline, in a group of their own if that is not empty.
// Jobs without a GPU, a duration or a deadline cannot be played and are left out without a word.
func timed(rows []trace.Job, group string, deadline func(*trace.Job) float64) []trace.Job {
	var out []trace.Job
	for _, row := range rows {
		if row.Duration.Value <= 0 || row.GPUs.Value < 1 || deadline(&row) <= 0 {
			continue
		}
		row.Group = cmp.Or(group, row.Group)
		// The deadline is written as text, in the column that the other traces have.
		row.Extra = map[string]string{"deadline_s": strconv.FormatFloat(deadline(&row), 'f', -1, 64)}
		out = append(out, row)
	}
	return out
}

// byGroup returns the windows of every group of a trace. Starting points lie evenly between the first job and the
// first one of the last window. A group of fewer than ten jobs has none.
// Windows of one group overlap where it has fewer than five times 300 jobs.
func byGroup(family string, all []trace.Job, gpus []int) []window {
	groups := make(map[string][]int)
	for i := range all {
		groups[all[i].Group] = append(groups[all[i].Group], i)
	}
	var windows []window
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		rows := groups[name]
		jobs := min(windowJobs, len(rows)/windowStarts)
		if jobs < 2 {
			continue // too few to make a window
		}
		for start := range windowStarts {
			from := start * (len(rows) - jobs) / (windowStarts - 1)
			windows = append(windows, sized(family+name, start, pick(all, rows[from:from+jobs]), gpus)...)
		}
	}
	return windows
}

// pick returns the rows at some positions.
// The rows are copied, as their groups and deadlines may be changed.
func pick(all []trace.Job, at []int) []trace.Job {
	var rows []trace.Job
	for _, i := range at {
		rows = append(rows, all[i])
	}
	return rows
}

// readRows reads a trace.
// The file may be packed by gzip. An error names the file's row.
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

// sized returns one window for each size of cluster; servers have 8 GPUs.
// busy is the GPU time of all jobs, in seconds, and span the time between the first and the last arrival:
// their ratio is how many GPUs they would keep busy.
func sized(family string, start int, rows []trace.Job, sizes []int) []window {
	busy := 0.0
	for i := range rows {
		busy += rows[i].Duration.Value.Seconds() * max(1, rows[i].GPUs.Value)
	}
	// A stretch shorter than a slot counts as one.
	span := max(traceSlot.Seconds(), (rows[len(rows)-1].Submit - rows[0].Submit).Seconds())
	var windows []window
	add := func(gpus int, size string) {
		servers := max(1, (gpus+4)/8) // the nearest number of servers
		windows = append(windows, window{family: family, start: start, gpus: 8 * servers, size: size, rows: rows, soft: family == "chronus"})
	}
	for _, gpus := range sizes {
		add(gpus, fmt.Sprint(gpus, " GPUs"))
	}
	for _, pressure := range pressures {
		if len(sizes) == 0 {
			add(int(math.Round(pressure*busy/span)), fmt.Sprint(pressure, " x busy GPUs"))
		}
	}
	return windows
}

// workload returns the jobs of a window and its cluster. The span ends with the last deadline.
// Times count from the first submission, rounded down to a slot, as clusters begin empty.
func (w *window) workload() (*workload, error) {
	out := &workload{cluster: traceCluster(w.gpus)}
	first := w.rows[0].Submit / traceSlot * traceSlot
	for i, row := range w.rows {
		row.Submit -= first
		job, err := traceJob(&row)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", row.ID, err)
		}
		if w.soft && i%2 == 1 {
			job.Utility = softened(job.Utility)
		}
		// A job that can no longer end in time has another utility, which is worth nothing at any time.
		if steps, ok := job.Utility.(primaldual.Steps); ok {
			out.cluster.Slots = max(out.cluster.Slots, job.Arrival+steps[len(steps)-1].Within)
		}
		out.cluster.Slots = max(out.cluster.Slots, job.Arrival)
		out.jobs = append(out.jobs, job)
		out.workers = append(out.workers, cmp.Or(int64(row.GPUs.Value), 1))
	}
	return out, nil
}

// softened gives a job with one deadline two more: six tenths of its value by one and a half times its slots, a quarter
// by two and a half times.
// A half of the jobs of Chronus is not lost after the deadline, so that late is better than never for some
// and not for others.
func softened(utility primaldual.Utility) primaldual.Utility {
	steps, ok := utility.(primaldual.Steps)
	if !ok {
		return utility
	}
	slots, value := float64(steps[0].Within+1), steps[0].Value
	for _, later := range []struct{ slots, part float64 }{{1.5, 0.6}, {2.5, 0.25}} {
		if within := int(later.slots*slots) - 1; within > steps[len(steps)-1].Within {
			steps = append(steps, primaldual.Step{Within: within, Value: later.part * value})
		}
	}
	return steps
}

// traceCluster returns a cluster of so many GPUs, eight a server, and as many servers for parameter servers.
// Parameter servers have machines of their own, as in the paper, with a slot for every GPU: they never run
// short.
func traceCluster(gpus int) *primaldual.Cluster {
	c := &primaldual.Cluster{Kinds: apportion.Kinds{"gpu", "slot"}}
	for h := range gpus / 8 {
		c.WorkerServers = append(c.WorkerServers, apportion.Server{ID: fmt.Sprint("worker", h), Capacity: apportion.Resources{8, 0}})
		c.PSServers = append(c.PSServers, apportion.Server{ID: fmt.Sprint("ps", h), Capacity: apportion.Resources{0, 8}})
	}
	return c
}
