// This file implements the offline problem as a mixed-integer program, [OASiS] (1)-(13).
// Machines, slots and counts appear as they are, not as schedules l of (14): there are too many
// schedules to list. The program is for small instances, as the yardstick of runs and of bounds.

package primaldual

import (
	"fmt"
	"math"
	"sort"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/primaldual/internal/schedule"
)

// Offline is the offline problem of a set of jobs: which to admit, and on which schedules, where all
// of them are known from the start.
type Offline struct {
	// Model maximises total utility (1) subject to (2)-(13). Completion (8) is a binary u_i(t), 1 for
	// the slot in which job i ends, so that x_i = sum_t u_i(t) and (3) reads
	// sum_h y_ih(t) <= N_i sum_{t' >= t} u_i(t').
	Model *milp.Model
	jobs  []offlineJob
}

// offlineJob has the variables of one job; slots count from its arrival. A slot has the variables
// u_i(t), y_i0(t), y_i1(t), ..., z_i0(t), ..., in this order.
type offlineJob struct {
	arrival int
	first   int             // index of the first variable
	ends    []milp.Var      // u_i(t)
	counts  [2][][]milp.Var // y_ih(t) and z_ik(t), by side, slot, server
}

// NewOffline states the offline problem of jobs over slots 1 to cluster.Slots. Jobs that can never run
// are in it and stay out. It has about jobs x slots x servers variables; more than 2^27 are
// ErrTooLarge, before anything is allocated. Quantities above 2^53 are rounded. Other errors are those
// of BoundsOf.
func NewOffline(cluster *Cluster, jobs []Job) (*Offline, error) {
	if err := cluster.Validate(); err != nil {
		return nil, err
	}
	if err := checkJobs(cluster, jobs); err != nil {
		return nil, err
	}
	b := &offlineBuilder{cluster: cluster, builder: milp.NewBuilder("oasis")}
	if err := b.checkSize(jobs); err != nil {
		return nil, err
	}
	for i := range jobs {
		if err := b.job(&jobs[i]); err != nil {
			return nil, err
		}
	}
	// Rows of capacity reach over all jobs and come when all variables exist.
	b.capacity(jobs)
	b.builder.Maximize(b.utility, 0)
	b.builder.NameVariables(b.name)
	model, err := b.builder.Build()
	if err != nil {
		return nil, err
	}
	return &Offline{Model: model, jobs: b.jobs}, nil
}

// Schedules returns the schedules that a solution of Model stands for, by job, nil for jobs that stay
// out. values has one value a variable, whole numbers up to rounding.
func (o *Offline) Schedules(values []float64) []Schedule {
	out := make([]Schedule, len(o.jobs))
	for i := range o.jobs {
		out[i] = o.jobs[i].schedule(values)
	}
	return out
}

// schedule reads the schedule of one job from a solution; nil if the job stays out.
func (j *offlineJob) schedule(values []float64) Schedule {
	ended := false
	for _, end := range j.ends {
		// Solvers return binaries up to a tolerance; halfway no tolerance can take one for the
		// other.
		ended = ended || values[end.Index()] > 0.5
	}
	if !ended {
		return nil
	}
	var schedule Schedule
	for t := range j.ends {
		plan := SlotPlan{Slot: j.arrival + t}
		plan.Workers = placements(j.counts[Workers][t], values)
		plan.PS = placements(j.counts[ParameterServers][t], values)
		// A slot without workers has no parameter servers, by (7), and is no part of a schedule.
		if len(plan.Workers) > 0 {
			schedule = append(schedule, plan)
		}
	}
	return schedule
}

// placements reads the counts of one side in one slot, leaving out zeros.
func placements(counts []milp.Var, values []float64) []apportion.Placement {
	var out []apportion.Placement
	for server, count := range counts {
		// Solvers return whole numbers up to a tolerance, so that cutting off could lose a
		// container.
		if n := int64(math.Round(values[count.Index()])); n > 0 {
			out = append(out, apportion.Placement{Server: server, Count: n})
		}
	}
	return out
}

type offlineBuilder struct {
	cluster *Cluster
	builder *milp.Builder
	jobs    []offlineJob
	utility []milp.Term
	// variables counts the variables of the jobs so far.
	variables int
}

// perSlot returns the number of variables of a job in one slot.
func (b *offlineBuilder) perSlot() int {
	return 1 + len(b.cluster.WorkerServers) + len(b.cluster.PSServers)
}

// checkSize refuses a program with more variables than the limit, with which the memory of a solver grows.
func (b *offlineBuilder) checkSize(jobs []Job) error {
	for i, left := 0, int64(defaultMaxCells); i < len(jobs); i++ {
		slots, each := int64(max(0, b.cluster.Slots-jobs[i].Arrival+1)), int64(b.perSlot())
		if err := schedule.CheckCells(slots, each, left, apportion.Item{ID: "offline problem"}, "slots of all jobs x servers"); err != nil {
			return err
		}
		// CheckCells has found slots x each at most left, so that left stays 0 or more.
		left -= slots * each
	}
	return nil
}

// name returns the name of a variable: u[i,t], y[i,h,t] or z[i,k,t], jobs and servers by their position and slots by their number.
func (b *offlineBuilder) name(index int) string {
	// Job i has the variables from first on, and first never falls. Names are made on demand, as a
	// table of them would be larger than the program.
	i := sort.Search(len(b.jobs), func(i int) bool { return b.jobs[i].first > index }) - 1
	job := &b.jobs[i]
	slot, at := job.arrival+(index-job.first)/b.perSlot(), (index-job.first)%b.perSlot()
	switch workers := len(b.cluster.WorkerServers); {
	case at == 0:
		return fmt.Sprintf("u[%d,%d]", i, slot)
	case at <= workers:
		return fmt.Sprintf("y[%d,%d,%d]", i, at-1, slot)
	default:
		return fmt.Sprintf("z[%d,%d,%d]", i, at-1-workers, slot)
	}
}

