// This file tests the lemmas behind the competitive ratio on random jobs.

package primaldual

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/oasisoracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// theoryInstance draws a cluster and jobs that satisfy what the lemmas assume: each could run if the
// servers had room, demands something on both sides, and is worth something at the horizon.
func theoryInstance(t *rapid.T, z size) (*Cluster, []Job) {
	draw := fromRapid(t)
	cluster := z.cluster(draw)
	var jobs []Job
	for _, j := range z.jobsOf(draw, cluster) {
		runs := j.misfit(cluster) == Admitted && j.ShortestSlots() <= int64(cluster.Slots-j.Arrival+1)
		if runs && !j.Worker.IsZero() && !j.PS.IsZero() && j.Utility.Value(cluster.Slots-j.Arrival) > 0 {
			jobs = append(jobs, j)
		}
	}
	return cluster, jobs
}

func boundsOfRapid(t *rapid.T, cluster *Cluster, jobs []Job, options *BoundsOptions) Bounds {
	return must.Have(BoundsOf(cluster, jobs, options))(t)
}

// Reference: [OASiS] §4.1: at the prices of the empty cluster every job is admitted that has room, if
// it uses few more parameter servers than it must: its own share of L leaves it half its utility.
func TestTheoryEmptyClusterAdmits(t *testing.T) {
	admitted := 0
	rapidtest.Until(t, "no job was admitted", func() bool { return admitted > 0 }, func(t *rapid.T) {
		cluster, jobs := theoryInstance(t, tinySize)
		for _, options := range []*BoundsOptions{{Literal: true}, {LFloorEps: -1}, {LFloorEps: -1, EtaGlobal: true}} {
			bounds := boundsOfRapid(t, cluster, jobs, options)
			for _, j := range jobs {
				s := must.Have(NewScheduler(cluster, &bounds, nil))(t)
				d := quoteBy(t, s, j, BoundsFirst)
				if d.Verdict == TooExpensive {
					t.Fatalf("job %+v: %+v under %+v", j, d, bounds)
				}
				if d.Admitted {
					admitted++
				}
			}
		}
	})
}

// Reference: [OASiS] §4.1: what takes any of a full kind costs at least the best utility of any job.
func TestTheoryFullServerRefuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cluster, jobs := theoryInstance(t, tinySize)
		bounds := boundsOfRapid(t, cluster, jobs, &BoundsOptions{Literal: rapid.Bool().Draw(t, "literal")})
		for _, j := range jobs {
			best := j.Utility.Value(int(j.ShortestSlots()) - 1)
			for _, side := range []struct {
				demand       apportion.Resources
				upper, lower []float64
			}{{j.Worker, bounds.UWorker, bounds.LWorker}, {j.PS, bounds.UPS, bounds.LPS}} {
				for r, q := range side.demand {
					c := newCurve(side.upper[r], side.lower[r])
					if price := c.at(7, 7) * float64(q); q > 0 && price < best*(1-1e-9) {
						t.Fatalf("job %+v pays %g of %g", j, price, best)
					}
				}
			}
		}
	})
}

// Reference: [OASiS] (34), (35): the dual value before the first job is at most half of the optimum.
func TestTheoryInitialDual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cluster, jobs := theoryInstance(t, offlineSize)
		optimum := oasisoracle.Optimum(oracleInstance(cluster, jobs))
		if optimum == 0 {
			return
		}
		for _, options := range []*BoundsOptions{{Literal: true}, {LFloorEps: -1}, {Reached: optimum}, {Reached: optimum, RawUnits: true}} {
			bounds := boundsOfRapid(t, cluster, jobs, options)
			initial := initialDual(cluster, &bounds)
			if initial > optimum/2*(1+1e-9) {
				t.Fatalf("initial dual value %g, optimum %g", initial, optimum)
			}
		}
	})
}

// initialDual returns the dual value before the first job, (19) with mu = 0 and p = q = L.
func initialDual(cluster *Cluster, bounds *Bounds) float64 {
	value := 0.0
	for _, side := range []Side{Workers, ParameterServers} {
		for _, server := range cluster.servers(side) {
			for r, c := range server.Capacity {
				value += endsOf(bounds, side, r)[1] * float64(c) * float64(cluster.Slots)
			}
		}
	}
	return value
}

