// This file implements Job: what a training job asks for, [OASiS] §3.1, Table 1.

package primaldual

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/primaldual/internal/schedule"
)

// Job is one training job: Epochs passes over Chunks chunks of data of Minibatches mini-batches
// each, trained by at most one worker a chunk at a time, whose parameters live on parameter servers.
type Job struct {
	// ID names the job; not empty, unique among the jobs that run.
	ID string `json:"id"`
	// Arrival is a_i, the slot in which the job arrives and the first that it may use; at least 1.
	Arrival int `json:"arrival"`
	// Epochs is E_i, Chunks is N_i and also the most workers at one time, Minibatches is M_i; each
	// at least 1.
	Epochs      int64 `json:"epochs,omitzero"`
	Chunks      int64 `json:"chunks,omitzero"`
	Minibatches int64 `json:"minibatches,omitzero"`
	// MinibatchSlots is tau_i, the slots in which one worker trains one mini-batch; positive.
	MinibatchSlots float64 `json:"minibatch_slots,omitzero"`
	// CommSlots is 2 e_i/b_i, the slots in which one worker sends the gradients of a mini-batch and
	// receives parameters; 0 or more. The function [CommSlots] converts.
	CommSlots float64 `json:"comm_slots,omitzero"`
	// WorkerBandwidth is b_i and PSBandwidth is B_i: what one worker and one parameter server
	// reserve, in one unit of the caller's; positive. They only set how many parameter servers
	// serve y workers, ceil(y b/B). Where bandwidth is limited too, it is a kind in Worker and PS.
	WorkerBandwidth int64 `json:"worker_bandwidth,omitzero"`
	PSBandwidth     int64 `json:"ps_bandwidth,omitzero"`
	// Worker is w_i and PS is s_i: the demand of one worker and of one parameter server.
	Worker apportion.Resources `json:"worker"`
	PS     apportion.Resources `json:"ps"`
	// WorkerRequires and PSRequires are what the labels of the servers of either side must satisfy, all of it; empty:
	// any server will do.
	WorkerRequires []apportion.Requirement `json:"worker_requires,omitempty"`
	PSRequires     []apportion.Requirement `json:"ps_requires,omitempty"`
	// Utility is f_i, the worth of the job by the slots from arrival to completion. In JSON it is an object
	// with one of the forms {"sigmoid": [Gamma1, Gamma2, Gamma3]}, {"constant": worth}, {"linear": [Start,
	// PerSlot]} and {"steps": [[Within, Value], ...]}; a utility of another type cannot be written.
	Utility Utility `json:"utility"`
}

// roundingSlack is what W_i = E_i N_i m_i may exceed an integer by, relatively, and still count as
// that integer: 10 * 0.1 * 3 is 3 worker-slots, not 4.
const roundingSlack = 1e-9

// maxWorkerSlots bounds W_i: integers above it are not exact in float64.
const maxWorkerSlots = 1 << 53

// CommSlots returns 2 e/b in slots for gradients of gradientBytes bytes sent, and parameters of the
// same size received, at bitsPerSecond, where a slot lasts slot. Arguments must be positive.
func CommSlots(gradientBytes, bitsPerSecond int64, slot time.Duration) float64 {
	// The 2 is for gradients there and parameters back, the 8 for bits in a byte; bits over
	// bitsPerSecond are seconds, which slot.Seconds() turns into slots.
	return 2 * 8 * float64(gradientBytes) / float64(bitsPerSecond) / slot.Seconds()
}

// Validate returns what is wrong with the job as [apportion.Faults], or nil. Values of the utility
// are not looked at: which of them matter depends on the cluster. O(R).
func (j *Job) Validate(kinds apportion.Kinds) error {
	var faults apportion.Faults
	j.check(&faults, kinds)
	return faults.Err()
}

// check adds the faults of the job. It names the job only in faults found, so that a job without
// fault costs no memory.
func (j *Job) check(faults *apportion.Faults, kinds apportion.Kinds) {
	before := len(*faults)
	if j.ID == "" {
		faults.Add(apportion.Item{}, "ID", apportion.ErrEmpty, "")
	}
	checkPositive(faults, "Arrival", int64(j.Arrival))
	j.checkWork(faults)
	check.Resources(faults, kinds, j.Worker, apportion.Item{}, "Worker")
	check.Resources(faults, kinds, j.PS, apportion.Item{}, "PS")
	j.checkPlaces(faults)
	switch utility := j.Utility.(type) {
	case nil:
		faults.Add(apportion.Item{}, "Utility", apportion.ErrEmpty, "")
	case Steps:
		if i := utility.fault(); i >= 0 {
			detail := fmt.Sprintf("%d slots; deadlines must be 0 or more and ascend", utility[i].Within)
			faults.Add(apportion.Item{}, fmt.Sprintf("Utility[%d]", i), apportion.ErrRange, detail)
		}
	}
	// Where a factor is wrong the product says nothing more. Written as !(x <= most) the test also
	// refuses a product that is not a number.
	if len(*faults) == before && !(j.workerSlots() <= maxWorkerSlots) {
		detail := formatFloat(j.workerSlots()) + " worker-slots"
		faults.Add(apportion.Item{}, "Epochs x Chunks x Minibatches", apportion.ErrOverflow, detail)
	}
	for _, fault := range (*faults)[before:] {
		fault.Item = j.item()
	}
}

