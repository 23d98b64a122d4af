//go:build !js

// This file tests "apportion specon" against a twin that only follows containers around, and the lines that the
// streams of container monitors are made of.

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement"
)

// follower knows where each container is and what it holds, from the lines of a stream and the answers to it.
type follower struct {
	capacity int64
	worker   map[string]string
	demand   map[string]int64
}

// used returns how much of a worker its containers hold.
func (f *follower) used(worker string) (sum int64) {
	for id, at := range f.worker {
		if at == worker {
			sum += f.demand[id]
		}
	}
	return sum
}

// move carries a transfer out. It must start where the container is and find room where it goes.
func (f *follower) move(t *testing.T, m *speconTransfer) {
	t.Helper()
	if f.worker[m.Container] != m.From || m.From == m.To {
		t.Errorf("%+v, but the container is on %q", m, f.worker[m.Container])
	}
	f.worker[m.Container] = m.To
	if used := f.used(m.To); used > f.capacity {
		t.Errorf("%+v: %s has %d of %d in use then", m, m.To, used, f.capacity)
	}
}

// randomSpeCon returns a stream in which containers come, learn at their own speeds, and leave, with what the
// follower is told before each tick. They begin on the first crowded workers.
func randomSpeCon(t *testing.T, seed uint64, crowded int, options string) (text string, ticks []func(*follower)) {
	rng := rand.New(rand.NewPCG(seed, 12))
	text = `{"kinds":["cpu"],"workers":[{"id":"w0","capacity":[9]},{"id":"w1","capacity":[9]},{"id":"w2","capacity":[9]}],"interval":10,"alpha":0.02,"options":{` + options + "}}\n"
	left := map[string]bool{}
	for second := 0; second <= 200; second += 10 {
		var told []func(*follower)
		for c := range 9 {
			id := fmt.Sprint("c", c)
			if left[id] || second < 10*(c%4) {
				continue
			}
			if second > 100 && rng.IntN(25) == 0 {
				left[id] = true
				text += fmt.Sprintf("{\"exit\": %q}\n", id)
				told = append(told, func(f *follower) { delete(f.worker, id) })
				continue
			}
			more := map[string]any{"usage": map[string]float64{"cpu": 0.5 + rng.Float64()/2}}
			if second == 10*(c%4) { // the first sample says where it is
				worker, demand := fmt.Sprint("w", c%crowded), 1+rng.Int64N(2)
				more["worker"], more["demand"] = worker, []int64{demand}
				told = append(told, func(f *follower) { f.worker[id], f.demand[id] = worker, demand })
			}
			text += sampleLine(t, second, id, 10*math.Exp(-float64(second)/(5+20*float64(c)))+0.05*rng.Float64(), more)
		}
		text += fmt.Sprintf("{\"tick\": %d}\n", second)
		ticks = append(ticks, func(f *follower) {
			for _, tell := range told {
				tell(f)
			}
		})
	}
	return text, ticks
}

// Transfers start where a container is and end where it fits, categories count every container once on its
// worker, and scores are the weighted sums of the counts.
func TestSpeConFollowsContainers(t *testing.T) {
	moved := 0
	for seed := range uint64(30) {
		options, weights := "", []float64{2, 1.5, 1}
		if seed%2 == 1 {
			options, weights = `"weights":[4,2,0.5],"at_entry":true`, []float64{4, 2, 0.5}
		}
		text, ticks := randomSpeCon(t, seed, 2, options)
		code, out, errs := call(t, text, "specon")
		must.Equal(t, code, answered, errs)
		f := &follower{9, map[string]string{}, map[string]int64{}}
		answers := slices.Collect(strings.Lines(out))
		must.Equal(t, len(answers), len(ticks), "seed", seed, "answers to", "ticks")
		for i, line := range answers {
			var a speconAnswer
			must.Do(t, json.Unmarshal([]byte(line), &a))
			ticks[i](f)
			if a.Migration != nil {
				f.move(t, a.Migration)
				moved++
			}
			for j := range a.Rebalance {
				f.move(t, &a.Rebalance[j])
				moved++
			}
			if a.Time != float64(10*i) || len(a.Workers) != 3 {
				t.Errorf("seed %d, answer %d: %s", seed, i, line)
			}
			for _, w := range a.Workers {
				n := int64(0)
				for _, at := range f.worker {
					if at == w.ID {
						n++
					}
				}
				score := weights[0]*float64(w.Progressing) + weights[1]*float64(w.Watching) + weights[2]*float64(w.Converged)
				if w.Progressing+w.Watching+w.Converged != n || w.Score != score {
					t.Errorf("seed %d, tick %d: %+v, but %d containers are there, for a score of %g", seed, 10*i, w, n, score)
				}
			}
		}
	}
	if moved < 20 {
		t.Errorf("%d containers were moved: too few to show anything", moved)
	}
}

