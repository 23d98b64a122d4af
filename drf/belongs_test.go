// This file tests that a filling is explained with its own claims and tree only, also one that was stored and read again.

package drf_test

import (
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// refuses checks that an error is one fault of a field, or nil where field is empty.
func refuses(t *testing.T, name string, err error, field string, want error) {
	t.Helper()
	if field == "" {
		must.Do(t, err, name)
		return
	}
	var faults apportion.Faults
	if !errors.As(err, &faults) || faults[0].Field != field || !errors.Is(err, want) {
		t.Errorf("%s: %v, want %s %v", name, err, field, want)
	}
}

// A filling of other claims is told by what differs, and nothing is looked up that is not there.
func TestExplainOfOthers(t *testing.T) {
	claims := []drf.Claim{claim("a", 1, 0, 2, 1, 0), claim("b", 1, 0, top, 1, 1)}
	make2 := func() *drf.Filling[int64] {
		return must.Have(drf.FillWhole(apportion.Resources{6, 3}, claims, nil))(t)
	}
	for _, test := range []struct {
		name   string
		change func(f *drf.Filling[int64]) []drf.Claim
		field  string
		want   error
	}{
		{"its own", func(*drf.Filling[int64]) []drf.Claim { return claims }, "", nil},
		{"one claim fewer", func(*drf.Filling[int64]) []drf.Claim { return claims[:1] }, "Claims", apportion.ErrLength},
		{"one claim more", func(*drf.Filling[int64]) []drf.Claim { return append(claims[:2:2], claims[0]) }, "Claims", apportion.ErrLength},
		{"another order", func(*drf.Filling[int64]) []drf.Claim { return []drf.Claim{claims[1], claims[0]} }, "ID", apportion.ErrConflict},
		{"fewer kinds", func(*drf.Filling[int64]) []drf.Claim {
			return []drf.Claim{claim("a", 1, 0, 2, 1), claim("b", 1, 0, top, 1)}
		}, "Demand", apportion.ErrLength},
		{"nothing unused", func(f *drf.Filling[int64]) []drf.Claim { f.Unused = nil; return claims }, "Demand", apportion.ErrLength},
		{"short of a third kind", func(f *drf.Filling[int64]) []drf.Claim { f.ShortOf = 2; return claims }, "ShortOf", apportion.ErrRange},
		{"short of less than none", func(f *drf.Filling[int64]) []drf.Claim { f.ShortOf = -2; return claims }, "ShortOf", apportion.ErrRange},
		{"stopped by a third kind", func(f *drf.Filling[int64]) []drf.Claim { f.Claims[1].StoppedBy.Kind = 2; return claims }, "StoppedBy", apportion.ErrRange},
		{"stopped by no kind", func(f *drf.Filling[int64]) []drf.Claim { f.Claims[1].StoppedBy.Kind = -1; return claims }, "StoppedBy", apportion.ErrRange},
		{"at its maximum by less than none", func(f *drf.Filling[int64]) []drf.Claim { f.Claims[0].StoppedBy.Kind = -2; return claims }, "StoppedBy", apportion.ErrRange},
	} {
		filling := make2()
		_, err := drf.Explain(nil, test.change(filling), filling)
		refuses(t, test.name, err, test.field, test.want)
	}
}

// The same of trees: queues in another order or number, and ceilings of queues that are not there.
func TestExplainTreeOfOthers(t *testing.T) {
	capacity := apportion.Resources{6, 3}
	queues := []drf.Queue{node("x", "", 1, nil, 2, none), node("y", "", 1, nil)}
	claims := []drf.Claim{in("x", claim("a", 1, 0, top, 1, 0)), in("y", claim("b", 1, 0, top, 1, 1))}
	treeOf := func(capacity apportion.Resources, queues ...drf.Queue) *drf.Tree {
		return must.Have(drf.NewTree(capacity, queues))(t)
	}
	own := treeOf(capacity, queues...)
	for _, test := range []struct {
		name   string
		change func(f *drf.TreeFilling[int64]) *drf.Tree
		field  string
		want   error
	}{
		{"its own", func(*drf.TreeFilling[int64]) *drf.Tree { return own }, "", nil},
		{"another order of queues", func(*drf.TreeFilling[int64]) *drf.Tree { return treeOf(capacity, queues[1], queues[0]) }, "ID", apportion.ErrUnknown},
		{"one queue fewer", func(*drf.TreeFilling[int64]) *drf.Tree { return treeOf(capacity, queues[0]) }, "Queues", apportion.ErrLength},
		{"another cluster", func(*drf.TreeFilling[int64]) *drf.Tree {
			return treeOf(apportion.Resources{6}, node("x", "", 1, nil), node("y", "", 1, nil))
		}, "Unused", apportion.ErrLength},
		{"the root among the queues", func(f *drf.TreeFilling[int64]) *drf.Tree { f.Queues[0].ID = ""; return own }, "ID", apportion.ErrUnknown},
		{"a use of nothing", func(f *drf.TreeFilling[int64]) *drf.Tree { f.Queues[1].Used = nil; return own }, "Used", apportion.ErrLength},
		{"the ceiling of nobody", func(f *drf.TreeFilling[int64]) *drf.Tree { f.Claims[0].StoppedBy.Queue = "z"; return own }, "StoppedBy", apportion.ErrUnknown},
		{"the ceiling of the root", func(f *drf.TreeFilling[int64]) *drf.Tree { f.Claims[0].StoppedBy.Queue = ""; return own }, "StoppedBy", apportion.ErrUnknown},
		{"claims of others", func(f *drf.TreeFilling[int64]) *drf.Tree { f.Claims[0].ID = "c"; return own }, "ID", apportion.ErrConflict},
	} {
		filling, err := own.FillWhole(claims)
		must.Do(t, err)
		_, err = drf.ExplainTree(nil, test.change(filling), claims, filling)
		refuses(t, test.name, err, test.field, test.want)
	}
}

// A filling that was written and read is explained as before, and one of other claims never panics.
func TestPropExplainStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := limits{claims: 4, capacity: 30, demand: 5, min: 2, max: 5, empty: true}
		one, two := genInstance(t, small), genInstance(t, small)
		filling := one.whole(t, nil)
		text := must.Have(json.Marshal(filling))(t)
		var read drf.Filling[int64]
		must.Do(t, json.Unmarshal(text, &read))
		want := must.Have(drf.Explain(nil, one.claims, filling))(t)
		if got, err := drf.Explain(nil, one.claims, &read); err != nil || got.String() != want.String() {
			t.Fatalf("read again: %v, %v", got, err)
		}
		if e, err := drf.Explain(nil, two.claims, &read); err == nil && len(e.Claims) != len(two.claims) {
			t.Fatalf("%d explained of %d", len(e.Claims), len(two.claims))
		}
	})
}
