// This file tests the form of claims in JSON.

package drf_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// A weight and a max that are absent have their defaults; those that are there stay, also 0.
func TestClaimJSON(t *testing.T) {
	for text, want := range map[string]drf.Claim{
		`{}`: {Weight: 1, Max: drf.NoMax},
		`{"id":"a","demand":[1,0],"weight":0,"min":1,"max":0}`: {ID: "a", Demand: apportion.Resources{1, 0}, Min: 1},
		`{"id":"b","demand":[2],"weight":2.5,"max":3}`:         {ID: "b", Demand: apportion.Resources{2}, Weight: 2.5, Max: 3},
	} {
		claim := drf.Claim{ID: "before", Min: 9}
		must.Do(t, json.Unmarshal([]byte(text), &claim))
		written, err := json.Marshal(want)
		var again drf.Claim
		if err == nil {
			err = json.Unmarshal(written, &again)
		}
		if diff := cmp.Diff(want, claim) + cmp.Diff(want, again); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	claim := drf.Claim{ID: "before"}
	if err := json.Unmarshal([]byte(`{"id":"a","max":"3"}`), &claim); err == nil || claim.ID != "before" {
		t.Errorf("error %v, claim %q", err, claim.ID)
	}
}
