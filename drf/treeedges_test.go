// This file tests trees at their edges: guarantees that are half used, capacities without an end, and the worked example of
// [Bhattacharya13].

package drf_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// shareOut fills a tree with divisible containers.
func shareOut(t *testing.T, capacity apportion.Resources, queues []drf.Queue, claims ...drf.Claim) *drf.TreeFilling[float64] {
	t.Helper()
	tree := must.Have(drf.NewTree(capacity, queues))(t)
	return must.Have(tree.Fill(claims))(t)
}

// Reference: [Bhattacharya13] §3: a leaf that asks for both kinds beside a queue whose children ask for one kind each. A
// scheduler that adds up the shares of the children would let the leaf have two thirds of each kind; here all have half
// of what they ask for.
func TestTreePaper(t *testing.T) {
	filling := shareOut(t, apportion.Resources{10, 10}, []drf.Queue{node("n2", "", 1, nil)},
		claim("n1", 1, 0, top, 1, 1), in("n2", claim("n2,1", 1, 0, top, 1, 0)), in("n2", claim("n2,2", 1, 0, top, 0, 1)))
	for _, got := range filling.Claims {
		if !isClose(got.Containers, 5) || !isClose(got.Share, 0.5) {
			t.Errorf("%s has %g, a share of %g", got.ID, got.Containers, got.Share)
		}
	}
	if got := filling.Queues[0]; !cmp.Equal(got.Used, []float64{5, 5}) || got.Share != 0.5 {
		t.Errorf("the queue has %+v", got)
	}
}

// Minima count as a part of what is guaranteed: of six with two given only four more come first. The queue has a weight with
// which it would get next to nothing else.
func TestGuaranteeAfterMinima(t *testing.T) {
	for _, least := range []int64{0, 2, 5, 6, 8} {
		filling := shareOut(t, apportion.Resources{10}, []drf.Queue{node("x", "", 1e-6, apportion.Resources{6}), node("y", "", 1, nil)},
			in("x", claim("a", 1, least, top, 1)), in("y", claim("b", 1, 0, top, 1)))
		want := float64(max(6, least))
		if got := filling.Claims[0].Containers; math.Abs(got-want) > 1e-3 {
			t.Errorf("minimum %d: %g containers, want %g", least, got, want)
		}
	}
}

// A capacity of 2^63 - 1, the largest, is one like any other: it is used up, and is not taken for no limit.
func TestTreeOfLargestCapacity(t *testing.T) {
	filling := shareOut(t, apportion.Resources{math.MaxInt64}, equals,
		in("x", claim("a", 1, 0, top, 2)), in("y", claim("b", 1, 0, top, 4)))
	for i, want := range []float64{0x1p61, 0x1p60} {
		got := filling.Claims[i]
		if !isClose(got.Containers/want, 1) || got.StoppedBy.Cause != drf.Exhausted {
			t.Errorf("%s has %g, want %g; %v", got.ID, got.Containers, want, got.StoppedBy)
		}
	}
	must.Equal(t, filling.Unused[0], 0, "are left")
}

// The order of queues and of claims leaves no trace, and neither do queues between that hold one queue alone.
func TestTreeDepth(t *testing.T) {
	claims := []drf.Claim{in("leaf", claim("a", 2, 0, top, 1, 3)), in("leaf", claim("b", 1, 0, top, 2, 1)), claim("c", 1, 0, 4, 1, 1)}
	flat := []drf.Queue{node("leaf", "", 3, nil)}
	want := shareOut(t, apportion.Resources{20, 30}, flat, claims...)
	deep := []drf.Queue{node("leaf", "m", 7, nil), node("m", "p", 0.5, nil), node("p", "", 3, nil)}
	for range 2 {
		got := shareOut(t, apportion.Resources{20, 30}, deep, claims...)
		for i := range want.Claims {
			if !isClose(got.Claims[i].Containers, want.Claims[i].Containers) {
				t.Errorf("%s has %g below three queues, %g below one", got.Claims[i].ID, got.Claims[i].Containers, want.Claims[i].Containers)
			}
		}
		slices.Reverse(deep)
	}
}

// Weights at both ends of what is allowed: 2^200 against 2^-200 is everything against nothing, and no number overflows.
func TestTreeExtremeWeights(t *testing.T) {
	filling := shareOut(t, apportion.Resources{1000}, []drf.Queue{node("x", "", drf.MaxWeight, nil), node("y", "", drf.MinWeight, nil)},
		in("x", claim("a", drf.MinWeight, 0, top, 1)), in("y", claim("b", drf.MaxWeight, 0, top, 1)))
	if a, b := filling.Claims[0].Containers, filling.Claims[1].Containers; !isClose(a, 1000) || !(b >= 0 && b < 1e-9) {
		t.Errorf("%g and %g", a, b)
	}
	for _, weight := range []float64{drf.MinWeight / 2, drf.MaxWeight * 2, 0, -1} {
		if _, err := drf.NewTree(apportion.Resources{1}, []drf.Queue{node("x", "", weight, nil)}); !errors.Is(err, apportion.ErrRange) {
			t.Errorf("weight %g: %v", weight, err)
		}
	}
}

