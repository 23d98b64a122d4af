//go:build !js && !apportion_clib

// This file makes what "apportion try" plays: jobs that are drawn, or those of a trace.

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/placement/sim"
)

const (
	// tryGPUs and tryCPUs are what a server has, and tryRack how many are in a rack.
	tryGPUs, tryCPUs, tryRack = 8, 64, 8
	// tryPause is how long a job stands still when its containers change.
	tryPause = time.Minute
	// tryLoad is how many GPUs the jobs that are drawn ask for together in the mean, as a part of those that there are, when each has
	// half of its most: queues come and go.
	tryLoad = 0.9
	// tryDays is how many days are drawn: a working day of watching, at a hundred times the speed of time.
	tryDays = 30
	// tryJobs is how many jobs of a trace are played at most: the simulator holds all of them.
	tryJobs = 50_000
	// tryShortest and tryLongest bound the hours that a drawn job takes with half of its most.
	tryShortest, tryLongest = 0.1, 24
)

// scenario is what is played, its queues, and how many jobs of a trace are left out. The Model of a job is its queue.
func (o *tryOptions) scenario() (s *sim.Scenario, queues []drf.Queue, left int, err error) {
	s = &sim.Scenario{Kinds: apportion.Kinds{"gpu", "cpu"}, AdjustCost: tryPause}
	for i := range o.servers {
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprintf("n%0*d", len(fmt.Sprint(o.servers)), i+1), Capacity: apportion.Resources{tryGPUs, tryCPUs},
			Labels: map[string]string{"rack": fmt.Sprintf("rack %d", i/tryRack+1)}})
	}
	if o.trace == "" {
		s.Jobs, queues = o.draw()
		return s, queues, 0, nil
	}
	file, err := os.Open(o.trace)
	if err != nil {
		return nil, nil, 0, err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	// JSON begins with a brace, which no header of a CSV does.
	if first, _ := in.Peek(1); bytes.Equal(first, []byte("{")) {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, nil, 0, err
		}
		return readScenario(line)
	}
	if left, err = o.read(s, in); err != nil {
		return nil, nil, 0, err
	}
	return s, queuesOf(s.Jobs), left, nil
}

// readScenario reads what "sim" does as its first line; what follows there are a policy's orders.
func readScenario(line []byte) (*sim.Scenario, []drf.Queue, int, error) {
	var read simInput
	s := &sim.Scenario{}
	err := strictjson.Decode(bytes.NewReader(line), &read, &strictjson.Options{Kinds: func() apportion.Kinds { return read.Kinds }, Validate: func() error { return read.scenario(s) }})
	return s, nil, 0, err
}

// read adds the jobs of a trace: a container is one GPU with its part of a server, and a job may run with half of its GPUs, half as fast.
// It returns how many are left out: they have no GPU, no known length, more GPUs than there are, or were submitted before -from.
func (o *tryOptions) read(s *sim.Scenario, in io.Reader) (left int, err error) {
	seen := map[string]int{}
	for job, err := range trace.AnyJobs(o.trace, in) {
		if err != nil {
			return 0, err
		}
		gpus := int64(math.Round(job.GPUs.Value))
		if gpus < 1 || !job.Duration.Known || job.Duration.Value <= 0 || gpus > int64(o.servers*tryGPUs) || job.Submit < o.from {
			left++
			continue
		}
		if len(s.Jobs) == tryJobs {
			return left, fmt.Errorf("%s: more than %d jobs", o.trace, tryJobs)
		}
		id := job.ID // unique only as far as its source is
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s (%d)", id, seen[id])
		}
		s.Jobs = append(s.Jobs, asked{id, job.Group, (gpus + 1) / 2, gpus, job.Submit - o.from, time.Duration(gpus) * job.Duration.Value}.job())
	}
	return left, nil
}

// asked is a job with containers of one GPU.
type asked struct {
	id, queue   string
	least, most int64
	at, work    time.Duration
}

// job is what the simulator plays.
func (a asked) job() sim.Job {
	return sim.Job{Application: alloc.Application{ID: a.id, Weight: 1, Preemptible: true, Form: alloc.Form{Demand: apportion.Resources{1, tryCPUs / tryGPUs}, Min: a.least, Max: a.most}},
		Arrival: a.at, Work: a.work, Fixed: a.most, Model: a.queue}
}

// queuesOf are the queues that jobs name, alike; none where only one is named.
func queuesOf(jobs []sim.Job) (queues []drf.Queue) {
	names := map[string]bool{}
	for i := range jobs {
		names[jobs[i].Model] = true
	}
	delete(names, "")
	if len(names) < 2 {
		for i := range jobs {
			jobs[i].Model = ""
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		queues = append(queues, drf.Queue{ID: name, Weight: 1})
	}
	return queues
}

// draw draws jobs of three queues that arrive at random, many of them short and a few long.
func (o *tryOptions) draw() ([]sim.Job, []drf.Queue) {
	random := rand.New(rand.NewPCG(o.seed, 0))
	guarantee := apportion.Resources{int64(o.servers * tryGPUs / 4), 0}
	queues := []drf.Queue{{ID: "vision", Weight: 1, Guarantee: guarantee}, {ID: "speech", Weight: 1, Guarantee: guarantee}, {ID: "research", Weight: 2}}
	models := []string{"resnet", "bert", "lstm", "unet", "gpt"}
	const meanHours, meanGPUs = 2.0, 7.5 // of the draws below
	pause := meanHours * meanGPUs / (tryLoad * float64(o.servers*tryGPUs))
	var jobs []sim.Job
	for at := 0.0; at < tryDays*24; at += random.ExpFloat64() * pause {
		// Widths are 2, 4, 8, 16 and 32 GPUs, each half as likely as the one before.
		width := int64(2)
		for width < 32 && width < int64(o.servers*tryGPUs) && random.IntN(2) == 0 {
			width *= 2
		}
		hours := min(tryLongest, max(tryShortest, math.Exp(random.NormFloat64())*meanHours/math.Sqrt(math.E)))
		work := time.Duration(hours * float64(max(1, width/2)) * float64(time.Hour))
		id := fmt.Sprintf("%s-%d", models[random.IntN(len(models))], len(jobs)+1)
		jobs = append(jobs, asked{id, queues[random.IntN(len(queues))].ID, max(1, width/4), width, time.Duration(at * float64(time.Hour)), work}.job())
	}
	return jobs, queues
}
