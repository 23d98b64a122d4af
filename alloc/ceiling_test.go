// This file tests ceilings of queues by themselves: in which order they are named, what they leave, and whom one that has
// been lowered forces.

package alloc

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

// tree is a cluster with queues top > left > deep and top > right; the applications belong to deep, right and to nobody.
func tree(ceilings map[string]int64) *Problem {
	p := gpuProblem(8, 8)
	for _, q := range [...][2]string{{"top", ""}, {"left", "top"}, {"right", "top"}, {"deep", "left"}} {
		queue := drf.Queue{ID: q[0], Parent: q[1], Weight: 1}
		if limit, limited := ceilings[q[0]]; limited {
			queue.Ceiling = drf.Ceiling{limit}
		}
		p.Queues = append(p.Queues, queue)
	}
	for _, queue := range [...]string{"deep", "right", ""} {
		p.add(1, 0, 8).Queue = queue
	}
	return p
}

// The ceilings that are further down come first; a queue without a limit has none.
func TestLimitedQueues(t *testing.T) {
	for name, c := range map[string]struct {
		ceilings map[string]int64
		want     string
	}{
		"none":              {nil, ""},
		"all":               {map[string]int64{"top": 9, "left": 8, "right": 7, "deep": 6}, "deep left right top"},
		"some":              {map[string]int64{"right": 7, "top": 9}, "right top"},
		"no limit is none":  {map[string]int64{"top": drf.NoLimit, "deep": 0}, "deep"},
		"one of equal ends": {map[string]int64{"left": 1, "right": 1}, "left right"},
	} {
		p := tree(c.ceilings)
		var ids []string
		for _, q := range p.limitedQueues() {
			ids = append(ids, p.Queues[q].ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Below ceilings there is as much room as the tightest one leaves; the reason names the lowest that is too tight.
func TestBelowCeilings(t *testing.T) {
	for name, c := range map[string]struct {
		ceilings map[string]int64
		room     [3]int64
		reason   string // for 5 more containers of the first
	}{
		"no queue limits":       {nil, [3]int64{16, 16, 16}, ""},
		"the top":               {map[string]int64{"top": 4}, [3]int64{4, 4, 16}, `"top"`},
		"the deepest":           {map[string]int64{"top": 9, "deep": 3}, [3]int64{3, 9, 16}, `"deep"`},
		"both, the lower first": {map[string]int64{"top": 3, "left": 4}, [3]int64{3, 3, 16}, `"left"`},
		"nothing at all":        {map[string]int64{"right": 0}, [3]int64{16, 0, 16}, ""},
		"more than there is":    {map[string]int64{"top": 99}, [3]int64{16, 16, 16}, ""},
	} {
		r := resolve(tree(c.ceilings))
		if !slices.Equal(r.room, c.room[:]) {
			t.Errorf("%s: room %v, want %v", name, r.room, c.room)
		}
		reason := r.ceilingReason(0, 5, r.ceiling)
		if c.reason == "" && reason.Constraint != "" || !strings.Contains(reason.Text, c.reason) {
			t.Errorf("%s: %+v, want it to name %s", name, reason, c.reason)
		}
	}
	// What has gone below nothing is told as nothing.
	r := resolve(tree(map[string]int64{"top": 4}))
	reason := r.ceilingReason(0, 1, func(int) apportion.Resources { return apportion.Resources{-3} })
	if reason.Have != 0 || reason.Need != 1 || !strings.Contains(reason.Text, "of which 0 are left") {
		t.Errorf("%+v", reason)
	}
	if most := r.belowCeilings(2, r.ceiling); most != math.MaxInt64 {
		t.Errorf("one without a queue may have %d", most)
	}
}

// Use is compared with a ceiling exactly, whatever the quantities: with math/big as the twin.
func TestPropExceeds(t *testing.T) {
	quantity := rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, math.MaxInt64))
	rapid.Check(t, func(t *rapid.T) {
		p := tree(map[string]int64{"top": rapid.Int64Range(0, math.MaxInt64).Draw(t, "ceiling")})
		r := resolve(p)
		apps := []int{0, 1}
		used := new(big.Int)
		for _, i := range apps {
			p.Applications[i].Demand = apportion.Resources{quantity.Draw(t, "demand")}
			count := quantity.Draw(t, "count")
			r.previous[i] = []apportion.Placement{{Count: count}}
			used.Add(used, new(big.Int).Mul(big.NewInt(count), big.NewInt(p.Applications[i].Demand[0])))
		}
		limit := p.Queues[0].Ceiling[0]
		want := limit < drf.NoLimit && used.Cmp(big.NewInt(limit)) > 0
		if got := len(r.limited) > 0 && r.exceeds(0, apps); got != want {
			t.Fatalf("%v of %d exceed: %v", used, limit, got)
		}
	})
}

// A ceiling that has been lowered forces the cheapest, of these the largest, and nobody in vain; a pin is stronger than a
// price, and not than a ceiling.
func TestForcedByCeilings(t *testing.T) {
	for name, c := range map[string]struct {
		ceiling int64
		costs   [3]int64
		pinned  []int
		want    string // f: forced, p: pinned, -: neither
	}{
		"all fit":                         {12, [3]int64{1, 1, 1}, nil, "---"},
		"the cheapest is enough":          {8, [3]int64{2, 1, 3}, nil, "-f-"},
		"of equal ones the largest":       {11, [3]int64{1, 1, 1}, nil, "--f"},
		"the cheapest is not enough":      {7, [3]int64{1, 2, 3}, nil, "ff-"},
		"the cheapest alone was in vain":  {8, [3]int64{1, 9, 2}, nil, "--f"},
		"the pinned last":                 {8, [3]int64{3, 1, 2}, []int{1}, "-pf"},
		"the pinned, where nobody else":   {2, [3]int64{3, 1, 2}, []int{1}, "fff"},
		"all but one of those who fit it": {3, [3]int64{1, 2, 3}, nil, "-ff"},
	} {
		p := gpuProblem(5, 5, 5)
		p.Queues = []drf.Queue{{ID: "q", Weight: 1, Ceiling: drf.Ceiling{c.ceiling}}}
		for i, n := range [...]int64{3, 4, 5} {
			running := make([]int64, 3)
			running[i] = n
			app := p.add(1, 1, 5, running...)
			app.Queue, app.AdjustCost = "q", &c.costs[i]
		}
		p.pin(c.pinned...)
		r := resolve(p)
		if got := states(r); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		for i := range r.forced {
			if r.overCeiling[i] != r.forced[i] {
				t.Errorf("%s: application %d is forced by a ceiling: %v", name, i, r.overCeiling[i])
			}
		}
	}
}

// Only those below a ceiling make way for it, and who is forced anyway counts no more.
func TestForcedByCeilingsOfOthers(t *testing.T) {
	p := gpuProblem(5, 5, 5, 5)
	p.Queues = []drf.Queue{{ID: "q", Weight: 1, Ceiling: drf.Ceiling{4}}, {ID: "other", Weight: 1, Ceiling: drf.Ceiling{9}}}
	cheap := int64(0)
	for i, queue := range [...]string{"q", "other", "", "q"} {
		running := make([]int64, 4)
		running[i] = 4
		p.add(1, 1, 5, running...).Queue = queue
	}
	p.Applications[1].AdjustCost, p.Applications[2].AdjustCost = &cheap, &cheap
	if got := states(resolve(p)); got != "f---" {
		t.Errorf("%s: of the two in q the first has to go, and nobody else", got)
	}
	// Its maximum is lowered: the other one fits the ceiling then, and stays.
	p.Applications[3].Max = 3
	r := resolve(p)
	if got := states(r); got != "---f" || r.overCeiling[3] {
		t.Errorf("%s, by a ceiling %v: the last one must change anyway, and nobody else has to", got, r.overCeiling)
	}
}
