// This file tests that what a runner is given and answers survives JSON, for agents keep it in their books
// and send it to masters.

package runner_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

func again[T any](t *testing.T, value T, want string) {
	t.Helper()
	text := must.Have(json.Marshal(value))(t)
	must.Equal(t, string(text), want, value, "is written as", text)
	var back T
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(value, back) {
		t.Errorf("%s is read as %+v, %v", text, back, err)
	}
}

func TestValuesSurviveJSON(t *testing.T) {
	again(t, runner.Run{Job: "team/lr", Attempt: 3, Containers: []string{"s1", "s1"}, Dir: "/out"},
		`{"job":"team/lr","attempt":3,"containers":["s1","s1"],"dir":"/out"}`)
	again(t, runner.Run{Job: "lr", Attempt: math.MaxInt64, Containers: []string{}, Dir: "/out", Restore: "/in"},
		`{"job":"lr","attempt":9223372036854775807,"containers":[],"dir":"/out","restore":"/in"}`)
	again(t, runner.Run{}, `{"job":"","attempt":0,"containers":null,"dir":""}`)
	again(t, runner.Saved{Dir: "/out", Files: []string{"a", "b/c"}, Step: -1}, `{"dir":"/out","files":["a","b/c"],"step":-1}`)
	again(t, runner.Saved{Dir: "/out", Files: []string{"a"}, Step: 3, Given: true}, `{"dir":"/out","files":["a"],"step":3,"given":true}`)
	again(t, runner.Progress{Step: 7, Running: true}, `{"step":7,"running":true,"done":false}`)
	again(t, runner.Progress{Step: 7, Done: true, Failed: "exit status 1"}, `{"step":7,"running":false,"done":true,"failed":"exit status 1"}`)
}