// Reference: [OASiS] Lemma 1: with a known total L is as large as D_0 <= OPT/2 allows, half of the
// total exactly, unless U cuts it; U stays, and so alpha falls by what L rises.
func TestReached(t *testing.T) {
	cluster, jobs := formulaExample()
	plain := boundsOf(t, cluster, jobs, nil)
	for _, reached := range []float64{1e-3, 1, 80.463766} {
		bounds := boundsOf(t, cluster, jobs, &BoundsOptions{Reached: reached})
		near(t, "initial dual value", []float64{initialDual(cluster, &bounds)}, []float64{reached / 2})
		near(t, "U", bounds.UWorker, plain.UWorker)
		rise := bounds.LPS[1] / plain.LPS[1]
		near(t, "L of workers over L of parameter servers", []float64{bounds.LWorker[0] / plain.LWorker[0]}, []float64{rise})
		near(t, "alpha", []float64{bounds.Alpha()}, []float64{max(1, plain.Alpha()-math.Log(rise))})
		scaled := boundsOf(t, cluster, jobs, &BoundsOptions{Reached: 2 * reached, LScale: 0.5, EtaGlobal: true, LFloorEps: -1})
		near(t, "L of half of twice the total", scaled.LWorker, bounds.LWorker)
	}
	cut := boundsOf(t, cluster, jobs, &BoundsOptions{Reached: 1e9})
	near(t, "L cut to a quarter of U", cut.LWorker, []float64{cut.UWorker[0] / 4, cut.UWorker[1] / 4})
	printed := boundsOf(t, cluster, jobs, &BoundsOptions{Literal: true})
	must.Equal(t, cmp.Diff(printed, boundsOf(t, cluster, jobs, &BoundsOptions{Literal: true, Reached: 80})), "", "the printed form changes")
	if none := boundsOf(t, cluster, nil, &BoundsOptions{Reached: 80}); none.UWorker[0] != 0 || none.LWorker[0] != 0 {
		t.Errorf("without jobs: %+v", none)
	}
}

// Reference: [OASiS] Definition 1, Lemma 3: p (g' - g) >= (c/alpha) (p' - p) in the limit of small
// steps, with alpha = ln(U/L). A jump of a part x of the server costs up to (exp(x alpha) - 1)/x.
func TestTheoryAllocationCost(t *testing.T) {
	const capacity, alpha = 1_000_000_000, 8.0
	c := newCurve(math.Exp(alpha), 1)
	factor := func(used, step int64) float64 {
		before, after := c.at(used, capacity), c.at(used+step, capacity)
		return (after - before) * capacity / (before * float64(step))
	}
	for _, used := range []int64{1, capacity / 3, capacity - 1000} {
		if f := factor(used, 1000); f < alpha || f > alpha*1.0001 {
			t.Errorf("a small step at %d: factor %g, want %g", used, f, alpha)
		}
	}
	for _, test := range []struct{ part, want float64 }{{0.01, 8.3}, {0.1, 12.3}, {0.5, 107}, {1, 2980}} {
		if f := factor(0, int64(test.part*capacity)); math.Abs(f/test.want-1) > 0.01 {
			t.Errorf("a jump of %g: factor %g, want %g", test.part, f, test.want)
		}
	}
}

// Prices rise with use, from L to U, for bounds as far apart as float64 allows.
func TestTheoryPricesRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lower := math.Exp(rapid.Float64Range(-700, 600).Draw(t, "ln L"))
		upper := math.Exp(rapid.Float64Range(math.Log(lower)+0.1, 700).Draw(t, "ln U"))
		capacity := rapid.Int64Range(1, math.MaxInt64).Draw(t, "capacity")
		a := rapid.Int64Range(0, capacity).Draw(t, "a")
		b := rapid.Int64Range(a, capacity).Draw(t, "b")
		c := newCurve(upper, lower)
		low, middle, high, full := c.at(0, capacity), c.at(a, capacity), c.at(b, capacity), c.at(capacity, capacity)
		if low != lower || middle < low*(1-1e-12) || high < middle*(1-1e-12) || full < high*(1-1e-12) || math.Abs(full/upper-1) > 1e-9 {
			t.Fatalf("%g, %g, %g, %g for U %g", low, middle, high, full, upper)
		}
	})
}

