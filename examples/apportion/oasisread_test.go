// This file tests the reading of the lines of "apportion oasis", and what jobs have earned against a twin.

package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

// twoKinds is a first line up to its bounds.
const twoKinds = `{"kinds":["gpu","cpu"],"slots":2,"worker_servers":[{"id":"w","capacity":[4,4]}],"ps_servers":[{"id":"p","capacity":[2,2]}],`

// A single number stands for every kind but those that nobody demands; lists are taken as they are.
func TestOASiSBounds(t *testing.T) {
	for text, want := range map[string]*primaldual.Bounds{
		`{"U_worker":4,"L_worker":1,"U_ps":2,"L_ps":0.5}`: {
			UWorker: []float64{4, 4}, LWorker: []float64{1, 1}, UPS: []float64{2, 2}, LPS: []float64{0.5, 0.5}},
		`{"U_worker":[4,0],"L_worker":1,"U_ps":0,"L_ps":1}`: {
			UWorker: []float64{4, 0}, LWorker: []float64{1, 0}, UPS: []float64{0, 0}, LPS: []float64{0, 0}},
		`{"U_worker":[4,2],"L_worker":[1,0.5],"U_ps":2,"L_ps":[1,0.25],"eta_worker":3,"eta_ps":5}`: {
			UWorker: []float64{4, 2}, LWorker: []float64{1, 0.5}, UPS: []float64{2, 2}, LPS: []float64{1, 0.25}, EtaWorker: 3, EtaPS: 5},
	} {
		header, err := readOASiSHeader(line(twoKinds + `"bounds":` + text + `}`))
		if err != nil {
			t.Error(text, err)
			continue
		}
		must.Equal(t, cmp.Diff(want, header.bounds), "", text)
	}
}

// Each fault of the bounds is told once, by the name of the field that has it.
func TestOASiSBoundsFaults(t *testing.T) {
	for text, want := range map[string]string{
		`"bounds":{"U_worker":[4],"L_worker":1,"U_ps":2,"L_ps":1}`:                               "bounds.U_worker has the wrong length: 1 numbers for 2 kinds",
		`"bounds":{"U_worker":4,"L_worker":1,"U_ps":2,"L_ps":[]}`:                                "bounds.L_ps has the wrong length: 0 numbers for 2 kinds",
		`"bounds":{"U_worker":4,"L_worker":1,"U_ps":2,"L_ps":1},"options":{"literal":true}`:      "options contradicts another field: these set bounds, which are given",
		`"bounds":{"U_worker":4,"L_worker":1,"U_ps":2,"L_ps":1},"options":{"eta_per_job":false}`: "options contradicts another field: these set bounds, which are given",
		`"bounds":{"U_worker":4,"L_worker":1,"U_ps":2}`:                                          "bounds.L_ps is missing",
		`"bounds":{"U_worker":"4","L_worker":1,"U_ps":2,"L_ps":1}`:                               "bounds.U_worker has the wrong type",
	} {
		_, err := readOASiSHeader(line(twoKinds + text + "}"))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), want) != 1 {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// L that is not below U is for the library to find, by its place.
	_, err := readOASiSHeader(line(twoKinds + `"bounds":{"U_worker":[4,2],"L_worker":[1,3],"U_ps":2,"L_ps":1}}`))
	var faults apportion.Faults
	if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Field != "worker[cpu]" || !errors.Is(err, apportion.ErrConflict) {
		t.Errorf("L above U: %v", err)
	}
	// A setting that is not about bounds goes with bounds that are given.
	must.Have(readOASiSHeader(line(twoKinds + `"bounds":{"U_worker":4,"L_worker":1,"U_ps":2,"L_ps":1},"options":{"certificate_steps":3}}`)))(t)
}

