// This file tests that the first growth of a job counts against no budget, [Program §16].

package alloc

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
)

// grower is a server of 8 GPUs with a job of 2 that once had most, and wants 8, and no budget for adjustments.
func grower(most int64) *Problem {
	p := gpuProblem(8)
	p.add(1, 1, 8, 2)
	p.Theta1, p.Theta2 = 1, 0
	p.Applications[0].Most = most
	return p
}

// Without a budget a job grows beyond what it ever had, and neither up to that nor down.
func TestFirstGrowthIsFree(t *testing.T) {
	for name, c := range map[string]struct {
		most int64
		next func(*Problem)
		want int64
	}{
		"nobody knows":                  {0, nil, 2},
		"it never had more":             {2, nil, 8},
		"it has more than stated":       {1, nil, 8},
		"it had 8 before":               {8, nil, 2},
		"it had 6 before":               {6, nil, 8},
		"up to 6 it counts":             {6, func(p *Problem) { p.Applications[0].Max = 6 }, 2},
		"for a gang it does not shrink": {2, func(p *Problem) { p.add(1, 7, 7) }, 8},
		"the paper knows none":          {2, func(p *Problem) { p.Options.Paper = true }, 2},
	} {
		p := grower(c.most)
		if c.next != nil {
			c.next(p)
		}
		d := mustReallocate(t, p)
		if got := d.Shares[0].Containers; got != c.want || d.Metrics.AdjustCost != 0 {
			t.Errorf("%s: %d containers at a cost of %d, want %d", name, got, d.Metrics.AdjustCost, c.want)
		}
	}
}

// That a job never had more than it has is told after a decision: it grows then. What was decided and is told says nothing new, of those
// that began neither.
func TestMostIsAsked(t *testing.T) {
	p := grower(0)
	mustReallocate(t, p).HandOn(p)
	p.Applications[0].Most = 2
	if d := mustReallocate(t, p); d.Shares[0].Containers != 8 {
		t.Errorf("it has %d containers, and growth is free", d.Shares[0].Containers)
	}
	p = gpuProblem(8, 8)
	p.add(1, 1, 4, 2)
	p.add(1, 1, 3)
	p.Theta1, p.Theta2, p.Applications[0].Most = 1, 1, 2
	d := mustReallocate(t, p)
	p.Previous = d.Allocation.Clone()
	d.HandOn(p)
	for i := range p.Applications {
		p.Applications[i].Most = d.Shares[i].Containers
	}
	if again := mustReallocate(t, p); !strings.HasSuffix(d.Settled.Digest, " "+again.Settled.Digest) || again.Metrics.Adjusted > 0 {
		t.Errorf("%+v, %+v", again.Settled, d.Settled)
	}
}

func TestMostErrors(t *testing.T) {
	p := grower(-1)
	var faults apportion.Faults
	if err := p.Validate(); !errors.Is(err, apportion.ErrNegative) || !errors.As(err, &faults) || faults[0].Field != "Most" {
		t.Error(err)
	}
	p = grower(2)
	p.Options.Paper = true
	e, err := Explain(p, mustReallocate(t, p))
	if err != nil || !slices.Contains(e.Warnings, "most has no effect with paper_rule") {
		t.Errorf("%+v, %v", e, err)
	}
}
