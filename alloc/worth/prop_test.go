package worth_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/internal/must"
)

// jobs are training jobs on one server of so many GPUs, one a container.
type jobs struct {
	gpus   int64
	jobs   []worth.Job
	theta1 float64
}

// genJobs draws two to four jobs with concave speeds, by Amdahl's law.
func genJobs(t *rapid.T) *jobs {
	g := &jobs{gpus: rapid.Int64Range(4, 10).Draw(t, "gpus"), theta1: 1}
	for range rapid.IntRange(2, 4).Draw(t, "jobs") {
		serial := rapid.Float64Range(0.01, 0.6).Draw(t, "serial")
		job := worth.Job{Weight: rapid.SampledFrom([]float64{.5, 1, 3}).Draw(t, "weight"), Fair: 1}
		for n := int64(1); n <= g.gpus; n++ {
			job.Speeds = append(job.Speeds, 1/(serial+(1-serial)/float64(n)))
		}
		g.jobs = append(g.jobs, job)
	}
	return g
}

// problem states the jobs by a utility; everybody may run at least one container.
func (g *jobs) problem(t rapid.TB, u worth.Utility) *alloc.Problem {
	p := &alloc.Problem{
		Kinds: apportion.Kinds{"gpu"}, Theta1: g.theta1, Theta2: 1, Options: alloc.Options{Rule: alloc.Rule{NoCeil15: true}},
		Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{g.gpus}}},
	}
	for i := range g.jobs {
		w := must.Have(worth.Of(&g.jobs[i], u))(t)
		p.Applications = append(p.Applications, alloc.Application{
			ID: fmt.Sprint(i), Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: int64(len(g.jobs[i].Speeds)),
				Worth: w.Worth}, IdleWorth: w.Idle, StayWorth: w.Stay,
		})
	}
	return p
}

// decide returns how many containers each job gets.
func (g *jobs) decide(t rapid.TB, u worth.Utility) ([]int64, *alloc.Decision) {
	p := g.problem(t, u)
	d := must.Have(alloc.Reallocate(context.Background(), p, nil))(t)
	if d.Proven.String() == "nothing" {
		t.Fatalf("not proven: %g of %g", d.Objective, d.Bound)
	}
	counts := make([]int64, len(g.jobs))
	for i := range counts {
		counts[i] = d.Shares[i].Containers
	}
	return counts, d
}

// value is the sum of the utilities with these counts.
func (g *jobs) value(t rapid.TB, u worth.Utility, counts []int64) float64 {
	sum := 0.0
	for i := range g.jobs {
		w := must.Have(worth.Of(&g.jobs[i], u))(t)
		if counts[i] == 0 {
			sum += w.Idle
		} else {
			sum += w.Worth[counts[i]-1]
		}
	}
	return sum
}

// Proportional fairness: in whatever unit anybody's speed is measured, the same allocations are best.
// Reference: [Kelly98] §2.
func TestFairIgnoresUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := genJobs(t)
		before, _ := g.decide(t, worth.Fair)
		job := &g.jobs[rapid.IntRange(0, len(g.jobs)-1).Draw(t, "who")]
		unit := rapid.Float64Range(.01, 100).Draw(t, "unit")
		for n := range job.Speeds {
			job.Speeds[n] *= unit
		}
		job.Floor = .01 * min(unit, 1) // where none is worth less than any number it changes nothing either
		after, d := g.decide(t, worth.Fair)
		if got := g.value(t, worth.Fair, before); math.Abs(got-d.Objective) > 1e-6 && min(before[0], after[0]) > 0 && noneIdle(before) && noneIdle(after) {
			t.Fatalf("%v before, worth %g now; %v is worth %g", before, got, after, d.Objective)
		}
	})
}

// noneIdle reports whether everybody has a container.
func noneIdle(counts []int64) bool {
	for _, n := range counts {
		if n == 0 {
			return false
		}
	}
	return true
}

