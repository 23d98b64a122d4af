// This file implements BoundsOf: U, L and eta from a set of jobs, [OASiS] eqs. (23)-(26).

package primaldual

import (
	"cmp"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// BoundsOptions say how BoundsOf sets U and L. nil and the zero value are the recommended setting.
type BoundsOptions struct {
	// Literal takes (23)-(26) as printed: one eta for all jobs, no floor, quantities of different
	// kinds added up in their raw units. The other fields but LScale, UScale and Rolling do not count.
	Literal bool
	// EtaGlobal uses the largest eta of all jobs for each of them, as the paper does, instead of the
	// job's own. L is then smaller and jobs of little worth are admitted for longer.
	EtaGlobal bool
	// RawUnits adds up quantities of different kinds as they are. By default each kind is measured in
	// the mean capacity of a server of the side, so that L does not depend on the choice of units.
	RawUnits bool
	// LFloorEps is the part of the largest utility below which utilities do not pull L down: without
	// it one job with a sharp deadline makes L, and prices until a server is nearly full, vanish.
	// 0 means 0.05; negative means no floor.
	LFloorEps float64
	// LScale and UScale multiply L and U; 0 means 1. A sample of the jobs to come takes safety
	// factors, for instance LScale 0.5 and UScale 2. L is cut to a quarter of U where it is above.
	LScale, UScale float64
	// Reached is a total utility that some schedules of the jobs over Cluster.Slots slots reach, for
	// instance what a run with the bounds of the jobs alone earned; 0 means not known. L is then as
	// large as Theorem 4 allows, with an initial dual value of Reached/2, at most half the optimum;
	// EtaGlobal and LFloorEps do not count. Without it L answers for the worth of a single job and is
	// usually a hundred times lower. A total that no schedules reach costs the guarantee.
	Reached float64
	// Rolling is for a scheduler whose horizon moves on: every job may use all Cluster.Slots slots
	// from its arrival. By default slots end at Cluster.Slots for all.
	Rolling bool
}

// defaultLFloorEps is LFloorEps where the options leave it 0.
const defaultLFloorEps = 0.05

// sides4 is the 4 of (24) and (26): each of the two sides may add a quarter of the offline optimum to
// the initial dual value, one half in all.
const sides4 = 4

// BoundsOf returns the bounds for the jobs given: all the jobs of a run, or a sample. Jobs that can
// never run or never earn anything take no part. It refuses bad options, jobs and clusters with
// [apportion.Faults] or an [*apportion.FieldError]. O(jobs x (slots + servers x kinds)).
//
// Source: [OASiS] eqs. (23)-(26).
func BoundsOf(cluster *Cluster, jobs []Job, options *BoundsOptions) (Bounds, error) {
	options = cmp.Or(options, &BoundsOptions{})
	if err := cluster.Validate(); err != nil {
		return Bounds{}, err
	}
	if err := options.check(); err != nil {
		return Bounds{}, err
	}
	// A job that cannot run or earn nothing must not be in worths: its utility of 0 would make L 0,
	// and its demand would say nothing of prices that anybody pays.
	worths, err := worthsOf(cluster, jobs, options)
	if err != nil {
		return Bounds{}, err
	}
	// The two sides know nothing of each other: (23) and (24) look at workers alone, (25) and (26)
	// at parameter servers alone.
	var bounds Bounds
	bounds.UWorker, bounds.LWorker, bounds.EtaWorker = sideBounds(cluster, worths, Workers, options)
	bounds.UPS, bounds.LPS, bounds.EtaPS = sideBounds(cluster, worths, ParameterServers, options)
	// A huge utility over a small demand may overflow, or UScale may push U there: Validate finds
	// it, so that no ledger gets infinite prices.
	return bounds, bounds.Validate(cluster.Kinds)
}

func (o *BoundsOptions) check() error {
	var faults apportion.Faults
	for _, field := range []struct {
		name  string
		value float64
	}{{"LScale", o.LScale}, {"UScale", o.UScale}, {"Reached", o.Reached}} {
		if math.IsNaN(field.value) || math.IsInf(field.value, 0) {
			faults.Add(apportion.Item{ID: "options"}, field.name, apportion.ErrNotFinite, formatFloat(field.value))
		} else if field.value < 0 {
			faults.Add(apportion.Item{ID: "options"}, field.name, apportion.ErrNegative, formatFloat(field.value))
		}
	}
	// From LFloorEps = 1 on no job but the most valuable would count in L, and above 1 not even
	// that one.
	if math.IsNaN(o.LFloorEps) || o.LFloorEps >= 1 {
		faults.Add(apportion.Item{ID: "options"}, "LFloorEps", apportion.ErrRange, formatFloat(o.LFloorEps)+" is not below 1")
	}
	return faults.Err()
}

// floor returns the part of the largest utility that bounds L from below.
func (o *BoundsOptions) floor() float64 {
	switch {
	case o.Literal || o.LFloorEps < 0:
		return 0
	case o.LFloorEps == 0:
		return defaultLFloorEps
	}
	return o.LFloorEps
}

// worth is what one job contributes to the bounds.
type worth struct {
	job         *Job
	best, least float64 // f_i at the earliest completion; smallest positive value it can end with
	minor       bool    // takes no part in L and eta
}

// worthsOf returns the worths of the jobs that can run and earn something.
func worthsOf(cluster *Cluster, jobs []Job, options *BoundsOptions) ([]worth, error) {
	if err := checkJobs(cluster, jobs); err != nil {
		return nil, err
	}
	var worths []worth
	var values []float64
	most := 0.0
	for i := range jobs {
		job := &jobs[i]
		last := cluster.Slots - job.Arrival
		if options.Rolling {
			last = cluster.Slots - 1
		}
		if job.ShortestSlots() > int64(last)+1 || job.misfit(cluster) != Admitted {
			continue
		}
		var err error
		// values[0] is f_i(n_i - 1), the most that the job can reach. With the f_i(n_i) of the
		// paper a schedule of n_i slots would be worth more than U says, and a full server would
		// not refuse it.
		if values, err = job.values(values[:0], int(job.ShortestSlots())-1, last); err != nil {
			return nil, err
		}
		// A job without worth at its earliest completion is refused in any case, and f_i = 0 has no
		// logarithm in L.
		if values[0] == 0 {
			continue
		}
		w := worth{job: job, best: values[0]}
		// Values never increase, so that the last positive one is the smallest. f_i(T - a_i)
		// itself, which the paper takes, is 0 or underflows for a sharp deadline, and L = 0 would
		// make every price 0.
		for _, value := range values {
			if value > 0 {
				w.least = value
			}
		}
		worths = append(worths, w)
		most = max(most, w.best)
	}
	return raise(worths, options.floor()*most), nil
}

// raise lifts the least worths to floor, and lets the jobs worth less than that say nothing about L.
// They still count in U, so that no job finds a kind that it demands free of charge.
// The optimum loses at most the sum of min(f_i, floor) by it; without it ln(U/L) grows into the
// hundreds and a server has no price until it is nearly full.
func raise(worths []worth, floor float64) []worth {
	for i := range worths {
		worths[i].minor = worths[i].best < floor
		worths[i].least = max(worths[i].least, floor)
	}
	return worths
}

func checkJobs(cluster *Cluster, jobs []Job) error {
	var faults apportion.Faults
	seen := make(map[string]bool, len(jobs))
	for i := range jobs {
		jobs[i].check(&faults, cluster.Kinds)
		// An empty ID is a fault of check already: two of them are not also duplicates.
		if jobs[i].ID != "" && seen[jobs[i].ID] {
			faults.Add(jobs[i].item(), "ID", apportion.ErrDuplicate, "")
		}
		seen[jobs[i].ID] = true
	}
	return faults.Err()
}

// sideBounds returns U, L and eta of one side. (eqs. 23-26)
func sideBounds(cluster *Cluster, worths []worth, side Side, options *BoundsOptions) (upper, lower []float64, eta float64) {
	// U[r] = max_i f_i(n_i - 1) / w_i[r]: one container on a full server then costs as much as any
	// job is worth, so that price alone keeps a full server full. (eqs. 23, 25)
	upper = make([]float64, len(cluster.Kinds))
	for _, w := range worths {
		for r, q := range w.job.demand(side) {
			// A job with q = 0 never pays for kind r, and would divide by 0.
			if q > 0 {
				upper[r] = max(upper[r], scaleOr1(options.UScale)*w.best/float64(q))
			}
		}
	}
	// u.total is T sum_h sum_r c_h[r]: what the whole side holds over the whole span, to which eta
	// relates the least use of each job.
	u := sideUnits{side: side, unit: unitsOf(cluster, side, options)}
	for _, server := range cluster.servers(side) {
		for r, c := range server.Capacity {
			// A kind that no job demands has price 0 and adds nothing to the initial dual value, so
			// that its capacity must not press L down.
			if upper[r] > 0 {
				u.total += float64(cluster.Slots) * float64(c) / u.unit[r]
			}
		}
	}
	// Logarithms keep L from underflow: it divides a utility by all capacity over all slots.
	logL, eta := u.logLower(worths, options.Literal || options.EtaGlobal)
	// D_0 is L times total on each side. With L = Reached/(4 total) the two sides make D_0 =
	// Reached/2, and Lemma 1 asks for no more than D_0 <= OPT/2.
	if options.Reached > 0 && !options.Literal {
		logL = math.Log(options.Reached) - math.Log(sides4*u.total)
	}
	// LScale applies to either form of L. It comes before the cut at U/4, so that no scale makes L
	// exceed U.
	logL += math.Log(scaleOr1(options.LScale))
	lower = make([]float64, len(upper))
	// In units L is one number for the whole side; divided by unit[r] it is a price of one unit of
	// kind r.
	for r := range lower {
		if upper[r] > 0 {
			// A literal L may underflow; the smallest normal number still has a logarithm. A scaled L
			// may exceed U, and there is none where all jobs are minor.
			lower[r] = max(min(math.Exp(logL-math.Log(u.unit[r])), upper[r]/sides4), 0x1p-1022)
		}
	}
	return upper, lower, eta
}

// sideUnits is what quantities of one side are measured in when kinds are added up.
type sideUnits struct {
	side  Side
	unit  []float64 // one a kind
	total float64   // T sum_h sum_r c_h[r] of the kinds that are demanded, in units
}

// logLower returns ln L and eta, +Inf and 0 where no job says anything. global takes the largest eta
// for all jobs. With the eta of the job itself, eta times the least use of the job is total.
func (u *sideUnits) logLower(worths []worth, global bool) (logL, eta float64) {
	logL = math.Inf(1)
	// The paper asks for 1/eta <= need_i/total for every job i, thus eta = max_i total/need_i.
	// (eqs. 24, 26)
	for _, w := range worths {
		if need := u.leastUse(w.job); need > 0 && !w.minor {
			eta = max(eta, u.total/need)
		}
	}
	// L = min_i f_i / (4 eta need_i). With the eta of each job by itself eta need_i is total,
	// need_i cancels, and L is as large as D_0 <= OPT/2 allows. (eqs. 24, 26)
	for _, w := range worths {
		need := u.leastUse(w.job)
		// A job that demands nothing on this side pays nothing whatever L is, and need = 0 would
		// divide by 0.
		if need == 0 || w.minor {
			continue
		}
		all := u.total
		if global {
			all = eta * need
		}
		logL = min(logL, math.Log(w.least)-math.Log(sides4*all))
	}
	return logL, eta
}

// leastUse returns the least that a job takes of the side, all slots and kinds added up, in units:
// W_i sum_r w_i[r] or Z_i sum_r s_i[r].
func (u *sideUnits) leastUse(j *Job) float64 {
	// Workers use W_i worker-slots at least, by (2).
	containers := float64(j.WorkerSlots())
	if u.side == ParameterServers {
		// Z_i = ceil(W_i b_i/B_i). As sum_t ceil(x_t) >= ceil(sum_t x_t), no schedule has fewer
		// parameter-server slots. (eq. 26)
		containers = float64(j.PSFor(j.WorkerSlots()))
	}
	sum := 0.0
	for r, q := range j.demand(u.side) {
		if q > 0 {
			sum += float64(q) / u.unit[r]
		}
	}
	return containers * sum
}

// scaleOr1 returns a scale of which 0 means 1.
func scaleOr1(scale float64) float64 {
	if scale == 0 {
		return 1
	}
	return scale
}

// unitsOf returns what each kind is measured in when kinds are added up: the mean capacity of a
// server, or 1.
func unitsOf(cluster *Cluster, side Side, options *BoundsOptions) []float64 {
	unit := make([]float64, len(cluster.Kinds))
	for r := range unit {
		unit[r] = 1
	}
	if options.Literal || options.RawUnits {
		return unit
	}
	servers := cluster.servers(side)
	total, _ := check.Total(servers, len(unit)) // Validate has refused sums that overflow
	for r, c := range total {
		// unit[r] moves with the unit that the caller counts kind r in, as q and c do, so that
		// q/unit[r] stays as it is. A kind without capacity keeps 1, as 0 would divide by 0.
		if c > 0 {
			unit[r] = float64(c) / float64(len(servers))
		}
	}
	return unit
}