func (j *Job) checkWork(faults *apportion.Faults) {
	checkPositive(faults, "Epochs", j.Epochs)
	checkPositive(faults, "Chunks", j.Chunks)
	checkPositive(faults, "Minibatches", j.Minibatches)
	checkPositive(faults, "WorkerBandwidth", j.WorkerBandwidth)
	checkPositive(faults, "PSBandwidth", j.PSBandwidth)
	checkSlots(faults, "MinibatchSlots", j.MinibatchSlots)
	if j.MinibatchSlots == 0 {
		faults.Add(apportion.Item{}, "MinibatchSlots", apportion.ErrRange, "0 is not positive")
	}
	checkSlots(faults, "CommSlots", j.CommSlots)
}

// checkPositive adds a fault where n is not positive.
func checkPositive(faults *apportion.Faults, field string, n int64) {
	if n < 1 {
		faults.Add(apportion.Item{}, field, apportion.ErrRange, strconv.FormatInt(n, 10)+" is not positive")
	}
}

// checkSlots adds a fault where a duration is not a number, infinite or negative.
func checkSlots(faults *apportion.Faults, field string, x float64) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		faults.Add(apportion.Item{}, field, apportion.ErrNotFinite, formatFloat(x))
	case x < 0:
		faults.Add(apportion.Item{}, field, apportion.ErrNegative, formatFloat(x))
	}
}

func (j *Job) item() apportion.Item { return check.Item("job", j.ID, 0) }

// ChunkSlots returns m_i = M_i (tau_i + 2 e_i/b_i), the slots in which one worker trains one chunk.
// A mini-batch is trained in tau_i, then its gradients and parameters travel: nothing overlaps in
// the paper's model.
func (j *Job) ChunkSlots() float64 {
	return float64(j.Minibatches) * (j.MinibatchSlots + j.CommSlots)
}

// workerSlots returns E_i N_i m_i.
func (j *Job) workerSlots() float64 {
	return float64(j.Epochs) * float64(j.Chunks) * j.ChunkSlots()
}

// WorkerSlots returns W_i = ceil(E_i N_i m_i), the worker-slots that the job needs: the right-hand
// side of constraint (2), rounded up as its left-hand side is an integer. The job must be valid.
func (j *Job) WorkerSlots() int64 {
	// Valid factors make positive work, of which roundingSlack must not leave nothing.
	return max(1, ceilSlack(j.workerSlots()))
}

// ShortestSlots returns n_i = ceil(E_i m_i), the fewest slots in which the job can end: those with
// N_i workers in each. The job must be valid.
// It divides W_i by N_i: ceil(ceil(E_i N_i m_i)/N_i) is ceil(E_i m_i), as N_i is an integer.
func (j *Job) ShortestSlots() int64 { return ceilDiv(j.WorkerSlots(), j.Chunks) }

// PSFor returns the fewest parameter servers that serve the given number of workers: ceil(y b/B),
// exactly. It is at most workers where b <= B; for b > B no number will do (constraints (6) and (7)
// contradict each other) and the result is workers + 1.
func (j *Job) PSFor(workers int64) int64 {
	// (6) and (7) ask for y b/B <= z <= y, which no z does for b > B. workers + 1 breaks (7), so
	// that whoever tests that refuses.
	if j.WorkerBandwidth > j.PSBandwidth {
		return workers + 1
	}
	// The fewest are the cheapest, as no price is negative. The product y b is made in 128 bits,
	// since both factors may be large.
	return schedule.CeilMulDiv(workers, j.WorkerBandwidth, j.PSBandwidth)
}

// clone returns a copy that shares no slice with j.
func (j *Job) clone() Job {
	out := *j
	out.Worker, out.PS = j.Worker.Clone(), j.PS.Clone()
	out.WorkerRequires, out.PSRequires = cloneRequires(j.WorkerRequires), cloneRequires(j.PSRequires)
	return out
}

func cloneRequires(requires []apportion.Requirement) []apportion.Requirement {
	out := slices.Clone(requires)
	for i := range out {
		out[i].Values = slices.Clone(out[i].Values)
	}
	return out
}

func (j *Job) checkPlaces(faults *apportion.Faults) {
	for i := range j.WorkerRequires {
		check.Requirement(faults, &j.WorkerRequires[i], apportion.Item{}, fmt.Sprintf("WorkerRequires[%d]", i))
	}
	for i := range j.PSRequires {
		check.Requirement(faults, &j.PSRequires[i], apportion.Item{}, fmt.Sprintf("PSRequires[%d]", i))
	}
}

// requires returns what the labels of the servers of a side must satisfy.
func (j *Job) requires(side Side) []apportion.Requirement {
	if side == ParameterServers {
		return j.PSRequires
	}
	return j.WorkerRequires
}

func (j *Job) demand(side Side) apportion.Resources {
	if side == ParameterServers {
		return j.PS
	}
	return j.Worker
}

// ceilSlack rounds up, but takes what is above an integer by roundingSlack for that integer.
// That is ceil(x - 1e-9 max(1, |x|)): relative for large x, absolute near 0, where a relative slack
// would vanish.
func ceilSlack(x float64) int64 {
	if near := math.Round(x); x-near <= roundingSlack*max(1, math.Abs(x)) {
		return int64(near)
	}
	return int64(math.Ceil(x))
}

// ceilDiv returns ceil(a/b) for a >= 0, b > 0.
func ceilDiv(a, b int64) int64 {
	quotient := a / b
	if a%b > 0 {
		quotient++
	}
	return quotient
}

func formatFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