// Nobody gains by a container more than another would lose by it: the decision is Pareto optimal, and the best sum.
func TestNoExchangeGains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := genJobs(t)
		alpha := rapid.SampledFrom([]float64{0, .5, 1, 2}).Draw(t, "alpha")
		u := must.Have(worth.Alpha(alpha))(t)
		counts, d := g.decide(t, u)
		if got := g.value(t, u, counts); math.Abs(got-d.Objective) > 1e-9 {
			t.Fatalf("%v are worth %g, the decision says %g", counts, got, d.Objective)
		}
		used := int64(0)
		for from := range counts {
			used += counts[from]
			for to := range counts {
				if from == to || counts[from] == 0 || counts[to] == int64(len(g.jobs[to].Speeds)) {
					continue
				}
				counts[from]--
				counts[to]++
				if got := g.value(t, u, counts); got > d.Objective+1e-9 {
					t.Fatalf("%v would be worth %g, the decision is %g", counts, got, d.Objective)
				}
				counts[from]++
				counts[to]--
			}
		}
		// Speeds rise, so that nothing is left over.
		if used != g.gpus {
			t.Errorf("%v of %d", counts, g.gpus)
		}
	})
}

// With speeds in proportion to containers, weights divide them in proportion, to a container, and no other division is
// better in the sum of relative changes. Reference: [Kelly98] §2, (4).
func TestProportional(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &jobs{gpus: 60, theta1: 1}
		total := 0.0
		for range rapid.IntRange(2, 4).Draw(t, "jobs") {
			job := worth.Job{Weight: float64(rapid.IntRange(1, 5).Draw(t, "weight")), Fair: 15}
			for n := range g.gpus {
				job.Speeds = append(job.Speeds, float64(n+1))
			}
			total += job.Weight
			g.jobs = append(g.jobs, job)
		}
		counts, _ := g.decide(t, worth.Fair)
		left, change, slack := g.gpus, 0.0, 0.0
		for i := range counts {
			due := float64(g.gpus) * g.jobs[i].Weight / total
			if math.Abs(float64(counts[i])-due) > 1.5 {
				t.Errorf("%d of weight %g of %g has %d, due are %g", i, g.jobs[i].Weight, total, counts[i], due)
			}
			other := left
			if i < len(counts)-1 {
				other = rapid.Int64Range(0, left).Draw(t, "other")
			}
			left -= other
			change += g.jobs[i].Weight * (float64(other) - float64(counts[i])) / float64(counts[i])
			slack += g.jobs[i].Weight * float64(g.gpus) / float64(counts[i]) / float64(counts[i]) // of whole containers
		}
		if change > 2*slack {
			t.Errorf("%v: another division changes the speeds by %g in the sum, more than whole containers explain, %g", counts, change, slack)
		}
	})
}

// Sharing pays within the loss budget: nobody's share is further below his due than the budget says, and equal jobs are
// within a container of each other.
func TestSharingIncentive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := genJobs(t)
		g.theta1 = rapid.SampledFrom([]float64{.1, .25, .5}).Draw(t, "theta1")
		_, d := g.decide(t, worth.Fair)
		for _, share := range d.Shares {
			if share.Actual < share.Theoretical-d.Metrics.LossBudget-1e-9 {
				t.Errorf("%+v with a loss budget of %g", share, d.Metrics.LossBudget)
			}
		}
		for i := range g.jobs {
			g.jobs[i].Speeds, g.jobs[i].Weight = g.jobs[0].Speeds, 1
		}
		g.theta1 = 1
		counts, _ := g.decide(t, worth.Fair)
		for _, n := range counts {
			if n > counts[0]+1 || n < counts[0]-1 {
				t.Errorf("equal jobs have %v", counts)
			}
		}
	})
}

// The larger alpha is, the faster is the slowest; and the less work is done. Reference: [Mo00] §III.
func TestAlphaOrdersFairness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := genJobs(t)
		for i := range g.jobs {
			g.jobs[i].Weight = 1
		}
		work := math.Inf(1)
		for _, alpha := range []float64{0, .5, 1, 2, 3} {
			u := must.Have(worth.Alpha(alpha))(t)
			counts, _ := g.decide(t, u)
			now := g.value(t, worth.Speedup, counts)
			if now > work+1e-9 {
				t.Errorf("alpha %g: %v do %g, more than %g before", alpha, counts, now, work)
			}
			work = now
		}
	})
}
