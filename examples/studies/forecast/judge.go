// This file judges forecasts by what happened, and leaves out one ingredient after the other.

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/forecast"
)

func seconds(s float64) time.Duration { return max(1, time.Duration(s*float64(time.Second))) }

// variant is a forecast with something left out, or another number.
type variant struct {
	name string
	// change changes what a forecast is told.
	change func(q *question)
}

// question is what a forecast is told.
type question struct {
	runs      []forecast.Run
	shrinkage forecast.Shrinkage
	known     []forecast.Known
	lengths   []float64
	options   forecast.Options
}

// variants are the rows of the table of ablations; the first one is the forecast as it is.
var variants = []variant{
	{"as it is", func(*question) {}},
	{"no users", func(q *question) {
		for i := range q.runs {
			q.runs[i].User = ""
		}
		for i := range q.known {
			q.known[i].User = ""
		}
	}},
	{"no queues", func(q *question) {
		for i := range q.runs {
			q.runs[i].Queue = ""
		}
		for i := range q.known {
			q.known[i].Queue = ""
		}
	}},
	{"lengths in seconds, not parts of limits", func(q *question) {
		for i := range q.runs {
			q.runs[i].Limit = 0
		}
	}},
	{"not given what has run", func(q *question) {
		for i := range q.known {
			q.known[i].Ran = 0
		}
	}},
	{"each job draws for itself", func(q *question) { q.options.Alone = true }},
	{"true lengths", func(q *question) {
		for i := range q.known {
			q.known[i].Left = []float64{q.lengths[i] - q.known[i].Ran}
		}
	}},
	{"nothing arrives", func(q *question) { q.options.Arrivals = nil }},
	{"strength 2, not 4", func(q *question) { q.shrinkage.Strength = 2 }},
	{"strength 8", func(q *question) { q.shrinkage.Strength = 8 }},
	{"the last 10 runs, not 20", func(q *question) { q.shrinkage.Recent = 10 }},
	{"the last 40 runs", func(q *question) { q.shrinkage.Recent = 40 }},
}

// limitsAlone is what schedulers tell: every job runs to its limit.
var limitsAlone = variant{"limits alone", func(q *question) { q.runs, q.options.Arrivals, q.options.Replays = nil, nil, 1 }}

// told is what a forecast said of one moment, and what happened.
type told struct {
	queue string
	start float64
	times forecast.Times
}

// judgement is how a variant fared.
type judgement struct {
	name    string
	replays int
	told    []told
}

// judge makes the forecasts of a variant at all moments.
func (o *options) judge(ctx context.Context, jobs []job, moments []*moment, v variant, stderr io.Writer) (*judgement, error) {
	j := &judgement{name: v.name, told: make([]told, len(moments))}
	err := command.InParallel(ctx, len(moments), stderr, v.name, func(ctx context.Context, n int) error {
		m := moments[n]
		q := &question{known: slices.Clone(m.known), lengths: m.lengths}
		q.options = forecast.Options{Replays: o.replays, Horizon: 14 * day, Seed: uint64(n), StartsOnly: true, Asked: []string{jobs[m.asked].id}}
		q.runs, q.options.Arrivals = history(jobs, m.at)
		if o.policy != "decisions" {
			q.options.Policy = func() sim.Policy { return o.policyOf(m.problem, m.waited) }
		}
		v.change(q)
		if len(q.runs) > 0 {
			h, err := forecast.NewHistory(q.runs, &q.shrinkage)
			if err != nil {
				return err
			}
			q.options.History = h
		}
		if n == 0 {
			j.replays = q.options.Replays
		}
		f, err := forecast.New(ctx, m.problem, q.known, &q.options)
		if err != nil {
			return err
		}
		j.told[n] = told{jobs[m.asked].queue, m.start, f.Jobs[0]}
		return nil
	})
	return j, err
}

// before returns the part of the jobs that started by a quantile of their forecasts.
func before(list []told, quantile func(*forecast.Times) *float64) float64 {
	n := 0.0
	for i := range list {
		// A second is what a trace is measured in.
		if at := quantile(&list[i].times); at == nil || list[i].start <= *at+1 {
			n++
		}
	}
	return n / float64(len(list))
}

func p10(t *forecast.Times) *float64 { return t.Start.P10 }
func p50(t *forecast.Times) *float64 { return t.Start.P50 }
func p90(t *forecast.Times) *float64 { return t.Start.P90 }

// median returns the middle of values.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// miss returns how far the median of each forecast is from what happened, in hours, and how wide it is from tenth to nine tenths; what is later
// than the horizon is infinitely far.
func (j *judgement) miss() (miss, width []float64) {
	for i := range j.told {
		t := &j.told[i]
		m, w := math.Inf(1), math.Inf(1)
		if at := p50(&t.times); at != nil {
			m = math.Abs(*at-t.start) / hour
		}
		if low, high := p10(&t.times), p90(&t.times); low != nil && high != nil {
			w = (*high - *low) / hour
		}
		miss, width = append(miss, m), append(width, w)
	}
	return miss, width
}

// worst returns the queue of at least twenty jobs of which the fewest started before P90.
func (j *judgement) worst() (queue string, part float64, n int) {
	of := make(map[string][]told)
	for _, t := range j.told {
		of[t.queue] = append(of[t.queue], t)
	}
	part = 2
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if at := before(of[name], p90); len(of[name]) >= 20 && at < part {
			queue, part, n = name, at, len(of[name])
		}
	}
	return queue, part, n
}

// report prints a line for each variant.
func report(w io.Writer, judged []*judgement) {
	fmt.Fprintln(w, "| forecast | before P10 | before P50 | before P90 | median error, h | median width, h | worst queue, before P90 |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- |")
	for _, j := range judged {
		miss, width := j.miss()
		worst := "-"
		if queue, part, n := j.worst(); n > 0 {
			worst = fmt.Sprintf("%s: %.0f %% of %d", queue, 100*part, n)
		}
		fmt.Fprintf(w, "| %s | %.0f %% | %.0f %% | %.0f %% | %.2f | %.1f | %s |\n",
			j.name, 100*before(j.told, p10), 100*before(j.told, p50), 100*before(j.told, p90), median(miss), median(width), worst)
	}
	fmt.Fprintln(w)
}

// reliability draws how many jobs started by each quantile that they were told.
func reliability(own, limits *judgement) *chart.Figure {
	f := chart.New("reliability", "Starts by the quantile that was told", "quantile", "part of the jobs")
	f.Line(6, "ideal", plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
	for series, j := range []*judgement{own, limits} {
		var points plotter.XYs
		for r := 1; r <= own.replays; r++ {
			points = append(points, plotter.XY{X: float64(r) / float64(own.replays+1), Y: before(j.told, func(t *forecast.Times) *float64 {
				// The limits alone have one replay, which stands for every quantile.
				if r := min(r, j.replays); r <= len(t.Starts) {
					return &t.Starts[r-1]
				}
				return nil
			})})
		}
		f.Line(series, j.name, points)
	}
	return f
}
