package alloc_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/oracle/drforacle"
)

// mixed is a cluster of T4 and A100, of which one counts as 38 where the other counts as 10.
func mixed() *alloc.Problem {
	return &alloc.Problem{
		Kinds: apportion.Kinds{"t4", "a100"}, Theta1: .1, Theta2: .1, Previous: alloc.Allocation{}, Options: alloc.Options{Preempt: true},
		Derived: []drf.Derived{{Kind: "gpu_equivalent", Of: map[string]int64{"t4": 10, "a100": 38}}},
		Servers: []apportion.Server{{ID: "s0", Capacity: apportion.Resources{8, 0}}, {ID: "s1", Capacity: apportion.Resources{0, 8}}},
		Queues: []drf.Queue{{ID: "a", Weight: 1, Guarantee: apportion.Resources{0, 0, 192}},
			{ID: "b", Weight: 1, Guarantee: apportion.Resources{0, 0, 192}}},
	}
}

// in adds an application of a queue with containers of one GPU of a kind: counts are the fewest, the most, and how many it has on the
// server of that kind.
func in(p *alloc.Problem, queue, id string, kind int, counts [3]int64) {
	demand := make(apportion.Resources, 2)
	demand[kind] = 1
	job(p, id, counts[0], counts[1], demand...)
	app := &p.Applications[len(p.Applications)-1]
	app.Queue, app.Preemptible = queue, true
	if counts[2] > 0 {
		p.Previous[id] = map[string]int64{fmt.Sprint("s", kind): counts[2]}
	}
}

// Of 384 equivalents each queue is guaranteed half: that is 5 of the A100, whatever there is of the T4, and a queue that has all of
// those is not beyond its guarantee by one of the two kinds.
func TestGuaranteeOfDerivedKind(t *testing.T) {
	p := mixed()
	in(p, "a", "a0", 1, [3]int64{1, 8, 8}) // 304 of 192
	in(p, "b", "b0", 1, [3]int64{1, 8, 0})
	d := follow(t, p)
	// What a keeps are the 5 containers that are within its guarantee.
	if a, b := d.Allocation.Containers("a0"), d.Allocation.Containers("b0"); a != 5 || b != 3 {
		t.Errorf("%d and %d A100", a, b)
	}
	if q := d.Queues[1]; q.Used[2] != 38*d.Allocation.Containers("b0") || !cmp.Equal(q.Guarantee, apportion.Resources{0, 0, 192}) {
		t.Errorf("%+v", q)
	}
	// By kinds a with all T4 and b with all A100 have as much; by equivalents b has 304 of 384.
	p = mixed()
	in(p, "a", "a0", 0, [3]int64{1, 8, 8})
	in(p, "a", "late", 1, [3]int64{2, 2, 0})
	for n := range 4 {
		in(p, "b", fmt.Sprint("b", n), 1, [3]int64{2, 2, 2})
	}
	d = decide(t, p)
	if d.Allocation.Containers("late") != 2 || d.Metrics.Preempted != 1 {
		t.Errorf("%v, %+v", d.Allocation, d.Waiting)
	}
	if math.Abs(d.Queues[0].Level-156./384) > 1e-12 {
		t.Errorf("level %g, want that of 156 of 384", d.Queues[0].Level)
	}
	e, err := alloc.Explain(p, d)
	if err != nil || len(e.Kinds) != 2 || len(d.Metrics.Utilization) != 2 {
		t.Errorf("%+v, %v, %+v", e, err, d.Metrics)
	}
}

// A ceiling of a derived kind holds whichever parts are used, and is named where it stands in the way.
func TestCeilingOfDerivedKind(t *testing.T) {
	p := mixed()
	p.Queues[0].Ceiling = drf.Ceiling{drf.NoLimit, drf.NoLimit, 100}
	p.Queues[0].Guarantee = nil
	in(p, "a", "a0", 0, [3]int64{1, 8, 0})
	in(p, "a", "a1", 1, [3]int64{2, 2, 0})
	in(p, "a", "a2", 1, [3]int64{1, 1, 0})
	d := follow(t, p)
	if used := d.Queues[0].Used; used[2] > 100 || used[0]*10+used[1]*38 != used[2] {
		t.Errorf("%v", used)
	}
	if r := without(t, d.Waiting, "a2"); r.Kind != "gpu_equivalent" || !strings.Contains(r.Text, "100 gpu_equivalent") {
		t.Errorf("%+v", r)
	}
}

