// This file tests Sorter without queues: refusals, edge cases, and random operations against a sorted list.

package drf_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/internal/must"
)

func newSorter(t fatal, total ...int64) *drf.Sorter {
	tree := must.Have(drf.NewTree(total, nil))(t)
	return tree.NewSorter()
}

func add(t fatal, s *drf.Sorter, id string, weight float64, held ...int64) *drf.Client {
	client, err := s.Add(drf.Claim{ID: id, Weight: weight})
	if err == nil && held != nil {
		err = s.Allocate(client, held)
	}
	must.Do(t, err, "Add", id)
	return client
}

// order returns the IDs in the order in which Next gives them. It says so if Order differs.
func order(s *drf.Sorter) string {
	var clients []*drf.Client
	for client := s.Next(); client != nil; client = s.Next() {
		clients = append(clients, client)
		if err := s.SetActive(client, false); err != nil {
			return err.Error()
		}
	}
	var ids []string
	for _, client := range clients {
		ids = append(ids, client.ID())
		if err := s.SetActive(client, true); err != nil {
			return err.Error()
		}
	}
	if !slices.Equal(s.Order(nil), clients) {
		return "Next and Order differ"
	}
	return strings.Join(ids, " ")
}

// 10/100/2 and 15/100/3 are equal, though .1/2 and .15/3 differ as floats.
func TestSorterExactTies(t *testing.T) {
	for _, ids := range [][2]string{{"a", "b"}, {"b", "a"}} {
		s := newSorter(t, 100)
		add(t, s, ids[0], 2, 10)
		add(t, s, ids[1], 3, 15)
		must.Equal(t, order(s), "a b", "order")
	}
}

// One unit in 2^61 decides, though the shares are equal as floats.
func TestSorterNearTies(t *testing.T) {
	const big = 1 << 61
	for _, test := range []struct {
		a, b int64
		want string
	}{{big, big - 1, "b a"}, {big - 1, big, "a b"}, {big, big, "a b"}} {
		s := newSorter(t, math.MaxInt64, 7)
		add(t, s, "a", 1, test.a, 0)
		add(t, s, "b", 1, test.b, 0)
		must.Equal(t, order(s), test.want, test.a, "against", test.b, "order")
	}
}

// IDs that prefix one another are different clients.
func TestSorterPrefixIDs(t *testing.T) {
	s := newSorter(t, 100, 100)
	for i, id := range []string{"scidev", "a/b", "sci", "a"} {
		add(t, s, id, 1, int64(i), 0)
	}
	must.Equal(t, order(s), "scidev a/b sci a", "order")
	s = newSorter(t, 100)
	for _, id := range []string{"scidev", "a/b", "sci", "a"} {
		add(t, s, id, 1)
	}
	must.Equal(t, order(s), "a a/b sci scidev", "order of empty clients")
}

func TestSorterTotal(t *testing.T) {
	s := newSorter(t, 10, 100)
	a, b := add(t, s, "a", 1, 5, 0), add(t, s, "b", 1, 0, 40)
	must.Equal(t, order(s), "b a", "order")
	steps := []struct {
		total          apportion.Resources
		order          string
		shareA, shareB float64
	}{
		{apportion.Resources{10, 50}, "a b", .5, .8},
		{apportion.Resources{4, 20}, "a b", 1.25, 2}, // shrunk below what is allocated
		{apportion.Resources{0, 100}, "a b", 0, .4},  // the first kind takes no part
		{apportion.Resources{0, 0}, "a b", 0, 0},
		{apportion.Resources{10, 100}, "b a", .5, .4},
	}
	for _, step := range steps {
		must.Do(t, s.SetTotal(step.total))
		shareA, _ := a.Share()
		shareB, _ := b.Share()
		if order(s) != step.order || shareA != step.shareA || shareB != step.shareB {
			t.Errorf("total %v: order %s, shares %v %v; want %s, %v %v", step.total, order(s), shareA, shareB, step.order, step.shareA, step.shareB)
		}
	}
	if _, kind := b.Share(); kind != 1 {
		t.Errorf("dominant kind %d, want 1", kind)
	}
}

