// This file implements the form of a Job in JSON, where its utility is an object that names its form.
// Each form has one key with its numbers, so that a utility is readable without a type beside it,
// and an unknown form is told by its name.

package primaldual

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// jobFields is a Job without its methods, jobJSON what JSON holds of one.
type (
	jobFields Job
	jobJSON   struct {
		jobFields
		Utility json.RawMessage `json:"utility"`
		// Speeds and Colocation were once fields of a job. They are read to be refused by name.
		Speeds     json.RawMessage `json:"speeds,omitempty"`
		Colocation json.RawMessage `json:"colocation,omitempty"`
	}
)

// refuseOld refuses a job that asks for what no schedule does any more.
func (j *jobJSON) refuseOld() error {
	var faults apportion.Faults
	if text := string(j.Speeds); text != "" && text != "null" {
		faults.Add(check.Item("job", j.ID, 0), "Speeds", apportion.ErrUnknown, "the work of a slot is linear in its workers, as (2) has it")
	}
	if text := string(j.Colocation); text != "" && text != `"anywhere"` {
		faults.Add(check.Item("job", j.ID, 0), "Colocation", apportion.ErrUnknown, "the servers of the two sides are disjoint: "+text)
	}
	return faults.Err()
}

// MarshalJSON writes a job. Its utility must be nil or of one of this package's types.
func (j Job) MarshalJSON() ([]byte, error) {
	// jobFields has no MarshalJSON, without which json would call this method again and again. The
	// outer Utility hides the embedded one, which is an interface that json cannot read.
	out := jobJSON{jobFields: jobFields(j), Utility: json.RawMessage("null")}
	if j.Utility != nil {
		form, err := utilityForm(j.Utility)
		if err != nil {
			return nil, err
		}
		if out.Utility, err = json.Marshal(form); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes. Faults of the utility are apportion.Faults.
func (j *Job) UnmarshalJSON(text []byte) error {
	var read jobJSON
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	if err := read.refuseOld(); err != nil {
		return err
	}
	// null and nothing both mean no utility, which Validate refuses; here it is no fault, so that a
	// half-filled job can be read and repaired.
	job := Job(read.jobFields)
	if len(read.Utility) > 0 && string(read.Utility) != "null" {
		r := &utilityReader{}
		job.Utility = r.read(read.Utility)
		if err := r.faults.Err(); err != nil {
			return err
		}
	}
	*j = job
	return nil
}

func utilityForm(u Utility) (map[string]any, error) {
	switch u := u.(type) {
	case Sigmoid:
		return map[string]any{"sigmoid": []float64{u.Gamma1, u.Gamma2, u.Gamma3}}, nil
	case Constant:
		return map[string]any{"constant": float64(u)}, nil
	case Linear:
		return map[string]any{"linear": []float64{u.Start, u.PerSlot}}, nil
	case Steps:
		pairs := make([][2]float64, len(u))
		for i, step := range u {
			pairs[i] = [2]float64{float64(step.Within), step.Value}
		}
		return map[string]any{"steps": pairs}, nil
	}
	// A function has no text, and null in its place would come back as a job without utility.
	return nil, fmt.Errorf("primaldual: a utility of type %T has no form in JSON", u)
}

type utilityReader struct{ faults apportion.Faults }

func (r *utilityReader) add(field string, sort error, detail string) {
	r.faults.Add(apportion.Item{}, field, sort, detail)
}

// read returns the utility of a text, or nil.
func (r *utilityReader) read(text []byte) Utility {
	var forms map[string]json.RawMessage
	if !r.value("utility", text, &forms, "an object") {
		return nil
	}
	var u Utility
	known := 0
	// The order of names makes the list of faults the same for the same text, which a map alone
	// does not.
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		field, form := "utility."+name, forms[name]
		switch name {
		case "sigmoid":
			// list returns three numbers whatever it finds, so that one pass reports all faults of
			// a text.
			g := r.list(field, form, 3)
			u = Sigmoid{g[0], g[1], g[2]}
		case "constant":
			var worth float64
			r.value(field, form, &worth, "a number")
			u = Constant(worth)
		case "linear":
			g := r.list(field, form, 2)
			u = Linear{g[0], g[1]}
		case "steps":
			u = r.steps(field, form)
		default:
			r.add(field, apportion.ErrUnknown, "")
			continue
		}
		known++
	}
	switch {
	case len(r.faults) > 0:
	case known == 0:
		r.add("utility", apportion.ErrMissing, "one of sigmoid, constant, linear, steps")
	// Two forms would be two worths for one completion, and neither goes before the other.
	case known > 1:
		r.add("utility", apportion.ErrConflict, "more than one form")
	}
	return u
}

// value sets a value from a text, and returns false where it is of another type than due.
// Each fault names the place in the text, as one job may have many numbers.
func (r *utilityReader) value(field string, text []byte, value any, due string) bool {
	// json takes null for any type and leaves the value as it is: a worth of null would silently be
	// 0.
	if err := json.Unmarshal(text, value); err != nil || string(text) == "null" {
		r.add(field, apportion.ErrType, "not "+due)
		return false
	}
	return true
}

// list reads n numbers.
// The length is compared before any number is read: a fourth number of a sigmoid is a mistake and
// not a comment.
func (r *utilityReader) list(field string, text []byte, n int) []float64 {
	var parts []json.RawMessage
	numbers := make([]float64, n)
	switch {
	case !r.value(field, text, &parts, "an array"):
	case len(parts) != n:
		r.add(field, apportion.ErrLength, strconv.Itoa(len(parts))+" numbers, not "+strconv.Itoa(n))
	default:
		for i := range numbers {
			r.value(field+"["+strconv.Itoa(i)+"]", parts[i], &numbers[i], "a number")
		}
	}
	return numbers
}

// steps reads deadlines, each with what the job is worth if it ends by then.
func (r *utilityReader) steps(field string, text []byte) Steps {
	var pairs []json.RawMessage
	r.value(field, text, &pairs, "an array")
	// An empty list is no fault here: such a job is worth nothing, and refused as Worthless.
	steps := Steps{}
	last := -1.0
	for i, pair := range pairs {
		field, before := field+"["+strconv.Itoa(i)+"]", len(r.faults)
		step := r.list(field, pair, 2)
		switch within := step[0]; {
		case len(r.faults) > before:
		// MaxInt32 slots fit int on every platform and lie far beyond any horizon.
		case within != math.Trunc(within) || within < 0 || within > math.MaxInt32:
			r.add(field, apportion.ErrRange, "a duration is a whole number of slots, 0 or more")
		// Steps.Value takes the first step that is met, which must be the earliest.
		case within <= last:
			r.add(field, apportion.ErrRange, "durations must ascend")
		default:
			last = within
		}
		// Also a faulty step is appended: Steps is dropped with the faults, and positions in
		// messages stay those of the text.
		steps = append(steps, Step{int(step[0]), step[1]})
	}
	return steps
}
