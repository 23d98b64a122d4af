// This file gives orders that nobody would think of.

package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// FuzzOrders takes bytes for orders. A run ends with a result that passes the referee, or with an error
// that names the order; it never panics.
func FuzzOrders(f *testing.F) {
	for _, seed := range []string{"", "\x00\x01\x02\x03", "places and limits and refusals", "\xff\xfe\xfd\xfc\xfb\xfa", "aAbBcC0123456789zZ"} {
		for world := range byte(3) {
			f.Add(world, uint64(world), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, world byte, seed uint64, data []byte) {
		s := simtest.Scenario(simtest.World(world%3), seed%100)
		s.Horizon = 40 * time.Minute
		if s.Slot > 0 {
			s.Horizon = 40 * s.Slot
		}
		r, err := sim.Run(t.Context(), s, &madness{data})
		var order *sim.OrderError
		if err != nil && !errors.As(err, &order) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		must.Do(t, simtest.Check(s, r))
	})
}

// madness reads its orders from bytes, and does nothing when they are over.
type madness struct{ data []byte }

func (*madness) Name() string { return "madness" }

func (m *madness) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	_, shared := state.Scenario.Law.(sim.Shared)
	for i := range state.Jobs {
		job := &state.Jobs[i]
		switch what := m.next(); {
		case shared && job.New:
			orders.Places = append(orders.Places, sim.Place{Job: job.ID, On: m.places(1)})
		case what < 0: // the data are over
		case what%8 == 0:
			orders.Refused = append(orders.Refused, job.ID)
		case what%8 == 1:
			orders.Limits = append(orders.Limits, sim.Limit{Job: job.ID, Share: int64(m.next()) * 5_000})
		case what%8 < 6:
			orders.Places = append(orders.Places, sim.Place{Job: job.ID, On: m.places(what % 3), PS: m.places(m.next() % 2)})
		}
	}
	if next := m.next(); next > 128 {
		orders.Next = state.Now + time.Duration(next-130)*time.Second
	}
	return orders, nil
}

// next returns a byte, -1 when they are over.
func (m *madness) next() int {
	if len(m.data) == 0 {
		return -1
	}
	b := m.data[0]
	m.data = m.data[1:]
	return int(b)
}

// places returns some placements, mostly on the first servers.
func (m *madness) places(n int) []apportion.Placement {
	var on []apportion.Placement
	for range n {
		on = append(on, apportion.Placement{Server: max(0, m.next()) % 4, Count: max(1, int64(m.next())%8)})
	}
	return on
}
