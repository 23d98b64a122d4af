// This file tests trees by hand: the reports of users of other schedulers, bad input, and what VerifyTree
// finds.

package drf_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

const none = drf.NoLimit

// in puts a claim into a queue.
func in(queue string, c drf.Claim) drf.Claim {
	c.Queue = queue
	return c
}

// treeStory is a small tree with the answers, divisible and whole.
type treeStory struct {
	name     string
	capacity apportion.Resources
	queues   []drf.Queue
	claims   []drf.Claim
	want     []float64
	whole    []int64
	stops    string // divisible
}

// equals are two queues that nothing tells apart.
var equals = []drf.Queue{node("x", "", 1, nil), node("y", "", 1, nil)}

// Each is a report of users of a widely used scheduler, or a worked example.
var treeStories = []treeStory{
	{
		// Two queues of one weight, one with many claims: the queues are equal, not the claims.
		"claims do not multiply a queue's share", apportion.Resources{12}, equals,
		[]drf.Claim{in("x", claim("a", 1, 0, top, 1)), in("y", claim("b", 1, 0, top, 1)), in("y", claim("c", 1, 0, top, 1)), in("y", claim("d", 1, 0, top, 1))},
		[]float64{6, 2, 2, 2}, []int64{6, 2, 2, 2}, "short of kind 0; short of kind 0; short of kind 0; short of kind 0",
	},
	{
		// Complementary children of one queue: what b has of the second kind is not charged when a is served.
		"a child that is stopped does not starve its sibling (volcano#933)", apportion.Resources{12, 10}, equals,
		[]drf.Claim{in("x", claim("a", 1, 0, top, 1, 0)), in("x", claim("b", 1, 10, top, 0, 1)), in("y", claim("c", 1, 0, top, 1, 0))},
		[]float64{6, 10, 6}, []int64{6, 10, 6}, "short of kind 0; short of kind 1; short of kind 0",
	},
	{
		// The cap of the first kind must not freeze the second (volcano#479, #1486).
		"a ceiling of one kind leaves the others alone", apportion.Resources{10, 10},
		[]drf.Queue{node("x", "", 1, nil, 2, none), node("y", "", 1, nil)},
		[]drf.Claim{in("x", claim("a", 1, 0, top, 1, 0)), in("x", claim("b", 1, 0, top, 0, 1)), in("y", claim("c", 1, 0, top, 1, 1))},
		[]float64{2, 5, 5}, []int64{2, 5, 5}, "at the ceiling of queue x for kind 0; short of kind 1; short of kind 1",
	},
	{
		// The limit that is further up is told where both are reached at once.
		"a ceiling that is reached with the last of the cluster", apportion.Resources{10},
		[]drf.Queue{node("x", "", 1, nil, 6), node("y", "", 1, nil)},
		[]drf.Claim{in("x", claim("a", 1, 0, top, 1)), in("y", claim("b", 1, 0, 4, 1))},
		[]float64{6, 4}, []int64{6, 4}, "short of kind 0; at its maximum",
	},
	{
		"two ceilings that are reached at once", apportion.Resources{10},
		[]drf.Queue{node("w", "", 1, nil, 6), node("x", "w", 1, nil, 4), node("y", "w", 1, nil)},
		[]drf.Claim{in("x", claim("a", 1, 0, top, 1)), in("y", claim("b", 1, 0, 2, 1))},
		[]float64{4, 2}, []int64{4, 2}, "at the ceiling of queue w for kind 0; at its maximum",
	},
	{
		// kueue#9345: one head per queue and cycle left 750/250 where 500/500 was due.
		"equal queues are equal whatever the size of their claims", apportion.Resources{1000}, equals,
		[]drf.Claim{in("x", claim("a", 1, 0, top, 3)), in("y", claim("b", 1, 0, top, 1))},
		[]float64{500. / 3, 500}, []int64{167, 499}, "short of kind 0; short of kind 0",
	},
	{
		// A guarantee comes first, though the queue has little weight.
		"guarantee before weight", apportion.Resources{10},
		[]drf.Queue{node("x", "", .5, apportion.Resources{6}), node("y", "", 4, nil)},
		[]drf.Claim{in("x", claim("a", 1, 0, top, 1)), in("y", claim("b", 1, 0, top, 1))},
		[]float64{6, 4}, []int64{6, 4}, "short of kind 0; short of kind 0",
	},
	{
		// What is guaranteed and not wanted is lent.
		"guarantee that nobody uses", apportion.Resources{10},
		[]drf.Queue{node("x", "", 1, apportion.Resources{6}), node("y", "", 1, nil)},
		[]drf.Claim{in("x", claim("a", 1, 0, 2, 1)), in("y", claim("b", 1, 0, top, 1))},
		[]float64{2, 8}, []int64{2, 8}, "at its maximum; short of kind 0",
	},
	{
		// A guarantee two levels down is kept though its parent has none.
		"guarantee of a grandchild", apportion.Resources{12},
		[]drf.Queue{node("x", "", 1, nil), node("y", "", 1, nil), node("xa", "x", 1, apportion.Resources{8}), node("xb", "x", 1, nil)},
		[]drf.Claim{in("xa", claim("a", 1, 0, top, 1)), in("xb", claim("b", 1, 0, top, 1)), in("y", claim("c", 1, 0, top, 1))},
		[]float64{8, 0, 4}, []int64{8, 0, 4}, "short of kind 0; short of kind 0; short of kind 0",
	},
	{
		// A queue of weight 2 has twice the other's, [Bhattacharya13] Fig. 1 in one kind.
		"weights at two levels", apportion.Resources{480},
		[]drf.Queue{node("ads", "", 1, nil), node("dev", "", 3, nil), node("prod", "dev", 1, nil), node("test", "dev", 2, nil)},
		[]drf.Claim{in("ads", claim("a", 1, 0, top, 1)), in("prod", claim("b", 1, 0, top, 1)), in("test", claim("c", 1, 0, top, 1))},
		[]float64{120, 120, 240}, []int64{120, 120, 240}, "short of kind 0; short of kind 0; short of kind 0",
	},
	{
		// The minima of x do not fit its ceiling; those of y are kept.
		"minima dropped where they do not fit", apportion.Resources{10},
		[]drf.Queue{node("x", "", 1, nil, 3), node("y", "", 1, nil)},
		[]drf.Claim{in("x", claim("a", 1, 2, top, 1)), in("x", claim("b", 2, 2, top, 1)), in("y", claim("c", 1, 4, 5, 1))},
		[]float64{1, 2, 5}, []int64{1, 2, 5}, "at the ceiling of queue x for kind 0; at the ceiling of queue x for kind 0; at its maximum",
	},
	{
		"no capacity, a ceiling of nothing", apportion.Resources{10, 0},
		[]drf.Queue{node("x", "", 1, nil, 0, none), node("y", "", 1, nil)},
		[]drf.Claim{in("x", claim("a", 1, 0, top, 1, 0)), in("y", claim("b", 1, 0, top, 1, 1)), claim("c", 1, 0, 3, 1, 0)},
		[]float64{0, 0, 3}, []int64{0, 0, 3}, "at the ceiling of queue x for kind 0; cannot be served: there is no kind 1; at its maximum",
	},
}

