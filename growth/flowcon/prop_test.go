// This file checks what must hold of every scenario.

package flowcon_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/internal/must"
)

// TestPropBounds checks the limits that a step sets, and that the same step again changes
// nothing, for any values and any classifier.
func TestPropBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := &flowcon.Options{
			Classifier:    rapid.SampledFrom([]growth.Classifier{nil, growth.Decline{Alpha: 0.01}, growth.Prospect{Alpha: 0.05}}).Draw(t, "classifier"),
			Normalization: rapid.SampledFrom([]growth.Normalization{growth.FirstValue, growth.Raw, growth.LargestGrowth}).Draw(t, "normalization"),
		}
		f := must.Have(flowcon.New(flowcon.Config{Interval: 20 * second, Alpha: 0.01, Kinds: 2}, options))(t)
		for _, s := range scenes(2).Draw(t, "scenes") {
			for i := range s.readings {
				s.readings[i].Value = wild.Draw(t, "wild")
				s.readings[i].Missing = rapid.IntRange(0, 5).Draw(t, "missing") == 0
			}
			var d, again flowcon.Decision
			must.Do(t, f.Step(s.now, s.readings, &d))
			bound := 1 / (2 * float64(len(s.readings)))
			for _, limit := range d.Limits {
				if !(limit.Value >= bound && limit.Value <= 1) || limit.Value == limit.Was {
					t.Fatalf("at %v %v with bound %v", s.now, limit, bound)
				}
			}
			for _, r := range s.readings {
				if status, ok := f.Standing(r.Job); !ok || status.Category == growth.Outside {
					t.Fatalf("%s is in no list", r.Job)
				}
			}
			if err := f.Step(s.now, s.readings, &again); err != nil || again.Trigger != flowcon.NotDue || len(again.Changes)+len(again.Limits) > 0 || again.Next != d.Next {
				t.Fatalf("the same step again: %+v, %v", again, err)
			}
		}
	})
}

// TestDeterministic gives the same steps in 50 orders: six jobs, each with growth of its own,
// two of which come and go.
func TestDeterministic(t *testing.T) {
	var want []flowcon.Decision
	for shuffle := range 50 {
		rng := rand.New(rand.NewPCG(uint64(shuffle), 1))
		f := must.Have(flowcon.New(flowcon.Config{Interval: 20 * second, Alpha: 0.01, Kinds: 2}, nil))(t)
		var got []flowcon.Decision
		for i := range 12 {
			var readings []flowcon.Reading
			for j, id := range ids {
				if j < 4 || (i+j)%5 != 0 {
					readings = append(readings, flowcon.Reading{Job: id, At: time.Duration(20*i) * second, Value: float64(1+j) * math.Pow(0.9, float64(i*(1+j))),
						Usage: []float64{0.1 * float64(1+j), 1 / float64(2+i+j)}})
				}
			}
			rng.Shuffle(len(readings), func(i, j int) { readings[i], readings[j] = readings[j], readings[i] })
			got = append(got, step(t, f, time.Duration(20*i)*second, readings...))
		}
		if want == nil {
			want = got
		}
		must.Equal(t, cmp.Diff(want, got), "")
	}
	limits := 0
	for _, d := range want {
		limits += len(d.Limits)
	}
	if limits < 50 {
		t.Errorf("only %d limits: the steps show nothing", limits)
	}
}
