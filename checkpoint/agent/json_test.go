// This file checks that what agents and masters say to each other, and what they keep, survives JSON unchanged.

package agent_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/runner"
)

func TestValuesSurviveJSON(t *testing.T) {
	stamp := agent.Stamp{Boot: "b", At: time.Hour + 1}
	run := runner.Run{Job: "lr", Attempt: 3, Containers: []string{"s1", "s1"}, Dir: "/shared/lr/3", Restore: "/restored/lr/3"}
	e := checkpoint.Effect{ID: 1, Epoch: 2, Action: checkpoint.Resume, Job: "lr", Attempt: 3, Containers: []string{"s1"}, Servers: []string{"s1"}, Checkpoint: 9}
	_, denied := fence.Admit(checkpoint.Effect{Epoch: 1, Action: checkpoint.Stop, Job: "lr"})
	for _, value := range []any{
		stamp, agent.Lease{Length: time.Minute, Heard: stamp}, fence, denied, agent.Verdict{Ruling: agent.Perform},
		agent.Order{Effect: e, Spec: json.RawMessage(`{"start":["a"]}`), Heard: stamp}, agent.Order{Effect: e},
		agent.Question{Epoch: 3, Heard: stamp}, agent.Question{},
		agent.Status{Clock: stamp, Jobs: []agent.JobStatus{{Job: "lr", Attempt: 3, Progress: runner.Progress{Step: 5, Failed: "killed"}}}},
		agent.Page{Marks: fence.Marks, Containers: 2, Run: &run, Spec: json.RawMessage(`[1]`)}, agent.Page{},
	} {
		text, err := json.Marshal(value)
		if err != nil {
			t.Errorf("%+v: %v", value, err)
			continue
		}
		again := reflect.New(reflect.TypeOf(value))
		if err := json.Unmarshal(text, again.Interface()); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(value, again.Elem().Interface()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", text, diff)
		}
	}
}