// Rounding is no violation, and a millionth is one: what counts as equal grows with the numbers.
func TestVerifyTolerance(t *testing.T) {
	const many = 1e12
	capacity := apportion.Resources{4 * many}
	claims := []drf.Claim{claim("a", 1, 0, many, 1), claim("b", 1, 0, top, 1)}
	for _, test := range []struct {
		stray  float64 // of the parts of a and b, relative
		bounds bool
	}{{0, true}, {1e-10, true}, {-1e-10, true}, {1e-6, false}} {
		a := many * (1 + test.stray)
		report, err := drf.Verify(capacity, claims, []float64{a, 4*many - a})
		if err != nil || report.Holds(drf.WithinBounds) != test.bounds || !report.Holds(drf.WithinCapacity) {
			t.Errorf("%g: %v, %v", test.stray, report, err)
		}
	}
	// Small numbers are compared as they are: a billionth is nothing, a thousandth is something.
	small := []drf.Claim{claim("a", 1, 0, 1, 1)}
	for more, holds := range map[float64]bool{1e-10: true, 1e-3: false} {
		report := must.Have(drf.Verify(apportion.Resources{10}, small, []float64{1 + more}))(t)
		must.Equal(t, report.Holds(drf.WithinBounds), holds, "1 +", more, report)
	}
}

// What could be taken back, with faults told all at once and by name.
func TestReclaimRefuses(t *testing.T) {
	tree := must.Have(drf.NewTree(apportion.Resources{10, 10}, []drf.Queue{node("x", "", 1, apportion.Resources{4, 0})}))(t)
	sound := drf.Holding{ID: "a", Queue: "x", Held: apportion.Resources{1, 0}}
	with := func(change func(*drf.Holding)) drf.Holding {
		h := sound
		change(&h)
		return h
	}
	for _, test := range []struct {
		name  string
		bad   drf.Holding
		field string
		want  error
	}{
		{"empty id", with(func(h *drf.Holding) { h.ID = "" }), "ID", apportion.ErrEmpty},
		{"same id", sound, "ID", apportion.ErrDuplicate},
		{"short", with(func(h *drf.Holding) { h.ID, h.Held = "b", apportion.Resources{1} }), "Held", apportion.ErrLength},
		{"negative", with(func(h *drf.Holding) { h.ID, h.Held = "b", apportion.Resources{1, -1} }), "Held[1]", apportion.ErrNegative},
		{"loss negative", with(func(h *drf.Holding) { h.ID, h.Loss = "b", -1 }), "Loss", apportion.ErrRange},
		{"loss NaN", with(func(h *drf.Holding) { h.ID, h.Loss = "b", math.NaN() }), "Loss", apportion.ErrRange},
		{"loss infinite", with(func(h *drf.Holding) { h.ID, h.Loss = "b", math.Inf(1) }), "Loss", apportion.ErrRange},
		{"no such queue", with(func(h *drf.Holding) { h.ID, h.Queue = "b", "z" }), "Queue", apportion.ErrUnknown},
		{"overflow", with(func(h *drf.Holding) { h.ID, h.Held = "b", apportion.Resources{math.MaxInt64, 0} }), "Held", apportion.ErrOverflow},
	} {
		_, err := tree.Reclaim([]drf.Holding{sound, test.bad})
		var faults apportion.Faults
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Field != test.field || !errors.Is(err, test.want) || faults[0].Item.Kind != "holding" {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	// Nothing is held: nothing can be taken back.
	if taken, err := tree.Reclaim(nil); err != nil || len(taken) != 0 {
		t.Errorf("%v, %v", taken, err)
	}
}

// Of two that came at one time the one that loses less work goes first, and of equals the smaller ID; a queue keeps what is
// guaranteed to it of the kinds that a holding has.
func TestReclaimOrder(t *testing.T) {
	tree := must.Have(drf.NewTree(apportion.Resources{10, 10}, []drf.Queue{node("x", "", 1, apportion.Resources{2, 0}), node("y", "", 1, nil)}))(t)
	h := func(id, queue string, since int64, loss float64, held ...int64) drf.Holding {
		return drf.Holding{ID: id, Queue: queue, Since: since, Loss: loss, Held: held}
	}
	holdings := []drf.Holding{
		h("late", "y", 9, 5, 1, 0), h("dear", "y", 3, 5, 1, 0), h("cheap", "y", 3, 1, 1, 0), h("b", "y", 3, 2, 1, 0), h("a", "y", 3, 2, 1, 0),
		h("x1", "x", 8, 0, 1, 0), h("x2", "x", 7, 0, 1, 0), h("x3", "x", 6, 0, 1, 0), h("x4", "x", 5, 0, 1, 1),
	}
	before := slices.Clone(holdings)
	taken := must.Have(tree.Reclaim(holdings))(t)
	got := ""
	for _, h := range taken {
		got += h.ID + " "
	}
	// Two of the queue's four are above its guarantee; after these, one with the second kind is still not within it.
	if want := "late x1 x2 x4 cheap a b dear "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	must.Equal(t, cmp.Diff(before, holdings), "", "the list was changed")
	taken[0].Held[0] = 77
	must.Equal(t, holdings[0].Held[0], 1, "what was returned shares its vector with what was given")
}
