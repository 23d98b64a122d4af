package solver_test

import (
	"errors"
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// zero returns multipliers of 0 for inst: the bound is then what each application could use alone.
func zero(inst *solver.Instance) *solver.Multipliers {
	m := &solver.Multipliers{Server: make([][]float64, len(inst.Capacity))}
	for j := range m.Server {
		m.Server[j] = make([]float64, len(inst.Total))
	}
	return m
}

func TestDualBound(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*solver.Instance, *solver.Multipliers)
		want   float64
	}{
		// Kept: LR 2 x 3/16, MF 3 x 5/16; NN 5/4; the better of the two gains: LR to 6 gives 4 x 3/16.
		{"no prices", func(*solver.Instance, *solver.Multipliers) {}, 2*3./16 + 3*5./16 + 5./4 + 4*3./16},
		// All 4 CPUs of the only server with a GPU stay in use, so that NN has no place.
		{"nothing may move", func(i *solver.Instance, _ *solver.Multipliers) { i.AdjustBudget = 0 }, math.Inf(-1)},
		{"nothing may move, a CPU more", func(i *solver.Instance, _ *solver.Multipliers) { i.AdjustBudget, i.Capacity[0][0] = 0, 5 },
			2*3./16 + 3*5./16 + 5./4},
		{"everything may move", func(i *solver.Instance, _ *solver.Multipliers) { i.AdjustBudget = 2 }, 6*3./16 + 4*5./16 + 5./4},
		// MF must move and uses up the budget, so that LR stays: on its server MF has room for one.
		{"one must move", func(i *solver.Instance, _ *solver.Multipliers) { i.Apps[1].Displaced = true }, 2*3./16 + 3*5./16 + 5./4},
		{"more must move than may", func(i *solver.Instance, _ *solver.Multipliers) {
			i.Apps[0].Displaced, i.Apps[1].Displaced = true, true
		}, math.Inf(-1)},
		{"kept outside its bounds", func(i *solver.Instance, _ *solver.Multipliers) { i.Apps[1].Max = 2 }, 2*3./16 + 2*5./16 + 5./4},
		// MF must move; LR leaves it room for one, and the server that shrank holds one more.
		{"a server that shrank", func(i *solver.Instance, _ *solver.Multipliers) { i.Capacity[1][0] = 2 }, 2*3./16 + 2*5./16 + 5./4},
		{"a minimum that does not fit", func(i *solver.Instance, _ *solver.Multipliers) { i.Apps[2].Min, i.Apps[2].Max = 2, 2 }, math.Inf(-1)},
		// At a price of 3/16 a CPU, LR is worth nothing, MF loses 1/16 a container and NN gains 17/16:
		// 8 CPUs cost 1.5, keeping MF -3/16; freed MF falls to 1 container.
		{"a price for CPUs", func(_ *solver.Instance, m *solver.Multipliers) { m.Server[0][0], m.Server[1][0] = 3./16, 3./16 }, 1.5 - 1./16 + 17./16},
		// On the second server only, MF's two there lose 1/16 each, which it saves when freed. On the first,
		// where at least 2 CPUs stay in use, neither has room for more than it holds.
		{"a price on one server", func(_ *solver.Instance, m *solver.Multipliers) { m.Server[1][0] = 3. / 16 },
			.75 + 2*3./16 + (5./16 - 2./16) + 5./4 + 2./16},
		// Loss at price 1: LR 2 loses 1/24 kept; MF 3 loses 1/6; NN 0. Freed LR: n=6 gains 4*3/16 and loses
		// 6/8 - 7/24 - 1/24 = 5/12 more; freed MF: n=4 gains 5/16, loses 1/4 more.
		{"a price for loss", func(_ *solver.Instance, m *solver.Multipliers) { m.Loss = 1 },
			1 + 2*3./16 - 1./24 + 3*5./16 - 1./6 + 5./4 + 4*3./16 - 5./12},
		// LR and NN share 3 CPUs at 3/16 each: LR is worth nothing then, kept or freed, and freed MF has no room for more.
		{"a price for a ceiling", func(i *solver.Instance, m *solver.Multipliers) {
			i.Groups = []solver.Group{{Apps: []int{0, 2}, Ceiling: apportion.Resources{3, solver.NoLimit, solver.NoLimit}}}
			m.Group = [][]float64{{3. / 16, 0, 0}}
		}, 3*3./16 + 3*5./16 + (5./4 - 3./16)},
	} {
		t.Run(c.name, func(t *testing.T) {
			inst := tiny()
			m := zero(inst)
			c.change(inst, m)
			got, err := solver.DualBound(inst, m)
			if err != nil || got != c.want && math.Abs(got-c.want) > 2*solver.LossTolerance {
				t.Errorf("DualBound() = %.15g, %v; want %.15g", got, err, c.want)
			}
		})
	}
}

func TestDualBoundRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*solver.Multipliers)
	}{
		{"a server without prices", func(m *solver.Multipliers) { m.Server = m.Server[:1] }},
		{"a kind without a price", func(m *solver.Multipliers) { m.Server[1] = m.Server[1][:2] }},
		{"a negative price", func(m *solver.Multipliers) { m.Server[0][1] = -1e-9 }},
		{"a price that is NaN", func(m *solver.Multipliers) { m.Server[0][1] = math.NaN() }},
		{"an infinite price", func(m *solver.Multipliers) { m.Server[0][1] = math.Inf(1) }},
		{"a price for a group that is none", func(m *solver.Multipliers) { m.Group = [][]float64{{0, 0, 0}} }},
		{"pieces of no kind", func(m *solver.Multipliers) { m.Pieces = []solver.PiecePrices{{Kind: 3, Unit: 1}} }},
		{"pieces of no unit", func(m *solver.Multipliers) { m.Pieces = []solver.PiecePrices{{}} }},
		{"a negative price of a piece", func(m *solver.Multipliers) { m.Pieces = []solver.PiecePrices{{Unit: 1, Price: []float64{-1}}} }},
		{"prices of too many sizes", func(m *solver.Multipliers) {
			m.Pieces = []solver.PiecePrices{{Unit: 1, Price: make([]float64, solver.MostPieceUnits+1)}}
		}},
		{"a negative price for loss", func(m *solver.Multipliers) { m.Loss = -1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inst := tiny()
			m := zero(inst)
			c.change(m)
			if _, err := solver.DualBound(inst, m); !errors.Is(err, solver.ErrMultipliers) {
				t.Errorf("DualBound() = %v, want %v", err, solver.ErrMultipliers)
			}
		})
	}
}
