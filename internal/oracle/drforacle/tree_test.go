// This file tests the twin of a tree on clusters that can be shared out by hand, and against the twin without a tree.

package drforacle

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// queue returns one of weight 1 without a guarantee or a ceiling, for a cluster of so many kinds.
func queue(id, parent string, kinds int) Queue {
	q := Queue{ID: id, Parent: parent, Weight: 1, Guarantee: make([]int64, kinds), Ceiling: make([]int64, kinds)}
	for k := range q.Ceiling {
		q.Ceiling[k] = -1
	}
	return q
}

// guaranteed, limited and weighing return a queue with one thing changed.
func guaranteed(q Queue, amounts ...int64) Queue { q.Guarantee = amounts; return q }
func limited(q Queue, amounts ...int64) Queue    { q.Ceiling = amounts; return q }
func weighing(q Queue, weight float64) Queue     { q.Weight = weight; return q }

// in puts a claim into a queue.
func in(queue string, c Claim) Member { return Member{Claim: c, Queue: queue} }

// bounded returns a claim with a minimum and a maximum.
func bounded(c Claim, least, most int64) Claim { c.Min, c.Max = least, most; return c }

// Clusters of which every part is known. The numbers of the divisible and of the whole filling agree where nothing is
// left over.
func TestTreesByHand(t *testing.T) {
	one, two := []int64{10}, []int64{10, 10}
	for _, test := range []struct {
		name     string
		capacity []int64
		queues   []Queue
		members  []Member
		want     []float64
	}{
		{"a queue with two claims has as much as one claim beside it", []int64{12},
			[]Queue{queue("q", "", 1)}, []Member{in("q", claim("a", 1)), in("q", claim("b", 1)), in("", claim("c", 1))},
			[]float64{3, 3, 6}},
		{"twice the weight", []int64{12},
			[]Queue{weighing(queue("q", "", 1), 2)}, []Member{in("q", claim("a", 1)), in("q", claim("b", 1)), in("", claim("c", 1))},
			[]float64{4, 4, 4}},
		// [Bhattacharya13] §3: children of complementary demands must not starve one another: each has what the sibling of
		// their queue has.
		{"complementary children", two,
			[]Queue{queue("q", "", 2)}, []Member{in("q", claim("a", 1, 0)), in("q", claim("b", 0, 1)), in("", claim("c", 1, 1))},
			[]float64{5, 5, 5}},
		{"what a ceiling keeps goes to others", one,
			[]Queue{limited(queue("q", "", 1), 2)}, []Member{in("q", claim("a", 1)), in("", claim("b", 1))},
			[]float64{2, 8}},
		{"a guarantee comes first", one,
			[]Queue{guaranteed(queue("q", "", 1), 8)}, []Member{in("q", claim("a", 1)), in("", claim("b", 1)), in("", claim("c", 1))},
			[]float64{8, 1, 1}},
		{"a guarantee that is not used", one,
			[]Queue{guaranteed(queue("q", "", 1), 8)}, []Member{in("q", bounded(claim("a", 1), 0, 3)), in("", claim("b", 1))},
			[]float64{3, 7}},
		{"below two levels", []int64{12},
			[]Queue{queue("p", "", 1), queue("q", "p", 1), queue("r", "p", 1)},
			[]Member{in("q", claim("a", 1)), in("r", claim("b", 1)), in("r", claim("c", 1)), in("", claim("d", 1))},
			[]float64{3, 1.5, 1.5, 6}},
		{"the ceiling of the queue above", []int64{12},
			[]Queue{limited(queue("p", "", 1), 4), queue("q", "p", 1)},
			[]Member{in("q", claim("a", 1)), in("", claim("b", 1))},
			[]float64{4, 8}},
		{"minima that do not fit their queue are dropped there alone", one,
			[]Queue{limited(queue("q", "", 1), 4)},
			[]Member{in("q", bounded(claim("a", 1), 3, 10)), in("q", bounded(claim("b", 1), 2, 10)), in("", bounded(claim("c", 1), 6, 6))},
			[]float64{2, 2, 6}},
		{"minima that do not fit the cluster are dropped everywhere", one,
			[]Queue{queue("q", "", 1)},
			[]Member{in("q", bounded(claim("a", 1), 6, 10)), in("", bounded(claim("b", 1), 6, 10))},
			[]float64{5, 5}},
		{"nobody has such a kind", []int64{10, 0},
			[]Queue{queue("q", "", 2)}, []Member{in("q", claim("a", 1, 1)), in("q", claim("b", 1, 0)), in("", claim("c", 1, 0))},
			[]float64{0, 5, 5}},
		{"nobody at all", one, []Queue{queue("q", "", 1)}, nil, nil},
	} {
		if got := floats(FillTree(test.capacity, test.queues, test.members)); !near(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		exact := true
		for _, n := range test.want {
			exact = exact && n == float64(int64(n))
		}
		if !exact {
			continue
		}
		var whole []float64
		for _, n := range WholeTree(test.capacity, test.queues, test.members) {
			whole = append(whole, float64(n))
		}
		if !near(whole, test.want) {
			t.Errorf("%s, whole containers: %v, want %v", test.name, whole, test.want)
		}
	}
}

// Whole containers of different sizes: who does not fit stops, and smaller ones go on, under a ceiling as in the cluster.
func TestWholeTreeByHand(t *testing.T) {
	for _, test := range []struct {
		name     string
		capacity []int64
		queues   []Queue
		members  []Member
		want     []int64
	}{
		{"seven for two of three, and one of one", []int64{7}, nil, []Member{in("", claim("a", 3)), in("", claim("b", 3)), in("", claim("c", 1))}, []int64{1, 1, 1}},
		{"under a ceiling of five", []int64{100}, []Queue{limited(queue("q", "", 1), 5)}, []Member{in("q", claim("a", 3)), in("q", claim("b", 1))}, []int64{1, 2}},
		// Three of the guarantee of five hold one container of three; the second one is not within it, and waits its turn.
		{"a guarantee that is no multiple", []int64{9}, []Queue{guaranteed(queue("q", "", 1), 5)}, []Member{in("q", claim("a", 3)), in("", claim("b", 1))}, []int64{1, 6}},
		{"equal levels: the queue before a claim of its name", []int64{1}, []Queue{queue("x", "", 1)}, []Member{in("", claim("x", 1)), in("x", claim("y", 1))}, []int64{0, 1}},
	} {
		if got := WholeTree(test.capacity, test.queues, test.members); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Without queues a tree is a list of claims, divisible and whole.
func TestTreeWithoutQueues(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	for n := range 200 {
		capacity, claims := random(rng)
		var members []Member
		for _, c := range claims {
			members = append(members, in("", c))
		}
		want, _ := Fill(capacity, claims)
		if got := FillTree(capacity, nil, members); !same(got, want) {
			t.Fatalf("%d: %v of %+v: %v, without a tree %v", n, capacity, claims, floats(got), floats(want))
		}
		containers, _ := Whole(capacity, claims, false)
		if got := WholeTree(capacity, nil, members); !slices.Equal(got, containers) {
			t.Fatalf("%d: %v of %+v: %v, without a tree %v", n, capacity, claims, got, containers)
		}
	}
}

// A queue around every claim, with its weight, changes nothing that a claim gets where all containers are divisible.
func TestQueueAroundEveryClaim(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	for n := range 100 {
		capacity, claims := random(rng)
		var members []Member
		var queues []Queue
		for _, c := range claims {
			c.Min = 0
			queues = append(queues, weighing(queue("q"+c.ID, "", len(capacity)), c.Weight))
			members = append(members, in("q"+c.ID, c))
		}
		for i := range claims {
			claims[i].Min = 0
		}
		want, _ := Fill(capacity, claims)
		if got := FillTree(capacity, queues, members); !same(got, want) {
			t.Fatalf("%d: %v of %+v: %v, without queues %v", n, capacity, claims, floats(got), floats(want))
		}
	}
}

// The order of turns: below a guarantee first, then the level, then the name, and a queue before a claim of its name.
func TestTurns(t *testing.T) {
	at := func(level int64, first bool, id string, queue bool) *turn {
		return &turn{level: big.NewRat(level, 7), first: first, id: id, queue: queue}
	}
	for _, test := range []struct {
		name string
		a, b *turn
	}{
		{"guaranteed", at(5, true, "z", false), at(1, false, "a", true)},
		{"level", at(1, false, "z", false), at(2, false, "a", true)},
		{"level among the guaranteed", at(1, true, "z", false), at(2, true, "a", true)},
		{"name", at(2, false, "a", false), at(2, false, "b", true)},
		{"queue", at(2, false, "a", true), at(2, false, "a", false)},
	} {
		if !test.a.before(test.b) || test.b.before(test.a) {
			t.Errorf("%s: %v and %v", test.name, test.a.before(test.b), test.b.before(test.a))
		}
	}
	if same := at(1, false, "a", true); same.before(same) {
		t.Error("a turn is before itself")
	}
}

// Who is due, at counts that are given: those that are idle ask for nothing, and with them their queue.
func TestNextOfTree(t *testing.T) {
	capacity := []int64{10, 20}
	queues := []Queue{queue("p", "", 2), queue("q", "p", 2), weighing(queue("r", "", 2), 2)}
	members := []Member{in("q", claim("a", 1, 1)), in("q", claim("b", 0, 1)), in("r", claim("c", 1, 0)), in("", claim("d", 1, 0))}
	for _, test := range []struct {
		name   string
		counts []int64
		idle   []bool
		want   int
	}{
		{"nobody has anything: a claim called d before queues p and r", []int64{0, 0, 0, 0}, []bool{false, false, false, false}, 3},
		{"d has one", []int64{0, 0, 0, 1}, []bool{false, false, false, false}, 0},
		// b is next in p, of which the first kind is not charged to it: 3/20 is below d's and c's tenth and more.
		{"b is next in p", []int64{2, 1, 4, 2}, []bool{false, false, false, false}, 1},
		{"b is idle, and a has two tenths", []int64{2, 1, 3, 2}, []bool{false, true, false, false}, 2},
		{"all of p are idle", []int64{0, 0, 9, 9}, []bool{true, true, false, false}, 2},
		{"nobody", []int64{0, 0, 0, 0}, []bool{true, true, true, true}, -1},
	} {
		if got := NextOfTree(capacity, queues, members, test.counts, test.idle); got != test.want {
			t.Errorf("%s: claim %d, want %d", test.name, got, test.want)
		}
	}
}

// The parts of a tree: who is below whom, what a queue has and may have, and that a name of nobody is a bug.
func TestPartsOfTree(t *testing.T) {
	queues := []Queue{limited(queue("p", "", 1), 7), guaranteed(queue("q", "p", 1), 3)}
	h := newHierarchy([]int64{10}, queues, []Member{in("q", bounded(claim("a", 2), 1, 9)), in("", bounded(claim("b", 1), 3, 9))})
	if got := h.path(0); !slices.Equal(got, []string{"q", "p", ""}) {
		t.Errorf("above a: %q", got)
	}
	for id, want := range map[string]string{"q": "2/1", "p": "2/1", "": "5/1"} {
		if got := h.used(id, 0).String(); got != want {
			t.Errorf("%q has %s, want %s", id, got, want)
		}
	}
	if h.ceiling("q", 0) != nil || h.ceiling("p", 0).String() != "7/1" || h.ceiling("", 0).String() != "10/1" {
		t.Error("ceilings")
	}
	if h.guarantee("q", 0).String() != "3/1" || h.guarantee("", 0).Sign() != 0 {
		t.Error("guarantees")
	}
	// One unit of the guarantee is left: any more of a divisible demand is within it, a whole container of two is not.
	if !h.below("q", h.demand(0)) {
		t.Error("one of three is left")
	}
	if h.whole = true; h.below("q", h.demand(0)) {
		t.Error("a container of two is within one")
	}
	defer func() {
		if recover() == nil {
			t.Error("a queue that is not there has been found")
		}
	}()
	h.queue("nobody")
}
