package alloc_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/alloc/solver"
)

// What a Decider remembers changes nothing that is proven: utilization and bound of decisions in a row are those
// of fresh ones.
func TestDeciderRemembersNothingThatMatters(t *testing.T) {
	var d alloc.Decider
	for seed := range uint64(12) {
		p := problemtest.Draw(alloctest.Families()[seed%2], seed, 6, 9, seed%3 > 0)
		fresh := reallocate(t, p)
		got, err := d.Reallocate(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := alloc.Verify(p, got); err != nil {
			t.Error(err)
		}
		if seed > 0 && !got.Certificate.By.Warm {
			t.Errorf("%d: nothing was remembered", seed)
		}
		if fresh.Proven >= solver.ByUtilization && got.Objective > fresh.Objective+solver.ObjectiveTolerance ||
			got.Proven >= solver.ByUtilization && fresh.Objective > got.Objective+solver.ObjectiveTolerance {
			t.Errorf("%d: %g, proven by %v; fresh %g, proven by %v", seed, got.Objective, got.Proven, fresh.Objective, fresh.Proven)
		}
	}
}

// Effort, gap and seed reach the solver, and bad input is refused as by Reallocate.
func TestDeciderSettings(t *testing.T) {
	d := alloc.Decider{Effort: embedded.Quick, Gap: .25, Seed: 7}
	got, err := d.Reallocate(t.Context(), tiny(nil, "LR"))
	if want := (solver.Settings{Solver: embedded.Name, Effort: int64(embedded.Quick), Gap: .25, Seed: 7}); err != nil || got.Certificate.By != want {
		t.Errorf("%+v, %v; want %+v", got.Certificate.By, err, want)
	}
	if _, err := d.Reallocate(t.Context(), &alloc.Problem{}); !errors.Is(err, apportion.ErrEmpty) {
		t.Errorf("%v, want %v", err, apportion.ErrEmpty)
	}
}

// What a decision hands on is carried by a Decider as by HandOn, in a copy of what the problem shares, and nothing of the decision is.
func TestDeciderHandsOn(t *testing.T) {
	s := newStream()
	for range 32 {
		s.small()
	}
	submit(s.p, "", "gang", 8, 8)
	s.p.Applications[0], s.p.Applications[32] = s.p.Applications[32], s.p.Applications[0]
	s.p.Previous = alloc.Allocation{}
	for _, app := range s.p.Applications[1:] {
		s.p.Previous[app.ID] = map[string]int64{fmt.Sprint("s", len(s.p.Previous)/8): 1}
	}
	by := new(alloc.Decider)
	var last *alloc.Decision
	for range 16 {
		s.hour()
		shared, was, other := s.p.Applications, slices.Clone(s.p.Applications), *s.p
		if last != nil {
			last.HandOn(&other)
		}
		d := decideBy(t, by, s.p)
		want := reallocate(t, &other)
		if diff := cmp.Diff([]any{want.Waiting, want.Reservations, want.Allocation}, []any{d.Waiting, d.Reservations, d.Allocation}); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(was, shared); diff != "" {
			t.Fatalf("what is shared is written to: %s", diff)
		}
		last = want
		for i := range d.Reservations {
			clear(d.Reservations[i].Servers)
		}
	}
}