// Shares are those of the twin that adds derived kinds up, with queues and without.
func TestDerivedSharesAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := mixed()
		p.Queues = nil
		factors := []int64{rapid.Int64Range(0, 3).Draw(t, "t4"), rapid.Int64Range(1, 5).Draw(t, "a100")}
		p.Derived[0].Of = map[string]int64{"t4": factors[0], "a100": factors[1]}
		if rapid.Bool().Draw(t, "queues") {
			p.Queues = []drf.Queue{{ID: "a", Weight: 1, Guarantee: apportion.Resources{0, 0, rapid.Int64Range(0, 20).Draw(t, "guarantee")}}, {ID: "b", Weight: 2}}
			if factors[0] == 0 {
				p.Queues[0].Guarantee[0] = rapid.Int64Range(0, 8).Draw(t, "t4 guaranteed")
			}
		}
		var members []drforacle.Member
		for n := range rapid.IntRange(1, 4).Draw(t, "applications") {
			app := job(p, fmt.Sprint("j", n), 0, rapid.Int64Range(1, 8).Draw(t, "max"), rapid.Int64Range(0, 2).Draw(t, "t4"), 0)
			if app.Demand[0] == 0 {
				app.Demand[1] = 1
			}
			if p.Queues != nil {
				app.Queue = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue")
			}
			members = append(members, drforacle.Member{Claim: drforacle.Claim{ID: app.ID, Demand: app.Demand, Weight: 1, Max: app.Max}, Queue: app.Queue})
		}
		var queues []drforacle.Queue
		for _, q := range p.Queues {
			guarantee := make([]int64, 3)
			copy(guarantee, q.Guarantee)
			queues = append(queues, drforacle.Queue{ID: q.ID, Weight: q.Weight, Guarantee: guarantee, Ceiling: []int64{drf.NoLimit, drf.NoLimit, drf.NoLimit}})
		}
		inst, apps, err := p.Instance()
		if err != nil {
			t.Fatal(err)
		}
		want := drforacle.FillDerived([]int64{8, 8}, [][]int64{factors}, queues, members)
		for a, i := range apps {
			n, _ := want[i].Float64()
			if app := &inst.Apps[a]; math.Abs(app.Share-n*app.Delta) > 1e-9 {
				t.Fatalf("%s is due %g containers, the twin has %g", p.Applications[i].ID, app.Share/app.Delta, n)
			}
		}
	})
}

