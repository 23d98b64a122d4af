// This file tests the parts of the policies on cases that can be worked out by hand.

package schedulers

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// First come, first served, and who fits may pass: b waits for 4, c passes.
func TestStatic(t *testing.T) {
	s := scenario(servers(4, ""), job("a", 0, 200, 2, 4), job("b", 1, 400, 4, 4), job("c", 2, 20, 2, 4))
	if got := ends(run(t, s, &Static{})); !cmp.Equal(got, []int64{100, 200, 12}) {
		t.Error(got)
	}
}

// Least attained: a is stopped when it has had 200 container seconds, at 50 s, and goes on when b is done.
func TestTiresias(t *testing.T) {
	s := scenario(servers(4, ""), job("a", 0, 800, 4, 4), job("b", 10, 160, 4, 4))
	r := run(t, s, &Tiresias{threshold: 200})
	if got := ends(r); !cmp.Equal(got, []int64{240, 90}) || r.Jobs[0].Adjusted != 1 {
		t.Errorf("%v, %d adjusted", got, r.Jobs[0].Adjusted)
	}
	// Below the threshold the one who came first goes on.
	if got := ends(run(t, s, &Tiresias{})); !cmp.Equal(got, []int64{200, 240}) {
		t.Error(got)
	}
}

// Marginal gain against all divisions of 6 containers: with concave speeds the sum of remaining times is least.
func TestOptimusTwin(t *testing.T) {
	for _, works := range [][]int64{{100, 100}, {100, 900}, {50, 4000}, {1000, 10}} {
		a, b := job("a", 0, works[0], 1, 6), job("b", 0, works[1], 1, 6)
		a.Speedup, _ = sim.Amdahl(0.05)
		b.Speedup, _ = sim.Amdahl(0.3)
		r := run(t, scenario(servers(6, ""), a, b), &Optimus{})
		time := func(n, m int64) float64 {
			return float64(works[0])/a.Speedup(n) + float64(works[1])/b.Speedup(m)
		}
		n, m := r.Jobs[0].Spans[0].Places[0].Count, r.Jobs[1].Spans[0].Places[0].Count
		for k := int64(1); k < 6; k++ {
			if time(k, 6-k) < time(n, m)-1e-9 {
				t.Errorf("%v: %d and %d take %g, %d and %d would take %g", works, n, m, time(n, m), k, 6-k, time(k, 6-k))
			}
		}
	}
}

// fasterOn makes a job so many times as fast on a type.
func fasterOn(j sim.Job, all []apportion.Server, speeds map[string]float64) sim.Job {
	j.SpeedOn = func(on []apportion.Placement) float64 {
		speed := 0.0
		for _, p := range on {
			speed += float64(p.Count) * speeds[all[p.Server].Labels[Accelerator]]
		}
		return speed
	}
	return j
}

// Two jobs, two types: the one that gains more by the fast type has it, whoever came first. Not under Gavel: to make the
// least gain largest it lets the other one have it for some of the time.
func TestTypes(t *testing.T) {
	all := servers(1, "fast", "slow")
	a := fasterOn(job("a", 0, 1000, 1, 1), all, map[string]float64{"fast": 1.1, "slow": 1})
	b := fasterOn(job("b", 0, 1000, 1, 1), all, map[string]float64{"fast": 5, "slow": 1})
	for _, p := range []sim.Policy{&Sia{}, &Worth{}, &Dorm{Theta1: 1, Theta2: 1}} {
		r := run(t, scenario(all, a, b), p)
		if got := r.Jobs[1].Completion; got > 250*time.Second {
			t.Errorf("%s: b takes %v, 200 s on the fast type", p.Name(), got)
		}
	}
}

// Sia against all pairs of configurations: what it chooses costs least.
func TestSiaTwin(t *testing.T) {
	all := servers(4, "fast", "slow")
	a := job("a", 0, 10_000, 1, 4)
	a.SpeedOn = func(on []apportion.Placement) float64 {
		return math.Pow(float64(on[0].Count), 0.9) * []float64{3, 1}[on[0].Server]
	}
	b := job("b", 0, 10_000, 1, 4)
	b.SpeedOn = func(on []apportion.Placement) float64 {
		return math.Pow(float64(on[0].Count), 0.5) * []float64{2, 1}[on[0].Server]
	}
	cost := func(j *sim.Job, n int64, h int) float64 {
		return math.Pow(j.SpeedOn([]apportion.Placement{{Server: h, Count: n}}), -0.5)
	}
	best := math.Inf(1)
	for _, n := range []int64{1, 2, 4} {
		for _, m := range []int64{1, 2, 4} {
			for h := range 4 {
				if h/2 != h%2 || n+m <= 4 {
					best = min(best, cost(&a, n, h/2)+cost(&b, m, h%2))
				}
			}
		}
	}
	r := run(t, scenario(all, a, b), &Sia{})
	p, q := r.Jobs[0].Spans[0].Places[0], r.Jobs[1].Spans[0].Places[0]
	if got := cost(&a, p.Count, p.Server) + cost(&b, q.Count, q.Server); got > best*(1+siaGap) {
		t.Errorf("%v and %v cost %g, the least is %g", p, q, got, best)
	}
}

