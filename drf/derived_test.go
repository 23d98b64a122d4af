// This file tests derived kinds: bad input, what counts for them, and fillings against the twin, which adds them up itself.

package drf_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/drforacle"
)

// accelerators are two types of GPUs, and how much of one kind either is.
var (
	accelerators = apportion.Kinds{"t4", "a100", "cpu"}
	equivalent   = drf.Derived{Kind: "gpu_equivalent", Of: map[string]int64{"t4": 10, "a100": 38}}
)

func derive(t fatal, kinds apportion.Kinds, derived ...drf.Derived) *drf.Derivation {
	return must.Have(drf.Derive(kinds, derived))(t)
}

func extend(t fatal, d *drf.Derivation, r ...int64) apportion.Resources {
	return must.Have(d.Extend(r))(t)
}

func TestDeriveRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		kinds   apportion.Kinds
		derived drf.Derived
		want    error
		text    string
	}{
		{"no name", accelerators, drf.Derived{Of: equivalent.Of}, apportion.ErrEmpty, "ID"},
		{"name of a kind", accelerators, drf.Derived{Kind: "cpu", Of: equivalent.Of}, apportion.ErrDuplicate, `derived kind "cpu"`},
		{"unknown part", accelerators, drf.Derived{Kind: "e", Of: map[string]int64{"t4": 1, "h100": 2}}, apportion.ErrUnknown, `derived kind "e": Of is unknown: "h100"`},
		{"itself", accelerators, drf.Derived{Kind: "e", Of: map[string]int64{"e": 2}}, apportion.ErrUnknown, `"e"`},
		{"negative part", accelerators, drf.Derived{Kind: "e", Of: map[string]int64{"t4": 1, "a100": -2}}, apportion.ErrNegative, "Of[a100]"},
		{"no part", accelerators, drf.Derived{Kind: "e"}, apportion.ErrEmpty, "Of"},
		{"parts of nothing", accelerators, drf.Derived{Kind: "e", Of: map[string]int64{"t4": 0}}, apportion.ErrEmpty, "Of"},
		{"no kinds", nil, equivalent, apportion.ErrEmpty, "Kinds"},
	} {
		if _, err := drf.Derive(test.kinds, []drf.Derived{test.derived}); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	d := derive(t, accelerators, equivalent)
	must.Equal(t, cmp.Diff(apportion.Kinds{"t4", "a100", "cpu", "gpu_equivalent"}, d.Kinds()), "")
	for _, test := range []struct {
		r    apportion.Resources
		want error
	}{
		{apportion.Resources{1, 2}, apportion.ErrLength},
		{apportion.Resources{1, -2, 0}, apportion.ErrNegative},
		{apportion.Resources{math.MaxInt64 / 10, 0, 0}, nil},
		{apportion.Resources{math.MaxInt64/10 + 1, 0, 0}, apportion.ErrOverflow},
		{apportion.Resources{math.MaxInt64 / 10, 1, 0}, apportion.ErrOverflow},
	} {
		must.Fail(d.Extend(test.r))(t, test.want, test.r)
		must.Fail(d.NewTree(test.r, nil))(t, test.want, "a tree of", test.r)
	}
}

func TestDerivedTreeRefuses(t *testing.T) {
	d := derive(t, accelerators, equivalent)
	for _, test := range []struct {
		name  string
		queue drf.Queue
		want  error
	}{
		{"of a part", node("q", "", 1, apportion.Resources{4, 0, 0, 40}), apportion.ErrConflict},
		{"without the derived kind", node("q", "", 1, apportion.Resources{0, 0, 4}), apportion.ErrLength},
		{"ceiling without it", node("q", "", 1, nil, 1, 2, 3), apportion.ErrLength},
	} {
		must.Fail(d.NewTree(apportion.Resources{16, 4, 64}, []drf.Queue{test.queue}))(t, test.want, test.name)
	}
	tree := must.Have(d.NewTree(apportion.Resources{16, 4, 64}, nil))(t)
	// What is not the sum of its parts is refused wherever it is told.
	wrong, right := apportion.Resources{1, 0, 1, 11}, extend(t, d, 1, 0, 1)
	_, fill := tree.Fill([]drf.Claim{claim("c", 1, 0, 4, wrong...)})
	_, whole := tree.FillWhole([]drf.Claim{claim("c", 1, 0, 4, wrong...)})
	s := tree.NewSorter()
	_, added := s.Add(claim("c", 1, 0, 4, wrong...))
	c := must.Have(s.Add(claim("d", 1, 0, 4, right...)))(t)
	for i, err := range []error{fill, whole, added, s.SetDemand(c, wrong), s.Allocate(c, wrong), s.Release(c, wrong), s.SetTotal(wrong)} {
		must.Err(t, err, apportion.ErrConflict, i)
	}
}

