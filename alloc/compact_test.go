// This file tests which kinds containers are worth their shares of, [Program §12].

package alloc

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion"
)

// heavyAndLight is a server of 8 GPUs and 64 CPUs: the light job has all GPUs but one at 2 CPUs each, the heavy one the last at 8.
func heavyAndLight(compact ...string) *Problem {
	job := func(id string, cpus int64) Application {
		return Application{ID: id, Weight: 1, Form: Form{Demand: apportion.Resources{cpus, 1}, Min: 1, Max: 7}}
	}
	return &Problem{
		Kinds: apportion.Kinds{"cpu", "gpu"}, Compact: compact,
		Servers:      []apportion.Server{{ID: "s", Capacity: apportion.Resources{64, 8}}},
		Applications: []Application{job("light", 2), job("heavy", 8)},
		Previous:     Allocation{"light": {"s": 7}, "heavy": {"s": 1}}, Theta1: 1, Theta2: 1,
	}
}

// GPUs wander from the light job to the heavy one where CPUs count, and stay where they are where GPUs count alone.
func TestCompactKindsCountAlone(t *testing.T) {
	for name, c := range map[string]struct {
		problem *Problem
		rule    WorthRule
		heavy   int64
		want    float64
	}{
		"compact":           {heavyAndLight("gpu"), WorthOfCompact, 1, 1},
		"nothing is":        {heavyAndLight(), WorthOfCompact, 7, (7*8+2)/64. + 1 - (7*2/64.+7/8.)/8 - (8/64.+1/8.)/8},
		"all kinds":         {heavyAndLight("gpu"), WorthOfAllKinds, 7, (7*8+2)/64. + 1 - (7*2/64.+7/8.)/8 - (8/64.+1/8.)/8},
		"both are":          {heavyAndLight("cpu", "gpu"), WorthOfCompact, 7, (7*8+2)/64. + 1 - (7*2/64.+7/8.)/8 - (8/64.+1/8.)/8},
		"the paper has all": {paperOf(heavyAndLight("gpu")), WorthOfCompact, 7, (7*8+2)/64. + 1},
	} {
		c.problem.Options.Worth = c.rule
		d := mustReallocate(t, c.problem)
		if got := d.Shares[1].Containers; got != c.heavy || math.Abs(d.Objective-c.want) > 1e-8 {
			t.Errorf("%s: %d containers and %.9g, want %d and %.9g", name, got, d.Objective, c.heavy, c.want)
		}
		if _, err := Verify(c.problem, d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// paperOf returns p with the paper's rule.
func paperOf(p *Problem) *Problem {
	p.Options.Paper = true
	return p
}

// An application without a compact kind is worth what it is without any, and beside one that has some.
func TestCompactLeavesOthers(t *testing.T) {
	p := heavyAndLight("gpu")
	p.Applications[1].Demand = apportion.Resources{8, 0}
	inst, _, err := p.Instance()
	if err != nil || inst.Apps[0].Value != 1./8 || inst.Apps[1].Value != 8./64 {
		t.Errorf("%+v, %v", inst, err)
	}
}

func TestCompactErrors(t *testing.T) {
	for field, c := range map[string]struct {
		compact []string
		rule    WorthRule
		want    error
	}{
		"Compact[0]":    {[]string{"tpu"}, "", apportion.ErrUnknown},
		"Compact[1]":    {[]string{"gpu", "gpu"}, "", apportion.ErrDuplicate},
		"Options.Worth": {[]string{"gpu"}, "some", apportion.ErrUnknown},
	} {
		p := heavyAndLight(c.compact...)
		p.Options.Worth = c.rule
		var faults apportion.Faults
		if err := p.Validate(); !errors.Is(err, c.want) || !errors.As(err, &faults) || faults[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	p := paperOf(heavyAndLight("gpu"))
	e, err := Explain(p, mustReallocate(t, p))
	if err != nil || !slices.Contains(e.Warnings, "compact has no effect with paper_rule") {
		t.Errorf("%+v, %v", e, err)
	}
}
