// This file tests certificates and the offline program.

package primaldual

import (
	"context"
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/oasisoracle"
)

func certify(t failer, s *Scheduler, jobs []Job, achieved float64) Certificate {
	t.Helper()
	return must.Have(Certify(s.Ledger(), jobs, achieved, nil))(t)
}

// offlineOptimum solves (1)-(13), checks the schedules and returns the optimum.
func offlineOptimum(t failer, cluster *Cluster, jobs []Job) float64 {
	t.Helper()
	offline := must.Have(NewOffline(cluster, jobs))(t)
	solution := must.Have(milp.Solve(context.Background(), bb.Solver{}, offline.Model, nil))(t)
	must.Equal(t, solution.Status, milp.Optimal, "status", "error")
	var none Bounds
	none.UWorker, none.LWorker = make([]float64, len(cluster.Kinds)), make([]float64, len(cluster.Kinds))
	none.UPS, none.LPS = none.UWorker, none.LWorker
	ledger := must.Have(NewLedger(cluster, &none))(t)
	total := 0.0
	for i, schedule := range offline.Schedules(solution.Values) {
		if schedule == nil {
			continue
		}
		must.Do(t, ledger.Commit(&jobs[i], schedule), "the optimum does not fit")
		checkConstraints(t, &jobs[i], schedule)
		total += jobs[i].Utility.Value(schedule.completion() - jobs[i].Arrival)
	}
	if math.Abs(total-solution.Objective) > 1e-6 {
		t.Errorf("the schedules earn %g, the objective is %g", total, solution.Objective)
	}
	return total
}

// oracleInstance states the offline problem for the exhaustive search.
func oracleInstance(cluster *Cluster, jobs []Job) *oasisoracle.Instance {
	in := &oasisoracle.Instance{Slots: cluster.Slots}
	for _, server := range cluster.WorkerServers {
		in.Workers = append(in.Workers, server.Capacity)
	}
	for _, server := range cluster.PSServers {
		in.PS = append(in.PS, server.Capacity)
	}
	for i := range jobs {
		j := &jobs[i]
		job := oasisoracle.Job{
			Arrival: j.Arrival - 1, MaxWorkers: j.Chunks, Work: j.WorkerSlots(),
			WorkerBandwidth: j.WorkerBandwidth, PSBandwidth: j.PSBandwidth, Worker: j.Worker, PS: j.PS,
			Values: make([]float64, cluster.Slots), ClosedWorkers: closed(cluster, j, Workers), ClosedPS: closed(cluster, j, ParameterServers),
		}
		for slot := j.Arrival; slot <= cluster.Slots; slot++ {
			job.Values[slot-1] = j.Utility.Value(slot - j.Arrival)
		}
		in.Jobs = append(in.Jobs, job)
	}
	return in
}

// Reference: [OASiS] (19)-(20): bounds and optimum of the run with prices 2^used.
func TestPaperCertificate(t *testing.T) {
	cluster, bounds, jobs := powersOfTwo()
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	for _, j := range jobs {
		offer(t, s, j)
	}
	// The price part of (19), the sum of all prices times capacities; what is left of the bound is the payoff that A would have
	// at these prices on an empty cluster, 10 for the last slot less its cost of 6.
	pricePart := 0.0
	for slot := 1; slot <= cluster.Slots; slot++ {
		for _, side := range []Side{Workers, ParameterServers} {
			for server, price := range pricesOf(t, s, side, slot, 0) {
				pricePart += price * float64(cluster.servers(side)[server].Capacity[0])
			}
		}
	}
	c := certify(t, s, jobs, 69)
	near6(t, "price part, payoff of A at these prices", []float64{pricePart, c.AtPrices - pricePart}, []float64{248, 4})
	near6(t, "bound at the prices, at no prices", []float64{c.AtPrices, c.Zero}, []float64{252, 80})
	near6(t, "optimum", []float64{offlineOptimum(t, cluster, jobs), oasisoracle.Optimum(oracleInstance(cluster, jobs))}, []float64{78, 78})
	if c.Bound < 78 || c.Bound > 80+1e-6 || math.Abs(c.Ratio-c.Bound/69) > 1e-12 {
		t.Errorf("%+v, want a bound in [78, 80] and a ratio to 69", c)
	}
}

// Reference: [OASiS] (19)-(20) on the example of TestPaperBounds.
func TestPaperFormulaCertificate(t *testing.T) {
	cluster, jobs := formulaExample()
	bounds := boundsOf(t, cluster, jobs, &BoundsOptions{Literal: true})
	s := newScheduler(t, cluster, &bounds, BoundsFirst)
	total := 0.0
	for _, j := range jobs {
		if d := offer(t, s, j); d.Admitted {
			total += d.Utility
		}
	}
	c := certify(t, s, jobs, total)
	near6(t, "bound at the prices", []float64{c.AtPrices}, []float64{374.655927})
	near6(t, "optimum", []float64{offlineOptimum(t, cluster, jobs), oasisoracle.Optimum(oracleInstance(cluster, jobs))}, []float64{82.463766, 82.463766})
}