// An A100 is no T4: 76 T4 and 20 A100 are each half of what there is. Three claims of weights 1, 1 and 3 rise together until
// the A100 are used up, 5 and 15 of them, and the one on T4 has the rest.
func TestDerivedShares(t *testing.T) {
	d := derive(t, accelerators, equivalent)
	tree, err := d.NewTree(apportion.Resources{76, 20, 1000}, nil)
	must.Do(t, err)
	claims := []drf.Claim{claim("a", 1, 0, drf.NoMax, extend(t, d, 1, 0, 1)...), claim("b", 1, 0, drf.NoMax, extend(t, d, 0, 1, 1)...), claim("c", 3, 0, drf.NoMax, extend(t, d, 0, 1, 1)...)}
	filling := must.Have(tree.Fill(claims))(t)
	for i, want := range []struct{ containers, share float64 }{{76, .5}, {5, .125}, {15, .375}} {
		if got := filling.Claims[i]; !isClose(got.Containers, want.containers) || !isClose(got.Share, want.share) {
			t.Errorf("%s has %v containers and a share of %v, want %v", got.ID, got.Containers, got.Share, want)
		}
	}
	// By then it has 19 T4.
	claims[0].Max = 19
	if filling, err = tree.Fill(claims); err != nil || !isClose(filling.Claims[0].Level, .125) {
		t.Errorf("%v %+v", err, filling.Claims[0])
	}
	s := tree.NewSorter()
	for i := range claims {
		must.Have(s.Add(claims[i]))(t)
	}
	a, b := s.Lookup("a"), s.Lookup("b")
	for _, change := range []drf.Change{{Client: a, Resources: extend(t, d, 4, 0, 4)}, {Client: b, Resources: extend(t, d, 0, 1, 1)}} {
		must.Do(t, s.Apply([]drf.Change{change}))
	}
	// Four T4 are more than an A100, 40 beside 38; of 76 T4 they are 1 in 19, and that one 1 in 20.
	if share, kind := a.Share(); s.Compare(b, a) >= 0 || kind != 3 || !isClose(share, 40./1520) {
		t.Errorf("a has %v of kind %d", share, kind)
	}
}

// A guarantee of a derived kind holds for whatever it is made of, a ceiling likewise, and what is borrowed is told of it alone.
func TestDerivedQueues(t *testing.T) {
	d := derive(t, accelerators, equivalent)
	tree := must.Have(d.NewTree(apportion.Resources{8, 4, 100}, []drf.Queue{
		node("a", "", 1, apportion.Resources{0, 0, 50, 152}),
		node("b", "", 9, nil, drf.NoLimit, 3, drf.NoLimit, 60),
	}))(t)
	claims := []drf.Claim{claim("x", 1, 0, drf.NoMax, extend(t, d, 0, 1, 1)...), claim("y", 1, 0, drf.NoMax, extend(t, d, 1, 0, 1)...)}
	claims[0].Queue, claims[1].Queue = "a", "b"
	filling := must.Have(tree.FillWhole(claims))(t)
	must.Same(t, containers(&filling.Filling), []int64{4, 6})
	must.Equal(t, filling.Claims[1].StoppedBy, (drf.Stop{Cause: drf.AtCeiling, Kind: 3, Queue: "b"}))
	explained := must.Have(drf.ExplainTree(d.Kinds(), tree, claims, filling))(t)
	if b := explained.Queues[1]; !slices.Equal(b.Borrowed, []int64{0, 0, 6, 60}) || !slices.Equal(b.Full, []string{"gpu_equivalent"}) {
		t.Errorf("%+v", b)
	}
	if a := explained.Queues[0]; !slices.Equal(a.Borrowed, []int64{0, 0, 0, 0}) || !slices.Equal(a.Lent, []int64{0, 0, 46, 0}) {
		t.Errorf("%+v", a)
	}
	report, err := drf.VerifyTree(tree, claims, containers(&filling.Filling))
	if err != nil || len(report) > 0 {
		t.Errorf("%v %v", err, report)
	}
}

// Levels of queues are of derived kinds as well, and guarantees are asked for these alone.
func TestDerivedNextQueue(t *testing.T) {
	d := derive(t, accelerators, equivalent)
	tree := must.Have(d.NewTree(apportion.Resources{760, 20, 2000}, []drf.Queue{node("a", "", 1, nil), node("b", "", 1, apportion.Resources{0, 0, 0, 100})}))(t)
	s := tree.NewSorter()
	for _, c := range []struct {
		queue string
		r     apportion.Resources
	}{{"a", apportion.Resources{0, 1, 0}}, {"b", apportion.Resources{1, 0, 0}}} {
		one := claim(c.queue, 1, 0, drf.NoMax, extend(t, d, c.r...)...)
		one.Queue = c.queue
		must.Have(s.Add(one))(t)
	}
	// 19 of 20 A100 are 722, 80 T4 are 800: a is next, although it has 95 % of its kind and b 11 %.
	must.Do(t, s.Allocate(s.Lookup("a"), extend(t, d, 0, 19, 0)))
	must.Do(t, s.Allocate(s.Lookup("b"), extend(t, d, 80, 0, 0)))
	if next := s.Next(); next.ID() != "a" {
		t.Errorf("next is %s", next.ID())
	}
	want := []drf.Balance{
		{ID: "a", Borrowed: apportion.Resources{0, 0, 0, 722}, Lent: apportion.Resources{0, 0, 0, 0}},
		{ID: "b", Borrowed: apportion.Resources{0, 0, 0, 700}, Lent: apportion.Resources{0, 0, 0, 0}},
	}
	must.Equal(t, cmp.Diff(want, s.Balances()), "")
	// The shares of a larger cluster are smaller.
	must.Do(t, s.SetTotal(extend(t, d, 760, 100, 2000)))
	if share, kind := s.Lookup("a").Share(); kind != 3 || !isClose(share, 722./11400) {
		t.Errorf("%v of kind %d", share, kind)
	}
	// A guarantee of a derived kind that is not met is found.
	claims := []drf.Claim{claim("x", 1, 0, drf.NoMax, extend(t, d, 0, 1, 0)...), claim("y", 1, 0, drf.NoMax, extend(t, d, 1, 0, 0)...)}
	claims[0].Queue, claims[1].Queue = "a", "b"
	report, err := drf.VerifyTree(tree, claims, []int64{20, 9})
	if err != nil || report.Holds(drf.GuaranteesMet) {
		t.Errorf("%v %v", err, report)
	}
}

