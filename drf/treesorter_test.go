// This file tests Sorter with queues against the exhaustive twin and against one that is built anew after every event,
// and what it has for plugins.

package drf_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/drforacle"
)

// treeOrder returns the IDs in the order of All.
func treeOrder(s *drf.Sorter) []string {
	var ids []string
	for client := range s.All() {
		ids = append(ids, client.ID())
	}
	return ids
}

// sorterOf adds all claims of an organization that can be served.
func sorterOf(t fatal, o organization) *drf.Sorter {
	s := o.tree(t).NewSorter()
	for _, c := range o.claims {
		must.Have(s.Add(c))(t)
	}
	return s
}

// Whatever comes and goes: who is next is what the twin says that adds everything up, and the order is the one of
// a sorter that is built from the snapshot.
func TestPropSorterOfTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := wholeOrganization
		l.min, l.max, l.empty = 0, 0, false
		o := genOrganization(t, l)
		s := sorterOf(t, o)
		queues, members := o.twins()
		counts, idle := make([]int64, len(o.claims)), make([]bool, len(o.claims))
		for range rapid.IntRange(1, 15).Draw(t, "events") {
			i := rapid.IntRange(0, len(o.claims)-1).Draw(t, "claim")
			client := s.Lookup(o.claims[i].ID)
			var err error
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op < 5:
				err = s.Allocate(client, o.claims[i].Demand)
				counts[i]++
			case op < 7 && counts[i] > 0:
				err = s.Release(client, o.claims[i].Demand)
				counts[i]--
			case op == 7:
				idle[i] = !idle[i]
				err = s.SetActive(client, !idle[i])
			case op == 8:
				members[i].Weight = rapid.SampledFrom([]float64{1, 2, 5}).Draw(t, "weight")
				err = s.SetWeight(client, members[i].Weight)
			}
			must.Do(t, err)
			want := ""
			if at := drforacle.NextOfTree(o.capacity, queues, members, counts, idle); at >= 0 {
				want = members[at].ID
			}
			got := ""
			if next := s.Next(); next != nil {
				got = next.ID()
			}
			must.Equal(t, got, want, "next")
		}
		checkTreeOrder(t, o, s)
	})
}

// checkTreeOrder compares All, Next, Compare and a sorter that is built from the snapshot.
func checkTreeOrder(t fatal, o organization, s *drf.Sorter) {
	ids := treeOrder(s)
	again := must.Have(o.tree(t).RestoreSorter(s.Snapshot()))(t)
	must.Same(t, treeOrder(again), ids, "order", "built anew")
	must.Equal(t, cmp.Diff(s.Snapshot(), again.Snapshot()), "", "snapshots differ")
	for a := range ids {
		for b := range ids {
			if got := s.Compare(s.Lookup(ids[a]), s.Lookup(ids[b])); (got < 0) != (a < b) || (got > 0) != (a > b) {
				t.Fatalf("%s against %s is %d in %v", ids[a], ids[b], got, ids)
			}
		}
	}
	if next := s.Next(); (next == nil) != (len(ids) == 0) || next != nil && next.ID() != ids[0] {
		t.Fatalf("next is %v in %v", next, ids)
	}
}

// What-if changes nothing, an impossible batch changes nothing, and a batch is its changes one after the other.
func TestPropBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := genOrganization(t, wholeOrganization)
		s := sorterOf(t, o)
		var changes []drf.Change
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			i := rapid.IntRange(0, len(o.claims)-1).Draw(t, "claim")
			changes = append(changes, drf.Change{Client: s.Lookup(o.claims[i].ID), Resources: o.claims[i].Demand, Release: rapid.IntRange(0, 4).Draw(t, "op") == 0})
		}
		must.Do(t, s.Skip(s.Lookup(o.claims[0].ID)))
		before := s.Snapshot()
		var during *drf.SorterState
		failed := s.WhatIf(changes, func() { during = s.Snapshot() })
		must.Equal(t, cmp.Diff(before, s.Snapshot()), "", "WhatIf has changed something")
		checkTreeOrder(t, o, s)
		err := s.Apply(changes)
		if (err != nil) != (failed != nil) || (err != nil) != (during == nil) {
			t.Fatalf("WhatIf says %v, Apply %v", failed, err)
		}
		after := s.Snapshot()
		if err == nil {
			must.Equal(t, cmp.Diff(during, after), "")
			return
		}
		// A batch that fails may have woken those who were skipped; what is held is as before.
		for i := range after.Clients {
			if !after.Clients[i].Held.Equal(before.Clients[i].Held) {
				t.Fatalf("%+v becomes %+v", before.Clients[i], after.Clients[i])
			}
		}
	})
}

