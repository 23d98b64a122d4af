// This file checks what must hold of every scenario, against the dumb twin of FlowCon and Prospect.

package growth_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/oracle/growthoracle"
)

func TestPropFlowConIsTheListing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
		options := &growth.FlowConOptions{BoundConvergedOnly: rapid.Bool().Draw(t, "printed bound"), Beta: rapid.SampledFrom([]float64{1, 2, 3.5}).Draw(t, "beta")}
		alpha := rapid.SampledFrom([]float64{0.001, 0.01, 0.05}).Draw(t, "alpha")
		f, err := growth.NewFlowCon(growth.FlowConConfig{Interval: 20 * second, Alpha: alpha, Kinds: kinds}, options)
		if err != nil {
			t.Fatal(err)
		}
		twin := growthoracle.NewFlowCon(alpha, options.Beta, 20, kinds)
		twin.BoundAll = !options.BoundConvergedOnly
		for _, s := range scenes(kinds).Draw(t, "scenes") {
			var d growth.Decision
			if err := f.Step(s.now, s.readings, &d); err != nil {
				t.Fatal(err)
			}
			given := map[string]growthoracle.Reading{}
			for _, r := range s.readings {
				given[r.ID] = growthoracle.Reading{At: r.At.Seconds(), Value: r.Value, Usage: r.Usage}
			}
			twin.Step(s.now.Seconds(), given)
			if d.Interval.Seconds() != twin.Itval {
				t.Fatalf("at %v interval %v, want %v s", s.now, d.Interval, twin.Itval)
			}
			for _, r := range s.readings {
				status, _ := f.Status(r.ID)
				if got, want := status.Category, category(twin, r.ID); got != want {
					t.Fatalf("at %v %s is %v, want %v", s.now, r.ID, got, want)
				}
				if diff := cmp.Diff(twin.Limits[r.ID], status.Limits, near); diff != "" {
					t.Fatalf("at %v limits of %s: %s", s.now, r.ID, diff)
				}
			}
		}
	})
}

// category returns the one list that holds a container; two are a fault of the twin.
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

// TestPropFlowConBounds checks the limits that a step sets, and that the same step again changes
// nothing, for any values and any classifier.
func TestPropFlowConBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := &growth.FlowConOptions{
			Classifier:    rapid.SampledFrom([]growth.Classifier{nil, growth.Decline{Alpha: 0.01}, growth.Prospect{Alpha: 0.05}}).Draw(t, "classifier"),
			Normalization: rapid.SampledFrom([]growth.Normalization{growth.FirstValue, growth.Raw, growth.LargestGrowth}).Draw(t, "normalization"),
		}
		f, err := growth.NewFlowCon(growth.FlowConConfig{Interval: 20 * second, Alpha: 0.01, Kinds: 2}, options)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenes(2).Draw(t, "scenes") {
			for i := range s.readings {
				s.readings[i].Value = wild.Draw(t, "wild")
				s.readings[i].Missing = rapid.IntRange(0, 5).Draw(t, "missing") == 0
			}
			var d, again growth.Decision
			if err := f.Step(s.now, s.readings, &d); err != nil {
				t.Fatal(err)
			}
			bound := 1 / (growth.DefaultBeta * float64(len(s.readings)))
			for _, limit := range d.Limits {
				if !(limit.Value >= bound && limit.Value <= 1) || limit.Value == limit.Was {
					t.Fatalf("at %v %v with bound %v", s.now, limit, bound)
				}
			}
			for _, r := range s.readings {
				if status, ok := f.Status(r.ID); !ok || status.Category == growth.Outside {
					t.Fatalf("%s is in no list", r.ID)
				}
			}
			if err := f.Step(s.now, s.readings, &again); err != nil || again.Trigger != growth.NotDue || len(again.Moves)+len(again.Limits) > 0 || again.Next != d.Next {
				t.Fatalf("the same step again: %+v, %v", again, err)
			}
		}
	})
}

