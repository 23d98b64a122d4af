package alloc_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// four is a cluster of four equal jobs of which one asks for more CPUs with each GPU than the others.
func four(cpus int64) *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Theta1: .1, Theta2: .1}
	for j := range 4 {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{cpus, 8}})
	}
	for i, per := range []int64{4, 5, 6, 4} {
		job(p, fmt.Sprint("j", i), 1, 32, per, 1)
	}
	return p
}

// Demands that are inflated bring nothing: jobs of equal weight have 8 of 32 GPUs each, within a container.
func TestEqualJobsHaveEqualParts(t *testing.T) {
	for _, cpus := range []int64{48, 96} {
		d := decide(t, four(cpus))
		for _, share := range d.Shares {
			if share.Containers < 7 || share.Containers > 9 {
				t.Errorf("%d CPUs: %s has %d of 32 GPUs", cpus, share.ID, share.Containers)
			}
		}
		if want := .1; math.Abs(d.Metrics.LossBudget-want) > 1e-9 {
			t.Errorf("%d CPUs: a budget of %g, want a tenth of the shares", cpus, d.Metrics.LossBudget)
		}
	}
	// As printed, one has most.
	p := four(48)
	p.Options.Paper = true
	if n := decide(t, p).Allocation.Containers("j2"); n < 12 {
		t.Errorf("by the paper's rule j2 has %d", n)
	}
}

// The same holds where losses are parts of each one's own speed: the budget is a tenth of that of each, whatever the worths are. Where speeds are
// bent a container is a smaller part of a speed, and the dearest may have one more.
func TestEqualJobsHaveEqualPartsInWorth(t *testing.T) {
	for bend, most := range map[float64]int64{1: 9, .7: 10} {
		for _, dear := range []float64{1, 3} { // what the one with most CPUs is worth for each GPU
			p := four(48)
			p.Options.Loss = alloc.LossInWorth
			for i := range p.Applications {
				app := &p.Applications[i]
				for n := range app.Max {
					speed := math.Pow(float64(n+1), bend)
					app.Speed, app.Worth = append(app.Speed, speed), append(app.Worth, speed)
					if i == 2 {
						app.Worth[n] *= dear
					}
				}
			}
			d := decide(t, p)
			for _, share := range d.Shares {
				if share.Containers < 7 || share.Containers > most {
					t.Errorf("speed n^%g, worth %g: %s has %d of 32 GPUs", bend, dear, share.ID, share.Containers)
				}
			}
			if math.Abs(d.Metrics.LossBudget-.4) > 1e-9 {
				t.Errorf("a budget of %g, want a tenth of each", d.Metrics.LossBudget)
			}
		}
	}
}

// Few jobs on few GPUs have their parts, whatever they ask for beside: nobody has all and nobody nothing.
func TestFewJobsHaveTheirParts(t *testing.T) {
	for gpus := int64(1); gpus <= 12; gpus++ {
		for jobs := int64(1); jobs <= 4; jobs++ {
			p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Theta1: .1, Theta2: .1,
				Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{10 * gpus, gpus}}}}
			for i := range jobs {
				job(p, fmt.Sprint("j", i), 0, gpus, 1+2*i, 1)
			}
			for _, share := range decide(t, p).Shares {
				if fair := float64(gpus) / float64(jobs); math.Abs(float64(share.Containers)-fair) > 1 {
					t.Errorf("%d GPUs, %d jobs: %s has %d", gpus, jobs, share.ID, share.Containers)
				}
			}
		}
	}
}

// small is a cluster with more jobs than GPUs, that may all be without any.
func small(gpus, jobs int64) *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: .1, Theta2: .1, Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{gpus}}}}
	for i := range jobs {
		job(p, fmt.Sprint("j", i), 0, gpus, 1)
	}
	return p
}