func TestTreeStories(t *testing.T) {
	for _, test := range treeStories {
		t.Run(test.name, func(t *testing.T) {
			o := organization{instance{test.capacity, test.claims}, test.queues}
			filling, whole := o.fillTree(t), o.wholeTree(t)
			var stops []string
			for i, got := range filling.Claims {
				stops = append(stops, got.StoppedBy.String())
				if !isClose(got.Containers, test.want[i]) {
					t.Errorf("%s has %.17g, want %.17g", got.ID, got.Containers, test.want[i])
				}
			}
			must.Equal(t, strings.Join(stops, "; "), test.stops, "stops")
			if got := containers(&whole.Filling); !cmp.Equal(got, test.whole) {
				t.Errorf("whole %v, want %v", got, test.whole)
			}
		})
	}
}

func TestTreeErrors(t *testing.T) {
	two := apportion.Resources{4, 4}
	for _, test := range []struct {
		name   string
		queues []drf.Queue
		item   string
		field  string
		want   error
	}{
		{"empty id", []drf.Queue{node("", "", 1, nil)}, "queue 0", "ID", apportion.ErrEmpty},
		{"repeated id", []drf.Queue{node("x", "", 1, nil), node("x", "", 1, nil)}, `queue "x"`, "ID", apportion.ErrDuplicate},
		{"weight 0", []drf.Queue{node("x", "", 0, nil)}, `queue "x"`, "Weight", apportion.ErrRange},
		{"weight NaN", []drf.Queue{node("x", "", math.NaN(), nil)}, `queue "x"`, "Weight", apportion.ErrNotFinite},
		{"unknown parent", []drf.Queue{node("x", "z", 1, nil)}, `queue "x"`, "Parent", apportion.ErrUnknown},
		{"own parent", []drf.Queue{node("x", "x", 1, nil)}, `queue "x"`, "Parent", apportion.ErrConflict},
		{"circle", []drf.Queue{node("x", "y", 1, nil), node("y", "x", 1, nil)}, `queue "x"`, "Parent", apportion.ErrConflict},
		{"short guarantee", []drf.Queue{node("x", "", 1, apportion.Resources{1})}, `queue "x"`, "Guarantee", apportion.ErrLength},
		{"negative ceiling", []drf.Queue{node("x", "", 1, nil, 1, -1)}, `queue "x"`, "Ceiling[1]", apportion.ErrNegative},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := drf.NewTree(two, test.queues)
			var faults apportion.Faults
			if !errors.As(err, &faults) || !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if fault := faults[0]; fault.Item.String() != test.item || fault.Field != test.field {
				t.Errorf("%s %s, want %s %s", fault.Item, fault.Field, test.item, test.field)
			}
		})
	}
	tree := must.Have(drf.NewTree(two, []drf.Queue{node("x", "", 1, nil), node("y", "x", 1, nil)}))(t)
	for _, test := range []struct {
		queue string
		want  error
	}{{"z", apportion.ErrUnknown}, {"x", apportion.ErrConflict}} {
		_, divisible := tree.Fill([]drf.Claim{in(test.queue, claim("a", 1, 0, 1, 1, 1))})
		_, whole := tree.FillWhole([]drf.Claim{in(test.queue, claim("a", 1, 0, 1, 1, 1))})
		_, sorter := tree.NewSorter().Add(drf.Claim{ID: "a", Queue: test.queue, Weight: 1, Demand: two})
		_, report := drf.VerifyTree(tree, []drf.Claim{in(test.queue, claim("a", 1, 0, 1, 1, 1))}, []int64{1})
		for _, err := range []error{divisible, whole, sorter, report} {
			must.Err(t, err, test.want, "queue", test.queue)
		}
	}
	must.Fail(drf.Fill(two, []drf.Claim{in("x", claim("a", 1, 0, 1, 1, 1))}))(t, apportion.ErrUnknown, "a queue without a tree")
}

