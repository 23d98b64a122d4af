// This file generates scenarios and holds the policies that only tests use.

package sim

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

var testKinds = apportion.Kinds{"cpu", "gpu"}

// genScenario draws small clusters and applications, some of which can never run.
func genScenario() *rapid.Generator[*Scenario] {
	return rapid.Custom(func(t *rapid.T) *Scenario {
		s := &Scenario{
			Kinds:      testKinds,
			AdjustCost: time.Duration(rapid.Int64Range(0, 300).Draw(t, "cost")) * time.Second,
		}
		if rapid.Bool().Draw(t, "cut") {
			s.Horizon = time.Duration(rapid.Int64Range(1, 40).Draw(t, "horizon")) * 100 * time.Second
		}
		for j := range rapid.IntRange(1, 4).Draw(t, "servers") {
			s.Servers = append(s.Servers, apportion.Server{
				ID:       fmt.Sprintf("s%d", j),
				Capacity: apportion.Resources{rapid.Int64Range(1, 8).Draw(t, "cpu"), rapid.Int64Range(0, 2).Draw(t, "gpu")},
			})
		}
		for i := range rapid.IntRange(1, 8).Draw(t, "apps") {
			s.Apps = append(s.Apps, genApp(t, fmt.Sprintf("a%d", i)))
		}
		return s
	})
}

func genApp(t *rapid.T, id string) App {
	app := App{
		Application: alloc.Application{
			ID:     id,
			Demand: apportion.Resources{rapid.Int64Range(1, 4).Draw(t, "demand"), rapid.Int64Range(0, 1).Draw(t, "gpus")},
			Weight: 1,
			Max:    rapid.Int64Range(1, 6).Draw(t, "max"),
			Min:    1,
		},
		// Few distinct instants, so that arrivals and completions coincide.
		Arrival:  time.Duration(rapid.Int64Range(0, 10).Draw(t, "arrival")) * 100 * time.Second,
		Fixed:    rapid.Int64Range(1, 4).Draw(t, "fixed"),
		Duration: time.Duration(rapid.Int64Range(1, 20).Draw(t, "duration")) * 100 * time.Second,
	}
	if rapid.Bool().Draw(t, "amdahl") {
		app.Speedup, _ = Amdahl(0.1)
	}
	return app
}

// shuffler is a policy without sense: at every decision it throws the containers anew, some
// applications get none. It reaches states that no sensible policy reaches.
type shuffler struct{ rng *rand.Rand }

func newShuffler(seed uint64) *shuffler { return &shuffler{rand.New(rand.NewPCG(seed, 0))} }

func (*shuffler) Name() string { return "shuffler" }

func (s *shuffler) Decide(_ context.Context, state *State) (alloc.Allocation, error) {
	next := state.Running.Clone()
	for _, app := range state.Apps {
		if s.rng.IntN(2) == 0 {
			delete(next, app.ID)
		}
	}
	cluster := occupy(&State{Kinds: state.Kinds, Servers: state.Servers, Apps: state.Apps, Running: next})
	for _, app := range state.Apps {
		for range s.rng.IntN(4) {
			j := s.rng.IntN(len(state.Servers))
			if next.Containers(app.ID) >= app.Max || !app.Demand.FitsIn(cluster.free[j]) {
				continue
			}
			cluster.take(j, 1, app.Demand)
			if next[app.ID] == nil {
				next[app.ID] = make(map[string]int64)
			}
			next[app.ID][state.Servers[j].ID]++
		}
	}
	return next, nil
}

// recorder remembers what a policy decided, and when.
type recorder struct {
	Policy
	at   []time.Duration
	next []alloc.Allocation
	apps [][]string
}

func (r *recorder) Decide(ctx context.Context, state *State) (alloc.Allocation, error) {
	next, err := r.Policy.Decide(ctx, state)
	ids := make([]string, 0, len(state.Apps))
	for _, app := range state.Apps {
		ids = append(ids, app.ID)
	}
	r.at, r.next, r.apps = append(r.at, state.Now), append(r.next, next.Clone()), append(r.apps, ids)
	return next, err
}

// scripted answers its n-th decision with its n-th allocation.
type scripted struct{ answers []alloc.Allocation }

func (*scripted) Name() string { return "scripted" }

func (s *scripted) Decide(_ context.Context, state *State) (alloc.Allocation, error) {
	next := s.answers[0]
	s.answers = s.answers[1:]
	known := make(alloc.Allocation)
	for _, app := range state.Apps {
		known[app.ID] = maps.Clone(next[app.ID])
	}
	return known, nil
}