// Reference: [OASiS] Theorem 4: where one job takes most of a server, 2 alpha times the run may be
// less than the optimum, and so may be the dual value with the payoffs of the run; the certificate
// holds.
func TestPaperLumpyJobs(t *testing.T) {
	cluster := &Cluster{
		Kinds: apportion.Kinds{"unit"}, Slots: 1,
		WorkerServers: servers("w", vec{10}), PSServers: servers("p", vec{10}),
	}
	job := func(id string, worth float64) Job {
		return Job{
			ID: id, Arrival: 1, Epochs: 1, Chunks: 6, Minibatches: 1, MinibatchSlots: 1,
			WorkerBandwidth: 1, PSBandwidth: 10, Worker: vec{1}, PS: vec{1}, Utility: Constant(worth),
		}
	}
	jobs := []Job{job("small", 1), job("big", 1000)}
	bounds := boundsOf(t, cluster, jobs, &BoundsOptions{Literal: true})
	s := newScheduler(t, cluster, &bounds, BoundsFirst)
	naive, total := 0.0, 0.0
	for _, j := range jobs {
		d := offer(t, s, j)
		naive += d.Payoff
		if d.Admitted {
			total += d.Utility
		}
	}
	for _, side := range []Side{Workers, ParameterServers} {
		naive += 10 * mustPrices(t, s, side, 1, 0)[0]
	}
	within(t, "run, 2 alpha times the run, dual value with its payoffs", []float64{total, 2 * bounds.Alpha() * total, naive},
		[]float64{1, 21.2, 145.8}, 0.05)
	c := certify(t, s, jobs, total)
	within(t, "bound at the prices", []float64{c.AtPrices}, []float64{1058.4}, 0.05)
	if optimum := offlineOptimum(t, cluster, jobs); optimum != 1000 || c.Bound < optimum {
		t.Errorf("optimum %g, bound %g, want 1000 and no less", optimum, c.Bound)
	}
}

var offlineSize = size{slots: 3, servers: 2, kinds: 2, capacity: 4, epochs: 2, chunks: 2, jobs: 4}

// The certificate is no less than the optimum, and the program has the optimum of exhaustive search.
func TestCertificateBoundsOptimum(t *testing.T) {
	runs := uint64(150)
	if testing.Short() {
		runs = 20
	}
	tight := 0
	for seed := range runs {
		draw := fromSeed(seed)
		cluster := offlineSize.cluster(draw)
		jobs := offlineSize.jobsOf(draw, cluster)
		bounds := boundsDraw(draw, cluster, jobs)
		s := newScheduler(t, cluster, &bounds, BoundsFirst)
		total := 0.0
		for _, j := range jobs {
			if d := offer(t, s, j); d.Admitted {
				total += d.Utility
			}
		}
		optimum := oasisoracle.Optimum(oracleInstance(cluster, jobs))
		if program := offlineOptimum(t, cluster, jobs); !isClose(program, optimum, optimum) {
			t.Fatalf("seed %d: optimum %g by program, %g by exhaustive search", seed, program, optimum)
		}
		c := certify(t, s, jobs, total)
		for _, bound := range []float64{c.AtPrices, c.Scaled, c.Zero, c.Refined, c.Bound} {
			if bound < optimum-1e-6 || bound < c.Bound || total > optimum+1e-6 {
				t.Fatalf("seed %d: run %g, optimum %g, certificate %+v", seed, total, optimum, c)
			}
		}
		if c.Bound < optimum*1.1 {
			tight++
		}
	}
	t.Logf("within a tenth of the optimum: %d of %d", tight, runs)
	if tight < int(runs)/3 {
		t.Errorf("%d of %d bounds within a tenth of the optimum", tight, runs)
	}
}

func TestCertifyRefuses(t *testing.T) {
	cluster, bounds, jobs := powersOfTwo()
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	for _, test := range []struct {
		name     string
		jobs     []Job
		achieved float64
		options  *CertificateOptions
		want     error
	}{
		{"two jobs of one id", append(jobs[:1:1], jobs[0]), 0, nil, apportion.ErrDuplicate},
		{"arrival after the horizon", []Job{arriving(jobs[0], 4)}, 0, nil, apportion.ErrRange},
		{"not a number", jobs, math.NaN(), nil, apportion.ErrNotFinite},
		{"more than possible", jobs, 81, nil, apportion.ErrConflict},
		{"too large", jobs, 0, &CertificateOptions{MaxCells: 11}, ErrTooLarge},
		{"too large, without jobs", nil, 0, &CertificateOptions{MaxCells: 1}, ErrTooLarge},
	} {
		must.Fail(Certify(s.Ledger(), test.jobs, test.achieved, test.options))(t, test.want, test.name, "error")
	}
	c, err := Certify(s.Ledger(), jobs, 0, &CertificateOptions{Steps: -1})
	if err != nil || !math.IsInf(c.Ratio, 1) || c.Refined != c.Scaled {
		t.Errorf("nothing achieved, no steps: %+v, %v", c, err)
	}
	if c, err := Certify(s.Ledger(), nil, 0, nil); err != nil || c.Ratio != 1 || c.Bound != 0 {
		t.Errorf("no jobs: %+v, %v", c, err)
	}
}

func arriving(j Job, slot int) Job {
	j.Arrival = slot
	return j
}

// Variables are named by what they stand for; jobs that cannot run, and slots before a job's arrival
// or soonest end, have none to use.
func TestOfflineModel(t *testing.T) {
	cluster, _, jobs := powersOfTwo()
	late, never := arriving(jobs[1], 2), arriving(jobs[2], 9)
	offline := must.Have(NewOffline(cluster, []Job{jobs[0], late, never}))(t)
	must.Equal(t, offline.Model.Variables(), 5*5, "variables")
	for index, want := range map[int]string{
		0: "u[0,1]", 1: "y[0,0,1]", 2: "y[0,1,1]", 3: "z[0,0,1]", 4: "z[0,1,1]", 5: "u[0,2]", 15: "u[1,2]", 24: "z[1,1,3]",
	} {
		must.Equal(t, offline.Model.VariableName(index), want, "variable", index)
	}
	// The second job takes two slots: it cannot end in the first of them.
	if first, second := offline.Model.Variable(15), offline.Model.Variable(20); first.Upper != 0 || second.Upper != 1 || second.Cost != 32 {
		t.Errorf("ends %+v, %+v", first, second)
	}
}