// Containers of queues are handed out one by one, so that their number has an end.
func TestTreeFillWholeRefusesDust(t *testing.T) {
	tree := must.Have(drf.NewTree(apportion.Resources{1 << 60}, []drf.Queue{node("x", "", 1, nil)}))(t)
	must.Fail(tree.FillWhole([]drf.Claim{claim("a", 1, 0, top, 1)}))(t, apportion.ErrRange, "error")
	must.Have(tree.FillWhole([]drf.Claim{claim("a", 1, 0, 100, 1), claim("b", 1, 1<<59, 1<<59, 1)}))(t, "few above their minima")
}

func TestVerifyTreeFinds(t *testing.T) {
	queues := []drf.Queue{node("x", "", 1, apportion.Resources{3}, 6), node("y", "", 3, nil), node("ya", "y", 1, nil), node("yb", "y", 2, nil)}
	claims := []drf.Claim{in("x", claim("a", 1, 0, top, 1)), in("ya", claim("b", 1, 0, top, 1)), in("yb", claim("c", 1, 0, 9, 1))}
	tree := must.Have(drf.NewTree(apportion.Resources{12}, queues))(t)
	for _, test := range []struct {
		name       string
		containers []int64
		divisible  []float64
		want       string
	}{
		{"fair", nil, []float64{3, 3, 6}, ""},
		{"capacity", []int64{4, 4, 6}, nil, "capacity: 14 of kind 0 handed out, there is 12\n"},
		{"bounds", []int64{2, 0, 10}, nil, "bounds: claim \"c\" has 10 containers, its bound is 9\n" +
			"guarantees: claim \"a\" has 2 containers and could have 3 within what \"x\" is guaranteed\n" +
			"envy-freeness: claim \"ya\" has 0 containers and could run 4.5 with what \"yb\" has\n" +
			"sharing incentive: claim \"a\" has 2 containers and could have 3\nsharing incentive: claim \"b\" has 0 containers and could have 3\n"},
		{"ceiling", []int64{7, 2, 3}, nil, "ceilings: queue \"x\" has 7 of kind 0, its ceiling is 6\n" +
			"sharing incentive: claim \"b\" has 2 containers and could have 3\nsharing incentive: claim \"c\" has 3 containers and could have 6\n"},
		{"ceiling of fluids", nil, []float64{6.5, 2, 3.5}, "ceilings: queue \"x\" has 6.5 of kind 0, its ceiling is 6\n" +
			"envy-freeness: claim \"yb\" has 3.5 containers and could run 4 with what \"ya\" has\n" +
			"sharing incentive: queue \"y\" has a share of 0.458333333 and could have 0.75\n" +
			"sharing incentive: queue \"ya\" has a share of 0.166666667 and could have 0.25\nsharing incentive: claim \"b\" has 2 containers and could have 3\n" +
			"sharing incentive: queue \"yb\" has a share of 0.291666667 and could have 0.5\nsharing incentive: claim \"c\" has 3.5 containers and could have 6\n"},
		{"unused", nil, []float64{4, 2, 5}, "Pareto efficiency: claim \"a\" has 4 containers and could have 5\nPareto efficiency: claim \"b\" has 2 containers and could have 3\n" +
			"Pareto efficiency: claim \"c\" has 5 containers and could have 6\nenvy-freeness: claim \"ya\" has 2 containers and could run 2.5 with what \"yb\" has\n" +
			"sharing incentive: queue \"y\" has a share of 0.583333333 and could have 0.75\n" +
			"sharing incentive: queue \"ya\" has a share of 0.166666667 and could have 0.25\nsharing incentive: claim \"b\" has 2 containers and could have 3\n" +
			"sharing incentive: queue \"yb\" has a share of 0.416666667 and could have 0.5\nsharing incentive: claim \"c\" has 5 containers and could have 6\n"},
		{"weights", []int64{4, 5, 3}, nil, "envy-freeness: claim \"yb\" has 3 containers and could run 8 with what \"ya\" has\n" +
			"weights: claim \"yb\" has 3 containers, less than \"ya\", and could have 4\nsharing incentive: claim \"c\" has 3 containers and could have 6\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var report drf.Report
			var err error
			if test.divisible != nil {
				report, err = drf.VerifyTree(tree, claims, test.divisible)
			} else {
				report, err = drf.VerifyTree(tree, claims, test.containers)
			}
			must.Do(t, err)
			var got strings.Builder
			for _, v := range report {
				fmt.Fprintln(&got, v)
			}
			must.Equal(t, cmp.Diff(test.want, got.String()), "")
		})
	}
}

