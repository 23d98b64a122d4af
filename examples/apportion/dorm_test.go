// This file tests "apportion dorm", "mps" and "solve" against the library and against each other: three ways to
// one optimum.

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/internal/must"
)

// decided runs "dorm" and reads its output.
func decided(t *testing.T, problem string, flags ...string) *dormOutput {
	t.Helper()
	code, out, errs := call(t, problem, append([]string{"dorm"}, flags...)...)
	answer := &dormOutput{}
	if err := json.Unmarshal([]byte(out), answer); code != answered || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	return answer
}

// The command takes the library's decision and prints all of it: allocation, plan, shares and explanation.
func TestDormAgainstLibrary(t *testing.T) {
	for _, family := range alloctest.Families() {
		for seed := range unlessShort(4, 1) {
			p := problemtest.Draw(family, seed, 4, 6, seed%2 == 0)
			decision := must.Have(alloc.Reallocate(t.Context(), p, embedded.New(nil)))(t)
			explanation := must.Have(alloc.Explain(p, decision))(t)
			got := decided(t, encode(t, p))
			want := dormOutput{
				decision.Status, decision.Objective, finite(decision.Bound), finite(decision.Gap), decision.OpenBound, leftOut(decision), decision.Proven.String(), decision.Interrupted,
				decision.Metrics, decision.Shares, decision.Queues, append([]alloc.Waiting{}, decision.Waiting...), append([]alloc.Waiting{}, decision.Suspended...), decision.Draining, decision.Staying, decision.Yielding, decision.Reservations, decision.Settled, decision.Reason, decision.Allocation,
				append([]alloc.Step{}, alloc.NewPlan(p, decision.Allocation, decision.Shares...).Steps...), explanation.Applications,
				dormPrices{explanation.Kinds, explanation.Fairness, explanation.Adjustment, explanation.Order}, explanation.Domains, explanation.Warnings,
			}
			// Both are compared as JSON: what the library writes is the form that the schema has.
			must.Equal(t, cmp.Diff(encode(t, want), encode(t, got)), "", family.Name, "seed", seed)
			held := int64(0)
			for _, share := range got.Shares {
				held += share.Containers
			}
			for _, placed := range got.Allocation {
				for _, count := range placed {
					held -= count
				}
			}
			must.Equal(t, held, 0, family.Name, "seed", seed, "shares and allocation differ by", "containers")
		}
	}
}

// A kept allocation has no bound and no gap, and says why; lists without entries are [] and not null.
func TestDormKept(t *testing.T) {
	const input = `{"kinds":["cpu"],"servers":[{"id":"s","capacity":[4]}],"theta1":1,"theta2":0,
		"applications":[{"id":"a","demand":[1],"max":4},{"id":"b","demand":[1],"min":2,"max":2}],"previous":{"a":{"s":4}},"options":{"paper_rule":true}}`
	code, out, errs := call(t, input, "dorm")
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &fields); code != answered || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	for field, want := range map[string]string{"status": `"kept"`, "bound": "", "gap": "", "plan": "[]", "interrupted": "false"} {
		must.Equal(t, string(fields[field]), want, field)
	}
	if len(fields["reason"]) < 20 || !strings.Contains(string(fields["waiting"]), `"b"`) {
		t.Errorf("reason %s, waiting %s", fields["reason"], fields["waiting"])
	}
	if got := decided(t, smallDorm); got.Waiting == nil || got.Bound == nil || got.Reason != nil {
		t.Errorf("a decision has waiting %v, bound %v, reason %v", got.Waiting, got.Bound, got.Reason)
	}
}

// named are the comments of mps: the short name and what it stands for.
var mpsComment = regexp.MustCompile(`(?m)^\* ([ask][0-9]+): (application|server|kind) "(.*)"$`)

// In each form the program that mps writes has the optimum that dorm finds, and its comments name what the
// problem has.
func TestMPSHasTheOptimum(t *testing.T) {
	for seed := range uint64(3) {
		p := problemtest.Draw(alloctest.Families()[0], seed, 3, 3, false)
		text := encode(t, p)
		want := decided(t, text, "-solver", backend.BranchAndBound)
		for _, form := range forms {
			code, program, errs := call(t, text, "mps", "-form", string(form))
			must.Equal(t, code, answered, errs)
			got := solved(t, program)
			if got.Status != milp.Optimal.String() || got.Objective == nil || math.Abs(*got.Objective-want.Objective) > 1e-6 {
				t.Errorf("seed %d, %s: %+v, dorm has %g", seed, form, got, want.Objective)
			}
			names := map[string]string{}
			for _, comment := range mpsComment.FindAllStringSubmatch(program, -1) {
				names[comment[1]] = comment[3]
			}
			servers := len(p.Servers)
			if form == "class" {
				servers = 0
			}
			if len(names) != len(p.Applications)+servers+len(p.Kinds) || names["a2"] != "a2" || names["k1"] != "gpu" {
				t.Errorf("%s: comments name %v", form, names)
			}
		}
	}
}

// solved runs "solve" and reads its output.
func solved(t *testing.T, program string) *solveOutput {
	t.Helper()
	code, out, errs := call(t, program, "solve")
	answer := &solveOutput{}
	if err := json.Unmarshal([]byte(out), answer); code != answered || err != nil {
		t.Fatalf("exit %d, %v: %s\n%s", code, err, errs, program)
	}
	return answer
}

// The answers of solve: an optimum with the variables that are not 0, no point, and no end.
func TestSolveStatuses(t *testing.T) {
	const head = "NAME p\nROWS\n N cost\n G need\nCOLUMNS\n"
	for _, test := range []struct {
		name, rest string
		status     milp.Status
		objective  string
		values     map[string]float64
	}{
		{"minimum", " x cost 2 need 1\n y cost 3 need 1\n z cost 5\nRHS\n r need 4\nENDATA\n", milp.Optimal, "8", map[string]float64{"x": 4}},
		{"infeasible", " x cost 2 need 1\nRHS\n r need 4\nBOUNDS\n UP b x 3\nENDATA\n", milp.Infeasible, "none", map[string]float64{}},
		{"unbounded", " x cost -2 need 1\nRHS\n r need 4\nENDATA\n", milp.Unbounded, "none", map[string]float64{}},
		{"zero", " x cost 2 need 1\nRHS\n r need 0\nENDATA\n", milp.Optimal, "0", map[string]float64{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, objective := solved(t, head+test.rest), "none"
			if got.Objective != nil {
				objective = fmt.Sprint(*got.Objective)
			}
			if got.Status != test.status.String() || objective != test.objective || got.Sense != milp.Minimize.String() {
				t.Errorf("%+v with objective %s, want %v with %s", got, objective, test.status, test.objective)
			}
			must.Equal(t, cmp.Diff(test.values, got.Values), "", "values")
		})
	}
}

// What is wrong within an option names the application: others may have an option of that name.
func TestFaultInOption(t *testing.T) {
	code, _, errs := call(t, `{"kinds": ["cpu"], "theta1": 1, "theta2": 1, "servers": [{"id": "s", "capacity": [4]}], "applications": [
		{"id": "a", "options": [{"id": "o0", "demand": [1], "max": 1}]},
		{"id": "b", "options": [{"id": "o0", "demand": ["1"], "max": 1}, {"id": "o1", "demand": [1], "max": 1, "luck": 3}]}]}`, "dorm")
	for _, want := range []string{`"application \"b\""`, `"options[0].demand`, `"options[1].luck"`} {
		if code != failed || !strings.Contains(errs, want) {
			t.Errorf("exit %d, no %s in %s", code, want, errs)
		}
	}
}