// Worth against all divisions of one server: the sum of logarithms is largest.
func TestWorthTwin(t *testing.T) {
	a, b, c := job("a", 0, 1000, 1, 8), job("b", 0, 1000, 1, 8), job("c", 0, 1000, 1, 8)
	a.Speedup, _ = sim.Amdahl(0.02)
	b.Speedup, _ = sim.Amdahl(0.2)
	c.Speedup, _ = sim.Amdahl(0.9)
	value := func(n, m, k int64) float64 {
		return math.Log(a.Speedup(n)) + math.Log(b.Speedup(m)) + math.Log(c.Speedup(k))
	}
	r := run(t, scenario(servers(8, ""), a, b, c), &Worth{})
	var n [3]int64
	for i := range n {
		n[i] = r.Jobs[i].Spans[0].Places[0].Count
	}
	for x := int64(1); x <= 6; x++ {
		for y := int64(1); x+y <= 7; y++ {
			if got := value(n[0], n[1], n[2]); value(x, y, 8-x-y) > got+2*gap*math.Abs(got) {
				t.Errorf("%v are worth %g, %d %d %d would be %g", n, got, x, y, 8-x-y, value(x, y, 8-x-y))
			}
		}
	}
}

// Attained service: of two equal jobs the one that has had more has fewer containers at power 1, and as many at power 0.
// Without preemption nobody is stopped, with it a job without service stops one that has had much.
func TestWorthWeights(t *testing.T) {
	jobs := []sim.Job{job("old", 0, 40_000, 1, 8), job("new", 4000, 1000, 1, 8)}
	share := func(p *Worth) (old, young int64) {
		p.Observe = func(q *alloc.Problem, d *alloc.Decision) {
			if len(q.Applications) == 2 && old == 0 {
				old, young = d.Shares[0].Containers, d.Shares[1].Containers
			}
		}
		for i := range jobs {
			jobs[i].Speedup, _ = sim.Amdahl(0.05)
		}
		s := scenario(servers(8, ""), jobs...)
		run(t, s, p)
		return old, young
	}
	if old, young := share(&Worth{}); old != 4 || young != 4 {
		t.Errorf("without weights: %d and %d", old, young)
	}
	if old, young := share(&Worth{Power: 1}); old >= young || old < 1 {
		t.Errorf("by attained service: %d and %d", old, young)
	}
	if old, young := share(&Worth{Weigh: func(j *sim.JobState) float64 { return map[string]float64{"old": 9, "new": 1}[j.ID] }}); old <= young {
		t.Errorf("weighed by hand: %d and %d", old, young)
	}
}

// The measures of two jobs on two containers that take 100 and 300 s, each alone for 200 s of them.
func TestMeasure(t *testing.T) {
	s := scenario(servers(2, ""), job("a", 0, 100, 1, 2), job("b", 0, 300, 1, 2))
	r := run(t, s, &Static{})
	m := must.Have(Measure(s, r))(t)
	// a shares with b all the time and has its equal part; b has 1 + 2/3 ... of what there is for its 300 s.
	others := (2*100 + 1*200) / 300.
	want := &Measures{Completed: 2, Mean: 200 * time.Second, Median: 100 * time.Second, P99: 300 * time.Second,
		Makespan: 300 * time.Second, ContainerHours: 400. / 3600, Rho: (1 + 2/others) / 2, WorstRho: 2 / others, Unfair: 0.5}
	must.Equal(t, cmp.Diff(want, m, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })), "")
	if m, err := Measure(s, &sim.Result{Jobs: make([]sim.Outcome, 2)}); err != nil || *m != (Measures{}) {
		t.Errorf("nobody completed: %+v, %v", m, err)
	}
}

// An equal part need not be whole.
func TestShare(t *testing.T) {
	for n, want := range map[float64]float64{0.5: 0.5, 1: 1, 1.5: 1.4, 2: 1.8, 3: 2, 9: 2} {
		if got := share([]float64{1, 1.8, 2}, n); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", n, got, want)
		}
	}
	must.Equal(t, share(nil, 3), 0, "a share of a type that holds none")
}
