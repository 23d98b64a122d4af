// This file tests the comparison of certificates.

package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/internal/must"
)

// someInstance is one of alloctest, as a file has it.
const someInstance = `{"kinds": ["cpu"], "servers": [[4], [4]], "applications": [{"demand": [3], "min": 1, "max": 2}, {"demand": [2], "min": 0, "max": 1}],
"theoretical_share": [0.75, 0.25], "loss_budget": 1, "reference": {"model": "disjunctive", "objective": 0.75, "bound": 0.75, "seconds": 0.5}}`

// A folder's instances are read by the names of their files, chosen by name, and what is on record is HiGHS' part.
func TestCertificatesOfFolder(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"one.json", "other.json", "note.txt"} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(someInstance), 0o666))
	}
	var text bytes.Buffer
	args := []string{"-certificates", "-data", folder, "-instances", "^o", "-solvers", "embedded", "-limit", "10s"}
	must.Do(t, run(t.Context(), &text, io.Discard, args))
	for _, part := range []string{"\none  ", "\nother  ", " 0.750000  0.000 %      0.5\n", "Of 2 that HiGHS proves 2 are proven no later."} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("no %q in\n%s", part, &text)
		}
	}
	if err := run(t.Context(), &text, io.Discard, append(args, "-instances", "none")); err == nil || !strings.Contains(err.Error(), "no instance") {
		t.Errorf("no instance of that name: %v", err)
	}
	must.Do(t, os.WriteFile(filepath.Join(folder, "broken.json"), []byte("{"), 0o666))
	if err := run(t.Context(), &text, io.Discard, args); err == nil || !strings.Contains(err.Error(), "broken.json") {
		t.Errorf("a broken file: %v", err)
	}
}

// The relaxation has half of the other container beside each one, where neither whole one fits. HiGHS is asked unless it is left out.
func TestRelaxation(t *testing.T) {
	ref := must.Have(alloctest.ReadReference("one", []byte(someInstance)))(t)
	relaxed, err := relax(t.Context(), ref.Instance)
	if errors.Is(err, ortools.ErrUnavailable) {
		t.Skipf("NOT TESTED, OR-Tools is missing: %v", err)
	}
	if err != nil || math.Abs(relaxed-1) > 1e-6 {
		t.Errorf("relaxation %g, %v; want 1", relaxed, err)
	}
	o := &options{limit: 3 * time.Second, workers: 2}
	must.Do(t, o.choose(someInstances, "", ""))
	c, err := o.certify(t.Context(), ref)
	if err != nil || c.failed != nil {
		t.Fatal(err, c.failed)
	}
	if !c.other.proven || !c.own.proven || math.Abs(c.other.objective-.75) > 1e-6 || c.proof == never || c.other.after == 500*time.Millisecond {
		t.Errorf("%+v", c)
	}
	if above := c.above(); math.Abs(above+.25) > 1e-6 {
		t.Errorf("the bound is %g above the relaxation, want -0.25", above)
	}
}

// Continuous keeps all but the integrality.
func TestContinuous(t *testing.T) {
	b := milp.NewBuilder("")
	x, y := b.Integer(0, 3, "x"), b.Continuous(-1, 5, "y")
	b.Row("r", 1, []milp.Term{{Var: x, Coef: 2}, {Var: y, Coef: -1}}, 4)
	b.Maximize([]milp.Term{{Var: x, Coef: 7}}, 11)
	model := must.Have(b.Build())(t)
	got := must.Have(continuous(model))(t)
	if got.Integers() != 0 || got.Constant() != 11 || got.Sense() != milp.Maximize || got.Rows() != 1 || got.Variables() != 2 {
		t.Errorf("%d integers, constant %g, %v, %d rows, %d variables", got.Integers(), got.Constant(), got.Sense(), got.Rows(), got.Variables())
	}
	if v := got.Variable(0); v.Upper != 3 || v.Cost != 7 {
		t.Errorf("%+v", v)
	}
	if row := got.Row(0); row.Lower != 1 || row.Upper != 4 || len(row.Coefs) != 2 || row.Coefs[1] != -1 {
		t.Errorf("%+v", row)
	}
}

// The aims are over all lines: the largest distance and gap, and who is sooner. A relaxation is on record for none.
func TestAims(t *testing.T) {
	point := func(after time.Duration, objective, bound float64) point {
		return point{after: after, objective: objective, bound: bound, proven: objective == bound}
	}
	all := []*certificate{
		{relaxed: 2, own: point(1, 2, 2), proof: 1, other: point(2, 2, 2)},
		{relaxed: 2, own: point(1, 1.9, 2.01), proof: never, other: point(2, 2, 2)},
		{relaxed: math.NaN(), own: point(1, 1, 1.1), proof: 3, other: point(4, 1, 1), failed: errNotRecorded},
		{relaxed: 2, own: point(1, 2, 2), proof: 5, other: point(2, 1, 2)},
	}
	var text bytes.Buffer
	reportAims(&text, all)
	const want = "\nBound above the relaxation: +0.500 % at most. Gap: 9.091 % at most. Of 2 that HiGHS proves 1 are proven no later.\n"
	must.Equal(t, text.String(), want, &text)
	text.Reset()
	all[2].report(&text, time.Second)
	if fields := strings.Fields(text.String()); len(fields) != 9 || fields[4] != noNumber || fields[8] != noNumber {
		t.Errorf("%q", fields)
	}
	must.Fail(recorded(alloctest.Reference{Objective: 1, Bound: 1, Relaxed: true}))(t, errNotRecorded, "of a relaxation")
}