// TestDeterministic gives the same steps in 50 orders: six containers, each with growth of its own,
// two of which come and go.
func TestDeterministic(t *testing.T) {
	var want []growth.Decision
	for shuffle := range 50 {
		rng := rand.New(rand.NewPCG(uint64(shuffle), 1))
		f, err := growth.NewFlowCon(growth.FlowConConfig{Interval: 20 * second, Alpha: 0.01, Kinds: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []growth.Decision
		for i := range 12 {
			var readings []growth.Reading
			for j, id := range ids {
				if j < 4 || (i+j)%5 != 0 {
					readings = append(readings, growth.Reading{ID: id, At: time.Duration(20*i) * second, Value: float64(1+j) * math.Pow(0.9, float64(i*(1+j))),
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

// TestPropProspectIsItsDefinition compares the thinned history with the whole one.
func TestPropProspectIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{7, 8, 9, 31, 32, 33, 48, 64, 100, 256, 300}).Draw(t, "evaluations")
		noise := rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "noise")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		prospect := growth.Prospect{Alpha: 0.05, Confidence: rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "confidence")}
		confidence := prospect.Confidence
		if confidence == 0 {
			confidence = growth.DefaultConfidence
		}
		var series growth.Series
		var work, value []float64
		at, used := time.Duration(0), 0.0
		for i := range n {
			v := 3/math.Sqrt(float64(i+1)) + noise*rng.NormFloat64()
			usage := 0.1 + rng.Float64()
			if i > 0 {
				gap := time.Duration(1+rng.IntN(30)) * second
				at += gap
				used += usage * gap.Seconds()
			}
			series.Add(at, v, usage)
			work, value = append(work, used), append(value, v)
			if i == 0 {
				continue
			}
			gain, doubt, ok := growthoracle.Prospect(work, value)
			want := growth.Unsure
			switch {
			case ok && math.Abs(gain+confidence*doubt-prospect.Alpha) < 1e-9, ok && math.Abs(gain-confidence*doubt-prospect.Alpha) < 1e-9:
				continue // too close to call in floating point
			case ok && gain+confidence*doubt < prospect.Alpha:
				want = growth.Slow
			case ok && gain-confidence*doubt >= prospect.Alpha:
				want = growth.Growing
			}
			if got := prospect.Judge(&series); got != want {
				t.Fatalf("after %d evaluations %v, want %v (gain %v, doubt %v, %v)", i+1, got, want, gain, doubt, ok)
			}
		}
	})
}

// TestPropOptimizeIsOptimal checks the dual certificate, which proves optimality without a search:
// the total equals what the price of capacity and the bounds allow at most.
func TestPropOptimizeIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Int64Range(0, 60).Draw(t, "capacity")
		var claims []growth.Claim
		for _, id := range ids[:rapid.IntRange(0, 6).Draw(t, "claims")] {
			least := rapid.Int64Range(0, 9).Draw(t, "min")
			claims = append(claims, growth.Claim{ID: id, Growth: rapid.SampledFrom([]float64{0, 0.25, 0.5, 1, 3}).Draw(t, "growth"),
				Min: least, Max: least + rapid.Int64Range(0, 20).Draw(t, "more")})
		}
		got, err := growth.Optimize(capacity, claims)
		if err != nil {
			t.Fatal(err)
		}
		var used, least int64
		bound := got.Price * float64(capacity)
		for i, c := range claims {
			least += c.Min
			bound += max((c.Growth-got.Price)*float64(c.Min), (c.Growth-got.Price)*float64(c.Max))
			if got.Feasible {
				used += got.Grants[i]
				if got.Grants[i] < c.Min || got.Grants[i] > c.Max {
					t.Fatalf("%v gets %d", c, got.Grants[i])
				}
			}
		}
		if got.Feasible != (least <= capacity) || used > capacity {
			t.Fatalf("feasible %v with minima %d of %d, used %d", got.Feasible, least, capacity, used)
		}
		if got.Feasible && got.Total != bound {
			t.Fatalf("total %v, the dual bound is %v", got.Total, bound)
		}
	})
}

// TestPropSpeConMigratesOnce checks that every container is in one category, that the counts say
// which, and that a container whose request was granted is never asked for again.
func TestPropSpeConMigratesOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := &growth.SpeConOptions{Separate: rapid.Bool().Draw(t, "separate"), AtEntry: rapid.Bool().Draw(t, "at entry")}
		s, err := growth.NewSpeCon(growth.SpeConConfig{Interval: 20 * second, Alpha: 0.05}, options)
		if err != nil {
			t.Fatal(err)
		}
		migrated := map[string]bool{}
		frozen := map[string]growth.Category{}
		for _, scene := range scenes(1).Draw(t, "scenes") {
			var observations []growth.Observation
			for _, r := range scene.readings {
				observations = append(observations, growth.Observation{ID: r.ID, Worker: rapid.SampledFrom([]string{"w1", "w2"}).Draw(t, "worker"),
					Migrated: migrated[r.ID], At: r.At, Value: wild.Draw(t, "wild")})
			}
			var report growth.Report
			if err := s.Step(scene.now, observations, &report); err != nil {
				t.Fatal(err)
			}
			total := 0
			for _, w := range report.Workers {
				total += w.Progressing + w.Watching + w.Converged
			}
			if total != len(observations) {
				t.Fatalf("%d containers in the counts of %d", total, len(observations))
			}
			for id, was := range frozen {
				if status, ok := s.Status(id); ok && status.Category != was {
					t.Fatalf("%s was migrated as %v and is %v", id, was, status.Category)
				} else if !ok {
					delete(frozen, id)
				}
			}
			for _, request := range report.Requests {
				status, _ := s.Status(request.ID)
				if migrated[request.ID] || status.Category != growth.Converged {
					t.Fatalf("request of %s, migrated %v, %v", request.ID, migrated[request.ID], status.Category)
				}
				migrated[request.ID], frozen[request.ID] = true, growth.Converged
			}
		}
	})
}