// A change of the total that turns the order round reaches every place of the queue.
func TestSorterTotalTurnsOrder(t *testing.T) {
	const n = 200
	s := newSorter(t, 1, 1_000_000_000)
	for i := range int64(n) {
		at := i * 77 % n
		add(t, s, fmt.Sprint(i), 1, at, at*at*1009%n)
	}
	must.Do(t, s.SetTotal(apportion.Resources{1_000_000_000, 1}))
	must.Equal(t, strings.Count(order(s), " "), n-1, "spaces in the order", order(s))
	last := int64(-1)
	for _, client := range s.Order(nil) {
		if held := client.Held()[1]; held < last {
			t.Fatalf("%d after %d", held, last)
		} else {
			last = held
		}
	}
}

func TestSorterErrors(t *testing.T) {
	s, other := newSorter(t, 10, 10), newSorter(t, 10, 10)
	a := add(t, s, "a", 1, 3, 0)
	gone, foreign := add(t, s, "gone", 1), add(t, other, "a", 1)
	must.Do(t, s.Remove(gone))
	addOnly := func(id string, weight float64) error {
		_, err := s.Add(drf.Claim{ID: id, Weight: weight})
		return err
	}
	nan := math.NaN()
	for _, test := range []struct {
		name string
		err  error
		want error
	}{
		{"repeated id", addOnly("a", 1), apportion.ErrDuplicate},
		{"empty id", addOnly("", 1), apportion.ErrEmpty},
		{"weight zero", addOnly("b", 0), apportion.ErrRange},
		{"weight negative", addOnly("b", -1), apportion.ErrRange},
		{"weight NaN", addOnly("b", nan), apportion.ErrNotFinite},
		{"weight infinite", addOnly("b", math.Inf(1)), apportion.ErrNotFinite},
		{"weight tiny", addOnly("b", 1e-100), apportion.ErrRange},
		{"weight huge", s.SetWeight(a, 1e100), apportion.ErrRange},
		{"weight of nobody", s.SetWeight(s.Lookup("later"), 2), apportion.ErrUnknown},
		{"weight of a removed client", s.SetWeight(gone, 2), apportion.ErrUnknown},
		{"client of another sorter", s.Allocate(foreign, apportion.Resources{1, 1}), apportion.ErrUnknown},
		{"release by a removed client", s.Release(gone, apportion.Resources{0, 0}), apportion.ErrUnknown},
		{"activate a removed client", s.SetActive(gone, true), apportion.ErrUnknown},
		{"remove twice", s.Remove(gone), apportion.ErrUnknown},
		{"remove while holding", s.Remove(a), drf.ErrHolding},
		{"release too much", s.Release(a, apportion.Resources{4, 0}), drf.ErrNotHeld},
		{"release another kind", s.Release(a, apportion.Resources{0, 1}), drf.ErrNotHeld},
		{"allocate negative", s.Allocate(a, apportion.Resources{-1, 0}), apportion.ErrNegative},
		{"allocate short", s.Allocate(a, apportion.Resources{1}), apportion.ErrLength},
		{"overflow", s.Allocate(a, apportion.Resources{math.MaxInt64, 0}), apportion.ErrOverflow},
		{"total short", s.SetTotal(apportion.Resources{1}), apportion.ErrLength},
		{"total negative", s.SetTotal(apportion.Resources{1, -1}), apportion.ErrNegative},
	} {
		must.Err(t, test.err, test.want, test.name)
	}
	if got := a.Held(); order(s) != "a" || !got.Equal(apportion.Resources{3, 0}) || a.Weight() != 1 || s.Len() != 1 {
		t.Errorf("refused calls changed something: order %s, a holds %v at weight %g", order(s), got, a.Weight())
	}
	if share, kind := gone.Share(); share != 0 || kind != -1 {
		t.Errorf("share of a removed client: %v of kind %d", share, kind)
	}
}

