// This file tests "apportion drf" against the library, and what it says about inputs that are wrong.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// randomDRF returns an input with claims of all sorts: bounded, paused, weighted, larger than the cluster.
func randomDRF(rng *rand.Rand) *drfInput {
	d := &drfInput{Kinds: apportion.Kinds{"cpu", "memory"}, Capacity: apportion.Resources{rng.Int64N(40), rng.Int64N(40)}}
	for i := range rng.IntN(6) {
		claim := drf.Claim{ID: fmt.Sprint("c", i), Demand: apportion.Resources{rng.Int64N(4), 1 + rng.Int64N(4)}, Weight: 1 + float64(rng.IntN(3)), Max: drf.NoMax}
		if rng.IntN(2) == 0 {
			claim.Min = rng.Int64N(3)
			claim.Max = claim.Min + rng.Int64N(5)
		}
		d.Claims = append(d.Claims, claim)
	}
	return d
}

// answerOf runs "drf" and reads its output.
func answerOf[N drf.Amount](t *testing.T, in *drfInput) *drfOutput[N] {
	t.Helper()
	if in.Claims == nil {
		in.Claims = []drf.Claim{} // null is no list
	}
	code, out, errs := call(t, encode(t, in), "drf")
	answer := &drfOutput[N]{}
	if err := json.Unmarshal([]byte(out), answer); code != answered || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	return answer
}

// checkFilling compares an answer with what the library says, number by number and text by text.
func checkFilling[N drf.Amount](t *testing.T, in *drfInput, want *drf.Filling[N], got *drfOutput[N]) {
	t.Helper()
	short := ""
	if want.ShortOf >= 0 {
		short = in.Kinds[want.ShortOf]
	}
	if diff := cmp.Diff(want.Unused, got.Unused); diff != "" || got.ShortOf != short || len(got.Claims) != len(in.Claims) {
		t.Fatalf("%s\nshort of %q, want %q; %d claims; unused (-library +command)\n%s", encode(t, in), got.ShortOf, short, len(got.Claims), diff)
	}
	for i, w := range want.Claims {
		g, kind := got.Claims[i], ""
		if w.StoppedBy.Kind >= 0 {
			kind = in.Kinds[w.StoppedBy.Kind]
		}
		if g != (drfClaim[N]{in.Claims[i].ID, w.Containers, w.Share, w.Level, w.StoppedBy.Cause.String(), kind, ""}) {
			t.Errorf("%s\nclaim %d: %+v, the library has %+v", encode(t, in), i, g, w)
		}
	}
}

// Both ways of filling answer as the library does, and nothing is lost on the way through JSON.
func TestDRFAgainstLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	short := 0
	for range 150 {
		in := randomDRF(rng)
		fluid := must.Have(drf.Fill(in.Capacity, in.Claims))(t)
		checkFilling(t, in, fluid, answerOf[float64](t, in))
		in.Filling = divisible
		checkFilling(t, in, fluid, answerOf[float64](t, in))
		in.Filling = whole
		containers := must.Have(drf.FillWhole(in.Capacity, in.Claims, nil))(t)
		checkFilling(t, in, containers, answerOf[int64](t, in))
		if containers.ShortOf >= 0 {
			short++
		}
	}
	if short == 0 || short > 100 {
		t.Errorf("in %d of 150 clusters the minimums did not fit, which shows little", short)
	}
}

// The faults of kinds, capacity, filling and claims are told together, each once.
func TestDRFFaults(t *testing.T) {
	const claim = `{"id":"a","demand":[1,1]}`
	for _, test := range []struct {
		name, text string
		want       []string // item and field of each fault
	}{
		{"nothing wrong", `{"kinds":["x","y"],"capacity":[1,1],"claims":[` + claim + `]}`, nil},
		{"no kinds", `{"kinds":[],"capacity":[],"claims":[` + claim + `]}`, []string{" kinds"}},
		{"a kind twice", `{"kinds":["x","x"],"capacity":[1,1],"claims":[]}`, []string{" kinds[1]"}},
		{"capacity too short: claims are not looked at", `{"kinds":["x","y"],"capacity":[1],"claims":[{"id":"","demand":[]}]}`, []string{" capacity"}},
		{"negative capacity and a filling", `{"kinds":["x","y"],"capacity":[1,-1],"claims":[` + claim + `],"filling":"liquid"}`, []string{" capacity[y]", " filling"}},
		{"filling and a claim", `{"kinds":["x","y"],"capacity":[1,1],"claims":[{"id":"a","demand":[1]}],"filling":""}`, []string{" filling", `claim "a" demand`}},
		{"two claims of one name", `{"kinds":["x","y"],"capacity":[1,1],"claims":[` + claim + "," + claim + `]}`, []string{`claim "a" id`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readDRF(strings.NewReader(test.text))
			var faults apportion.Faults
			var got []string
			errors.As(err, &faults)
			for _, fault := range faults {
				got = append(got, fault.Item.String()+" "+fault.Field)
			}
			must.Equal(t, cmp.Diff(test.want, got), "", err)
		})
	}
}