// Jobs of which each is due less than half a container lose least where all are without one. They have them all the same: what whole
// containers cost is no reason to leave a cluster empty, nor is one that has too much and must stay.
func TestSmallJobsUseAll(t *testing.T) {
	for _, theta := range []float64{0, .1, .5, .9} {
		for _, jobs := range []int64{5, 17, 30} {
			for _, held := range []int64{0, 5} {
				for _, measure := range []alloc.LossMeasure{alloc.LossInShares, alloc.LossInWorth} {
					p := small(8, jobs)
					p.Theta1, p.Theta2, p.Options.Loss = theta, 0, measure
					if held > 0 {
						p.Previous = alloc.Allocation{"j0": {"s": held}}
					}
					d := decide(t, p)
					if d.Metrics.Utilization[0] != 1 {
						t.Errorf("theta1 %g, %d jobs, one has %d, in %q: %.3g of the GPUs, loss %g of %g, least %+v", theta, jobs, held, measure, d.Metrics.Utilization[0], d.Metrics.FairnessLoss, d.Metrics.LossBudget, d.LeastLoss)
					}
				}
			}
		}
	}
}

// No cluster is left empty in which a job could run, whatever numbers of containers jobs may have, and whatever they ask for.
func TestNoClusterIsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Theta1: rapid.SampledFrom([]float64{0, .1, .5, .99}).Draw(t, "theta1")}
		for j := range rapid.IntRange(1, 3).Draw(t, "servers") {
			p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{rapid.Int64Range(1, 8).Draw(t, "cpu"), rapid.Int64Range(0, 4).Draw(t, "gpu")}})
		}
		if rapid.Bool().Draw(t, "in worth") {
			p.Options.Loss = alloc.LossInWorth
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			app := job(p, fmt.Sprint("j", i), 0, rapid.Int64Range(1, 6).Draw(t, "max"), rapid.Int64Range(0, 4).Draw(t, "cpus"), rapid.Int64Range(0, 2).Draw(t, "gpus"))
			if app.Demand.IsZero() {
				app.Demand[0] = 1
			}
			app.Weight = rapid.SampledFrom([]float64{.5, 1, 3}).Draw(t, "weight")
			app.Step = rapid.Int64Range(0, app.Max).Draw(t, "step")
		}
		d, err := recorded(t, t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		inst, _, err := p.Instance()
		if err != nil {
			t.Fatal(err)
		}
		if len(inst.Apps) > 0 && len(d.Allocation) == 0 {
			t.Fatalf("nobody has anything: loss %g of %g, %+v", d.Metrics.FairnessLoss, d.Metrics.LossBudget, d.LeastLoss)
		}
		if _, err := alloc.Verify(p, d); err != nil {
			t.Fatal(err)
		}
	})
}

// The budget is no less than what is lost where every job has the whole containers of its share, and those that come nearest to their
// shares by it one more as long as there is room: the apportionment by largest remainders.
func TestBudgetHoldsRemainders(t *testing.T) {
	larger := 0
	rapid.Check(t, func(t *rapid.T) {
		gpus := rapid.Int64Range(1, 12).Draw(t, "gpus")
		p := small(gpus, 0)
		p.Theta1 = rapid.SampledFrom([]float64{0, .1, .3}).Draw(t, "theta1")
		var weights []int64
		sum := int64(0)
		for i := range rapid.IntRange(1, 20).Draw(t, "jobs") {
			w := rapid.Int64Range(1, 4).Draw(t, "weight")
			job(p, fmt.Sprint("j", i), 0, gpus, 1).Weight = float64(w)
			weights, sum = append(weights, w), sum+w
		}
		// In units of 1/sum of a GPU: what is due, and what of it is no whole one.
		slices.SortFunc(weights, func(a, b int64) int { return cmp.Compare(b*gpus%sum, a*gpus%sum) })
		left, loss := gpus, int64(0)
		for _, w := range weights {
			left -= w * gpus / sum
		}
		for _, w := range weights {
			rest := w * gpus % sum
			if rest > 0 && left > 0 {
				left, rest = left-1, sum-rest
			}
			loss += rest
		}
		want := math.Max(p.Theta1, float64(loss)/float64(sum*gpus))
		if want > p.Theta1 {
			larger++
		}
		inst, _, err := p.Instance()
		if err != nil || math.Abs(inst.LossBudget-want) > 1e-9 {
			t.Fatalf("a budget of %g, want %g; %v", inst.LossBudget, want, err)
		}
	})
	if larger == 0 {
		t.Error("whole containers never lost more than theta1")
	}
}