// job adds the variables and the constraints of one job.
func (b *offlineBuilder) job(j *Job) error {
	// A job that arrives after the last slot has no variables, and its row of work reads 0 >= 0.
	slots := max(0, b.cluster.Slots-j.Arrival+1)
	o := offlineJob{arrival: j.Arrival, first: b.variables}
	b.variables += slots * b.perSlot()
	// A binary that stands for a completion which cannot be is fixed at 0 and has no coefficient.
	soonest := slots // a job that cannot run has no slot to end in
	if j.misfit(b.cluster) == Admitted && j.ShortestSlots() <= int64(slots) {
		soonest = int(j.ShortestSlots()) - 1
	}
	values, err := j.values(nil, soonest, slots-1)
	if err != nil {
		return err
	}
	// name takes the order apart in which variables are made here: the completion, then both sides.
	for t := range slots {
		end := b.builder.Integer(0, boolBound(t >= soonest), "")
		o.ends = append(o.ends, end)
		if t >= soonest {
			b.utility = append(b.utility, milp.Term{Var: end, Coef: values[t-soonest]}) // (1)
		}
		for _, side := range []Side{Workers, ParameterServers} {
			var counts []milp.Var
			servers := b.cluster.servers(side)
			for h := range servers {
				counts = append(counts, b.builder.Integer(0, b.mostOn(j, side, &servers[h]), "")) // (9)-(13)
			}
			o.counts[side] = append(o.counts[side], counts)
		}
	}
	b.rows(j, &o)
	b.jobs = append(b.jobs, o)
	return nil
}

// mostOn returns the most containers of one side of a job on an empty server, 0 where its labels do not suit.
// (3) and (4) imply it; as a bound of each variable it makes relaxations tighter, and presolve has
// less to find.
func (b *offlineBuilder) mostOn(j *Job, side Side, server *apportion.Server) float64 {
	if !server.Satisfies(j.requires(side)) {
		return 0
	}
	return float64(min(j.Chunks, j.demand(side).CountIn(server.Capacity)))
}

// boolBound returns the upper bound of a binary that may be fixed at 0.
func boolBound(open bool) float64 {
	if open {
		return 1
	}
	return 0
}

func (b *offlineBuilder) rows(j *Job, o *offlineJob) {
	b.builder.AtMost("", terms(nil, o.ends, 1), 1) // x_i <= 1 (11), one completion (8)
	var work []milp.Term
	for t := range o.ends {
		work = b.slotRows(work, j, o, t)
	}
	// W_i stands with x_i = sum_t u_i(t), so that a job that stays out needs no work.
	b.builder.AtLeast("", terms(work, o.ends, -float64(j.WorkerSlots())), 0) // (2)
}

// slotRows adds constraints (3), (6) and (7) of one slot, and the work done there to a row.
func (b *offlineBuilder) slotRows(work []milp.Term, j *Job, o *offlineJob, t int) []milp.Term {
	workers, ps := o.counts[Workers][t], o.counts[ParameterServers][t]
	most := terms(nil, workers, 1)
	// The sum of u_i from t on is 1 up to the completion and 0 after it, so that no worker runs
	// later than the utility says. It also ties (3) to x_i.
	b.builder.AtMost("", terms(most, o.ends[t:], -float64(j.Chunks)), 0) // (3), (8)
	served := terms(nil, workers, float64(j.WorkerBandwidth))
	// In the units of bandwidth, as it is stated: integers, so that no quotient b/B is rounded.
	b.builder.AtMost("", terms(served, ps, -float64(j.PSBandwidth)), 0) // (6)
	fewer := terms(nil, ps, 1)
	b.builder.AtMost("", terms(fewer, workers, -1), 0) // (7)
	return terms(work, workers, 1)
}

// terms appends coef times each variable.
func terms(dst []milp.Term, vars []milp.Var, coef float64) []milp.Term {
	for _, v := range vars {
		dst = append(dst, milp.Term{Var: v, Coef: coef})
	}
	return dst
}

// capacity adds constraints (4) and (5), one for each server, slot and kind that any job demands there.
func (b *offlineBuilder) capacity(jobs []Job) {
	for slot := 1; slot <= b.cluster.Slots; slot++ {
		for _, side := range []Side{Workers, ParameterServers} {
			for h, server := range b.cluster.servers(side) {
				for r, c := range server.Capacity {
					if row := b.taken(jobs, side, [3]int{slot, h, r}); len(row) > 0 {
						b.builder.AtMost("", row, float64(c))
					}
				}
			}
		}
	}
}

// taken returns what all jobs take at a slot, a server of a side and a kind.
func (b *offlineBuilder) taken(jobs []Job, side Side, at [3]int) (row []milp.Term) {
	slot, server, kind := at[0], at[1], at[2]
	for i := range jobs {
		// A job has no variables before its arrival, which is how (9) and (10) are kept.
		if q := jobs[i].demand(side)[kind]; q > 0 && slot >= jobs[i].Arrival {
			count := b.jobs[i].counts[side][slot-jobs[i].Arrival][server]
			row = append(row, milp.Term{Var: count, Coef: float64(q)})
		}
	}
	return row
}
