// This file tests the documents of -record on problems of every family: read back they are what was written, and
// verify says of them what the library says.

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/internal/must"
)

// decisions calls check with the document of a decision about a problem of each family.
func decisions(t *testing.T, check func(name string, p *alloc.Problem, record string)) {
	t.Helper()
	for _, family := range alloctest.Families() {
		for seed := range unlessShort(3, 1) {
			p := problemtest.Draw(family, seed, 4, 5, seed != 1)
			check(fmt.Sprintf("%s, seed %d", family.Name, seed), p, recorded(t, encode(t, p)))
		}
	}
}

// A document that is read and written again has not changed, and its problem is the one that was asked.
func TestRecordReadsBack(t *testing.T) {
	decisions(t, func(name string, p *alloc.Problem, record string) {
		r := must.Have(readRecord(strings.NewReader(record)))(t, name)
		again := must.Have(json.MarshalIndent(r, "", "  "))(t)
		must.Equal(t, string(again)+"\n", record, name, cmp.Diff(record, string(again)+"\n"))
		must.Equal(t, cmp.Diff(encode(t, p), encode(t, r.Problem)), "", name, "another problem")
	})
}

// verify prints what the library proves, and dorm claims no more than the two together: a bound below the proven
// one comes from a search and says so.
func TestVerifyAgainstLibrary(t *testing.T) {
	searched := map[bool]int{}
	decisions(t, func(name string, p *alloc.Problem, record string) {
		r := must.Have(readRecord(strings.NewReader(record)))(t, name)
		proof := must.Have(r.Verify())(t, name)
		code, out, errs := call(t, record, "verify")
		var got verifyOutput
		if err := json.Unmarshal([]byte(out), &got); code != answered || err != nil {
			t.Fatalf("%s: exit %d, %v: %s", name, code, err, errs)
		}
		want := verifyOutput{r.Decision.Status, r.Decision.Objective, finite(r.Decision.Bound), finite(proof.Bound), proof.Searched, proof.LeastLoss, nil}
		for _, field := range proof.Unchecked {
			want.Unchecked = append(want.Unchecked, recordNames.JSON("Decision."+field))
		}
		must.Equal(t, cmp.Diff(want, got), "", name)
		if claimed := decided(t, encode(t, p)); *claimed.Bound != *got.Bound || claimed.Objective != got.Objective {
			t.Errorf("%s: dorm prints %g and %g, its record has %g and %g", name, claimed.Objective, *claimed.Bound, got.Objective, *got.Bound)
		}
		searched[got.Searched]++
	})
	if !testing.Short() && (searched[true] == 0 || searched[false] == 0) {
		t.Errorf("of the decisions %v have a bound by a search, which shows little", searched)
	}
}

// A stream whose interrupt is not asked for keeps the process's own: only searches take signals, and what plays for as long as it is told.
func TestSearchesAreThoseWithALimit(t *testing.T) {
	for name, sub := range subcommands {
		_, help, _ := call(t, "", name, "-h")
		if limit := strings.Contains(help, "-timeout") || strings.Contains(help, "-for "); limit != (sub.manner == searching) {
			t.Errorf("%s: searches %v, has a limit %v", name, sub.manner == searching, limit)
		}
	}
}
