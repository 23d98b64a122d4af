// This file has TLC look at what has happened to the jobs of worlds, and at the same with a step more, less or elsewhere.

package world_test

import (
	"io"
	"os"
	"slices"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/world"
	"github.com/apportion/apportion/internal/world/model"
	"github.com/apportion/apportion/internal/world/summary"
)

func TestTraces(t *testing.T) {
	jar := os.Getenv("APPORTION_TLC")
	if jar == "" {
		must.Equal(t, os.Getenv("APPORTION_REQUIRE_TLC"), "", "APPORTION_TLC names no TLC: run make tlc")
		t.Skip("APPORTION_TLC names no TLC: run make tlc")
	}
	w, spec, seeds := open(t), must.Have(os.ReadFile("../../checkpoint/RUN.tla"))(t), []uint64{4, 2, 7}
	if testing.Short() {
		seeds = seeds[:1]
	}
	var first []summary.Trace
	for _, seed := range seeds {
		traces := play(t, w, seed, io.Discard, "-steps").Traces
		if err := model.Check(t.Context(), jar, spec, traces); err != nil || len(traces) < 3 {
			t.Errorf("seed %d, %d traces: %v", seed, len(traces), err)
		}
		if first == nil {
			first = traces
		}
	}
	var names []string
	var wrong []summary.Trace
	for name, damage := range damages {
		names, wrong = append(names, name), append(wrong, summary.Trace{Job: name, Steps: damaged(t, name, first, damage)})
	}
	for i, taken := range must.Have(model.Taken(t.Context(), jar, spec, wrong))(t) {
		if taken {
			t.Errorf("a trace is taken: %s", names[i])
		}
	}
	if !testing.Short() {
		testBugs(t, w, jar, spec)
	}
}

// testBugs lets seeds play with bugs of the surroundings until one finds it and a trace of it is refused, as some seed must: which does depends
// on all code that a world runs.
func testBugs(t *testing.T, w *world.World, jar string, spec []byte) {
	for _, bug := range []string{"no-lease", "no-stop"} {
		seed, refused := uint64(0), false
		for !refused && seed < 8 {
			seed++
			s := play(t, w, seed, io.Discard, "-steps", "-bug", bug)
			refused = len(s.Violations) > 0 && slices.Contains(must.Have(model.Taken(t.Context(), jar, spec, s.Traces))(t), false)
		}
		if !refused {
			t.Errorf("%s: seeds 1 to %d find nothing, or all their traces are taken", bug, seed)
		}
	}
}

// is is the first step of a kind from a place on.
func is(steps []summary.Step, from int, kind string) int {
	return from + slices.IndexFunc(steps[from:], func(s summary.Step) bool { return s.Kind == kind })
}

// damages are what may not be, of steps of which one is that of a process that begins. They return nil where there is nothing to damage.
var damages = map[string]func(steps []summary.Step, runs int) []summary.Step{
	"no order": func(steps []summary.Step, runs int) []summary.Step {
		return slices.DeleteFunc(steps, func(s summary.Step) bool { return s.Kind == "O" && s.Attempt == steps[runs].Attempt })
	},
	"an old order": func(steps []summary.Step, runs int) []summary.Step {
		for i := range steps[:runs] {
			if steps[i].Kind == "O" && steps[i].Attempt == steps[runs].Attempt {
				steps[i].Stamp -= 11_000
			}
		}
		return steps
	},
	"a run elsewhere": func(steps []summary.Step, runs int) []summary.Step {
		other := steps[runs]
		other.Server = other.Server%2 + 1
		return slices.Insert(steps, runs+1, other)
	},
	"an attempt of before": func(steps []summary.Step, runs int) []summary.Step {
		if steps[runs].Attempt < 2 {
			return nil
		}
		steps[runs].Attempt--
		return steps
	},
	"an end after its stop": func(steps []summary.Step, runs int) []summary.Step {
		end := is(steps, runs, "E")
		stop := is(steps, runs, "T")
		if end < runs || stop < end || steps[end].Server != steps[stop].Server {
			return nil
		}
		steps[end], steps[stop] = steps[stop], steps[end]
		steps[end].At, steps[stop].At = steps[stop].At, steps[end].At
		return steps
	},
	"an end after its lease": func(steps []summary.Step, runs int) []summary.Step {
		end := is(steps, runs, "E")
		if end < runs || steps[end].At-steps[runs].At < 17_500 {
			return nil
		}
		return slices.Concat(steps[:runs+1], slices.DeleteFunc(slices.Clone(steps[runs+1:end]), func(s summary.Step) bool { return s.Kind == "Q" }), steps[end:])
	},
	"a beginning before the end": func(steps []summary.Step, runs int) []summary.Step {
		over := is(steps, runs, "Z")
		if over < runs {
			return nil
		}
		return slices.Delete(steps, over, over+1)
	},
	"a loss of what answers": func(steps []summary.Step, runs int) []summary.Step {
		answer := is(steps, runs, "A")
		if answer < runs {
			return nil
		}
		lost := steps[answer]
		lost.Kind = "X"
		return slices.Insert(steps, answer+1, lost)
	},
	"a stamp of nobody": func(steps []summary.Step, runs int) []summary.Step {
		asked := is(steps, runs, "Q")
		if asked < runs {
			return nil
		}
		steps[asked].Stamp++
		return steps
	},
	"nothing known": func(steps []summary.Step, runs int) []summary.Step {
		steps[runs].Kind = "?"
		return steps
	},
}

// damaged is the first trace that can be damaged so, from the first process on with which it can.
func damaged(t *testing.T, name string, traces []summary.Trace, damage func([]summary.Step, int) []summary.Step) []summary.Step {
	for i := range traces {
		for k, s := range traces[i].Steps {
			if s.Kind == "R" {
				if steps := damage(slices.Clone(traces[i].Steps), k); steps != nil {
					return steps
				}
			}
		}
	}
	t.Fatal("no trace can be damaged so: ", name)
	return nil
}