// A kind under another name is the same kind: decisions are worth as much, and let in the same.
func TestDerivedKindOfOneIsThatOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := teams()
		p.Options.RestartCost = new(float64) // the objective is what is used
		for _, q := range p.Queues {
			q.Guarantee[0] = rapid.Int64Range(0, 16).Draw(t, "guarantee")
		}
		left := []int64{8, 8, 8, 8}
		for n := range rapid.IntRange(1, 8).Draw(t, "applications") {
			least := rapid.Int64Range(1, 8).Draw(t, "least")
			submit(p, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue"), fmt.Sprint("j", n), least, least+rapid.Int64Range(0, 8).Draw(t, "more"))
			if at := rapid.IntRange(0, 4).Draw(t, "server"); at < 4 && left[at] >= least {
				left[at] -= least
				p.Previous[fmt.Sprint("j", n)] = map[string]int64{fmt.Sprint("s", at): least}
			}
		}
		q := *p
		q.Derived = []drf.Derived{{Kind: "unit", Of: map[string]int64{"gpu": 1}}}
		q.Queues = slices.Clone(p.Queues)
		for i := range q.Queues {
			q.Queues[i].Guarantee = apportion.Resources{0, p.Queues[i].Guarantee[0]}
		}
		plain, err := recorded(t, t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		renamed, err := recorded(t, t.Context(), &q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(plain.Metrics.WaitingLoss-renamed.Metrics.WaitingLoss) > 1e-9 || len(plain.Waiting) != len(renamed.Waiting) || len(plain.Suspended) != len(renamed.Suspended) {
			t.Fatalf("%v beside %v", plain.Waiting, renamed.Waiting)
		}
		for i := range plain.Queues {
			if plain.Queues[i].Level != renamed.Queues[i].Level && plain.Proven > 0 && renamed.Proven > 0 && math.Abs(plain.Objective-renamed.Objective) > 1e-9 {
				t.Fatalf("%+v beside %+v", plain.Queues[i], renamed.Queues[i])
			}
		}
		if plain.Proven > 0 && renamed.Proven > 0 && math.Abs(plain.Objective-renamed.Objective) > 1e-9 {
			t.Fatalf("worth %g, and %g by another name", plain.Objective, renamed.Objective)
		}
		if _, err := alloc.Verify(&q, renamed); err != nil {
			t.Fatal(err)
		}
		// A GPU has its price and that of the unit which it is.
		e, err := alloc.Explain(&q, renamed)
		if err != nil {
			t.Fatal(err)
		}
		highest := 0.0
		if m := renamed.Certificate.Multipliers; m != nil {
			for _, prices := range m.Server {
				highest = max(highest, prices[0]+prices[1])
			}
		}
		if len(e.Kinds) != 1 || math.Abs(e.Kinds[0].Highest-highest) > 1e-12 {
			t.Fatalf("%+v, want a price of %g", e.Kinds, highest)
		}
	})
}

// What is wrong with derived kinds is told, all at once.
func TestBadDerivedKinds(t *testing.T) {
	for want, c := range map[string]struct {
		change func(p *alloc.Problem)
		err    error
	}{
		`derived kind "gpu_equivalent": Of is unknown: "tpu"`:                         {func(p *alloc.Problem) { p.Derived[0].Of["tpu"] = 1 }, apportion.ErrUnknown},
		`Of[t4] is negative: -10`:                                                     {func(p *alloc.Problem) { p.Derived[0].Of["t4"] = -10 }, apportion.ErrNegative},
		`derived kind "none": Of`:                                                     {func(p *alloc.Problem) { p.Derived = append(p.Derived, drf.Derived{Kind: "none"}); p.Queues = nil }, apportion.ErrEmpty},
		`derived kind "t4": ID`:                                                       {func(p *alloc.Problem) { p.Derived[0].Kind = "t4" }, apportion.ErrDuplicate},
		`queue "a": Guarantee[t4]`:                                                    {func(p *alloc.Problem) { p.Queues[0].Guarantee[0] = 1 }, apportion.ErrConflict},
		`queue "a": Guarantee`:                                                        {func(p *alloc.Problem) { p.Queues[0].Guarantee = apportion.Resources{1, 1} }, apportion.ErrLength},
		`server "s1": Capacity overflows int64: of derived kinds`:                     {func(p *alloc.Problem) { p.Servers[1].Capacity[1] = math.MaxInt64 / 4 }, apportion.ErrOverflow},
		`application "huge": Demand overflows int64: of derived kinds`:                {func(p *alloc.Problem) { job(p, "huge", 1, 1, math.MaxInt64/4, 0) }, apportion.ErrOverflow},
		`server "s0": Previous overflows int64: of derived kinds`:                     {func(p *alloc.Problem) { in(p, "a", "many", 0, [3]int64{1, 8, math.MaxInt64 / 4}) }, apportion.ErrOverflow},
		`queue "a": Guarantee contradicts another field: 192 gpu_equivalent is above`: {func(p *alloc.Problem) { p.Queues[0].Ceiling = drf.Ceiling{8, 8, 100} }, apportion.ErrConflict},
	} {
		p := mixed()
		c.change(p)
		if err := p.Validate(); !errors.Is(err, c.err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q, %v", err, want, c.err)
		}
	}
}