// explainTree explains the whole filling of an organization.
func explainTree(t *testing.T, kinds apportion.Kinds, o organization) *drf.TreeExplanation[int64] {
	t.Helper()
	return must.Have(drf.ExplainTree(kinds, o.tree(t), o.claims, o.wholeTree(t)))(t)
}

func TestExplainTree(t *testing.T) {
	queues := []drf.Queue{node("x", "", 1, apportion.Resources{8, 2}), node("y", "", 1, apportion.Resources{2, 2}), node("ya", "y", 1, nil, 6, none), node("yb", "y", 1, nil)}
	claims := []drf.Claim{in("x", claim("a", 1, 0, 3, 1, 0)), in("ya", claim("b", 1, 0, top, 1, 1)), in("yb", claim("c", 1, 0, top, 2, 1))}
	o := organization{instance{apportion.Resources{12, 20}, claims}, queues}
	kinds := apportion.Kinds{"gpu", "memory"}
	got := explainTree(t, kinds, o).String()
	for _, line := range []string{
		"c  2 containers  share 0.333333  level 0.333333  short of gpu: one more needs 2, 0 left\n",
		"queue x   used [3 0]  share 0.25      borrowed [0 0], lent [5 2]\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
	tight := organization{instance{apportion.Resources{12, 20}, claims[:2]}, queues}
	e := explainTree(t, kinds, tight)
	if r := e.Claims[1].Reason; r.Constraint != "ceiling" || r.Kind != "gpu" || r.Need != 1 || r.Have != 0 || r.Text != "at the ceiling of queue ya for gpu: one more needs 1, 0 left" {
		t.Errorf("reason %+v", r)
	}
	ya := e.Queues[2]
	if !cmp.Equal(ya.From, []string{"x"}) || !cmp.Equal(ya.Full, []string{"gpu"}) || ya.TakenFirst != 1 || !cmp.Equal(ya.Borrowed, []int64{6, 6}) {
		t.Errorf("queue %+v", ya)
	}
	if y := e.Queues[1]; y.TakenFirst != 2 || !cmp.Equal(y.Borrowed, []int64{4, 4}) {
		t.Errorf("queue %+v", y)
	}
	if e.Queues[0].TakenFirst != 0 || e.Queues[0].From != nil {
		t.Errorf("queue %+v", e.Queues[0])
	}
}

func TestQueueJSON(t *testing.T) {
	var got drf.Queue
	must.Do(t, json.Unmarshal([]byte(`{"id":"x","parent":"y","guarantee":[1,2],"ceiling":[null,3]}`), &got))
	if want := node("x", "y", 1, apportion.Resources{1, 2}, none, 3); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	text, err := json.Marshal(got)
	if want := `{"id":"x","parent":"y","weight":1,"guarantee":[1,2],"ceiling":[null,3]}`; string(text) != want || err != nil {
		t.Errorf("%s, %v", text, err)
	}
	for _, bad := range []string{`{"id":"x","ceiling":[1.5]}`, `{"id":"x","ceiling":3}`, `{"id":3}`} {
		must.Err(t, json.Unmarshal([]byte(bad), &got), must.ErrAny, bad, "is read")
	}
}

// x has its guarantee of the first kind, and not of the second: b must not wait behind a, whose turn it is.
func TestGuaranteeOfAnotherKind(t *testing.T) {
	claims := []drf.Claim{in("x", claim("a", 1, 0, top, 1, 0)), in("x", claim("b", 1, 0, top, 0, 1)), in("y", claim("c", 1, 0, top, 1, 2))}
	o := organization{instance{apportion.Resources{4, 10}, claims}, []drf.Queue{node("x", "", 1, apportion.Resources{2, 7}), node("y", "", 1, nil)}}
	if got := containers(&o.wholeTree(t).Filling); !cmp.Equal(got, []int64{3, 8, 1}) {
		t.Errorf("containers %v", got)
	}
}
