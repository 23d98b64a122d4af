// This file tests least attained service: queues, suspensions, and when a policy wants to be asked again, [Gu19] §4.1.

package schedulers

import (
	"fmt"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// decided returns the orders of a policy that has been asked before, with jobs that have attained what is said.
func decided(t *testing.T, b *book, p sim.Policy, state *sim.State, service map[string]float64) sim.Orders {
	t.Helper()
	*b = *opened(t, state)
	for id, seconds := range service {
		b.jobs[id].service = seconds
	}
	orders := must.Have(p.Decide(t.Context(), state))(t)
	return orders
}

// Reference: [Gu19] §4.1: service is containers times seconds; below the threshold the first one submitted is first, and
// so among those that have reached it. A decision says who holds what, and when the next job falls.
func TestPaperQueues(t *testing.T) {
	s := scenario(servers(4, ""), job("a", 0, 9000, 4, 4), job("b", 0, 9000, 2, 4), job("c", 0, 9000, 2, 4))
	for _, test := range []struct {
		name    string
		held    map[string][]apportion.Placement
		service map[string]float64
		places  string
		next    time.Duration
	}{
		{"all are new: the first one", map[string][]apportion.Placement{"a": nil, "b": nil, "c": nil}, nil,
			"[{a [{0 4}] [] }]", 25 * time.Second},
		{"a has reached it: the two others", map[string][]apportion.Placement{"a": on(0, 4), "b": nil, "c": nil}, map[string]float64{"a": 100},
			"[{b [{0 2}] [] } {c [{0 2}] [] } {a [] [] }]", 50 * time.Second},
		{"a has almost reached it", map[string][]apportion.Placement{"a": on(0, 4), "b": nil, "c": nil}, map[string]float64{"a": 99},
			"[]", 250 * time.Millisecond},
		{"all have: in the order of submission again", map[string][]apportion.Placement{"a": nil, "b": on(0, 2), "c": nil}, map[string]float64{"a": 100, "b": 101, "c": 300},
			"[{a [{0 4}] [] } {b [] [] }]", 0},
		{"b stays, and c runs beside it", map[string][]apportion.Placement{"b": on(0, 2), "c": nil}, map[string]float64{"b": 40},
			"[{c [{0 2}] [] }]", 30 * time.Second},
	} {
		p := &Tiresias{threshold: 100}
		orders := decided(t, &p.book, p, at(s, 0, test.held), test.service)
		next := test.next
		if next > 0 {
			next += time.Microsecond // so that no sum is below the threshold by rounding
		}
		if got := fmt.Sprint(orders.Places); got != test.places || orders.Next != next {
			t.Errorf("%s: %s, next %v; want %s, %v", test.name, got, orders.Next, test.places, next)
		}
	}
}

// A job stays on its type where there is room for it; where one ahead of it takes that, it goes to the other.
func TestTiresiasTypes(t *testing.T) {
	all := servers(4, "v", "k")
	speeds := map[string]float64{"v": 3, "k": 1}
	s := scenario(all, fasterOn(job("a", 0, 9000, 4, 4), all, speeds), fasterOn(job("b", 0, 9000, 4, 4), all, speeds))
	for _, test := range []struct {
		name    string
		held    map[string][]apportion.Placement
		service map[string]float64
		want    string
	}{
		{"on the slow one, with the fast one free", map[string][]apportion.Placement{"a": on(1, 4)}, nil, "[]"},
		{"new: the fast one", map[string][]apportion.Placement{"a": nil, "b": nil}, nil, "[{a [{0 4}] [] } {b [{1 4}] [] }]"},
		{"b is there already, and makes room", map[string][]apportion.Placement{"a": nil, "b": on(0, 4)}, nil, "[{a [{0 4}] [] } {b [{1 4}] [] }]"},
		{"b is there and first", map[string][]apportion.Placement{"a": nil, "b": on(0, 4)}, map[string]float64{"a": 500}, "[{a [{1 4}] [] }]"},
	} {
		p := &Tiresias{threshold: 100}
		orders := decided(t, &p.book, p, at(s, 0, test.held), test.service)
		must.Equal(t, fmt.Sprint(orders.Places), test.want, test.name)
	}
}
