// This file implements the referee: what must hold of every result, whoever the policy.

package simtest

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
)

// Check goes over the spans of all jobs with integers of any size, and over the samples with the spans; it
// uses nothing that the simulator computed but those. It returns what is wrong with a result of a scenario, or nil:
// every job did exactly its work, at the speed of what it held, between its arrival and its completion; nothing was held
// by two; and the samples ascend and say what was in use.
func Check(s *sim.Scenario, r *sim.Result) error {
	if len(r.Jobs) != len(s.Jobs) {
		return fmt.Errorf("%d outcomes for %d jobs", len(r.Jobs), len(s.Jobs))
	}
	var faults []error
	for i := range s.Jobs {
		// O(spans) each, with big integers: work of a long run overflows 64 bits, 10^6 times nanoseconds.
		if err := checkJob(s, &s.Jobs[i], &r.Jobs[i]); err != nil {
			faults = append(faults, fmt.Errorf("job %q: %w", s.Jobs[i].ID, err))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	for i := range r.Jobs {
		for k := range r.Jobs[i].Spans {
			// Between the beginnings of spans use only falls, so these instants see the most that is held.
			if err := checkRoom(s, r, r.Jobs[i].Spans[k].From); err != nil {
				return err
			}
		}
	}
	return checkSamples(s, r)
}

// checkJob goes over the life of one job: spans ascend and do not overlap, what is noted of it follows from
// them, and it has done its work.
func checkJob(s *sim.Scenario, job *sim.Job, o *sim.Outcome) error {
	// begun is the first instant with containers, done what the rates add up to, last the last of them.
	// A job that never holds anything keeps its arrival as its beginning.
	begun, until, paused := o.Arrival, o.Arrival, time.Duration(0)
	done, last := new(big.Int), int64(0)
	for i := range o.Spans {
		span := &o.Spans[i]
		if i == 0 {
			begun = span.From
		}
		if span.From < until || span.Until <= span.From || s.Horizon > 0 && span.Until > s.Horizon {
			return fmt.Errorf("span %d from %v until %v, the one before ended at %v", i, span.From, span.Until, until)
		}
		if err := checkSpan(s, job, span); err != nil {
			return err
		}
		until = span.Until
		// A rate of 0 is a pause: the containers are held, and nothing is done.
		if last = span.Rate; last == 0 {
			paused += span.Until - span.From
		}
		done.Add(done, product(span.Rate, span.Until-span.From))
	}
	switch {
	case o.ID != job.ID || o.Arrival != job.Arrival:
		return fmt.Errorf("the outcome is that of %q from %v", o.ID, o.Arrival)
	// What it says of its beginning is what its first span says; a refused job has none.
	case o.Started != (len(o.Spans) > 0) || o.Started && o.Start != begun || o.Refused && o.Started:
		return fmt.Errorf("started %t at %v, refused %t, %d spans from %v", o.Started, o.Start, o.Refused, len(o.Spans), begun)
	case o.Completed && (o.Completion != until || !o.Started):
		return fmt.Errorf("completed at %v, ended at %v", o.Completion, until)
	// Its pauses are those of its adjustments; the last may have been cut off by the end of the run.
	case o.Paused != paused || paused > time.Duration(o.Adjusted)*s.AdjustCost:
		return fmt.Errorf("paused %v for %d adjustments, noted %v", paused, o.Adjusted, o.Paused)
	}
	return checkWork(s, job, o, done, last)
}

// checkSpan checks what a job holds, and the speed that it has from it: 0 in a pause, which is counted
// elsewhere, and otherwise that of its containers, or at most its demand of a shared worker.
func checkSpan(s *sim.Scenario, job *sim.Job, span *sim.Span) error {
	n, ps := count(span.Places), count(span.ParameterServers)
	var want int64
	if job.Training != nil {
		want = job.Training.PSFor(n)
	}
	if n < max(1, job.Min) || n > job.Max || ps != want {
		return fmt.Errorf("holds %d containers and %d parameter servers at %v", n, ps, span.From)
	}
	// How much of a shared worker a job gets depends on the others; checkRoom and the samples hold them together.
	// The rate of a shared worker is in the unit of its demand, millionths of the CPU.
	if _, shared := s.Law.(sim.Shared); shared {
		if span.Rate < 0 || span.Rate > job.Demand[0] {
			return fmt.Errorf("uses %d of a demand of %d at %v", span.Rate, job.Demand[0], span.From)
		}
		return nil
	}
	speed := float64(n)
	if job.Speedup != nil {
		speed = job.Speedup(n)
	}
	if job.SpeedOn != nil {
		speed = job.SpeedOn(span.Places)
	}
	// A rate is a speed in millionths, rounded: one unit is the rounding.
	if span.Rate != 0 && math.Abs(float64(span.Rate)-float64(speed*1e6)) > 1 {
		return fmt.Errorf("runs at %d on %d containers at %v", span.Rate, n, span.From)
	}
	return nil
}

// checkWork holds a job to its work: no less, and no more than what falls into the last unit of time, a
// nanosecond or a slot, in which it completes.
func checkWork(s *sim.Scenario, job *sim.Job, o *sim.Outcome, done *big.Int, last int64) error {
	// Work counts nanoseconds at speed 1, which is a rate of a million.
	total := product(1_000_000, job.Work)
	if o.Completed != (done.Cmp(total) >= 0) {
		return fmt.Errorf("completed %t with %v of %v done", o.Completed, done, total)
	}
	// In continuous time Slot is 0, and the unit is one nanosecond.
	if surplus := done.Sub(done, total); o.Completed && surplus.Cmp(product(last, max(1, s.Slot))) >= 0 {
		return fmt.Errorf("works on for %v after its work is done", surplus)
	}
	return nil
}

// checkRoom adds up what is held at an instant and compares it with what each server has. Instants at which
// spans begin are enough: nothing is taken in between.
func checkRoom(s *sim.Scenario, r *sim.Result, at time.Duration) error {
	used := [2][]apportion.Resources{make([]apportion.Resources, len(s.Servers)), make([]apportion.Resources, len(s.ParameterServers))}
	for side := range used {
		for h := range used[side] {
			used[side][h] = make(apportion.Resources, len(s.Kinds))
		}
	}
	for i := range r.Jobs {
		for _, h := range held(s, i, &r.Jobs[i], at) {
			for k, q := range h.takes {
				used[h.side][h.server][k] += q
			}
		}
	}
	for side, servers := range [2][]apportion.Server{s.Servers, s.ParameterServers} {
		for h := range servers {
			if !used[side][h].FitsIn(servers[h].Capacity) {
				return fmt.Errorf("server %q holds %v of %v at %v", servers[h].ID, used[side][h], servers[h].Capacity, at)
			}
		}
	}
	return nil
}

// holding is what a job takes of a server; side is 0 for servers and 1 for parameter servers.
type holding struct {
	side, server int
	takes        apportion.Resources
}

// held returns what a job takes at an instant, of every server of both sides: the demand of its containers
// or, on a shared worker, its rate.
func held(s *sim.Scenario, i int, o *sim.Outcome, at time.Duration) []holding {
	var all []holding
	job := &s.Jobs[i]
	_, shared := s.Law.(sim.Shared)
	for k := range o.Spans {
		span := &o.Spans[k]
		if at < span.From || at >= span.Until {
			continue
		}
		for _, p := range span.Places {
			takes := make(apportion.Resources, len(job.Demand))
			for k, q := range job.Demand {
				// On a shared worker a demand is no reservation, and only the rate is in use.
				if takes[k] = p.Count * q; shared {
					takes[k] = span.Rate
				}
			}
			all = append(all, holding{0, p.Server, takes})
		}
		for _, p := range span.ParameterServers {
			takes := make(apportion.Resources, len(job.Training.PS))
			for k, q := range job.Training.PS {
				takes[k] = p.Count * q
			}
			all = append(all, holding{1, p.Server, takes})
		}
	}
	return all
}

// tolerance is for sums of shares in another order.
const tolerance = 1e-9

// checkSamples holds the samples to what jobs held: they ascend, their utilization is that of the spans,
// losses are not negative, and adjustments add up to those of the jobs.
func checkSamples(s *sim.Scenario, r *sim.Result) error {
	before, adjusted := time.Duration(-1), 0
	for i := range r.Samples {
		sample := &r.Samples[i]
		if sample.At <= before || sample.At > r.End {
			return fmt.Errorf("sample at %v after %v, the end is %v", sample.At, before, r.End)
		}
		before = sample.At
		adjusted += sample.Adjusted
		sum := 0.0
		for side := range 2 {
			for _, part := range inUse(s, r, sample.At, side) {
				sum += part
			}
		}
		if math.Abs(sum-sample.Total) > tolerance || sample.FairnessLoss < -tolerance || sample.RunningLoss < -tolerance {
			return fmt.Errorf("sample at %v: utilization %v, want %v; losses %v, %v", sample.At, sample.Total, sum, sample.FairnessLoss, sample.RunningLoss)
		}
	}
	for i := range r.Jobs {
		adjusted -= r.Jobs[i].Adjusted
	}
	if adjusted != 0 {
		return fmt.Errorf("the samples have %d more adjustments than the jobs", adjusted)
	}
	return nil
}

func inUse(s *sim.Scenario, r *sim.Result, at time.Duration, side int) []float64 {
	parts := make([]float64, len(s.Kinds))
	for k := range parts {
		var total, used int64
		for _, server := range [2][]apportion.Server{s.Servers, s.ParameterServers}[side] {
			total += server.Capacity[k]
		}
		for i := range r.Jobs {
			for _, h := range held(s, i, &r.Jobs[i], at) {
				if h.side == side {
					used += h.takes[k]
				}
			}
		}
		if total > 0 {
			parts[k] = float64(used) / float64(total)
		}
	}
	return parts
}

func count(places []apportion.Placement) (n int64) {
	for _, p := range places {
		n += p.Count
	}
	return n
}

func product(rate int64, d time.Duration) *big.Int {
	return new(big.Int).Mul(big.NewInt(rate), big.NewInt(int64(d)))
}
