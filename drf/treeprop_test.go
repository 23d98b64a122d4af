// This file checks fillings of trees against the rational twin and against what [Bhattacharya13] and the
// definition promise.

package drf_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/drforacle"
)

// wholeOrganization is everything that a tree may have.
var wholeOrganization = treeLimits{
	limits: limits{claims: 6, capacity: 40, demand: 6, min: 2, max: 12, empty: true},
	queues: 6, guarantees: true, ceilings: true, claimsWithout: true,
}

func TestPropTreeFillEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := genOrganization(t, wholeOrganization)
		queues, members := o.twins()
		want := drforacle.FillTree(o.capacity, queues, members)
		for i, got := range o.fillTree(t).Claims {
			if exact, _ := want[i].Float64(); !isClose(got.Containers, exact) {
				t.Fatalf("%s of %s has %.17g containers, want %.17g", got.ID, o.claims[i].Queue, got.Containers, exact)
			}
		}
	})
}

// Trees of more queues than the properties draw are those of the twin as well: each has events of its own, which alternate.
func TestTreeFillOfManyQueuesEqualsOracle(t *testing.T) {
	for _, limited := range []bool{false, true} {
		for claims := 30; claims < 32; claims++ {
			o := benchQueues(claims, 10, limited)
			queues, members := o.twins()
			want := drforacle.FillTree(o.capacity, queues, members)
			for i, got := range o.fillTree(t).Claims {
				if exact, _ := want[i].Float64(); !isClose(got.Containers, exact) {
					t.Fatalf("limited %v, %d claims: %s of %s has %.17g containers, want %.17g", limited, claims, got.ID, o.claims[i].Queue, got.Containers, exact)
				}
			}
		}
	}
}

func TestPropTreeWholeEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := genOrganization(t, wholeOrganization)
		queues, members := o.twins()
		want := drforacle.WholeTree(o.capacity, queues, members)
		must.Same(t, containers(&o.wholeTree(t).Filling), want, "containers")
	})
}

// Whole containers of a tree of one level are those of FillWhole.
func TestPropTreeWholeOfOneLevelIsFlat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 7, capacity: 60, demand: 9, min: 2, max: 12, empty: true})
		want := in.whole(t, nil)
		flat := organization{instance: in}
		if got := flat.wholeTree(t).Filling; !cmp.Equal(got, *want) {
			t.Fatal(cmp.Diff(*want, got))
		}
		one := organization{instance: instance{in.capacity, slices.Clone(in.claims)}, queues: []drf.Queue{node("all", "", 7, nil)}}
		for i := range one.claims {
			one.claims[i].Queue = "all"
		}
		if got := one.wholeTree(t).Filling; !cmp.Equal(got, *want) {
			t.Fatal(cmp.Diff(*want, got))
		}
	})
}

// Without queues, and with one queue for all, a tree gives what Fill gives.
func TestPropTreeOfOneLevelIsFlat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 7, capacity: 60, demand: 9, min: 2, max: 12, empty: true})
		want := in.fill(t)
		flat := organization{instance: in}
		got := flat.fillTree(t)
		one := organization{instance: instance{in.capacity, slices.Clone(in.claims)}, queues: []drf.Queue{node("all", "", 7, nil)}}
		for i := range one.claims {
			one.claims[i].Queue = "all"
		}
		below := one.fillTree(t)
		for i := range want.Claims {
			a, b, c := want.Claims[i], got.Claims[i], below.Claims[i]
			// Who begins with Max where a kind is used up has two reasons to stop.
			differ := !isClose(a.Containers, float64(in.claims[i].Max)) && a.StoppedBy != b.StoppedBy
			if !isClose(a.Containers, b.Containers) || !isClose(a.Containers, c.Containers) || differ || b.StoppedBy != c.StoppedBy {
				t.Fatalf("flat %+v, tree %+v, one queue %+v", a, b, c)
			}
		}
	})
}

// A claim that is split into equal ones below a queue of its weight changes nobody else, and these have together
// what it had.
func TestPropTreeClones(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := wholeOrganization
		l.min, l.max = 0, 0
		o := genOrganization(t, l)
		before := o.fillTree(t)
		split := organization{instance: instance{o.capacity, slices.Clone(o.claims)}, queues: slices.Clone(o.queues)}
		at := rapid.IntRange(0, len(o.claims)-1).Draw(t, "split")
		parent := &split.claims[at]
		for i, claim := range o.claims { // a queue has claims or queues below it, not both
			if i != at && claim.Queue == parent.Queue && claim.Queue != "" {
				return
			}
		}
		split.queues = append(split.queues, node("clones", parent.Queue, parent.Weight, nil))
		clones := rapid.IntRange(2, 4).Draw(t, "clones")
		for c := range clones {
			clone := *parent
			clone.ID, clone.Queue, clone.Weight = string(rune('A'+c)), "clones", 2
			split.claims = append(split.claims, clone)
		}
		split.claims = slices.Delete(split.claims, at, at+1)
		sum := 0.0
		for i, got := range split.fillTree(t).Claims {
			if split.claims[i].Queue == "clones" {
				sum += got.Containers
				continue
			}
			was := slices.IndexFunc(before.Claims, func(f drf.Filled[float64]) bool { return f.ID == got.ID })
			if !isClose(got.Containers, before.Claims[was].Containers) {
				t.Fatalf("%s had %.17g, has %.17g", got.ID, before.Claims[was].Containers, got.Containers)
			}
		}
		if !isClose(sum, before.Claims[at].Containers) {
			t.Fatalf("the clones have %.17g, the claim had %.17g", sum, before.Claims[at].Containers)
		}
	})
}