// Containers that are handed out in leaps are those that are handed out one by one.
func TestDerivedLeaps(t *testing.T) {
	d := derive(t, accelerators, equivalent)
	capacity := apportion.Resources{301, 77, 400}
	tree := must.Have(d.NewTree(capacity, nil))(t)
	var claims []drf.Claim
	var members []drforacle.Member
	for i, demand := range []apportion.Resources{{1, 0, 1}, {0, 1, 1}, {2, 1, 1}} {
		c := claim(string(rune('a'+i)), 1+float64(i), 0, drf.NoMax, extend(t, d, demand...)...)
		claims = append(claims, c)
		members = append(members, drforacle.Member{Claim: drforacle.Claim{ID: c.ID, Demand: demand, Weight: c.Weight, Max: 1000}})
	}
	filling := must.Have(tree.FillWhole(claims))(t)
	want := drforacle.WholeDerived(capacity, [][]int64{{10, 38, 0}}, nil, members)
	must.Same(t, containers(&filling.Filling), want, "containers")
}

// genDerived draws an organization with one or two derived kinds, which all vectors but the capacity have.
func genDerived(t *rapid.T) (o organization, d *drf.Derivation, factors [][]int64, base int) {
	o = genOrganization(t, wholeOrganization)
	base = len(o.capacity)
	kinds := apportion.Kinds{"a", "b", "c", "d"}[:base]
	var derived []drf.Derived
	for _, name := range []string{"x", "y"}[:rapid.IntRange(1, 2).Draw(t, "derived")] {
		factor := rapid.SliceOfN(rapid.Int64Range(0, 3), base, base).Draw(t, "factors")
		if slices.Max(factor) == 0 {
			factor[0] = 1
		}
		of := make(map[string]int64)
		for k, f := range factor {
			of[kinds[k]] = f
		}
		derived, factors = append(derived, drf.Derived{Kind: name, Of: of}), append(factors, factor)
	}
	d = derive(t, kinds, derived...)
	for i := range o.claims {
		o.claims[i].Demand = extend(t, d, o.claims[i].Demand...)
	}
	isPart := func(k int) bool { return slices.ContainsFunc(factors, func(f []int64) bool { return f[k] > 0 }) }
	for i := range o.queues {
		q := &o.queues[i]
		for k := range q.Guarantee {
			if isPart(k) {
				q.Guarantee[k] = 0
			}
		}
		for range factors {
			if q.Guarantee != nil {
				q.Guarantee = append(q.Guarantee, rapid.Int64Range(0, 80).Draw(t, "guarantee"))
			}
			if q.Ceiling != nil {
				q.Ceiling = append(q.Ceiling, rapid.Int64Range(0, 160).Draw(t, "ceiling"))
			}
		}
	}
	return o, d, factors, base
}

// Divisible and whole fillings with derived kinds are those of the twin.
func TestPropDerivedEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, d, factors, base := genDerived(t)
		tree := must.Have(d.NewTree(o.capacity, o.queues))(t)
		capacity := o.capacity
		o.capacity = extend(t, d, capacity...)
		queues, members := o.twins()
		for i := range members {
			members[i].Demand = members[i].Demand[:base]
		}
		filling := must.Have(tree.Fill(o.claims))(t)
		want := drforacle.FillDerived(capacity, factors, queues, members)
		for i, got := range filling.Claims {
			if exact, _ := want[i].Float64(); !isClose(got.Containers, exact) {
				t.Fatalf("%s has %.17g containers, want %.17g", got.ID, got.Containers, exact)
			}
		}
		whole := must.Have(tree.FillWhole(o.claims))(t)
		if got, want := containers(&whole.Filling), drforacle.WholeDerived(capacity, factors, queues, members); !slices.Equal(got, want) {
			t.Fatalf("whole containers %v, want %v", got, want)
		}
		for _, q := range whole.Queues {
			must.Same(t, q.Used, extend(t, d, q.Used[:base]...), "queue", q.ID, "uses")
		}
	})
}
