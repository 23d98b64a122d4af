// This file tests the form of jobs in JSON.

package primaldual_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

const someJob = `{"id":"a","arrival":1,"epochs":2,"chunks":3,"minibatches":4,"minibatch_slots":0.5,` +
	`"worker_bandwidth":1,"ps_bandwidth":2,"worker":[1],"ps":[2],"utility":`

// Every utility with a form survives JSON within its job, and so does a job without one.
func TestJobJSON(t *testing.T) {
	for form, utility := range map[string]primaldual.Utility{
		`null`:                       nil,
		`{"sigmoid":[1,2.5,3]}`:      primaldual.Sigmoid{Gamma1: 1, Gamma2: 2.5, Gamma3: 3},
		`{"constant":7}`:             primaldual.Constant(7),
		`{"linear":[9,0.25]}`:        primaldual.Linear{Start: 9, PerSlot: 0.25},
		`{"steps":[[0,5],[3,1]]}`:    primaldual.Steps{{Within: 0, Value: 5}, {Within: 3, Value: 1}},
		`{"steps":[]}`:               primaldual.Steps{},
		`{"steps":[[2147483647,1]]}`: primaldual.Steps{{Within: 1<<31 - 1, Value: 1}},
	} {
		want := primaldual.Job{ID: "a", Arrival: 1, Epochs: 2, Chunks: 3, Minibatches: 4, MinibatchSlots: 0.5,
			WorkerBandwidth: 1, PSBandwidth: 2, Worker: apportion.Resources{1}, PS: apportion.Resources{2}, Utility: utility}
		text := must.Have(json.Marshal(want))(t)
		must.Equal(t, string(text), someJob+form+"}", utility, "is written as", text)
		var got primaldual.Job
		must.Do(t, json.Unmarshal(text, &got))
		must.Equal(t, cmp.Diff(want, got), "", form)
	}
	must.Fail(json.Marshal(primaldual.Job{Utility: ownUtility{}}))(t, must.ErrAny, "a function was written")
}

// A utility that is none is refused with its field, and the job stays as it was.
func TestJobJSONFaults(t *testing.T) {
	for form, want := range map[string]struct {
		field string
		sort  error
	}{
		`{}`:                        {"utility", apportion.ErrMissing},
		`7`:                         {"utility", apportion.ErrType},
		`{"constant":1,"steps":[]}`: {"utility", apportion.ErrConflict},
		`{"constant":1,"magic":2}`:  {"utility.magic", apportion.ErrUnknown},
		`{"constant":"1"}`:          {"utility.constant", apportion.ErrType},
		`{"constant":null}`:         {"utility.constant", apportion.ErrType},
		`{"sigmoid":[1,2]}`:         {"utility.sigmoid", apportion.ErrLength},
		`{"sigmoid":{}}`:            {"utility.sigmoid", apportion.ErrType},
		`{"linear":[1,"2"]}`:        {"utility.linear[1]", apportion.ErrType},
		`{"linear":[1,null]}`:       {"utility.linear[1]", apportion.ErrType},
		`{"steps":[[1,2],[1,1]]}`:   {"utility.steps[1]", apportion.ErrRange},
		`{"steps":[[0.5,2]]}`:       {"utility.steps[0]", apportion.ErrRange},
		`{"steps":[[-1,2]]}`:        {"utility.steps[0]", apportion.ErrRange},
		`{"steps":[[1,2,3]]}`:       {"utility.steps[0]", apportion.ErrLength},
		`{"steps":7}`:               {"utility.steps", apportion.ErrType},
	} {
		job := primaldual.Job{ID: "before"}
		var faults apportion.Faults
		err := json.Unmarshal([]byte(someJob+form+"}"), &job)
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Field != want.field || faults[0].Err != want.sort || job.ID != "before" {
			t.Errorf("%s: %v, job %q; want %s %v", form, err, job.ID, want.field, want.sort)
		}
	}
	if err := json.Unmarshal([]byte(strings.Replace(someJob, `"epochs":2`, `"epochs":"2"`, 1)+"{}}"), new(primaldual.Job)); err == nil {
		t.Error("a text was read as a number")
	}
}

// ownUtility is a utility that JSON knows nothing of.
type ownUtility struct{}

func (ownUtility) Value(int) float64 { return 1 }