// A client that is inactive while its share changes comes back at the right place.
func TestSorterSetActive(t *testing.T) {
	s := newSorter(t, 10)
	a, b := add(t, s, "a", 1, 1), add(t, s, "b", 1, 2)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.SetActive(a, false))
	must(s.SetActive(a, false))
	must(s.Allocate(a, apportion.Resources{4}))
	if s.Next() != b || a.Active() {
		t.Errorf("next is %s, want b", s.Next().ID())
	}
	must(s.SetActive(a, true))
	must(s.SetActive(a, true))
	if got := order(s); got != "b a" {
		t.Errorf("order %s, want b a", got)
	}
	must(s.SetActive(a, false))
	must(s.SetActive(b, false))
	if s.Next() != nil {
		t.Errorf("next is %s, want nobody", s.Next().ID())
	}
	must(s.SetActive(b, true))
	must(s.SetWeight(a, .25)) // 5/10 * 4
	must(s.SetActive(a, true))
	if got := a.Level(); got != 2 {
		t.Errorf("level %v, want 2", got)
	}
}

// model is a client as the plainest implementation keeps it.
type model struct {
	id     string
	weight float64
	held   []int64
	active bool
	client *drf.Client
}

// level is the exact weighted dominant share.
func (m *model) level(total []int64) *big.Rat {
	most := new(big.Rat)
	for k, q := range m.held {
		if total[k] > 0 {
			if share := big.NewRat(q, total[k]); share.Cmp(most) > 0 {
				most = share
			}
		}
	}
	return most.Quo(most, new(big.Rat).SetFloat64(m.weight))
}

// machine drives a Sorter and the models side by side.
type machine struct {
	sorter *drf.Sorter
	total  []int64
	models []*model
	added  int
}

func (m *machine) pick(t *rapid.T) *model {
	if len(m.models) == 0 {
		t.Skip("nobody")
	}
	return rapid.SampledFrom(m.models).Draw(t, "client")
}

func drawWeight(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{1, 2, 3, .1, .3, 1e-12, 1e12, drf.MinWeight, drf.MaxWeight}).Draw(t, "weight")
}

func drawAmounts(t *rapid.T, kinds int) apportion.Resources {
	amount := rapid.OneOf(rapid.Int64Range(0, 5), rapid.Int64Range(1<<53-2, 1<<53+2), rapid.Int64Range(0, 1<<60))
	return rapid.SliceOfN(amount, kinds, kinds).Draw(t, "amounts")
}

func (m *machine) Add(t *rapid.T) {
	m.added++
	c := &model{id: fmt.Sprint(m.added * 7919 % 101), weight: drawWeight(t), held: make([]int64, len(m.total)), active: true}
	client, err := m.sorter.Add(drf.Claim{ID: c.id, Weight: c.weight})
	if known := slices.ContainsFunc(m.models, func(o *model) bool { return o.id == c.id }); known != (err != nil) {
		t.Fatalf("Add(%s) = %v, known %v", c.id, err, known)
	} else if !known {
		c.client = client
		m.models = append(m.models, c)
	}
}

func (m *machine) Remove(t *rapid.T) {
	c := m.pick(t)
	empty := apportion.Resources(c.held).IsZero()
	if err := m.sorter.Remove(c.client); empty != (err == nil) {
		t.Fatalf("Remove(%s) holding %v: %v", c.id, c.held, err)
	} else if empty {
		m.models = slices.DeleteFunc(m.models, func(o *model) bool { return o == c })
	}
}

func (m *machine) SetActive(t *rapid.T) {
	c := m.pick(t)
	c.active = rapid.Bool().Draw(t, "active")
	must.Do(t, m.sorter.SetActive(c.client, c.active))
}

func (m *machine) SetWeight(t *rapid.T) {
	c := m.pick(t)
	c.weight = drawWeight(t)
	must.Do(t, m.sorter.SetWeight(c.client, c.weight))
}

