//go:build !js

// This file tests sessions: what the changes of answers add up to, what a refused line leaves, and what a session is worth as a value.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// TestSessionAddsUp draws changes, right and wrong, and holds what the answers say to what the session shows.
func TestSessionAddsUp(t *testing.T) {
	refused, decided, events := 0, 0, 0
	for seed := range unlessShort(12, 3) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s, _, err := newSession(t.Context(), []byte(drawnProblem(rng, 4, 5)), 20)
		must.Do(t, err)
		has := maps.Clone(s.decision.Allocation)
		for step := range 25 {
			before := s.after()
			line := drawnChange(rng, step)
			answer, err := s.answer(t.Context(), []byte(line))
			if err != nil {
				refused++
				if !isFault(err) {
					t.Fatal(line, err)
				}
				must.Equal(t, cmp.Diff(before, s.after()), "", "seed", seed, line, "was refused, and has changed (-before +after)")
				continue
			}
			decided++
			after := s.after()
			maps.DeleteFunc(has, func(name string, _ map[string]int64) bool {
				return !slices.ContainsFunc(after.Applications, func(a alloc.Application) bool { return a.ID == name })
			})
			for name, servers := range answer.(*news).Allocation {
				has[name] = servers
				if len(servers) == 0 {
					delete(has, name)
				}
			}
			must.Equal(t, cmp.Diff(has, after.Previous), "", "seed", seed, "after", line, "the answers add up to (-what is shown)")
			if answer.(*news).Whole == "" {
				events++
			}
			must.Have(alloc.NewRecord(s.problem, s.decision).Verify())(t, "seed", seed, line)
			asValue(t, s)
		}
	}
	if refused == 0 || !testing.Short() && (refused < 30 || decided < 100 || events == 0) {
		t.Errorf("%d refused, %d decided, %d of them by themselves", refused, decided, events)
	}
}

// asValue begins another session with what s shows: it shows the same before anything has happened, and its decision is no worse.
func asValue(t *testing.T, s *session) {
	t.Helper()
	text := must.Have(json.Marshal(s.after()))(t)
	other, _, err := newSession(t.Context(), text, 20)
	must.Do(t, err)
	again := *s // decides on its own: the decider is a value, too
	must.Have(again.answer(t.Context(), []byte(`{"changes":[]}`)))(t)
	for _, pair := range [][2]*session{{other, &again}, {&again, other}} {
		if one, two := pair[0].decision, pair[1].decision; one.Objective > two.Bound*(1+1e-9) {
			t.Fatalf("%s\n%v is above the bound %v of the same problem", text, one.Objective, two.Bound)
		}
	}
	if math.Abs(float64(other.decision.Metrics.AdjustBudget-again.decision.Metrics.AdjustBudget)) > 0 {
		t.Fatalf("%s\nbudgets differ: %+v, %+v", text, other.decision.Metrics, again.decision.Metrics)
	}
}

func drawnProblem(rng *rand.Rand, servers, apps int) string {
	var b strings.Builder
	b.WriteString(`{"kinds":["cpu","gpu"],"theta1":0.4,"theta2":0.5,"servers":[`)
	for j := range servers {
		fmt.Fprintf(&b, `{"id":"s%d","capacity":[%d,%d]},`, j, 8+rng.IntN(8), rng.IntN(5))
	}
	text := strings.TrimSuffix(b.String(), ",") + `],"applications":[`
	for i := range apps {
		text += drawnApplication(rng, fmt.Sprintf("a%d", i)) + ","
	}
	return strings.TrimSuffix(text, ",") + `]}`
}

func drawnApplication(rng *rand.Rand, name string) string {
	least := rng.IntN(2)
	return fmt.Sprintf(`{"id":%q,"demand":[%d,%d],"min":%d,"max":%d}`, name, 1+rng.IntN(3), rng.IntN(2), least, 1+least+rng.IntN(5))
}

// drawnChange draws a line; names are drawn from more than there are.
func drawnChange(rng *rand.Rand, step int) string {
	var list []string
	for range 1 + rng.IntN(2) {
		name, server := fmt.Sprintf("a%d", rng.IntN(7)), fmt.Sprintf("s%d", rng.IntN(5))
		list = append(list, [...]string{
			`{"arrive":` + drawnApplication(rng, fmt.Sprintf("a%d", 5+step)) + `}`,
			`{"update":` + drawnApplication(rng, name) + `}`,
			fmt.Sprintf(`{"end":%q}`, name),
			fmt.Sprintf(`{"join":{"id":%q,"capacity":[%d,2]}}`, server, 4+rng.IntN(9)),
			fmt.Sprintf(`{"lose":%q}`, server),
			fmt.Sprintf(`{"cordon":%q}`, server),
			fmt.Sprintf(`{"uncordon":%q}`, server),
			fmt.Sprintf(`{"set":{"theta2":%.1f}}`, rng.Float64()*1.1),
		}[rng.IntN(8)])
	}
	return `{"changes":[` + strings.Join(list, ",") + `]}`
}

// BenchmarkSession is an event on 100 servers with 100 applications: by a session, by "apportion dorm" on the whole problem, and the
// decision alone; the events are the same.
func BenchmarkSession(b *testing.B) {
	problem := drawnProblem(rand.New(rand.NewPCG(1, 1)), 100, 100)
	const come, gone = `{"changes":[{"arrive":{"id":"new","demand":[2,0],"min":1,"max":4}}]}`, `{"changes":[{"end":"new"}]}`
	events := func(b *testing.B, answer func(s *session, line string) error) {
		s, _, err := newSession(b.Context(), []byte(problem), 20)
		must.Do(b, err)
		for n := 0; b.Loop(); n++ {
			must.Do(b, answer(s, [...]string{come, gone}[n%2]))
		}
	}
	b.Run("decision", func(b *testing.B) {
		events(b, func(s *session, line string) error {
			var q question
			if err := json.Unmarshal([]byte(line), &q); err != nil {
				return err
			}
			_, err := s.decider.Apply(b.Context(), q.Changes...)
			return err
		})
	})
	b.Run("session", func(b *testing.B) {
		events(b, func(s *session, line string) error {
			out, err := s.answer(b.Context(), []byte(line))
			if err != nil {
				return err
			}
			return json.NewEncoder(io.Discard).Encode(out)
		})
	})
	b.Run("dorm", func(b *testing.B) {
		events(b, func(s *session, line string) error {
			b.StopTimer()
			if _, err := s.answer(b.Context(), []byte(line)); err != nil {
				return err
			}
			text, err := json.Marshal(s.problem)
			if err != nil {
				return err
			}
			b.StartTimer()
			var errs bytes.Buffer
			if code := run(b.Context(), []string{"dorm", "-effort", "20"}, bytes.NewReader(text), io.Discard, &errs); code != answered {
				return fmt.Errorf("%s", &errs)
			}
			return nil
		})
	})
}
