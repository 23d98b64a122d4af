// This file gives wrong orders.

package sim_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
)

func TestWrongOrders(t *testing.T) {
	two := place("a", 0, 1)
	two.Places = append(two.Places, two.Places[0])
	served := place("a", 0, 1)
	served.Places[0].PS = []apportion.Placement{{Server: 0, Count: 1}}
	limit := func(id string, share int64) sim.Orders {
		return sim.Orders{Places: place("w", 0, 1).Places, Limits: []sim.Limit{{Job: id, Share: share}}}
	}
	started := place("a", 0, 1)
	started.Refused = []string{"a"}
	for _, test := range []struct {
		name                string
		orders              sim.Orders
		shared              bool
		job, order, because string
	}{
		{"unknown job", place("b", 0, 1), false, "b", "place", "not there"},
		{"placed twice", two, false, "a", "place", "twice"},
		{"unknown server", place("a", 1, 1), false, "a", "place", "server 1 of 1"},
		{"negative server", place("a", -1, 1), false, "a", "place", "server -1"},
		{"negative count", place("a", 0, -1), false, "a", "place", "-1 containers"},
		{"more than the maximum", place("a", 0, 5), false, "a", "place", "not in [1, 4]"},
		{"overfills", place("a", 0, 4), false, "a", "place", `server "s" would hold cpu=8 of cpu=7`},
		{"parameter servers of nobody", served, false, "a", "place", "parameter servers"},
		{"limit without a shared worker", sim.Orders{Limits: []sim.Limit{{Job: "a", Share: 1}}}, false, "a", "limit", "no share"},
		{"refuses who runs", started, false, "a", "refuse", "has run"},
		{"refuses nobody", sim.Orders{Refused: []string{"b"}}, false, "b", "refuse", "not there"},
		{"asks for the past", sim.Orders{Next: -1}, false, "", "next", "over"},
		{"no worker", sim.Orders{}, true, "w", "place", "no worker"},
		{"two workers", place("w", 0, 2), true, "w", "place", "not in [1, 1]"},
		{"unknown job's limit", limit("b", 1), true, "b", "limit", "no share"},
		{"no limit", limit("w", 0), true, "w", "limit", "no share"},
	} {
		job := elastic("a", 0, 1)
		job.Demand = apportion.Resources{2}
		s := onServers([]sim.Job{job}, 7)
		if test.shared {
			s = onWorkers(sim.Shared{}, whole("w", 0, 1))
		}
		_, err := sim.Run(t.Context(), s, &script{orders: []sim.Orders{test.orders}})
		var order *sim.OrderError
		if !errors.As(err, &order) || !errors.Is(err, sim.ErrOrder) {
			t.Errorf("%s: error %v, want an OrderError", test.name, err)
			continue
		}
		if order.Policy != "script" || order.Job != test.job || order.Order != test.order || !strings.Contains(order.Detail, test.because) ||
			!strings.Contains(err.Error(), `policy "script" at 0s`) || test.job != "" && !strings.Contains(err.Error(), `job "`+test.job+`"`) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// To be asked again at once, and again, would take for ever.
func TestAsksAgainNow(t *testing.T) {
	var order *sim.OrderError
	_, err := sim.Run(t.Context(), onServers([]sim.Job{elastic("a", 5, 1)}, 4), &script{orders: []sim.Orders{{Next: 5}}})
	if !errors.As(err, &order) || order.Order != "next" || order.At != 5 {
		t.Errorf("error %v, want that of an order at 5", err)
	}
}

// Counts that overflow are refused as well: summed up, and times the demand.
func TestOrdersThatOverflow(t *testing.T) {
	job := elastic("a", 0, 1)
	job.Max, job.Demand = math.MaxInt64, apportion.Resources{2}
	sum := place("a", 0, math.MaxInt64)
	sum.Places[0].On = append(sum.Places[0].On, apportion.Placement{Server: 0, Count: 1})
	for want, orders := range map[string]sim.Orders{"overflow": place("a", 0, math.MaxInt64), "more containers than can be counted": sum} {
		var order *sim.OrderError
		_, err := sim.Run(t.Context(), onServers([]sim.Job{job}, 4), &script{orders: []sim.Orders{orders}})
		if !errors.As(err, &order) || !strings.Contains(order.Detail, want) {
			t.Errorf("%+v: error %v", orders.Places, err)
		}
	}
}

// Placements may be in any order and name a server more than once; the same ones are no change, and the policy's own list
// stays as it was.
func TestOrdersAreTidied(t *testing.T) {
	first := sim.Orders{Next: 2, Places: []sim.Place{{Job: "a", On: []apportion.Placement{{Server: 1, Count: 1}, {Server: 0, Count: 1}, {Server: 1, Count: 1}}}}}
	again := sim.Orders{Places: []sim.Place{{Job: "a", On: []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 2}}}}}
	r := run(t, onServers([]sim.Job{elastic("a", 0, 9)}, 4, 4), &script{orders: []sim.Orders{first, again}})
	if a := r.Jobs[0]; a.Adjusted != 0 || len(a.Spans) != 1 || a.Completion != 3 || len(a.Spans[0].Places) != 2 {
		t.Errorf("%+v, want one span on two servers until 3", a)
	}
	if on := first.Places[0].On; on[0].Server != 1 || on[1].Server != 0 {
		t.Errorf("the policy's own list became %v", on)
	}
}