// Workers are evened out unless the first line says that they are not.
func TestSpeConRebalance(t *testing.T) {
	for options, want := range map[string]bool{"": true, `"rebalance":true`: true, `"rebalance":false`: false} {
		evened := 0
		for seed := range uint64(10) {
			text, _ := randomSpeCon(t, seed, 1, options)
			// Nobody grows enough, and Algorithm 5 begins when all have converged.
			_, out, _ := call(t, strings.Replace(text, `"alpha":0.02`, `"alpha":5`, 1), "specon")
			evened += strings.Count(out, "\n") - strings.Count(out, `"rebalance":[]`)
		}
		must.Equal(t, evened > 0, want, options, "workers were evened out", evened, "times")
	}
}

// What a sample may say depends on what is known of its container.
func TestSpeConFaults(t *testing.T) {
	const header = `{"kinds":["cpu"],"workers":[{"id":"w","capacity":[4]}],"interval":10,"alpha":0.1}` + "\n"
	const known = `{"time":0,"container":"a","worker":"w"}` + "\n"
	for _, test := range []struct{ name, lines, want string }{
		{"first without a worker", `{"time":0,"container":"a"}`, `line 2, container "a": worker is missing`},
		{"unknown worker", `{"time":0,"container":"a","worker":"x"}`, `line 2, container "a": worker is unknown: "x"`},
		{"later on an unknown worker", known + `{"time":1,"container":"a","worker":"x"}`, `line 3, container "a": worker is unknown: "x"`},
		{"exit of nobody", known + `{"exit":"b"}`, `line 3, container "b": exit is unknown`},
		{"exit twice", known + `{"exit":"a"}` + "\n" + `{"exit":"a"}`, `line 4, container "a": exit is unknown`},
		{"back after an exit, without a worker", known + `{"exit":"a"}` + "\n" + `{"time":5,"container":"a"}`, `line 4, container "a": worker is missing`},
		{"tick that goes back", `{"tick":2}` + "\n" + `{"tick":1}`, "line 3: tick is out of range: 1 is before 2"},
		{"ticks at one time", `{"tick":2}` + "\n" + `{"tick":2}`, ""},
		{"demand of two kinds", `{"time":0,"container":"a","worker":"w","demand":[1,1]}`, `line 2, container "a": demand has the wrong length`},
		{"later with another demand", known + `{"time":1,"container":"a","demand":[2]}`, ""},
		{"value without usage", known + `{"time":1,"container":"a","value":3}`, ""},
		{"a field of another kind of line", `{"tick":2,"container":"a"}`, "line 2: container"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := answerSpeCon(t.Context(), &command{in: strings.NewReader(header + test.lines), out: &strings.Builder{}, strict: true})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// Every line is read as what its key says, with all that is in it.
func TestMonitorEvents(t *testing.T) {
	kinds := apportion.Kinds{"cpu", "gpu"}
	for _, test := range []struct {
		text   string
		placed bool
		want   *monitorEvent // nil: refused
	}{
		{`{"tick":1.5}`, false, &monitorEvent{verb: "tick", at: 1500 * time.Millisecond}},
		{`{"exit":"a"}`, false, &monitorEvent{verb: "exit", id: "a"}},
		{`{"exit":""}`, false, nil},
		{`{"tick":-1}`, false, nil},
		{`{"time":2,"container":"a"}`, false, &monitorEvent{verb: "sample", at: 2 * time.Second, id: "a", usage: []float64{1, 1}}},
		{`{"time":2,"container":"a","value":3,"usage":{"gpu":0.5,"cpu":0}}`, false,
			&monitorEvent{verb: "sample", at: 2 * time.Second, id: "a", reads: true, value: 3, usage: []float64{0, 0.5}}},
		{`{"time":2,"container":"a","value":3,"usage":{"gpu":0.5}}`, false, nil},
		{`{"time":2,"container":"a","value":3,"usage":{}}`, true, nil},
		{`{"time":2,"container":"a","value":"Infinity","usage":{"cpu":1,"gpu":0}}`, false,
			&monitorEvent{verb: "sample", at: 2 * time.Second, id: "a", reads: true, value: math.Inf(1), usage: []float64{1, 0}}},
		{`{"time":2,"container":"a","value":3}`, false, nil},
		{`{"time":2,"container":"a","value":3}`, true, &monitorEvent{verb: "sample", at: 2 * time.Second, id: "a", reads: true, value: 3, usage: []float64{1, 1}}},
		{`{"time":2,"container":"a","usage":{"tpu":1}}`, false, nil},
		{`{"time":2,"container":"a","usage":{"cpu":-1}}`, false, nil},
		{`{"time":2,"container":"a","worker":"w","demand":[1,0]}`, true,
			&monitorEvent{verb: "sample", at: 2 * time.Second, id: "a", usage: []float64{1, 1}, worker: "w", demand: apportion.Resources{1, 0}}},
		{`{"time":2,"container":"a","worker":"w"}`, false, nil},
		{`{"time":2,"container":"a","demand":[1,-1]}`, true, nil},
		{`{"time":2,"container":"a","value":3,"direction":"larger is better"}`, true,
			&monitorEvent{verb: "sample", at: 2 * time.Second, id: "a", reads: true, value: 3, usage: []float64{1, 1}, better: growth.LargerIsBetter}},
		{`{"time":2,"container":"a","value":3,"direction":"larger"}`, true, nil},
		{`{"time":2,"container":"a","direction":"larger is better"}`, true, nil},
		{`{"time":2}`, true, nil},
		{`[]`, true, nil},
	} {
		got, err := (&monitorForm{kinds: kinds, placed: test.placed}).event(line(test.text))
		switch {
		case (err == nil) != (test.want != nil):
			t.Errorf("%s, placed %v: error %v", test.text, test.placed, err)
		case err == nil:
			must.Equal(t, cmp.Diff(test.want, got, cmp.AllowUnexported(monitorEvent{})), "", test.text)
		}
	}
}

// Every option of the first lines arrives where it belongs.
func TestMonitorOptions(t *testing.T) {
	f := must.Have(readFlowCon(line(fullFlowCon)))(t)
	got := fmt.Sprintf("%v %+v", f.config, f.options)
	if want := "{10s 0.1 2} {Steering:1 Beta:3 MaxInterval:20s MinInterval:1s Silence:1m10s Normalization:raw BoundConvergedOnly:true UnmeasuredIsZero:true MissingIsZero:true BoundOneMore:false Classifier:{Alpha:0.1 Confidence:2"; !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	s := must.Have(readSpeCon(line(fullSpeCon)))(t)
	if s.config.Interval != 10*time.Second || s.config.Alpha != 0.1 || !s.options.Separate || !s.options.AtEntry || s.options.Classifier != nil || s.options.Silence != 70*time.Second ||
		s.options.Host.Weights != (placement.Weights{Progressing: 8, Watching: 4, Converged: 2}) || !s.options.Host.IgnoreRoom || !s.options.NoRebalance ||
		s.options.Rebalance != (placement.RebalanceOptions{IgnoreRoom: true, Literal: true, Ceiling: true}) {
		t.Errorf("%+v", s)
	}
	plain, err := readSpeCon(line(`{"kinds":["cpu"],"workers":[{"id":"w","capacity":[1]}],"interval":10,"alpha":0.1}`))
	if err != nil || plain.options.Host.Weights != (placement.Weights{}) || plain.options.NoRebalance || plain.options.Rebalance != (placement.RebalanceOptions{}) {
		t.Errorf("%v: %+v", err, plain)
	}
}
