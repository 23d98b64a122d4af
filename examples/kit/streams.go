// This file draws the vectors of what goes on in time: lines of trainers, admission, limits.

package main

import (
	"fmt"
	"math"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/primaldual"
)

// reading is what a line of a trainer says.
type reading struct {
	Step  int64    `json:"step"`
	Value *float64 `json:"value,omitempty"`
	Done  bool     `json:"done,omitempty"`
}

// lines are lines of trainers, good and bad.
func lines() ([]vector, error) {
	var vectors []vector
	for _, line := range []string{
		`{"step": 120, "value": 0.25}`, `{"step": 500, "value": 0.11, "done": true}`, `{"step": 0}`, `{"step": 7, "lr": 0.1}`,
		`{"step": 3, "value": NaN}`, `{"step": 3, "value": -Infinity}`, `{"step": -1}`, `{"step": 1.5}`, `{"value": 0.5}`, `{"step": "7"}`,
		`step 7`, ``, `[7]`, `{"step": 7`, `  {"step": 8, "value": 1e-3}  `, `{"step": 9, "done": "yes"}`, `{"step": 9, "value": "small"}`, `null`,
	} {
		var answer any
		if r, ok := command.ParseLine([]byte(line)); ok {
			said := reading{Step: r.Step, Done: r.Done}
			if !math.IsNaN(r.Value) && !math.IsInf(r.Value, 0) {
				said.Value = &r.Value
			}
			answer = said
		}
		vectors = append(vectors, vector{fmt.Sprint("line ", len(vectors)), line, answer})
	}
	return vectors, nil
}

// offers is the question of a vector of admission.
type offers struct {
	Cluster *primaldual.Cluster `json:"cluster"`
	Bounds  primaldual.Bounds   `json:"bounds"`
	Jobs    []primaldual.Job    `json:"jobs"`
}

// admission are random jobs on small clusters.
func admission() ([]vector, error) {
	r := random(3)
	var vectors []vector
	for i := range 8 {
		q := offers{Cluster: &primaldual.Cluster{Kinds: apportion.Kinds{"gpu", "cpu"}, Slots: 6 + r.IntN(6),
			WorkerServers: []apportion.Server{{ID: "g1", Capacity: apportion.Resources{4, 16}}, {ID: "g2", Capacity: apportion.Resources{2, 16}}},
			PSServers:     []apportion.Server{{ID: "c1", Capacity: apportion.Resources{0, 8}}}}}
		for j := range 8 {
			var utility primaldual.Utility = primaldual.Linear{Start: 20 + 40*r.Float64(), PerSlot: 1 + 3*r.Float64()}
			if j%2 == 1 {
				utility = primaldual.Steps{{Within: 1 + r.IntN(2), Value: 50 + 20*r.Float64()}, {Within: 4, Value: 10}}
			}
			q.Jobs = append(q.Jobs, primaldual.Job{ID: fmt.Sprint("j", j), Arrival: 1 + j/2, Epochs: 1 + r.Int64N(3), Chunks: 4, Minibatches: 10,
				MinibatchSlots: 0.08, CommSlots: 0.02, WorkerBandwidth: 1, PSBandwidth: 4,
				Worker: apportion.Resources{1, 1 + r.Int64N(2)}, PS: apportion.Resources{0, 1}, Utility: utility})
		}
		var err error
		if q.Bounds, err = primaldual.BoundsOf(q.Cluster, q.Jobs, nil); err != nil {
			return nil, err
		}
		scheduler, err := primaldual.NewScheduler(q.Cluster, &q.Bounds, nil)
		if err != nil {
			return nil, err
		}
		var answers []primaldual.Decision
		for _, job := range q.Jobs {
			d, err := scheduler.Offer(job)
			if err != nil {
				return nil, err
			}
			d.Reason = apportion.Reason{} // words and numbers for people
			answers = append(answers, d)
		}
		vectors = append(vectors, vector{fmt.Sprint("cluster ", i), q, answers})
	}
	return vectors, nil
}

// worker is the question of a vector of limits: settings, and readings step by step.
type worker struct {
	Interval float64 `json:"interval"` // seconds between two runs
	Alpha    float64 `json:"alpha"`
	Beta     float64 `json:"beta"`
	Steps    []step  `json:"steps"`
}

// step is a moment, with the newest value of each job; usage is that of a whole worker.
type step struct {
	Now      float64            `json:"now"`
	Readings map[string]float64 `json:"readings"`
}

// limited are the limits that a step has changed, by job, and when the next run is due.
type limited struct {
	Limits map[string]float64 `json:"limits"`
	Next   float64            `json:"next"`
}

// limits are jobs whose loss falls as exp(-t / tau), one after the other.
func limits() ([]vector, error) {
	r := random(4)
	var vectors []vector
	for i := range 6 {
		q := worker{Interval: 20, Alpha: 0.002, Beta: 2}
		executor, err := flowcon.New(flowcon.Config{Interval: 20 * time.Second, Alpha: q.Alpha, Kinds: 1}, nil)
		if err != nil {
			return nil, err
		}
		taus, arrivals := []float64{}, []int{}
		for range 2 + r.IntN(3) {
			taus, arrivals = append(taus, 20+200*r.Float64()), append(arrivals, r.IntN(5))
		}
		var answers []limited
		var out flowcon.Decision
		for n := range 16 {
			s := step{float64(20 * n), map[string]float64{}}
			now := time.Duration(20*n) * time.Second
			var readings []flowcon.Reading
			for j, tau := range taus {
				if n < arrivals[j] {
					continue
				}
				id, value := fmt.Sprint("j", j), 10*math.Exp(-float64(20*(n-arrivals[j]))/tau)
				value = math.Round(1e6*value) / 1e6 // the same on every machine
				s.Readings[id] = value
				readings = append(readings, flowcon.Reading{Job: id, At: now, Value: value, Usage: []float64{1}})
			}
			if err := executor.Step(now, readings, &out); err != nil {
				return nil, err
			}
			answer := limited{map[string]float64{}, out.Next.Seconds()}
			for _, l := range out.Limits {
				answer.Limits[l.Job] = l.Value
			}
			q.Steps, answers = append(q.Steps, s), append(answers, answer)
		}
		vectors = append(vectors, vector{fmt.Sprint("worker ", i), q, answers})
	}
	return vectors, nil
}
