// This file pins the numbers and traces of [Zheng] §5.1 and §6.1, and the readings chosen where its
// listings cannot be meant as printed.

package flowcon_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/internal/must"
)

const second = time.Second

var near = cmpopts.EquateApprox(0, 1e-9)

// play plays one job: its value falls by a growth efficiency per second of full use.
type play struct {
	id    string
	value float64
	at    time.Duration
}

// reading moves the job on to a time with the given growth efficiency at usage 1.
func (j *play) reading(at time.Duration, growthPerSecond float64) flowcon.Reading {
	j.value -= growthPerSecond * (at - j.at).Seconds()
	j.at = at
	return flowcon.Reading{Job: j.id, At: at, Value: j.value, Usage: []float64{1}}
}

func step(t *testing.T, f *flowcon.Executor, now time.Duration, readings ...flowcon.Reading) flowcon.Decision {
	t.Helper()
	var decision flowcon.Decision
	must.Do(t, f.Step(now, readings, &decision))
	return decision
}

// Reference: [Zheng] §6.1.3, Fig. 6.5: alpha 5 %, itval 20; VAE is alone, MNIST arrives at 40 s,
// VAE is then held at 0.25 and MNIST at 1.
func TestPaperTrace(t *testing.T) {
	f := must.Have(flowcon.New(flowcon.Config{Interval: 20 * second, Alpha: 0.05, Kinds: 1}, nil))(t)
	vae, mnist := &play{id: "vae", value: 1}, &play{id: "mnist", value: 1, at: 41 * second}
	const (
		P, W, C = growth.Progressing, growth.Watching, growth.Converged
	)
	for _, row := range []struct {
		at                   int
		vae, mnist           float64 // growth; -1: not there
		trigger              flowcon.Trigger
		vaeIn, mnistIn       growth.Category
		vaeLimit, mnistLimit float64
		interval             time.Duration
	}{
		{0, 0, -1, flowcon.Listener, P, 0, 1, 0, 20 * second},
		{20, 0.04, -1, flowcon.Due, W, 0, 1, 0, 20 * second},
		{40, 0.03, -1, flowcon.Due, C, 0, 1, 0, 40 * second},
		{41, 0.02, 0, flowcon.Listener, C, P, 0.25, 1, 20 * second},
		{61, 0.02, 0.30, flowcon.Due, C, P, 0.25, 0.9375, 20 * second},
		{81, 0.02, 0.04, flowcon.Due, C, W, 1. / 3, 0.9375, 20 * second},
		{101, 0.02, 0.03, flowcon.Due, C, C, 1, 1, 40 * second},
		{141, 0.02, 0.03, flowcon.Due, C, C, 1, 1, 80 * second},
		{150, 0.02, -1, flowcon.Listener, C, 0, 1, 0, 20 * second},
	} {
		now := time.Duration(row.at) * second
		readings := []flowcon.Reading{vae.reading(now, row.vae)}
		if row.mnist >= 0 {
			readings = append(readings, mnist.reading(now, row.mnist))
		}
		got := step(t, f, now, readings...)
		if got.Trigger != row.trigger || got.Interval != row.interval || got.Next != now+row.interval {
			t.Errorf("%d s: %v, interval %v, next %v; want %v, %v", row.at, got.Trigger, got.Interval, got.Next, row.trigger, row.interval)
		}
		for _, want := range []struct {
			id       string
			category growth.Category
			limit    float64
		}{{"vae", row.vaeIn, row.vaeLimit}, {"mnist", row.mnistIn, row.mnistLimit}} {
			status, ok := f.Standing(want.id)
			must.Equal(t, ok, (want.category != growth.Outside), row.at, "s", want.id, "is there")
			if ok && (status.Category != want.category || !cmp.Equal(status.Limits, []float64{want.limit}, near)) {
				t.Errorf("%d s: %s is %v with limits %v, want %v, %v", row.at, want.id, status.Category, status.Limits, want.category, want.limit)
			}
		}
	}
}
