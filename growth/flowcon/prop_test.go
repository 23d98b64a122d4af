// This file checks what must hold of every scenario, against the dumb twin of FlowCon.

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
	"github.com/apportion/apportion/internal/oracle/growthoracle"
)

func TestPropIsTheListing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
		options := &flowcon.Options{BoundConvergedOnly: rapid.Bool().Draw(t, "printed bound"), Beta: rapid.SampledFrom([]float64{1, 2, 3.5}).Draw(t, "beta")}
		alpha := rapid.SampledFrom([]float64{0.001, 0.01, 0.05}).Draw(t, "alpha")
		f, err := flowcon.New(flowcon.Config{Interval: 20 * second, Alpha: alpha, Kinds: kinds}, options)
		if err != nil {
			t.Fatal(err)
		}
		twin := growthoracle.NewFlowCon(alpha, options.Beta, 20, kinds)
		twin.BoundAll = !options.BoundConvergedOnly
		for _, s := range scenes(kinds).Draw(t, "scenes") {
			var d flowcon.Decision
			if err := f.Step(s.now, s.readings, &d); err != nil {
				t.Fatal(err)
			}
			given := map[string]growthoracle.Reading{}
			for _, r := range s.readings {
				given[r.Job] = growthoracle.Reading{At: r.At.Seconds(), Value: r.Value, Usage: r.Usage}
			}
			twin.Step(s.now.Seconds(), given)
			if d.Interval.Seconds() != twin.Itval {
				t.Fatalf("at %v interval %v, want %v s", s.now, d.Interval, twin.Itval)
			}
			for _, r := range s.readings {
				status, _ := f.Standing(r.Job)
				if got, want := status.Category, category(twin, r.Job); got != want {
					t.Fatalf("at %v %s is %v, want %v", s.now, r.Job, got, want)
				}
				if diff := cmp.Diff(twin.Limits[r.Job], status.Limits, near); diff != "" {
					t.Fatalf("at %v limits of %s: %s", s.now, r.Job, diff)
				}
			}
		}
	})
}

// category returns the one list that holds a job; two are a fault of the twin.
func category(twin *growthoracle.FlowCon, id string) growth.Category {
	switch [3]bool{twin.NL[id], twin.WL[id], twin.CL[id]} {
	case [3]bool{true, false, false}:
		return growth.Progressing
	case [3]bool{false, true, false}:
		return growth.Watching
	case [3]bool{false, false, true}:
		return growth.Converged
	default:
		return growth.Outside
	}
}

// TestPropBounds checks the limits that a step sets, and that the same step again changes
// nothing, for any values and any classifier.
func TestPropBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := &flowcon.Options{
			Classifier:    rapid.SampledFrom([]growth.Classifier{nil, growth.Decline{Alpha: 0.01}, growth.Prospect{Alpha: 0.05}}).Draw(t, "classifier"),
			Normalization: rapid.SampledFrom([]growth.Normalization{growth.FirstValue, growth.Raw, growth.LargestGrowth}).Draw(t, "normalization"),
		}
		f, err := flowcon.New(flowcon.Config{Interval: 20 * second, Alpha: 0.01, Kinds: 2}, options)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenes(2).Draw(t, "scenes") {
			for i := range s.readings {
				s.readings[i].Value = wild.Draw(t, "wild")
				s.readings[i].Missing = rapid.IntRange(0, 5).Draw(t, "missing") == 0
			}
			var d, again flowcon.Decision
			if err := f.Step(s.now, s.readings, &d); err != nil {
				t.Fatal(err)
			}
			bound := 1 / (flowcon.DefaultBeta * float64(len(s.readings)))
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
		f, err := flowcon.New(flowcon.Config{Interval: 20 * second, Alpha: 0.01, Kinds: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
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
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	limits := 0
	for _, d := range want {
		limits += len(d.Limits)
	}
	if limits < 50 {
		t.Errorf("only %d limits: the steps show nothing", limits)
	}
}