// Every line is read as what its key says; a job has none of the keys.
func TestOASiSEvents(t *testing.T) {
	for text, want := range map[string]string{
		`{"advance":3}`:                    "advance  3",
		`{"cancel":"a"}`:                   "cancel a 0",
		`{"complete":"a","slot":4}`:        "complete a 4",
		`{"fail":"w","slot":1}`:            "fail w 1",
		`{"repair":"w","slot":2}`:          "repair w 2",
		`{"slot":2,"repair":"w"}`:          "repair w 2",
		fullJob + `{"constant":2}}`:        "  0",
		`{"advance":0}`:                    "!advance",
		`{"advance":1,"slot":1}`:           "!slot",
		`{"cancel":""}`:                    "!cancel",
		`{"cancel":"a","slot":1}`:          "!slot",
		`{"complete":"a"}`:                 "!slot",
		`{"fail":"w","repair":"w"}`:        "!is unknown",
		`{"fail":"w","slot":1.5}`:          "!slot",
		`{}`:                               "!missing",
		`"advance"`:                        "!type",
		fullJob + `{"constant":"2"}}`:      "!utility",
		fullJob + `{"constant":2},"q":1}`:  "!q",
		`{"Advance":3}`:                    "!Advance",
		`{"complete":"a","slot":"four"}`:   "!slot",
		`{"repair":"w","slot":2,"slot":3}`: "!slot",
	} {
		l := line(text)
		e := readOASiSEvent(l, apportion.Kinds{"cpu"})
		err := e.fault
		got := fmt.Sprint(e.verb, " ", e.id, " ", e.slot)
		fault, refused := strings.CutPrefix(want, "!")
		switch {
		case (err != nil) != refused, refused && !strings.Contains(err.Error(), fault):
			t.Errorf("%s: error %v, want %s", text, err, want)
		case !refused && got != want:
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if e.line != 1 || e.digest != sha256.Sum256(l.text) {
			t.Errorf("%s: line %d, digest %x", text, e.line, e.digest)
		}
	}
}

// A job that is there twice is a fault of its second line; one whose first line was wrong is not there twice.
func TestOASiSDuplicates(t *testing.T) {
	good, bad := oneLine(fullJob)+`{"constant":2}}`+"\n", oneLine(strings.Replace(fullJob, `"epochs":1`, `"epochs":0`, 1))+`{"constant":2}}`+"\n"
	for text, want := range map[string][]string{
		good + good:       {"", `line 2, job "a": id is there twice`},
		bad + good:        {`line 1, job "a": epochs`, ""},
		bad + good + good: {`line 1, job "a": epochs`, "", `line 3, job "a": id is there twice`},
	} {
		o := &oasis{oasisHeader: &oasisHeader{cluster: primaldual.Cluster{Kinds: apportion.Kinds{"cpu"}}}}
		var got []string
		for e, err := range o.stream(newLines(strings.NewReader(text))) {
			message := ""
			if err != nil || e.fault != nil {
				message = atLine(e.line, errors.Join(err, e.fault)).Error()
			}
			got = append(got, message)
		}
		if !slices.EqualFunc(got, want, func(g, w string) bool { return strings.HasPrefix(g, w) && (g == "") == (w == "") }) {
			t.Errorf("%s%q, want %q", text, got, want)
		}
	}
}

// What jobs have earned follows from the answers alone: the promises of those that run, and what the others
// ended with. The total of a run is that of a twin that adds the answers up.
func TestTotalIsThatOfTheAnswers(t *testing.T) {
	cluster, jobs := workload(3)
	header := strings.SplitAfter(strings.Replace(workloadText(t, 3, true), `"slots":30`, `"slots":60`, 1), "\n")[0]
	ended, displaced := 0, 0
	for seed := range unlessShort(4, 1) {
		rng := rand.New(rand.NewPCG(seed, 8))
		earned := map[string]float64{}
		text, now := header, 1
		// The command runs beside the stream: what makes sense next depends on what was admitted.
		ask := func(line string) map[string]json.RawMessage {
			_, out, errs := call(t, text+line, "oasis")
			answers := strings.Split(strings.TrimSpace(out), "\n")
			if errs != "" || len(answers) < 2 {
				t.Fatalf("%s%s", line, errs)
			}
			text += line
			var answer map[string]json.RawMessage
			must.Do(t, json.Unmarshal([]byte(answers[len(answers)-2]), &answer))
			return answer
		}
		for i := range jobs[:12] {
			if jobs[i].Arrival > now {
				now = jobs[i].Arrival
				for _, finish := range listOf[oasisFinish](t, ask(fmt.Sprintf("{\"advance\": %d}\n", now))["ended"]) {
					earned[finish.ID] = finish.Utility
					ended++
				}
			}
			answer := ask(jobLine(t, &jobs[i]))
			if string(answer["admitted"]) == "true" {
				earned[jobs[i].ID] = number(t, answer["utility"])
				if rng.IntN(4) == 0 {
					ask(fmt.Sprintf("{\"cancel\": %q}\n", jobs[i].ID))
					earned[jobs[i].ID] = 0
				}
			}
			if rng.IntN(4) == 0 {
				server := cluster.WorkerServers[rng.IntN(3)].ID
				for _, d := range listOf[oasisDecision](t, ask(fmt.Sprintf("{\"fail\": %q, \"slot\": %d}\n", server, now))["displaced"]) {
					earned[d.ID] = d.Utility // 0 where it is refused
					displaced++
				}
				ask(fmt.Sprintf("{\"repair\": %q, \"slot\": %d}\n", server, now+1))
			}
		}
		for _, finish := range listOf[oasisFinish](t, ask("{\"advance\": 40}\n")["ended"]) {
			earned[finish.ID] = finish.Utility
			ended++
		}
		_, out, _ := call(t, text, "oasis")
		last := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]
		var total oasisTotal
		must.Do(t, json.Unmarshal([]byte(last), &total))
		sum := 0.0
		for _, utility := range earned {
			sum += utility
		}
		if math.Abs(sum-total.TotalUtility) > 1e-9*(1+sum) || total.UpperBound < total.TotalUtility {
			t.Errorf("seed %d: a total of %+v, the answers add up to %g", seed, total, sum)
		}
	}
	if !testing.Short() && (ended == 0 || displaced == 0) {
		t.Errorf("%d jobs ended and %d were displaced, which shows little", ended, displaced)
	}
}

func listOf[T any](t *testing.T, text json.RawMessage) (list []T) {
	t.Helper()
	if err := json.Unmarshal(text, &list); err != nil || list == nil {
		t.Fatalf("%s is no list: %v", text, err)
	}
	return list
}

func number(t *testing.T, text json.RawMessage) (x float64) {
	t.Helper()
	must.Do(t, json.Unmarshal(text, &x))
	return x
}
