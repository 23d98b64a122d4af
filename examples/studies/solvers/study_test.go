// This file checks which searches a study consists of.

package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/internal/must"
)

// All instances, from the smallest to the largest; branch and bound gets the smallest only, and the
// disjunctive form is left out where it is the verbatim one.
func TestStudy(t *testing.T) {
	o := &options{limit: time.Second, workers: 2}
	must.Do(t, o.choose(".", "bb,embedded", ""))
	s := must.Have(newStudy(o))(t)
	must.Equal(t, len(s.instances), len(alloctest.References()), "instances")
	for k, i := range s.instances {
		if k > 0 && i.size() < s.instances[k-1].size() {
			t.Errorf("%s comes after %s", i.Name, s.instances[k-1].Name)
		}
		var got []string
		for _, c := range i.cells {
			got = append(got, c.solver+" "+c.form)
		}
		want := []string{"embedded quick", "embedded default", "embedded thorough"}
		if len(i.Instance.Apps) == 30 && len(i.Instance.Capacity) == 20 {
			want = append(want, "bb verbatim", "bb class")
			if !i.fresh {
				want = append(want, "bb disjunctive")
			}
		}
		must.Same(t, got, want, i.Name)
		if running := slices.ContainsFunc(i.Instance.Apps, isRunning); running == i.fresh {
			t.Errorf("%s: fresh is %v", i.Name, i.fresh)
		}
	}
	must.Do(t, o.choose(someInstances, "", "disjunctive"))
	must.Equal(t, len(o.forms), 1, "forms")
	s = must.Have(newStudy(o))(t)
	if !slices.ContainsFunc(s.instances[0].cells, func(c *cell) bool { return c.form == "disjunctive" }) {
		t.Errorf("%s lacks the only form that was asked for", s.instances[0].Name)
	}
}

// An instance in whose midst the context ends is dropped; those before it stay.
func TestMeasureCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &study{limit: time.Second}
	for _, ref := range alloctest.References()[:3] {
		i := &instance{Reference: ref}
		for range 2 {
			i.cells = append(i.cells, &cell{solver: ref.Name, measure: func(context.Context, float64) (trace, error) {
				if len(s.instances[1].cells[0].points) > 0 {
					cancel()
				}
				return demo, nil
			}})
		}
		s.instances = append(s.instances, i)
	}
	var text strings.Builder
	if err := s.measure(ctx, &text, io.Discard); err != nil || len(s.instances) != 1 || strings.Count(text.String(), "best known") != 1 {
		t.Errorf("%v, %d instances, want 1:\n%s", err, len(s.instances), &text)
	}
}

// The best known is the reference's, unless that is a relaxation's, or a better answer.
func TestBest(t *testing.T) {
	exact := &instance{Reference: alloctest.Reference{Objective: 2}}
	relaxed := &instance{Reference: alloctest.Reference{Objective: 2, Relaxed: true}}
	for _, i := range []*instance{exact, relaxed} {
		i.cells = []*cell{{points: demo[:1]}, {points: trace{{objective: 1.5}, {objective: 1}}}}
	}
	if exact.best() != 2 || relaxed.best() != 1.5 {
		t.Errorf("%v and %v, want 2 and 1.5", exact.best(), relaxed.best())
	}
	exact.cells[0].points = demo
	must.Equal(t, exact.best(), 100)
}
