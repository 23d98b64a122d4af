// This file tests what holds for every scenario and policy, against a twin that integrates the
// recorded allocations with big integers.

package sim

import (
	"context"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/exact"
)

// genPolicy draws a policy; make gives a fresh one with the same behaviour each time.
func genPolicy() *rapid.Generator[func() Policy] {
	return rapid.Custom(func(t *rapid.T) func() Policy {
		seed := rapid.Uint64().Draw(t, "seed")
		if rapid.Bool().Draw(t, "static") {
			return func() Policy { return Swarm{} }
		}
		return func() Policy { return newShuffler(seed) }
	})
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := genScenario().Draw(rt, "scenario")
		r := &recorder{Policy: genPolicy().Draw(rt, "policy")()}
		result, err := Run(t.Context(), s, r)
		if err != nil {
			rt.Fatal(err)
		}
		checkOutcomes(rt, s, result)
		checkSamples(rt, result, r)
		checkCapacity(rt, s, r)
		for i := range s.Apps {
			checkConservation(rt, s, i, result, r)
		}
	})
}

// checkOutcomes: no application is lost, and its times are in order.
func checkOutcomes(rt *rapid.T, s *Scenario, result *Result) {
	for i := range result.Outcomes {
		o := &result.Outcomes[i]
		switch {
		case o.ID != s.Apps[i].ID:
			rt.Fatalf("outcome %d is of %q, want %q", i, o.ID, s.Apps[i].ID)
		case o.Started && o.Start < o.Arrival, o.Completed && !(o.Started && o.Start < o.Completion):
			rt.Fatalf("times out of order: %+v", o)
		case o.Completed && o.Completion > result.End:
			rt.Fatalf("completed after the end %v: %+v", result.End, o)
		case s.Horizon > 0 && o.Completion >= s.Horizon:
			rt.Fatalf("completed after the horizon: %+v", o)
		}
	}
}

// checkSamples: one for each decision, and the adjustments of samples and outcomes agree.
func checkSamples(rt *rapid.T, result *Result, r *recorder) {
	adjusted, before := 0, alloc.Allocation{}
	decision := 0
	for i := range result.Samples {
		sample := &result.Samples[i]
		if i > 0 && sample.At <= result.Samples[i-1].At {
			rt.Fatalf("sample at %v after %v", sample.At, result.Samples[i-1].At)
		}
		if sample.Running+sample.Waiting == 0 {
			continue // nobody there: the policy is not asked
		}
		if sample.At != r.at[decision] || sample.Running+sample.Waiting != len(r.apps[decision]) {
			rt.Fatalf("sample at %v with %d+%d applications, decision at %v with %d",
				sample.At, sample.Running, sample.Waiting, r.at[decision], len(r.apps[decision]))
		}
		changed := 0
		for _, id := range r.apps[decision] {
			if len(before[id]) > 0 && !maps.Equal(before[id], r.next[decision][id]) {
				changed++
			}
		}
		if changed != sample.Adjusted {
			rt.Fatalf("at %v: %d adjusted, counted %d", sample.At, sample.Adjusted, changed)
		}
		adjusted += changed
		before = r.next[decision]
		decision++
	}
	for i := range result.Outcomes {
		adjusted -= result.Outcomes[i].Adjusted
	}
	if adjusted != 0 {
		rt.Fatalf("samples count %d more adjustments than outcomes", adjusted)
	}
}

// checkCapacity: no server ever holds more than its capacity.
func checkCapacity(rt *rapid.T, s *Scenario, r *recorder) {
	for d, next := range r.next {
		for _, server := range s.Servers {
			used := make(apportion.Resources, len(s.Kinds))
			for i := range s.Apps {
				if err := exact.AddTimesTo(used, used, next[s.Apps[i].ID][server.ID], s.Apps[i].Demand); err != nil {
					rt.Fatal(err)
				}
			}
			if !used.FitsIn(server.Capacity) {
				rt.Fatalf("at %v: %s holds %v of %v", r.at[d], server.ID, used, server.Capacity)
			}
		}
	}
}

