// This file measures how much sooner jobs with recorded learning curves reach a given quality where their weight follows
// their growth, and what that costs those that have converged.

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/elastic/schedulers"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/placement/sim"
)

// recordedRuns are the curves that jobs draw from: they all fall.
var recordedRuns = []string{
	"algoperf_librispeech_deepspeech_baseline_01", "deepobs_cifar10_3c3d_gradientdescent_best", "deepobs_fmnist_vae_momentum_best",
	"deepobs_mnist_vae_adam_best", "deepobs_svhn_wrn164_momentum_best", "deepobs_tolstoi_char_rnn_momentum_best", "mlperf_rnnt_a100",
	"pollux_deepspeech2_bs20",
}

// qualities are the parts of the improvement that are waited for; the last is that of watcher.learned.
var qualities = []float64{0.5, 0.9, 0.95}

// recording is a recorded run.
// parts[q] belongs to qualities[q], between 0 and 1.
type recording struct {
	curve *sim.Curve
	// parts are the parts of the work after which each of the qualities is reached.
	parts []float64
}

// readRecordings returns recordedRuns.
func readRecordings() ([]recording, error) {
	var all []recording
	for _, name := range recordedRuns {
		steps, values, err := trace.Recorded(name)
		if err != nil {
			return nil, err
		}
		curve, err := sim.NewCurve(steps, values)
		if err != nil {
			return nil, err
		}
		r := recording{curve: curve}
		for _, q := range qualities {
			r.parts = append(r.parts, noisy.PartOf(steps, values, q))
		}
		all = append(all, r)
	}
	return all, nil
}

// crowdJobs is how many jobs of a workload are played for their quality.
const crowdJobs = 40

// situations are what a user may be in: how much noise readings have, and on which part of its servers a workload runs.
var situations = []struct {
	noise noisy.Noise
	part  int
}{{noisy.Noise{Name: "clean"}, 4}, {noisy.Noise{Name: "10 %", Share: 0.1}, 4}, {noisy.Noise{Name: "10 %", Share: 0.1}, 2}, {noisy.Noise{Name: "10 %", Share: 0.1}, 1}}

// crowded returns the beginnings of workloads, on a part of their servers.
func crowded(loads []*workload, part int) []*workload {
	var all []*workload
	for _, load := range loads {
		all = append(all, &workload{load.name, max(1, load.servers/part), load.jobs[:min(crowdJobs, len(load.jobs))]})
	}
	return all
}

// outcome is what came of a run: the mean times from submission to each quality and to the end, then from 95 % to the
// end, all in seconds, and the restarts.
type outcome [6]float64

// The places of an outcome behind the qualities.
const (
	endColumn     = 3
	restColumn    = 4
	restartColumn = 5
)

// trial is one run: a workload, the draw of its curves, the noise of readings and what weights are made of.
// A seed draws the same curves for every noise and every knowledge, so that rows can be compared run by
// run.
type trial struct {
	load  *workload
	seed  uint64
	noise noisy.Noise
	knows knowledge
}

// qualityOf plays a workload whose jobs have drawn curves.
func (w *world) qualityOf(ctx context.Context, all []recording, t trial) (outcome, error) {
	var sum outcome
	s, err := w.scenario(t.load, nil)
	if err != nil {
		return sum, err
	}
	random := rand.New(rand.NewPCG(t.seed, 0))
	policy := &watcher{Worth: inFull(), knows: t.knows, noise: t.noise, seed: t.seed << 32, learned: map[string]float64{}}
	drawn := make([]recording, len(s.Jobs))
	for i := range s.Jobs {
		drawn[i] = all[random.IntN(len(all))]
		s.Jobs[i].Curve = drawn[i].curve
		policy.learned[s.Jobs[i].ID] = drawn[i].parts[len(qualities)-1]
	}
	result, err := sim.Run(ctx, s, policy)
	if err != nil {
		return sum, err
	}
	for i := range result.Jobs {
		job := &result.Jobs[i]
		if !job.Completed {
			return sum, fmt.Errorf("%s: job %s never completes", t.load.name, job.ID)
		}
		for q, part := range drawn[i].parts {
			sum[q] += noisy.Learned(job, s.Jobs[i].Work, part).Seconds()
		}
		sum[endColumn] += job.Response().Seconds()
	}
	for k := range sum {
		sum[k] /= float64(len(result.Jobs))
	}
	sum[restColumn] = sum[endColumn] - sum[len(qualities)-1]
	measures, err := schedulers.Measure(s, result)
	if err != nil {
		return sum, err
	}
	sum[restartColumn] = float64(measures.Restarts)
	return sum, nil
}

// reportQuality plays every workload so many times, with other curves each time, and prints by how many percent each
// kind of knowledge changes the times that nothing leads to.
// cells are by situation, run and knowledge, the last one fastest.
func (w *world) reportQuality(ctx context.Context, stdout, stderr io.Writer, loads []*workload, draws int) error {
	all, err := readRecordings()
	if err != nil {
		return err
	}
	runs, each := len(loads)*draws, len(knowledges)
	cells := make([]outcome, len(situations)*runs*each)
	err = command.InParallel(ctx, len(cells), stderr, "playing", func(ctx context.Context, at int) (err error) {
		s, run, knows := situations[at/each/runs], at/each%runs, knowledge(at%each)
		cells[at], err = w.qualityOf(ctx, all, trial{crowded(loads, s.part)[run/draws], uint64(run%draws + 1), s.noise, knows})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "The first %d jobs of workloads with recorded learning curves: %d workloads with %d draws of\ncurves each, readings every %v, checks every %v.\n", crowdJobs, len(loads), draws, readEvery, checkEvery)
	fmt.Fprintf(stdout, "By how many percent the mean times from submission to a part of the improvement, to the end, and from 95 %% to the end\nchange against the worth without growth, with standard errors; restarts are counted.\n\n")
	out := command.RightTable(stdout)
	fmt.Fprintln(out, "noise\tservers\tweight\tto 50 %\tto 90 %\tto 95 %\tto the end\tafter 95 %\trestarts\t")
	for n, s := range situations {
		for k := range each {
			fmt.Fprintf(out, "%s\t1/%d\t%s\t", s.noise.Name, s.part, knowledges[k])
			for column := range restartColumn {
				changes := make([]float64, runs)
				for run := range runs {
					// The first knowledge of a run is the one that nothing leads to: changes are within a
					// run, so that what the draw does to both cancels out.
					base := cells[(n*runs+run)*each]
					changes[run] = 100 * (cells[(n*runs+run)*each+k][column]/base[column] - 1)
				}
				fmt.Fprintf(out, "%s\t", withError(changes))
			}
			restarts := 0.0
			for run := range runs {
				restarts += cells[(n*runs+run)*each+k][restartColumn] / float64(runs)
			}
			fmt.Fprintf(out, "%.0f\t\n", restarts)
		}
	}
	return out.Flush()
}

// withError returns a mean and its standard error.
func withError(values []float64) string {
	n, mean, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += float64((v - mean) * (v - mean))
	}
	return fmt.Sprintf("%+.1f (%.1f)", mean, math.Sqrt(squares/math.Max(1, n-1)/n))
}
