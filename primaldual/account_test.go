// This file tests what decides over a job before any schedule: why it can never run, and the rules of its
// places. All numbers are worked out by hand.

package primaldual

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// Jobs that say where they may run survive JSON and snapshots, and faults name the field.
func TestPlacesOfJobs(t *testing.T) {
	j := plainJob("j", 1)
	j.WorkerRequires = []apportion.Requirement{{Key: "gpu", Op: apportion.In, Values: []string{"a100", "h100"}}}
	j.PSRequires = []apportion.Requirement{{Key: "gpu", Op: apportion.NotExists}}
	text := must.Have(json.Marshal(j))(t)
	var back Job
	if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(j, back) {
		t.Errorf("%s: %+v, %v", text, back, err)
	}
	own := j.clone()
	own.WorkerRequires[0].Values[0] = "v100"
	must.Equal(t, j.WorkerRequires[0].Values[0], "a100", "a clone shares the values of its requirements")
	for field, change := range map[string]func(*Job){
		"WorkerRequires[0].Key": func(j *Job) { j.WorkerRequires[0].Key = "" },
		"PSRequires[0].Op":      func(j *Job) { j.PSRequires[0].Op = "like" },
	} {
		bad := j.clone()
		change(&bad)
		var fault *apportion.FieldError
		if err := bad.Validate(apportion.Kinds{"unit"}); !errors.As(err, &fault) || fault.Field != field || fault.Item.ID != "j" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A job that asks for labels which no server has is told so, and one that asks for some runs only there.
func TestRequires(t *testing.T) {
	cluster, bounds := plainCluster(4, 4)
	cluster.WorkerServers = servers("w", vec{4}, vec{4})
	cluster.WorkerServers[1].Labels = map[string]string{"gpu": "a100"}
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := plainJob("j", 1)
	j.WorkerRequires = []apportion.Requirement{{Key: "gpu", Op: apportion.In, Values: []string{"h100"}}}
	if d := offer(t, s, j); d.Verdict != FitsNoWorkerServer || d.Reason.Text != "no worker server has the labels that it requires" {
		t.Errorf("%v: %+v", d.Verdict, d.Reason)
	}
	j.WorkerRequires[0].Values[0] = "a100"
	d := offer(t, s, j)
	for _, plan := range d.Schedule {
		for _, p := range plan.Workers {
			must.Equal(t, p.Server, 1, "slot", plan.Slot, "worker server")
		}
	}
	if !d.Admitted {
		t.Errorf("%+v", d.Reason)
	}
}

// What jobs could once ask for, and no schedule does any more, is refused by name; the old form of asking for nothing is read.
func TestOldJobsAreRefused(t *testing.T) {
	plain := must.Have(json.Marshal(plainJob("j", 1)))(t)
	for extra, field := range map[string]string{
		`"speeds":[{"workers":1,"ps":0,"units":2}],"units":1,`: "Speeds", `"colocation":"apart",`: "Colocation",
		`"colocation":"on one machine",`: "Colocation", `"colocation":"anywhere",`: "", `"speeds":null,`: "",
	} {
		var j Job
		var fault *apportion.FieldError
		err := json.Unmarshal([]byte("{"+extra+string(plain[1:])), &j)
		if field == "" && (err != nil || !cmp.Equal(j, plainJob("j", 1))) {
			t.Errorf("%s: %+v, %v", extra, j, err)
		}
		if field != "" && (!errors.As(err, &fault) || fault.Field != field || fault.Item.ID != "j" || !errors.Is(err, apportion.ErrUnknown)) {
			t.Errorf("%s: %v", extra, err)
		}
	}
}
