// This file implements Job: work, width and deadlines, [Jain15] §2.

package deadline

import (
	"fmt"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Deadline is one step of a job's value: a job that ends in slot By or before is worth Value.
type Deadline struct {
	By    int     `json:"by"`
	Value float64 `json:"value"`
}

// Job is what is offered.
type Job struct {
	// ID names the job; not empty, unique among the jobs that are there.
	ID string `json:"id"`
	// Work is what is to do, in worker-slots; Width is the most workers in a slot. Both at least 1. Speed is linear.
	Work  int64 `json:"work"`
	Width int64 `json:"width"`
	// Worker is what one worker takes; not zero.
	Worker apportion.Resources `json:"worker"`
	// Deadlines are the steps of the job's value: By ascends, Value is positive and falls. After the last it is worth nothing.
	Deadlines []Deadline `json:"deadlines"`
}

// steps is how many deadlines stand for a value that falls slowly.
const steps = 16

// Deadlines returns the steps of a value that falls with the slots from an arrival: from slot arrival to slot last, a step
// for each sixteenth of the first value that is lost. A value that falls in fewer steps is kept as it is. Within a step the
// job counts with the value at the step's end. O(last - arrival).
func Deadlines(value func(slots int) float64, arrival, last int) []Deadline {
	var out []Deadline
	grain := value(0) / steps
	for top, slot := value(0), arrival; slot <= last; slot++ {
		now := value(slot - arrival)
		next := 0.0
		if slot < last {
			next = value(slot + 1 - arrival)
		}
		if now > 0 && next < now && (top-next > grain || next <= 0) {
			out = append(out, Deadline{By: slot, Value: now})
			top = next
		}
	}
	return out
}

// Validate returns what is wrong with the job as [apportion.Faults], or nil.
func (j *Job) Validate(kinds apportion.Kinds) error {
	var faults apportion.Faults
	item := check.Item("job", j.ID, 0)
	check.ID(&faults, map[string]bool{}, j.ID, item)
	for _, f := range []struct {
		name  string
		value int64
	}{{"Work", j.Work}, {"Width", j.Width}} {
		if f.value < 1 {
			faults.Add(item, f.name, apportion.ErrRange, fmt.Sprint(f.value, " is not positive"))
		}
	}
	check.Resources(&faults, kinds, j.Worker, item, "Worker")
	if j.Worker.IsZero() {
		faults.Add(item, "Worker", apportion.ErrNoDemand, "")
	}
	j.checkDeadlines(&faults, item)
	return faults.Err()
}

func (j *Job) checkDeadlines(faults *apportion.Faults, item apportion.Item) {
	if len(j.Deadlines) == 0 {
		faults.Add(item, "Deadlines", apportion.ErrEmpty, "")
	}
	for i, d := range j.Deadlines {
		field := fmt.Sprintf("Deadlines[%d]", i)
		switch {
		case math.IsNaN(d.Value) || math.IsInf(d.Value, 0):
			faults.Add(item, field, apportion.ErrNotFinite, fmt.Sprint(d.Value))
		case d.Value <= 0:
			faults.Add(item, field, apportion.ErrRange, fmt.Sprint(d.Value, " is not positive"))
		case i > 0 && (d.By <= j.Deadlines[i-1].By || d.Value >= j.Deadlines[i-1].Value):
			faults.Add(item, field, apportion.ErrConflict, "deadlines must ascend and values fall")
		default:
			continue
		}
		return
	}
}
