// This file measures how long jobs of 1 to 32 of 64 GPUs wait under the decisions of package alloc, beside what else is done with such streams,
// [Program §8].

package forecast_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/forecast"
	"github.com/apportion/apportion/placement/sim/policies"
)

// The stream: so many jobs on 8 servers of 8 GPUs, of widths that are as frequent as the inverse of their roots, and of exponential lengths of this
// mean.
const (
	widthJobs  = 300
	meanLength = time.Hour
)

var (
	widthStreams = flag.Uint64("streams", 20, "streams that BenchmarkWidths plays")
	widthFirst   = flag.Uint64("firststream", 0, "the first of them")
)

var widths = []int64{1, 2, 4, 8, 16, 32}

// widthStream draws jobs that ask for a part of the cluster, its load. They say when they end at the latest where most is not 0: a number between
// 1 and most times what they take.
func widthStream(seed uint64, load, most float64) *sim.Scenario {
	s := &sim.Scenario{Kinds: apportion.Kinds{"gpu"}, Unmeasured: true}
	for j := range 8 {
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{8}})
	}
	r, over := rand.New(rand.NewPCG(seed, 11)), rand.New(rand.NewPCG(seed, 12))
	mean, often, arrival := 0.0, 0.0, 0.0
	for _, w := range widths {
		mean, often = mean+math.Sqrt(float64(w)), often+1/math.Sqrt(float64(w))
	}
	mean /= often
	for i := range widthJobs {
		arrival += r.ExpFloat64() * mean * meanLength.Seconds() / (64 * load)
		width, length := widths[0], r.ExpFloat64()*meanLength.Seconds()+1
		for at, rest := 0, r.Float64()*often; at < len(widths) && rest > 0; at++ {
			width = widths[at]
			rest -= 1 / math.Sqrt(float64(width))
		}
		job := sim.Job{Arrival: time.Duration(arrival * 1e9), Work: time.Duration(length*1e9) * time.Duration(width), Fixed: width}
		job.Application = alloc.Application{ID: fmt.Sprint("j", i), Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: width, Max: width}}
		if most > 0 {
			ends := length * (1 + over.Float64()*(most-1))
			job.Ends = &ends
		}
		s.Jobs = append(s.Jobs, job)
	}
	return s
}

// waits is what came of streams: in minutes the sum of all waits and the longest one, of the widest jobs their sum, the longest one, and the sum of
// the longest of each stream; in GPU minutes what was used, what there was, and what was free while something waited that would have fit.
type waits struct {
	sum, longest, wide, widest, each float64
	wides                            int
	used, all, kept                  float64
}

// add adds one stream. Containers are of one GPU and may be anywhere, so that what fits is a matter of numbers.
func (w *waits) add(s *sim.Scenario, r *sim.Result) {
	var times []time.Duration
	mine := 0.0
	for i, job := range r.Jobs {
		wait := job.Wait().Minutes()
		w.sum, w.longest = w.sum+wait, max(w.longest, wait)
		if s.Jobs[i].Fixed == widths[len(widths)-1] {
			w.wide, w.wides, mine = w.wide+wait, w.wides+1, max(mine, wait)
		}
		times = append(times, job.Arrival, job.Start, job.Completion)
	}
	w.each, w.widest = w.each+mine, max(w.widest, mine)
	slices.Sort(times)
	for at := range times[1:] {
		from, minutes := times[at], (times[at+1] - times[at]).Minutes()
		free, least := int64(64), int64(65)
		for i, job := range r.Jobs {
			switch n := s.Jobs[i].Fixed; {
			case job.Start <= from && from < job.Completion:
				free -= n
			case job.Arrival <= from && from < job.Start:
				least = min(least, n)
			}
		}
		w.used, w.all = w.used+float64(64-free)*minutes, w.all+64*minutes
		if least <= free {
			w.kept += float64(free) * minutes
		}
	}
}

// BenchmarkWidths plays streams of jobs of 1 to 32 of 64 GPUs: the mean of all waits and the longest, both of the jobs of half the cluster, in
// minutes, in a hundred of the GPUs what is used and what is kept free of something that fits.
func BenchmarkWidths(b *testing.B) {
	none, one, four := 0.0, 1.0, 4.0
	decisions := func(o alloc.Options) func(*sim.Scenario) sim.Policy {
		return func(s *sim.Scenario) sim.Policy {
			return &forecast.Decisions{Problem: &alloc.Problem{Kinds: s.Kinds, Servers: s.Servers, Theta1: .1, Theta2: .1, Options: o}}
		}
	}
	for _, load := range []float64{.8, 1} {
		for _, c := range []struct {
			name   string
			most   float64 // of what jobs say of their ends, in times of the truth; 0: nothing
			policy func(*sim.Scenario) sim.Policy
		}{
			{"FIFO", 0, func(*sim.Scenario) sim.Policy { return &policies.FIFO{} }},
			{"EASY/ends=exact", 1, func(*sim.Scenario) sim.Policy { return &policies.EASY{} }},
			{"EASY/ends=1-5", 5, func(*sim.Scenario) sim.Policy { return &policies.EASY{} }},
			{"submission", 0, decisions(alloc.Options{Order: alloc.BySubmission})},
			{"fair/ends=none", 0, decisions(alloc.Options{})},
			{"fair/patience=0/ends=none", 0, decisions(alloc.Options{Patience: &none})},
			{"fair/patience=1/ends=none", 0, decisions(alloc.Options{Patience: &one})},
			{"fair/patience=4/ends=none", 0, decisions(alloc.Options{Patience: &four})},
			{"fair/ends=exact", 1, decisions(alloc.Options{})},
			{"fair/ends=1-5", 5, decisions(alloc.Options{})},
		} {
			b.Run(fmt.Sprintf("load=%.1f/%s", load, c.name), func(b *testing.B) {
				var w waits
				for b.Loop() {
					w = waits{}
					for seed := *widthFirst; seed < *widthFirst+*widthStreams; seed++ {
						s := widthStream(seed, load, c.most)
						r := must.Have(sim.Run(b.Context(), s, c.policy(s)))(b)
						w.add(s, r)
					}
				}
				b.ReportMetric(w.sum/float64(*widthStreams)/widthJobs, "mean")
				b.ReportMetric(w.longest, "longest")
				b.ReportMetric(w.wide/float64(cmp.Or(w.wides, 1)), "mean-32")
				b.ReportMetric(w.widest, "longest-32")
				b.ReportMetric(w.each/float64(*widthStreams), "longest-32-of-each")
				b.ReportMetric(100*w.used/w.all, "used-%")
				b.ReportMetric(100*w.kept/w.all, "kept-%")
			})
		}
	}
}