// A job alone is better off the more slots and servers there are, and never worse off by a higher
// utility; renaming kinds and servers changes nothing.
func TestTheoryMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := fromRapid(t)
		cluster := tinySize.cluster(draw)
		j := tinySize.jobsOf(draw, cluster)[0]
		bounds := boundsDraw(draw, cluster, []Job{j})
		payoff := func(cluster *Cluster, j Job) float64 {
			s := must.Have(NewScheduler(cluster, &bounds, nil))(t)
			return quoteBy(t, s, j, BoundsFirst).Payoff
		}
		before := payoff(cluster, j)
		longer := cluster.clone()
		longer.Slots++
		larger := cluster.clone()
		larger.WorkerServers = append(larger.WorkerServers, apportion.Server{ID: "more", Capacity: larger.WorkerServers[0].Capacity})
		larger.PSServers = append(larger.PSServers, apportion.Server{ID: "more ps", Capacity: larger.PSServers[0].Capacity})
		for _, c := range []*Cluster{longer, larger} {
			if after := payoff(c, j); after < before-1e-6 {
				t.Fatalf("payoff %g, then %g", before, after)
			}
		}
		worthMore := j
		worthMore.Utility = utilityFunc(func(d int) float64 { return j.Utility.Value(d) + 1 })
		if after := payoff(cluster, worthMore); after < before-1e-6 || before > 0 && after < before+1-1e-6 {
			t.Fatalf("payoff %g, then %g with one more", before, after)
		}
		renamed := cluster.clone()
		for h := range renamed.WorkerServers {
			before := renamed.WorkerServers[h].ID
			for k := range renamed.PSServers {
				if renamed.PSServers[k].ID == before {
					renamed.PSServers[k].ID = fmt.Sprint("x", 9-h)
				}
			}
			renamed.WorkerServers[h].ID = fmt.Sprint("x", 9-h)
		}
		must.Equal(t, payoff(renamed, j), before, "payoff", "then", "under other names")
	})
}

// Inputs are neither changed nor kept, and what is returned is the caller's.
func TestInputsAreNotKept(t *testing.T) {
	cluster, bounds := plainCluster(4, 4)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := plainJob("j", 1)
	copyOf := j.clone()
	d := offer(t, s, j)
	if !cmp.Equal(j, copyOf) {
		t.Error("the job was changed")
	}
	before := snapshotOf(t, s)
	j.Worker[0], j.PS[0] = 99, 99
	cluster.WorkerServers[0].Capacity[0] = 0
	cluster.Kinds[0] = "other"
	bounds.UWorker[0] = 1e9
	d.Schedule[0].Workers[0].Count = 99
	schedule, _ := s.Schedule("j")
	schedule[0].PS[0].Server = 1
	used, _ := s.ledger.Used(Workers, 1, 0)
	used[0] = 99
	prices, _ := s.ledger.Prices(Workers, 1, 0)
	prices[0] = 99
	if after := snapshotOf(t, s); !cmp.Equal(before, after) {
		t.Error("the caller's changes reached the scheduler")
	}
	must.Do(t, s.Cancel("j"))
}

// A decision allocates what it returns and little else, however large the tables.
func TestQuoteAllocatesLittle(t *testing.T) {
	cluster, bounds := plainCluster(200, 50)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	for i := range 40 {
		j := plainJob(fmt.Sprint("j", i), 1)
		j.Epochs, j.Chunks, j.Utility = int64(1+i), 7, Constant(1e6)
		offer(t, s, j)
	}
	j := plainJob("refused", 1)
	j.Epochs, j.Chunks, j.WorkerBandwidth, j.PSBandwidth = 150, 20, 2, 7
	for _, test := range []struct {
		utility float64
		reason  Verdict
		most    float64
	}{{5000, TooExpensive, 20}, {20000, Admitted, 600}} {
		j.Utility = Linear{test.utility, 0.01}
		if d := quoteBy(t, s, j, BoundsFirst); d.Verdict != test.reason {
			t.Fatalf("%v, want %v", d.Verdict, test.reason)
		}
		allocations := testing.AllocsPerRun(5, func() {
			must.Have(s.Quote(j))(t)
		})
		if allocations > test.most {
			t.Errorf("%v: %g allocations, want at most %g", test.reason, allocations, test.most)
		}
	}
}