func (m *machine) Allocate(t *rapid.T) {
	c, r := m.pick(t), drawAmounts(t, len(m.total))
	err := m.sorter.Allocate(c.client, r)
	all := r.Clone() // what all hold together must not overflow
	var overflow error
	for _, o := range m.models {
		overflow = errors.Join(overflow, exact.AddTo(all, all, o.held))
	}
	must.Equal(t, overflow != nil, err != nil, "Allocate(", c.id, r, ") on", c.held, err)
	for k := range r {
		if overflow == nil {
			c.held[k] += r[k]
		}
	}
}

func (m *machine) Release(t *rapid.T) {
	c := m.pick(t)
	r := apportion.Resources(c.held).Clone()
	if rapid.Bool().Draw(t, "part") {
		r = drawAmounts(t, len(m.total))
	}
	fits := r.FitsIn(c.held)
	if err := m.sorter.Release(c.client, r); fits != (err == nil) {
		t.Fatalf("Release(%s, %v) of %v: %v", c.id, r, c.held, err)
	}
	for k := range r {
		if fits {
			c.held[k] -= r[k]
		}
	}
}

func (m *machine) SetTotal(t *rapid.T) {
	m.total = drawAmounts(t, len(m.total))
	must.Do(t, m.sorter.SetTotal(m.total))
}

// sorted lists the active clients as the sorter should.
func (m *machine) sorted() []*model {
	var want []*model
	for _, c := range m.models {
		if c.active {
			want = append(want, c)
		}
	}
	slices.SortFunc(want, func(a, b *model) int {
		if order := a.level(m.total).Cmp(b.level(m.total)); order != 0 {
			return order
		}
		return strings.Compare(a.id, b.id)
	})
	return want
}

// check compares Next and, sometimes, the full order with a sorted list. Order leaves the queue
// sorted, so it would hide a broken heap if it were called each time.
func (m *machine) check(t *rapid.T) {
	want := m.sorted()
	if next := m.sorter.Next(); len(want) == 0 != (next == nil) || next != nil && next != want[0].client {
		t.Fatalf("next is %v, want %v", next, want)
	}
	if rapid.IntRange(0, 9).Draw(t, "full order") == 0 {
		for i, client := range m.sorter.Order(nil) {
			must.Equal(t, client, want[i].client, "place", i, "of the order", client.ID(), want[i].id)
		}
	}
}

// After a change of the total, taking out the first client again and again gives the sorted list.
func TestPropSorterDrains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{total: drawAmounts(t, 2)}
		m.sorter = newSorter(t, m.total...)
		for range rapid.IntRange(1, 40).Draw(t, "clients") {
			m.Add(t)
			m.Allocate(t)
		}
		m.SetTotal(t)
		for i, want := range m.sorted() {
			next := m.sorter.Next()
			must.Equal(t, next, want.client, "client", i, next.ID(), want.id)
			must.Do(t, m.sorter.SetActive(next, false))
		}
	})
}

func TestPropSorterEqualsSortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{total: drawAmounts(t, 2)}
		m.sorter = newSorter(t, m.total...)
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "add": m.Add, "add again": m.Add, "remove": m.Remove, "active": m.SetActive, "weight": m.SetWeight,
			"allocate": m.Allocate, "allocate again": m.Allocate, "release": m.Release, "total": m.SetTotal,
		})
	})
}

// The hot calls allocate nothing.
func TestSorterAllocatesNothing(t *testing.T) {
	s := newSorter(t, 1000, 1000)
	for i := range 100 {
		add(t, s, fmt.Sprint(i), float64(i%7+1), int64(i), 1)
	}
	r, dst := apportion.Resources{1, 2}, make([]*drf.Client, 0, 100)
	allocs := testing.AllocsPerRun(100, func() {
		client := s.Next()
		if s.Allocate(client, r) != nil || s.Release(client, r) != nil || len(s.Order(dst)) != 100 || s.Allocate(client, r) != nil {
			t.Error("a call failed")
		}
	})
	must.Equal(t, allocs, 0, "allocations")
}