// Guarantees of queues that fit together are met as far as their claims ask for them: whoever is below its
// guarantee has only claims that it does not cover, at their Max or stopped by a ceiling.
func TestPropTreeGuaranteesAreMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := wholeOrganization
		l.min = 0
		o := genOrganization(t, l)
		for k := range o.capacity {
			sum := int64(0)
			for _, q := range o.queues {
				if q.Guarantee != nil {
					sum += q.Guarantee[k]
				}
			}
			if sum > o.capacity[k] {
				for i := range o.queues {
					if o.queues[i].Guarantee != nil {
						o.queues[i].Guarantee[k] = o.queues[i].Guarantee[k] * o.capacity[k] / sum
					}
				}
			}
		}
		filling := o.fillTree(t)
		for _, q := range o.queues {
			if q.Guarantee == nil {
				continue
			}
			used := o.usedBelow(q.ID, containers(&filling.Filling))
			for i, claim := range o.claims {
				if !o.isBelow(claim.Queue, q.ID) || filling.Claims[i].StoppedBy.Cause != drf.Exhausted {
					continue
				}
				below := true
				for k, d := range claim.Demand {
					below = below && (d == 0 || used[k] < float64(q.Guarantee[k])*(1-closeTo))
				}
				if below {
					t.Fatalf("%s of %s stopped by %v, though %v of %v guaranteed are used", claim.ID, q.ID, filling.Claims[i].StoppedBy, used, q.Guarantee)
				}
			}
		}
	})
}

// Neither the order of claims nor that of queues matters, not even to the last bit.
func TestPropTreeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := genOrganization(t, wholeOrganization)
		a := o.fillTree(t)
		other := organization{instance: instance{o.capacity, rapid.Permutation(o.claims).Draw(t, "claims")}, queues: rapid.Permutation(o.queues).Draw(t, "queues")}
		b := other.fillTree(t)
		for _, want := range a.Claims {
			at := slices.IndexFunc(b.Claims, func(f drf.Filled[float64]) bool { return f.ID == want.ID })
			must.Equal(t, b.Claims[at], want, "becomes")
		}
		for _, want := range a.Queues {
			at := slices.IndexFunc(b.Queues, func(f drf.FilledQueue[float64]) bool { return f.ID == want.ID })
			must.Same(t, b.Queues[at].Used, want.Used, want, "becomes", b.Queues[at])
		}
	})
}

// Fillings keep what VerifyTree says that they keep.
func TestPropTreeFillingsVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := wholeOrganization
		if rapid.Bool().Draw(t, "plain") {
			l.guarantees, l.min = false, 0
		}
		if rapid.Bool().Draw(t, "no minima") {
			l.min = 0
		}
		o := genOrganization(t, l)
		filling, whole := o.fillTree(t), o.wholeTree(t)
		report := must.Have(drf.VerifyTree(o.tree(t), o.claims, containers(&filling.Filling)))(t)
		wholes := must.Have(drf.VerifyTree(o.tree(t), o.claims, containers(&whole.Filling)))(t)
		dropped := filling.ShortOf >= 0
		for _, q := range filling.Queues {
			dropped = dropped || q.ShortOf >= 0
		}
		promises := []drf.Property{drf.WithinCapacity, drf.WithinCeilings, drf.ParetoEfficient}
		if !dropped {
			promises = append(promises, drf.WithinBounds)
		}
		if l.min == 0 {
			promises = append(promises, drf.GuaranteesMet)
		}
		for _, p := range promises {
			if !report.Holds(p) || !wholes.Holds(p) {
				t.Fatalf("divisible %v\nwhole %v", report, wholes)
			}
		}
		promises = []drf.Property{drf.WeightMonotone}
		if !dropped {
			promises = append(promises, drf.EnvyFree)
		}
		if !l.guarantees && l.min == 0 {
			promises = append(promises, drf.SharingIncentive)
		}
		for _, p := range promises {
			if !report.Holds(p) {
				t.Fatalf("%v", report)
			}
		}
	})
}
