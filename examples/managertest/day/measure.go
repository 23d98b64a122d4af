// This file implements what a day comes to: completion times, utilization and fairness loss.

package day

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

// Measures are what a day comes to.
// All are means over jobs or over time of one play, so that they carry no error bars: two plays of one day
// differ by a few per cent.
type Measures struct {
	// Mean and Longest are completion times, from submission to end, in seconds; Last is when the last job ended.
	Mean, Longest, Last float64
	// Slowdown is the mean of completion times as parts of what the job takes with its fixed containers alone.
	Slowdown float64
	// Held is the part of the slots that had a container at work until the last job ended, on average over time; Useful the
	// part that the work itself needs, without what was waited for, saved or done again.
	Held, Useful float64
	// Loss is the fairness loss, on average over the time.
	Loss float64
	// Fragments is the part of the slots that was idle while a job that was there had no container at work, on average over
	// the time: room that nobody could use, or had not begun to use.
	Fragments float64
	// Resized is how often a job had no container at work between two that were; Pause is how long, on average, in seconds.
	Resized int
	Pause   float64
}

// Sample is the cluster at a moment.
type Sample struct {
	At float64
	// Held is the part of the slots that are at work; Loss the sum, over the jobs that are there, of how far what each has is
	// from its fair share; Fragments the part that is idle if a job that is there has nothing at work.
	Held, Loss, Fragments float64
}

// Measure measures a day all of whose jobs have ended.
func (r *Record) Measure() (Measures, error) {
	var m Measures
	work := 0.0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if j.Ended == 0 {
			return m, fmt.Errorf("%s has not ended", j.Name)
		}
		// Work / Fixed is how long the job takes on its fixed containers if it begins at once.
		took := j.Ended - j.At
		m.Mean += took / float64(len(r.Jobs))
		m.Slowdown += took / (j.Work / float64(j.Fixed)) / float64(len(r.Jobs))
		m.Longest, m.Last = max(m.Longest, took), max(m.Last, j.Ended)
		work += j.Work
	}
	m.Useful = work / (float64(r.Slots) * m.Last)
	m.Resized, m.Pause = r.pauses()
	samples, err := r.Samples(1)
	if err != nil {
		return m, err
	}
	for _, s := range samples {
		m.Held += s.Held / float64(len(samples))
		m.Loss += s.Loss / float64(len(samples))
		m.Fragments += s.Fragments / float64(len(samples))
	}
	return m, nil
}

// pauses returns how often a job had no container at work between two that were, and how long on average.
// Containers of one job overlap; a pause begins where the last of those that were there has ended.
func (r *Record) pauses() (n int, mean float64) {
	lives, until := slices.Clone(r.Lives), map[string]float64{}
	slices.SortFunc(lives, func(a, b Life) int { return cmp.Compare(a.From, b.From) })
	total := 0.0
	for _, l := range lives {
		if last, was := until[l.Job]; was && l.From > last {
			n++
			total += l.From - last
		}
		until[l.Job] = max(until[l.Job], l.Until)
	}
	return n, total / float64(max(n, 1))
}

// Samples returns the cluster every so many seconds, until the last job has ended.
// A sample is taken in the middle of its interval. The cost is samples times lives, some hundred thousand
// steps for a day.
func (r *Record) Samples(every float64) ([]Sample, error) {
	last := 0.0
	for i := range r.Jobs {
		last = max(last, r.Jobs[i].Ended)
	}
	var samples []Sample
	for at := every / 2; at < last; at += every {
		s := Sample{At: at}
		has := map[string]float64{}
		for _, life := range r.Lives {
			if life.From <= at && at < life.Until {
				has[life.Job] += 1 / float64(r.Slots)
				s.Held += 1 / float64(r.Slots)
			}
		}
		fair, err := r.fair(at)
		if err != nil {
			return nil, err
		}
		for job, share := range fair {
			s.Loss += math.Abs(has[job] - share)
			if has[job] == 0 {
				s.Fragments = 1 - s.Held
			}
		}
		samples = append(samples, s)
	}
	return samples, nil
}

// fair returns the share that each job should have which was there at a time.
// The share is that of dominant resource fairness with one kind of resource, in whole parts of the cluster,
// of those that have arrived and not ended, whether they run or wait.
func (r *Record) fair(at float64) (map[string]float64, error) {
	var claims []drf.Claim
	for _, j := range r.Jobs {
		if j.At <= at && at < j.Ended {
			claims = append(claims, drf.Claim{ID: j.Name, Demand: apportion.Resources{1}, Weight: 1, Min: 1, Max: j.Max})
		}
	}
	if len(claims) == 0 {
		return nil, nil
	}
	filling, err := drf.Fill(apportion.Resources{r.Slots}, claims)
	if err != nil {
		return nil, err
	}
	shares := map[string]float64{}
	for i := range claims {
		shares[claims[i].ID] = filling.Claims[i].Share
	}
	return shares, nil
}

// Restarts are how often elastic jobs had no container at work between two that were, and how long on average, in seconds of the play.
func (r *Record) Restarts() (n int, mean float64) {
	plain := map[string]bool{}
	for _, j := range Plain(r.Jobs) {
		plain[j.Name] = true
	}
	elastic := Record{Lives: slices.DeleteFunc(slices.Clone(r.Lives), func(l Life) bool { return plain[l.Job] })}
	return elastic.pauses()
}

// isElastic reports whether a job can use more than one number of containers.
func (j *Job) isElastic() bool { return j.Max > j.Fixed }

// Plain are the jobs that have the number of containers that they ask for.
func Plain(jobs []Job) []Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool { return j.isElastic() })
}

// Sort brings jobs into the order of their arrival.
func Sort(jobs []Job) { slices.SortFunc(jobs, func(a, b Job) int { return cmp.Compare(a.At, b.At) }) }

// Waits are how long plain jobs wait from their submission until the first of their containers is at work, in seconds of the play.
func (r *Record) Waits() (mean, longest float64) {
	begun := r.begun()
	plain := Plain(r.Jobs)
	for i := range plain {
		wait := begun[plain[i].Name] - plain[i].At
		mean, longest = mean+wait/float64(len(plain)), max(longest, wait)
	}
	return mean, longest
}

// Hours are those for which elastic jobs were at work, all together, of a day that was played so many times as fast.
func (r *Record) Hours(speed float64) float64 {
	begun, sum := r.begun(), 0.0
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.isElastic() {
			sum += j.Ended - begun[j.Name]
		}
	}
	return sum * speed / time.Hour.Seconds()
}

// begun is when the first container of each job was at work.
func (r *Record) begun() map[string]float64 {
	begun := map[string]float64{}
	for _, l := range r.Lives {
		if first, was := begun[l.Job]; !was || l.From < first {
			begun[l.Job] = l.From
		}
	}
	return begun
}
