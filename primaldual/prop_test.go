// This file tests that the methods agree with each other and with exhaustive search.

package primaldual

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/oasisoracle"
)

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	must.TB
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// quoteBy returns the decision of a method in the state of s.
func quoteBy(t failer, s *Scheduler, job Job, method Method) Decision {
	t.Helper()
	before := s.planner.method
	s.planner.method = method
	defer func() { s.planner.method = before }()
	return must.Have(s.Quote(job))(t, method)
}

// checkConstraints checks a schedule against constraints (2), (3), (6), (7), (9) and (10).
func checkConstraints(t failer, j *Job, schedule Schedule) {
	t.Helper()
	for i := range schedule {
		workers, ps := schedule[i].Total(), int64(0)
		for _, p := range schedule[i].PS {
			ps += p.Count
		}
		if workers < 1 || workers > j.Chunks || schedule[i].Slot < j.Arrival || ps > workers ||
			workers*j.WorkerBandwidth > ps*j.PSBandwidth {
			t.Errorf("slot %d: %d workers, %d parameter servers of %+v", schedule[i].Slot, workers, ps, j)
		}
	}
	if schedule.WorkerSlots() < j.WorkerSlots() {
		t.Errorf("%d of %d worker-slots", schedule.WorkerSlots(), j.WorkerSlots())
	}
}

// checkSchedule checks a decision: its schedule, the utility, and the price of what it reserves.
// Capacity is checked by Commit.
func checkSchedule(t failer, s *Scheduler, j *Job, d Decision) {
	t.Helper()
	if !d.Admitted {
		if len(d.Schedule) > 0 || d.Payoff != 0 || d.Verdict == Admitted {
			t.Errorf("refused, but %+v", d)
		}
		return
	}
	checkConstraints(t, j, d.Schedule)
	cost := 0.0
	for i := range d.Schedule {
		plan := &d.Schedule[i]
		for _, side := range []Side{Workers, ParameterServers} {
			for _, p := range plan.on(side) {
				prices := must.Have(s.ledger.Prices(side, plan.Slot, p.Server))(t)
				for r, q := range j.demand(side) {
					cost += prices[r] * float64(q) * float64(p.Count)
				}
			}
		}
	}
	value := j.Utility.Value(d.Completion - j.Arrival)
	if d.Completion != d.Schedule.completion() || d.Utility != value {
		t.Errorf("completion %d, utility %g, want %d, %g", d.Completion, d.Utility, d.Schedule.completion(), value)
	}
	if !isClose(cost, d.Cost, value) || !isClose(d.Utility-d.Cost, d.Payoff, value) || d.Payoff <= 0 {
		t.Errorf("utility %g, cost %g (counted: %g), payoff %g", d.Utility, d.Cost, cost, d.Payoff)
	}
}

// compare checks that all exact methods agree about a job and returns the decision.
func compare(t failer, s *Scheduler, j Job) Decision {
	t.Helper()
	fast, plain := quoteBy(t, s, j, BoundsFirst), quoteBy(t, s, j, CappedDP)
	if fast.Admitted != plain.Admitted || fast.Completion != plain.Completion && fast.Admitted ||
		!isClose(fast.Payoff, plain.Payoff, fast.Utility) || fast.Verdict != plain.Verdict {
		t.Fatalf("job %+v\nbounds first %+v\ncapped dp    %+v", j, fast, plain)
	}
	if fast.Verdict == TooExpensive && fast.Utility-fast.Cost > 1e-9*fast.Utility {
		t.Fatalf("too expensive, but utility %g, cost %g", fast.Utility, fast.Cost)
	}
	checkSchedule(t, s, &j, fast)
	checkSchedule(t, s, &j, plain)
	chunk := quoteBy(t, s, j, ChunkDP)
	checkSchedule(t, s, &j, chunk)
	whole := math.Abs(1/j.ChunkSlots()-math.Round(1/j.ChunkSlots())) < 1e-9
	if chunk.Payoff > fast.Payoff+1e-9*fast.Utility || whole && !isClose(chunk.Payoff, fast.Payoff, fast.Utility) {
		t.Fatalf("job %+v\nbounds first %+v\nchunk dp     %+v", j, fast, chunk)
	}
	return fast
}

// stream draws a cluster and jobs and calls each with every job in turn, after which the job is
// offered.
func stream(t failer, z size, draw source, each func(s *Scheduler, j Job, d Decision)) {
	t.Helper()
	cluster := z.cluster(draw)
	jobs := z.jobsOf(draw, cluster)
	bounds := boundsDraw(draw, cluster, jobs)
	s := must.Have(NewScheduler(cluster, &bounds, nil))(t)
	for _, j := range jobs {
		each(s, j, compare(t, s, j))
		must.Have(s.Offer(j))(t)
	}
	must.Do(t, s.recount())
}

func checkOracle(t failer, s *Scheduler, j Job, d Decision) {
	t.Helper()
	want, costs := oasisoracle.Best(oracleProblem(s, &j))
	if !isClose(want, d.Payoff, 100) {
		t.Fatalf("job %+v: payoff %g, exhaustive search %g", j, d.Payoff, want)
	}
	if room := costs[len(costs)-1] < inf; !room && (d.Admitted || d.Verdict == TooExpensive) || room && d.Verdict == NoRoom {
		t.Fatalf("job %+v: %v, costs %v", j, d.Verdict, costs)
	}
}

// Every method, and every placement of every container: random jobs along the prices of real runs.
func TestMethodsAgreeWithExhaustiveSearch(t *testing.T) {
	runs := uint64(1500)
	if testing.Short() {
		runs = 200
	}
	jobs, admitted := 0, 0
	for seed := range runs {
		stream(t, tinySize, fromSeed(seed), func(s *Scheduler, j Job, d Decision) {
			checkOracle(t, s, j, d)
			jobs++
			if d.Admitted {
				admitted++
			}
		})
	}
	t.Logf("jobs %d, admitted %d", jobs, admitted)
	if !testing.Short() && (jobs < 2000 || admitted < 500) {
		t.Errorf("%d jobs, %d admitted: too few to mean anything", jobs, admitted)
	}
}

func TestMethodsAgreeWithExhaustiveSearchProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream(t, tinySize, fromRapid(t), func(s *Scheduler, j Job, d Decision) { checkOracle(t, s, j, d) })
	})
}

// Larger jobs, for which bounds and reduced costs have work to do.
func TestMethodsAgree(t *testing.T) {
	runs := uint64(300)
	if testing.Short() {
		runs = 40
	}
	jobs, admitted := 0, 0
	for seed := range runs {
		stream(t, mediumSize, fromSeed(seed), func(_ *Scheduler, _ Job, d Decision) {
			jobs++
			if d.Admitted {
				admitted++
			}
		})
	}
	t.Logf("jobs %d, admitted %d", jobs, admitted)
	if !testing.Short() && (jobs < 2000 || admitted < 500) {
		t.Errorf("%d jobs, %d admitted: too few to mean anything", jobs, admitted)
	}
}