func TestSkip(t *testing.T) {
	s := newSorter(t, 100)
	a, b, c := add(t, s, "a", 1, 1), add(t, s, "b", 1, 2), add(t, s, "c", 1, 3)
	step := func(name string, want *drf.Client, errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil || s.Next() != want {
			t.Fatalf("%s: %v, next is %s, want %s", name, err, s.Next().ID(), want.ID())
		}
	}
	one := apportion.Resources{1}
	step("skip", b, s.Skip(a))
	step("skip twice", b, s.Skip(a))
	step("an allocation wakes nobody", c, s.Allocate(b, apportion.Resources{5}))
	step("a release does", a, s.Release(c, one))
	step("skip again", c, s.Skip(a))
	step("SetActive ends it", a, s.SetActive(a, true))
	step("idle is not skipped", c, s.SetActive(a, false), s.Skip(a), s.Release(b, one))
	step("SetTotal wakes", c, s.SetActive(a, true), s.Skip(c), s.Skip(a), s.SetTotal(apportion.Resources{50}), s.SetActive(a, false))
	step("skipped and gone", b, s.Release(c, c.Held()), s.Skip(c), s.Remove(c), s.SetTotal(apportion.Resources{60}))
	if s.Lookup("c") != nil || s.Len() != 2 {
		t.Error("c is still there")
	}
}

