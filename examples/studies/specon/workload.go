// This file holds the thesis' workloads for clusters, [Zheng] §6.2, Table 6.3.

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/placement/sim"
)

// moveCost is what saving and resuming a job costs: less than 5 s, Fig. 3.2.
// The job makes no progress for that long, wherever it goes.
const moveCost = 5 * time.Second

// A VAE does the work that makes five of them one after another, which start 50 s apart on the
// last of four workers, end at the 1260 s of §6.2.2: (1260 - 150) / 5. The others are our choice: of
// the two platforms of a model one is quicker, and the mean is such that 20 jobs on 4 workers take
// about the 1421 s of §6.2.3.
var (
	vae    = noisy.NewModel("VAE-P", "deepobs_mnist_vae_adam_best", 222*time.Second, 1)
	models = []noisy.Model{
		vae,
		noisy.NewModel("VAE-T", "deepobs_fmnist_vae_momentum_best", 180*time.Second, 1),
		noisy.NewModel("GRU-P", "pollux_deepspeech2_bs20", 150*time.Second, 1),
		noisy.NewModel("GRU-T", "pollux_deepspeech2_bs20", 260*time.Second, 1),
		noisy.NewModel("Bi-RNN-P", "algoperf_librispeech_deepspeech_baseline_01", 240*time.Second, 1),
		noisy.NewModel("Bi-RNN-T", "algoperf_librispeech_deepspeech_baseline_01", 120*time.Second, 1),
		noisy.NewModel("RNN-P", "mlperf_rnnt_a100", 100*time.Second, 1),
		noisy.NewModel("RNN-T", "mlperf_rnnt_a100", 200*time.Second, 1),
		noisy.NewModel("Dyn-RNN-P", "deepobs_tolstoi_char_rnn_momentum_best", 300*time.Second, 1),
		noisy.NewModel("Dyn-RNN-T", "deepobs_tolstoi_char_rnn_momentum_best", 140*time.Second, 1),
	}
)

// schedule is one of the thesis' experiments.
type schedule struct {
	name, title   string
	workers, jobs int
	// every is the time between submissions; 0: random ones in [0, span].
	every, span time.Duration
	// single: all jobs are VAE.
	single bool
	thesis thesis
}

// thesis is what the thesis reports: jobs that gain, the largest gain, mean completion time and
// makespan under DS and under SpeCon, in seconds; 0 where it does not say.
// Its numbers are those of one run each.
type thesis struct {
	sooner               int
	best                 float64
	mean, meanWith       float64
	makespan, makespanBy float64
}

// Reference: [Zheng] §6.2.2 to §6.2.4.
var schedules = []schedule{
	{"fixed", "20 VAE, one every 50 s, 4 workers", 4, 20, 50 * time.Second, 0, true, thesis{11, 0.376, 275.2, 234.7, 1260, 1190}},
	{"vae", "20 VAE in [0, 300 s], 4 workers", 4, 20, 0, 300 * time.Second, true, thesis{}},
	{"random-20", "20 random jobs in [0, 300 s], 4 workers", 4, 20, 0, 300 * time.Second, false, thesis{15, 0.316, 0, 0, 1421, 1070}},
	{"random-30", "30 random jobs in [0, 300 s], 4 workers", 4, 30, 0, 300 * time.Second, false, thesis{20, 0.296, 799.5, 752.6, 1640, 1370}},
	{"random-50", "50 random jobs in [0, 1200 s], 8 workers", 8, 50, 0, 1200 * time.Second, false, thesis{30, 0.415, 596.3, 553.0, 2070, 1840}},
}

// scenario draws the jobs of a schedule. Nobody requests resources, so DS finds all workers equal.
// The draw depends on the seed and on the number of jobs, so that a policy changes nothing of it.
func (s *schedule) scenario(seed uint64) (*sim.Scenario, error) {
	random := rand.New(rand.NewPCG(seed, uint64(s.jobs)))
	arrivals := make([]time.Duration, s.jobs)
	for i := range arrivals {
		arrivals[i] = time.Duration(i) * s.every
		if s.every == 0 {
			arrivals[i] = time.Duration(random.Int64N(int64(s.span/time.Millisecond))) * time.Millisecond
		}
	}
	slices.Sort(arrivals)
	scenario := &sim.Scenario{Kinds: apportion.Kinds{"cpu"}, Law: sim.Shared{}, AdjustCost: moveCost}
	for _, name := range workers(s.workers) {
		scenario.Servers = append(scenario.Servers, apportion.Server{ID: name, Capacity: apportion.Resources{sim.Whole}})
	}
	for i, arrival := range arrivals {
		m := vae
		if !s.single {
			m = models[random.IntN(len(models))]
		}
		j, err := m.Job(i+1, arrival)
		if err != nil {
			return nil, err
		}
		scenario.Jobs = append(scenario.Jobs, j)
	}
	return scenario, nil
}

// workers names the workers as the thesis does, from 1.
func workers(n int) []string {
	names := make([]string, n)
	for w := range names {
		names[w] = fmt.Sprintf("Worker-%d", w+1)
	}
	return names
}