// checkConservation: the work of a completed application is what it asked for, to the nanosecond,
// and one that has not completed by the end did less. Pauses are what the adjustments say.
func checkConservation(rt *rapid.T, s *Scenario, i int, result *Result, r *recorder) {
	app, outcome := &s.Apps[i], &result.Outcomes[i]
	end := result.End
	if outcome.Completed {
		end = outcome.Completion
	}
	done, paused, rate := integrate(s, app, end, r)
	asked, err := app.rate(app.Fixed)
	if err != nil {
		rt.Fatal(err)
	}
	want := big.NewInt(asked)
	want.Mul(want, big.NewInt(int64(app.Duration)))
	excess := new(big.Int).Sub(done, want)
	if outcome.Completed && (excess.Sign() < 0 || excess.Cmp(big.NewInt(rate)) >= 0) {
		rt.Fatalf("%s: work %v of %v, rate %d", app.ID, done, want, rate)
	}
	if !outcome.Completed && excess.Sign() >= 0 && end > app.Arrival && s.Horizon != end {
		rt.Fatalf("%s: work %v of %v and not completed", app.ID, done, want)
	}
	if paused != outcome.Paused {
		rt.Fatalf("%s: paused %v, counted %v", app.ID, outcome.Paused, paused)
	}
}

// integrate adds up rate times time over the recorded allocations until end: the twin of job.
func integrate(s *Scenario, app *App, end time.Duration, r *recorder) (done *big.Int, paused time.Duration, rate int64) {
	done = new(big.Int)
	var places map[string]int64
	var ready time.Duration
	started := false
	for d, at := range r.at {
		if at >= end {
			break
		}
		next := r.next[d][app.ID]
		if !maps.Equal(places, next) && len(next) > 0 {
			ready = at
			if started {
				ready += s.AdjustCost
			}
			started = true
		}
		places = next
		if len(places) == 0 {
			continue
		}
		until := end
		if d+1 < len(r.at) {
			until = min(end, r.at[d+1])
		}
		var n int64
		for _, count := range places {
			n += count
		}
		rate, _ = app.rate(n)
		work := max(0, until-max(at, ready))
		paused += until - at - work
		done.Add(done, new(big.Int).Mul(big.NewInt(rate), big.NewInt(int64(work))))
	}
	return done, paused, rate
}

// A static scheduler adjusts nobody, and starts in the order of submission.
func TestSwarmIsStaticAndFirstComeFirstServed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := genScenario().Draw(rt, "scenario")
		result, err := Run(t.Context(), s, Swarm{})
		if err != nil {
			rt.Fatal(err)
		}
		var started []*Outcome
		for i := range result.Outcomes {
			o := &result.Outcomes[i]
			if o.Adjusted != 0 || o.Paused != 0 {
				rt.Fatalf("adjusted: %+v", o)
			}
			if o.Completed && o.Running() != s.Apps[i].Duration {
				rt.Fatalf("%s ran %v, want %v", o.ID, o.Running(), s.Apps[i].Duration)
			}
			if o.Started {
				started = append(started, o)
			}
		}
		slices.SortStableFunc(started, func(a, b *Outcome) int { return int(a.Arrival - b.Arrival) })
		for i := 1; i < len(started); i++ {
			if started[i].Start < started[i-1].Start {
				rt.Fatalf("%s overtook %s", started[i].ID, started[i-1].ID)
			}
		}
	})
}

// The order of the list matters only among applications of one arrival time.
func TestDeterministic(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := genScenario().Draw(rt, "scenario")
		for i := range s.Apps {
			s.Apps[i].Arrival += time.Duration(i) // now no two are equal
		}
		policy := genPolicy().Draw(rt, "policy")
		first, err := Run(t.Context(), s, policy())
		if err != nil {
			rt.Fatal(err)
		}
		for range 50 {
			s.Apps = rapid.Permutation(s.Apps).Draw(rt, "apps")
			again, err := Run(context.Background(), s, policy())
			if err != nil {
				rt.Fatal(err)
			}
			slices.SortFunc(again.Outcomes, byArrival)
			slices.SortFunc(first.Outcomes, byArrival)
			if diff := cmp.Diff(first, again); diff != "" {
				rt.Fatalf("-first +again:\n%s", diff)
			}
		}
	})
}

func byArrival(a, b Outcome) int { return int(a.Arrival - b.Arrival) }