// Snapshots survive JSON, and bad ones are refused.
func TestSnapshots(t *testing.T) {
	s := newSorter(t, 10, 20)
	add(t, s, "b", 2, 3, 4)
	must.Do(t, errors.Join(s.Skip(add(t, s, "a", 1)), s.SetActive(add(t, s, "c", 1, 1, 0), false)))
	text := must.Have(json.Marshal(s.Snapshot()))(t)
	var state drf.SorterState
	must.Do(t, json.Unmarshal(text, &state))
	again, err := (organization{instance: instance{capacity: apportion.Resources{1, 1}}}).tree(t).RestoreSorter(&state)
	if err != nil || !cmp.Equal(again.Snapshot(), s.Snapshot()) || order(again) != order(s) {
		t.Fatalf("%v: %s", err, cmp.Diff(again.Snapshot(), s.Snapshot()))
	}
	if again.Lookup("a").Active() || again.Lookup("c").Active() {
		t.Error("a and c are active")
	}
	for name, spoil := range map[string]func(*drf.SorterState){
		"no total":  func(s *drf.SorterState) { s.Total = nil },
		"twice":     func(s *drf.SorterState) { s.Clients[1].ID = "a" },
		"a queue":   func(s *drf.SorterState) { s.Clients[1].Queue = "x" },
		"short":     func(s *drf.SorterState) { s.Clients[1].Held = nil },
		"no weight": func(s *drf.SorterState) { s.Clients[1].Weight = 0 },
	} {
		bad := s.Snapshot()
		spoil(bad)
		if _, err := (organization{instance: instance{capacity: apportion.Resources{1, 1}}}).tree(t).RestoreSorter(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSorterOfTreeErrors(t *testing.T) {
	o := organization{instance{apportion.Resources{10, 10}, []drf.Claim{in("x", claim("a", 1, 0, top, 1, 1))}}, []drf.Queue{node("x", "", 1, nil)}}
	s, other := sorterOf(t, o), sorterOf(t, o)
	a, foreign := s.Lookup("a"), other.Lookup("a")
	flat := add(t, newSorter(t, 1, 1), "a", 1)
	one := apportion.Resources{1, 1}
	must.Do(t, s.Allocate(a, one))
	addOnly := func(id string, demand apportion.Resources) error {
		_, err := s.Add(drf.Claim{ID: id, Queue: "x", Weight: 1, Demand: demand})
		return err
	}
	before := s.Snapshot()
	for _, test := range []struct {
		name string
		err  error
		want error
	}{
		{"repeated", addOnly("a", one), apportion.ErrDuplicate},
		{"no demand", addOnly("b", apportion.Resources{0, 0}), apportion.ErrNoDemand},
		{"short demand", addOnly("b", nil), apportion.ErrLength},
		{"foreign", s.Allocate(foreign, one), apportion.ErrUnknown},
		{"of a flat sorter", s.Release(flat, one), apportion.ErrUnknown},
		{"nobody", s.Skip(nil), apportion.ErrUnknown},
		{"weight of a stranger", s.SetWeight(foreign, 1), apportion.ErrUnknown},
		{"weight", s.SetWeight(a, -1), apportion.ErrRange},
		{"demand", s.SetDemand(a, apportion.Resources{0, 0}), apportion.ErrNoDemand},
		{"active stranger", s.SetActive(foreign, true), apportion.ErrUnknown},
		{"holding", s.Remove(a), drf.ErrHolding},
		{"remove a stranger", s.Remove(foreign), apportion.ErrUnknown},
		{"not held", s.Release(a, apportion.Resources{2, 0}), drf.ErrNotHeld},
		{"overflow", s.Allocate(a, apportion.Resources{math.MaxInt64, 0}), apportion.ErrOverflow},
		{"negative", s.Allocate(a, apportion.Resources{-1, 0}), apportion.ErrNegative},
		{"short total", s.SetTotal(apportion.Resources{1}), apportion.ErrLength},
	} {
		must.Err(t, test.err, test.want, test.name)
	}
	must.Equal(t, cmp.Diff(before, s.Snapshot()), "", "errors have changed something")
}

// Room says which limit lacks for one more container, the cluster first.
func TestSorterRoom(t *testing.T) {
	o := organization{
		instance{apportion.Resources{4, 100}, []drf.Claim{in("xa", claim("a", 1, 0, top, 2, 1))}},
		[]drf.Queue{node("x", "", 1, nil, none, 2), node("xa", "x", 1, nil, 3, 1)},
	}
	s := sorterOf(t, o)
	a := s.Lookup("a")
	for _, want := range []string{"-1 ", "0 xa", "0 "} {
		kind, queue := s.Room(a)
		must.Equal(t, fmt.Sprint(kind, " ", queue), want, "with", a.Held())
		must.Do(t, s.Allocate(a, apportion.Resources{2, 0}))
	}
	must.Do(t, errors.Join(s.Release(a, a.Held()), s.SetDemand(a, apportion.Resources{0, 2})))
	if kind, queue := s.Room(a); kind != 1 || queue != "xa" {
		t.Errorf("%d %s", kind, queue)
	}
	if a.Queue() != "xa" || add(t, newSorter(t, 1), "b", 1).Queue() != "" {
		t.Error("queues of clients")
	}
}

// Readers need no lock among themselves; the race detector looks on.
func TestSortersConcurrentReaders(t *testing.T) {
	o := organization{instance: benchInstance(200, 3)}
	ts, s := sorterOf(t, o), newSorter(t, o.capacity...)
	for _, c := range o.claims {
		add(t, s, c.ID, c.Weight, c.Demand...)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for client := range ts.All() {
				ts.Compare(client, ts.Next())
				ts.Room(client)
				client.Share()
			}
			for client := range s.All() {
				s.Compare(client, s.Next())
			}
			s.Snapshot()
			ts.Snapshot()
			ts.Balances()
		})
	}
	readers.Wait()
}

func TestBalances(t *testing.T) {
	o := organization{
		instance{apportion.Resources{10, 10}, []drf.Claim{in("xa", claim("a", 1, 0, top, 1, 0)), in("y", claim("b", 1, 0, top, 1, 1))}},
		[]drf.Queue{node("y", "", 1, apportion.Resources{1, 4}), node("x", "", 1, apportion.Resources{2, 0}), node("xa", "x", 1, nil)},
	}
	s := sorterOf(t, o)
	for id, n := range map[string]int64{"a": 5, "b": 3} {
		must.Do(t, s.Allocate(s.Lookup(id), apportion.Resources{n, map[string]int64{"a": 0, "b": n}[id]}))
	}
	want := []drf.Balance{
		{ID: "y", Borrowed: apportion.Resources{2, 0}, Lent: apportion.Resources{0, 1}},
		{ID: "x", Borrowed: apportion.Resources{3, 0}, Lent: apportion.Resources{0, 0}},
		{ID: "xa", Borrowed: apportion.Resources{5, 0}, Lent: apportion.Resources{0, 0}},
	}
	must.Equal(t, cmp.Diff(want, s.Balances()), "")
}

// Last come first, then the least work lost; a queue is not taken below its guarantee.
func TestReclaim(t *testing.T) {
	tree, err := drf.NewTree(apportion.Resources{10, 10}, []drf.Queue{
		node("x", "", 1, apportion.Resources{3, 3}), node("xa", "x", 1, nil), node("xb", "x", 1, apportion.Resources{2, 0}), node("y", "", 1, nil),
	})
	must.Do(t, err)
	hold := func(id, queue string, since int64, loss float64, held ...int64) drf.Holding {
		return drf.Holding{ID: id, Queue: queue, Held: held, Since: since, Loss: loss}
	}
	holdings := []drf.Holding{
		hold("a", "xa", 1, 5, 1, 0), hold("b", "xa", 2, 5, 2, 0), hold("c", "xb", 9, 0, 1, 0), hold("d", "xb", 9, 0, 1, 0),
		hold("e", "y", 1, 7, 1, 1), hold("f", "y", 1, 6, 2, 1), hold("g", "", 0, 0, 1, 0),
	}
	taken := must.Have(tree.Reclaim(holdings))(t)
	var ids []string
	for _, h := range taken {
		ids = append(ids, h.ID)
	}
	// c and d are within xb's guarantee; without b, x is within its own.
	must.Same(t, ids, []string{"b", "f", "e", "g"})
	taken[0].Held[0] = 99
	if holdings[1].Held[0] == 99 {
		t.Error("the answer is not the caller's alone")
	}
	for name, bad := range map[string]drf.Holding{
		"queue": hold("a", "z", 0, 0, 1, 1), "length": hold("a", "x", 0, 0, 1), "NaN": hold("a", "x", 0, math.NaN(), 1, 1),
		"infinite": hold("a", "x", 0, math.Inf(1), 1, 1), "negative": hold("a", "x", 0, -1, 1, 1), "no id": hold("", "x", 0, 0, 1, 1),
	} {
		must.Fail(tree.Reclaim([]drf.Holding{bad}))(t, must.ErrAny, name, "no error")
	}
	full := []drf.Holding{hold("a", "x", 0, 0, math.MaxInt64, 0), hold("b", "y", 0, 0, 1, 0)}
	must.Fail(tree.Reclaim(full))(t, apportion.ErrOverflow, "overflow")
}

// What is taken back leaves every queue at least its guarantee, as far as it had it.
func TestPropReclaim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := genOrganization(t, wholeOrganization)
		var holdings []drf.Holding
		for i, c := range o.claims {
			for n := range rapid.IntRange(0, 4).Draw(t, "containers") {
				holdings = append(holdings, drf.Holding{ID: fmt.Sprint(i, "/", n), Queue: c.Queue, Held: c.Demand, Since: rapid.Int64Range(0, 3).Draw(t, "since"), Loss: 1})
			}
		}
		taken := must.Have(o.tree(t).Reclaim(holdings))(t)
		used := make(map[string]apportion.Resources)
		book := func(h drf.Holding, sign int64) {
			for _, q := range o.queues {
				if used[q.ID] == nil {
					used[q.ID] = make(apportion.Resources, len(o.capacity))
				}
				if o.isBelow(h.Queue, q.ID) {
					for k, r := range h.Held {
						used[q.ID][k] += sign * r
					}
				}
			}
		}
		for _, h := range holdings {
			book(h, 1)
		}
		kept := func(h drf.Holding) bool {
			for _, q := range o.queues {
				within := q.Guarantee != nil && o.isBelow(h.Queue, q.ID)
				for k, r := range h.Held {
					within = within && (r == 0 || used[q.ID][k] <= q.Guarantee[k])
				}
				if within {
					return true
				}
			}
			return false
		}
		for i, h := range taken {
			if kept(h) || i > 0 && h.Since > taken[i-1].Since {
				t.Fatalf("%v is taken in place %d", h, i)
			}
			book(h, -1)
		}
		for _, h := range holdings {
			if !slices.ContainsFunc(taken, func(x drf.Holding) bool { return x.ID == h.ID }) && !kept(h) {
				t.Fatalf("%v is not taken", h)
			}
		}
	})
}
