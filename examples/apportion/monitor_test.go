//go:build !js

// This file tests "apportion flowcon" and "apportion specon" against the library.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/internal/must"
	"github.com/google/go-cmp/cmp"
)

// sampleLine returns a sample at a whole second.
func sampleLine(t *testing.T, second int, id string, value float64, more map[string]any) string {
	line := map[string]any{"time": second, "container": id, "value": value}
	for key, v := range more {
		line[key] = v
	}
	return encode(t, line)
}

// The command decides as the library does.
func TestFlowConAgainstLibrary(t *testing.T) {
	changed := 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		machine := must.Have(flowcon.New(flowcon.Config{Interval: 10 * time.Second, Alpha: 0.01, Kinds: 2}, nil))(t)
		text := `{"kinds": ["cpu", "gpu"], "interval": 10, "alpha": 0.01}` + "\n"
		want := ""
		for second := 0; second < 300; second += 10 {
			var readings []flowcon.Reading
			for c := range 3 {
				if seed%2 == 0 && c == 1 && second > 50 {
					continue // it left
				}
				value, cpu, gpu := 100*math.Exp(-float64(second*(c+1))/30)+rng.Float64(), 0.1+rng.Float64(), rng.Float64()
				id := fmt.Sprint("c", c)
				text += sampleLine(t, second, id, value, map[string]any{"usage": map[string]float64{"cpu": cpu, "gpu": gpu}})
				readings = append(readings, flowcon.Reading{Job: id, At: time.Duration(second) * time.Second, Value: value, Usage: []float64{cpu, gpu}})
			}
			if second == 60 && seed%2 == 0 {
				text += `{"exit": "c1"}` + "\n"
			}
			text += fmt.Sprintf("{\"tick\": %d}\n", second)
			var decision flowcon.Decision
			must.Do(t, machine.Step(time.Duration(second)*time.Second, readings, &decision))
			want += fmt.Sprintf("%d %v %g %g", second, decision.Trigger, decision.Interval.Seconds(), decision.Next.Seconds())
			for _, l := range decision.Limits {
				want += fmt.Sprintf(" %s/%d=%.9g (%v)", l.Job, l.Kind, l.Value, l.Rule)
				changed++
			}
			for _, m := range decision.Changes {
				want += fmt.Sprintf(" %s:%v", m.Job, m.To)
			}
			want += "\n"
		}
		code, out, errs := call(t, text, "flowcon")
		must.Equal(t, code, answered, errs)
		must.Equal(t, cmp.Diff(want, flowconText(t, out)), "", "seed", seed)
	}
	if changed < 100 {
		t.Errorf("%d limits changed: too few to show anything", changed)
	}
}

// flowconText writes answers as TestFlowConAgainstLibrary does.
func flowconText(t *testing.T, out string) string {
	var text strings.Builder
	for line := range strings.Lines(out) {
		var a flowconAnswer
		must.Do(t, json.Unmarshal([]byte(line), &a))
		fmt.Fprintf(&text, "%g %s %g %g", a.Time, a.Trigger, a.Interval, a.Next)
		for _, l := range a.Limits {
			fmt.Fprintf(&text, " %s/%d=%.9g (%s)", l.Container, map[string]int{"cpu": 0, "gpu": 1}[l.Kind], l.Limit, l.Reason)
		}
		for _, m := range a.Moves {
			fmt.Fprintf(&text, " %s:%s", m.Container, m.To)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// FuzzStreams reads any text as each of the three streams. The command ends; what it prints is JSON
// lines that fit their schema, or faults that name a problem.
func FuzzStreams(f *testing.F) {
	for _, text := range []string{
		fullOASiS + `"bounds":{"U_worker":2,"L_worker":1,"U_ps":2,"L_ps":1}}` + "\n" + oneLine(fullJob) + `{"steps":[[0,2],[3,1]]}}` + "\n" + `{"advance":2}`,
		fullOASiS + `"options":{"literal":true}}` + "\n" + oneLine(fullJob) + `{"sigmoid":[1,2,3]}}` + "\n" + `{"cancel":"a"}`,
		oneLine(fullFlowCon) + "\n" + `{"time":1,"container":"a","value":2,"usage":{"cpu":1,"gpu":0}}` + "\n" + `{"tick":1}` + "\n" + `{"exit":"a"}`,
		oneLine(fullSpeCon) + "\n" + `{"time":1,"container":"a","value":2,"worker":"w"}` + "\n" + `{"tick":1}`,
		"[", "{}\n{}", "\n\n", `{"a":` + strings.Repeat("[", 200),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, command := range streams {
			if command == "oasis" && !small(text) {
				continue
			}
			var out, errs bytes.Buffer
			code := run(t.Context(), []string{command}, bytes.NewReader(text), &out, &errs)
			for line := range strings.Lines(out.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("%s: %s is no JSON", command, line)
				}
			}
			must.Equal(t, code == answered, (errs.Len() == 0), command, "exit", code, "with", &errs)
		}
	})
}

// small reports whether the numbers of a stream of oasis are such that it ends soon.
func small(text []byte) bool {
	l := newLines(bytes.NewReader(text))
	if l.next() != nil {
		return true
	}
	header, err := readOASiSHeader(l)
	if err != nil {
		return true
	}
	if header.cluster.Slots > 50 || header.steps > 60 {
		return false
	}
	for l.next() == nil {
		if e := readOASiSEvent(l, header.cluster.Kinds); e.fault == nil && (e.job.Chunks > 50 || e.job.Epochs > 1000 || e.slot > 50) {
			return false
		}
	}
	return true
}
