// This file replays curves as jobs that report every few seconds and are checked every interval.

package main

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
)

const (
	// every is the time between two readings: a training loop prints more often than anybody checks.
	every = 5 * time.Second
	// enough is the share of all improvement that may be ahead of a job that has converged.
	enough = 0.05
)

// lengths and intervals are the runs of each curve.
// A curve of few points is then read many times on each of them, or skipped over.
var (
	lengths   = []time.Duration{400 * time.Second, 2000 * time.Second, 8000 * time.Second}
	intervals = []time.Duration{20 * time.Second, 60 * time.Second}
)

// tally is time, in runs: in how much of it more than 5 % was ahead, and the job was called converged
// nevertheless; and the other way round. Back counts how often the call was taken back.
// A run weighs 1 in all.
type tally struct{ ahead, harmed, done, wasted, back float64 }

// Runs of one curve are added with weights that sum to 1.
func (t *tally) add(o tally) {
	t.ahead += o.ahead
	t.harmed += o.harmed
	t.done += o.done
	t.wasted += o.wasted
	t.back += o.back
}

// harm and waste are the two errors, balanced one minus their mean.
// The small number keeps the ratio defined where no run has such a time.
func (t *tally) harm() float64 { return t.harmed / max(t.ahead, 1e-9) }

// Waste is a part of the time with no more than 5 % ahead.
func (t *tally) waste() float64 { return t.wasted / max(t.done, 1e-9) }

// It is 0.5 for whoever says the same of all.
func (t *tally) balanced() float64 { return 1 - (t.harm()+t.waste())/2 }

// replay is one run of a curve.
// random is seeded by curve and draw, so that every contestant sees the same readings.
type replay struct {
	curve            *curve
	length, interval time.Duration
	noise            noisy.Noise
	random           *rand.Rand
	// weight is what the whole run counts for.
	weight float64
}

// position returns how far the job is: with a restart it loses half of its work at half its run.
// It is between 0 and 1, and may go back.
func (r *replay) position(at time.Duration) float64 {
	share := at.Seconds() / r.length.Seconds()
	if r.noise.Restart && share >= 0.5 {
		share -= 0.25
	}
	return share
}

// judge runs the ladder of lists over the run.
// Usage is 1 at all readings: the job has its worker to itself.
func (r *replay) judge(classifier growth.Classifier) (t tally) {
	var track growth.Track
	track.Toward(r.curve.better)
	test := &growth.Test{Classifier: classifier}
	category := growth.Progressing
	// Each check stands for the interval before it.
	weight := r.weight * r.interval.Seconds() / r.length.Seconds()
	for at := time.Duration(0); at <= r.length; at += every {
		point := r.curve.point(r.position(at))
		if value, there := r.noise.Of(r.curve.values[point], r.random); there {
			track.Offer(at, value, []float64{1})
		}
		if at%r.interval > 0 {
			continue
		}
		was := category
		_, verdict := track.Check(at, test)
		if category = category.After(verdict); was == growth.Converged && category != growth.Converged {
			t.back++
		}
		// At the first check nobody can know anything.
		if at > 0 {
			t.add(truth(r.curve.left[point] > enough, category == growth.Converged, weight))
		}
	}
	return t
}

// truth tallies one check.
// Exactly one of ahead and done is counted.
func truth(ahead, converged bool, weight float64) (t tally) {
	switch {
	case ahead && converged:
		t.harmed = weight
	case !ahead && !converged:
		t.wasted = weight
	}
	if ahead {
		t.ahead = weight
	} else {
		t.done = weight
	}
	return t
}

// row is one setting of the table.
type row struct {
	noise            noisy.Noise
	length, interval time.Duration
}

// rows returns all settings.
// Their order is that of the table, the interval fastest.
func rows() (all []row) {
	for _, noise := range noisy.Noises() {
		for _, length := range lengths {
			for _, interval := range intervals {
				all = append(all, row{noise, length, interval})
			}
		}
	}
	return all
}

// verdicts hold a tally for each contestant, row and curve.
type verdicts [][][]tally

// judgeAll replays every curve in every row before every contestant, which see the same readings.
// A task is a row, which takes a second or two.
func judgeAll(ctx context.Context, curves []*curve, seeds int, stderr io.Writer) (verdicts, error) {
	all, settings := contestants(), rows()
	result := make(verdicts, len(all))
	for k := range all {
		result[k] = make([][]tally, len(settings))
		for s := range settings {
			result[k][s] = make([]tally, len(curves))
		}
	}
	err := command.InParallel(ctx, len(settings), stderr, "replaying", func(_ context.Context, s int) error {
		for c := range curves {
			for k := range all {
				n := draws(settings[s].noise, seeds)
				for seed := range n {
					r := replay{curves[c], settings[s].length, settings[s].interval, settings[s].noise, rand.New(rand.NewPCG(uint64(seed), uint64(c))), 1 / float64(n)}
					result[k][s][c].add(r.judge(all[k].make()))
				}
			}
		}
		return nil
	})
	return result, err
}

// draws returns how often a run is drawn: once where nothing is random.
// A clean run has nothing to draw.
func draws(noise noisy.Noise, seeds int) int {
	if noise.Share == 0 {
		return 1
	}
	return seeds
}

// families returns the families of models, sorted.
func families(curves []*curve) []string {
	var names []string
	for _, c := range curves {
		names = append(names, c.family)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
