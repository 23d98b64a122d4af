// This file checks what must hold of every scenario under every policy.

package nodesim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Shares add up exactly, nobody gets more than its demand, limits hold while others can use what is
// left, and a job gets no less than another that claims no more.
func TestPropDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "n")
		one := rapid.Custom(func(t *rapid.T) Share { return Share(rapid.Int64Range(0, int64(Whole)).Draw(t, "share")) })
		limits := rapid.SliceOfN(one, n, n).Draw(t, "limits")
		demands := rapid.SliceOfN(one, n, n).Draw(t, "demands")
		capacity := one.Draw(t, "capacity")
		got := Divide(capacity, limits, demands)
		var sum, wanted, claimed Share
		for i := range got {
			if got[i] < 0 || got[i] > demands[i] {
				t.Fatalf("job %d gets %d of a demand of %d", i, got[i], demands[i])
			}
			sum += got[i]
			wanted += demands[i]
			claimed += min(limits[i], demands[i])
		}
		if want := min(capacity, wanted); sum != want {
			t.Fatalf("shares add up to %d, want %d", sum, want)
		}
		for i := range got {
			if claimed >= capacity && got[i] > limits[i] {
				t.Fatalf("job %d gets %d above its limit of %d while others are short", i, got[i], limits[i])
			}
			for k := range got {
				if limits[i] >= limits[k] && demands[i] >= demands[k] && got[i] < got[k]-2 {
					t.Fatalf("job %d gets %d, job %d that claims no more %d", i, got[i], k, got[k])
				}
			}
		}
	})
}

// Every job does its work exactly: what it used over the samples is its work, up to the last
// nanosecond; nobody runs before its arrival or after its completion.
func TestPropWorkIsConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios().Draw(t, "scenario")
		for _, policy := range policies() {
			result, err := Run(s, policy)
			if err != nil {
				t.Fatal(err)
			}
			used, last := tally(t, s, result)
			for i, o := range result.Outcomes {
				total := WorkOf(s.Jobs[i].Work)
				if used[i] < total || used[i]-total >= Work(last[i]) {
					t.Fatalf("%s: %s used %d for a work of %d", policy.Name(), o.ID, used[i], total)
				}
				if o.Time() < s.Jobs[i].Work {
					t.Fatalf("%s: %s took %v, less than its work of %v", policy.Name(), o.ID, o.Time(), s.Jobs[i].Work)
				}
			}
		}
	})
}

// tally adds up what every job used, and returns the share that each used last.
func tally(t *rapid.T, s *Scenario, result *Result) (used map[int]Work, last map[int]Share) {
	used, last = map[int]Work{}, map[int]Share{}
	for i, sample := range result.Samples {
		until := result.Makespan()
		if i+1 < len(result.Samples) {
			until = result.Samples[i+1].At
		}
		sums := make([]Share, s.Workers)
		for _, r := range sample.Running {
			if o := result.Outcomes[r.Job]; sample.At < o.Arrival || until > o.Completion {
				t.Fatalf("%s runs from %v to %v outside of %v to %v", o.ID, sample.At, until, o.Arrival, o.Completion)
			}
			used[r.Job] += Work(r.Share) * Work(until-sample.At)
			last[r.Job] = r.Share
			sums[r.Worker] += r.Share
		}
		for w, sum := range sums {
			if sum > Whole {
				t.Fatalf("worker %d gives %d", w, sum)
			}
		}
	}
	return used, last
}

// Without interference and with jobs that can use a whole worker, limits do not change when one
// worker is done with all jobs: at most a nanosecond for each completion is lost.
func TestPropLimitsDoNotWaste(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios().Draw(t, "scenario")
		s.Workers, s.Interference = 1, 0
		for i := range s.Jobs {
			s.Jobs[i].Demand = Whole
		}
		var spans []time.Duration
		for _, policy := range policies() {
			result, err := Run(s, policy)
			if err != nil {
				t.Fatal(err)
			}
			spans = append(spans, result.Makespan())
		}
		if slack := slices.Max(spans) - slices.Min(spans); slack > time.Duration(len(s.Jobs)) {
			t.Fatalf("makespans %v differ by more than %d ns", spans, len(s.Jobs))
		}
	})
}

// The same scenario gives the same result, and the order of jobs that arrive at different times
// does not matter.
func TestDeterministic(t *testing.T) {
	s := &Scenario{Workers: 3, MoveCost: 5 * second, Interference: 0.1}
	for i := range 20 {
		j := job1(string(rune('a'+i)), time.Duration(i)*7*second, time.Duration(30+11*(i%5))*second)
		s.Jobs = append(s.Jobs, j)
	}
	want := times(t, s)
	random := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		random.Shuffle(len(s.Jobs), func(i, j int) { s.Jobs[i], s.Jobs[j] = s.Jobs[j], s.Jobs[i] })
		if diff := cmp.Diff(want, times(t, s)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// times returns the completion of every job under every policy, by id.
func times(t *testing.T, s *Scenario) []map[string]time.Duration {
	t.Helper()
	var all []map[string]time.Duration
	for _, policy := range policies() {
		result, err := Run(s, policy)
		if err != nil {
			t.Fatal(err)
		}
		completions := map[string]time.Duration{}
		for _, o := range result.Outcomes {
			completions[o.ID] = o.Completion
		}
		all = append(all, completions)
	}
	return all
}

// A value lies between those of the points around it.
func TestPropCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 8).Draw(t, "values")
		at := make([]float64, len(values))
		for i := range at {
			at[i] = float64(rapid.IntRange(1, 100).Draw(t, "step"))
			if i > 0 {
				at[i] += at[i-1]
			}
		}
		c, err := NewCurve(at, values)
		if err != nil {
			t.Fatal(err)
		}
		for i := range values[1:] {
			low, high := min(values[i], values[i+1]), max(values[i], values[i+1])
			part := rapid.Float64Range(0, 1).Draw(t, "part")
			got := c.Value(c.at[i] + part*(c.at[i+1]-c.at[i]))
			if slack := 1e-9 * max(1, high-low); got < low-slack || got > high+slack {
				t.Fatalf("value %v between %v and %v", got, low, high)
			}
		}
	})
}
