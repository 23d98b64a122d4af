package alloc_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// Two servers of 8 GPUs with 5 in use on each: three are free twice, and no container of 4 fits until one moves.
func TestFragmentation(t *testing.T) {
	p := cluster(2, 64, 8)
	for _, id := range []string{"a", "b"} {
		job(p, id, 3, 3, 1, 1)
		job(p, id+"2", 2, 2, 1, 1)
	}
	p.Previous = alloc.Allocation{"a": {"s0": 3}, "a2": {"s0": 2}, "b": {"s1": 3}, "b2": {"s1": 2}}
	f, err := alloc.NewFragmentation(p, "gpu", p.Previous)
	if err != nil {
		t.Fatal(err)
	}
	// A container of 3 goes to the other server, where 3 are free: 6 are free on its own then.
	want := []alloc.Fragment{{Size: 1, Fit: 6, Consolidated: 6, Most: 6}, {Size: 2, Fit: 2, Consolidated: 3, Most: 3},
		{Size: 4, Fit: 0, Consolidated: 1, Most: 1}, {Size: 8, Most: 0}}
	if diff := cmp.Diff(want, f.Fragments); diff != "" || f.Free != 6 || f.Cost != 1 || !slices.Equal(f.Moves, []string{"a"}) {
		t.Errorf("%+v (-want +got)\n%s", f, diff)
	}
	if exceeds(p, f.Allocation) != "" || f.Allocation.Containers("a") != 3 || f.Allocation["a"]["s1"] != 3 {
		t.Errorf("%v", f.Allocation)
	}
	// Who may not move does not; without a budget nobody.
	for _, change := range []func(){
		func() { p.Theta2 = 0 },
		func() {
			p.Theta2, p.Options.MinRun = .1, 1
			for i := range p.Applications {
				p.Applications[i].Held = new(float64)
			}
		},
		func() {
			p.Options.MinRun = 0
			for i := range p.Applications {
				p.Applications[i].Pinned = true
			}
		},
	} {
		change()
		if f, err = alloc.NewFragmentation(p, "gpu", p.Previous); err != nil || len(f.Moves) > 0 || f.Allocation != nil || f.Fragments[2].Consolidated != 0 {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

// A decision carries the plan out where it is told to, within the moves that it may make and the budget (16); what it costs is in the
// objective, and a quiet call moves nothing more.
func TestMovesMakePieces(t *testing.T) {
	for moves, want := range map[int64]int{0: 0, 1: 1, 9: 2} {
		p := cluster(4, 8)
		p.Previous = alloc.Allocation{}
		for j, server := range []string{"s0", "s1", "s2", "s3"} {
			job(p, string(rune('a'+j)), 5-int64(j%2)*2, 5-int64(j%2)*2, 1)
			p.Previous[p.Applications[j].ID] = map[string]int64{server: 5 - int64(j%2)*2}
		}
		p.Kinds, p.Compact, p.Theta1, p.Theta2, p.Options.Moves = apportion.Kinds{"gpu"}, []string{"gpu"}, 1, 1, moves
		d := reallocate(t, p)
		f, err := alloc.NewFragmentation(p, "gpu", d.Allocation)
		if err != nil || d.Metrics.Adjusted != want || f.Fragments[3].Fit != int64(want) {
			t.Errorf("%d moves: %d are made for %+v, %v", moves, d.Metrics.Adjusted, f.Fragments, err)
		}
		price := 0.
		for _, share := range d.Shares {
			if share.Adjusted {
				price += share.Actual / 8
			}
		}
		if lost := 1./2 - d.Objective; math.Abs(lost-price) > 1e-8 || d.Objective > d.Bound {
			t.Errorf("%d moves take %g, bound %g", moves, lost, d.Bound)
		}
		if _, err := alloc.Verify(p, d); err != nil {
			t.Error(err)
		}
		if goOn(p, d); reallocate(t, p).Metrics.Adjusted > 0 {
			t.Error("a quiet call moves")
		}
	}
}

func TestFragmentationRefuses(t *testing.T) {
	p := cluster(1, 4)
	job(p, "a", 1, 1, 2)
	for _, c := range []struct {
		kind       string
		allocation alloc.Allocation
		want       error
	}{
		{"tpu", nil, apportion.ErrUnknown},
		{"cpu", alloc.Allocation{"b": {"s0": 1}}, apportion.ErrUnknown},
		{"cpu", alloc.Allocation{"a": {"s0": math.MaxInt64}}, apportion.ErrOverflow},
	} {
		if _, err := alloc.NewFragmentation(p, c.kind, c.allocation); !errors.Is(err, c.want) {
			t.Errorf("%s, %v: %v, want %v", c.kind, c.allocation, err, c.want)
		}
	}
	if f, err := alloc.NewFragmentation(p, "cpu", nil); err != nil || f.Free != 4 || len(f.Fragments) != 3 || f.Fragments[2].Fit != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}
