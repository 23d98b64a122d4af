package solver_test

import (
	"errors"
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// free returns multipliers of 0 for inst: containers cost nothing and count where servers pack them.
func free(inst *solver.Instance) *solver.CopyPrices {
	m := &solver.CopyPrices{Container: make([]float64, len(inst.Apps)), Room: make([][]float64, len(inst.Apps))}
	for i := range inst.Apps {
		m.Room[i] = make([]float64, len(inst.Apps[i].Previous))
	}
	return m
}

func TestCopyBound(t *testing.T) {
	const kept = 2*3./16 + 3*5./16 // LR and MF as they are
	for _, c := range []struct {
		name   string
		change func(*solver.Instance, *solver.CopyPrices)
		want   float64
	}{
		// The first server without LR or without MF: NN and one LR; the second without MF: four LR.
		{"no prices", func(*solver.Instance, *solver.CopyPrices) {}, kept + (5./4 + 3./16) + 4*3./16},
		{"nothing may move", func(i *solver.Instance, _ *solver.CopyPrices) { i.AdjustBudget = 0 }, kept},
		// The second server also without both, but both of the first together: 4 CPUs for NN and three LR.
		{"both may move", func(i *solver.Instance, _ *solver.CopyPrices) { i.AdjustBudget = 2 }, kept + (5./4 + 3*3./16) + 4*3./16},
		// LR's room costs 1/2, MF's 1/4 and 1/8: counting on MF's is cheaper on the first server, and
		// adjusting LR is worth 1/2 - 3/8.
		{"prices for room", func(_ *solver.Instance, m *solver.CopyPrices) {
			m.Room[0], m.Room[1] = []float64{.5}, []float64{.25, .125}
		},
			kept + 1./8 + (5./4 + 3./16 - 1./4) + (4*3./16 - 1./8)},
		// A price of its value on LR: six of them wanted, none packed. LR adjusted brings 6 - 2 containers.
		{"a price for containers", func(_ *solver.Instance, m *solver.CopyPrices) { m.Container[0] = 3. / 16 },
			kept + 4*3./16 + 5./4 + 2*5./16},
		{"a subsidy for containers", func(_ *solver.Instance, m *solver.CopyPrices) { m.Container[2] = -1 },
			kept - 1 + (5./4 + 1 + 3./16) + 4*3./16},
		// At price 1 for loss: LR loses 1/24 and MF 1/6 as they are, NN nothing with one; at their
		// shares LR would lose 1/24 and MF 1/12.
		{"a price for loss", func(_ *solver.Instance, m *solver.CopyPrices) { m.Loss = 1 },
			1 + kept - 1./24 - 1./6 + (5./4 + 3./16) + 4*3./16},
		// That is the budget: LR stays, so that NN has one CPU beside it to spare, too little for MF.
		{"MF is displaced", func(i *solver.Instance, m *solver.CopyPrices) { i.Apps[1].Displaced, m.Room[1] = true, nil },
			2*3./16 + 5./4 + 2*5./16},
		{"more must move than may", func(i *solver.Instance, _ *solver.CopyPrices) {
			i.Apps[0].Displaced, i.Apps[1].Displaced = true, true
		}, math.Inf(-1)},
		{"too small for both", func(i *solver.Instance, _ *solver.CopyPrices) { i.Capacity[0][0], i.AdjustBudget = 3, 0 }, math.Inf(-1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			inst := tiny()
			m := free(inst)
			c.change(inst, m)
			got, err := solver.CopyBound(inst, m)
			if err != nil || got != c.want && math.Abs(got-c.want) > 2*solver.LossTolerance {
				t.Errorf("CopyBound() = %.15g, %v; want %.15g", got, err, c.want)
			}
		})
	}
}

func TestCopyBoundErrors(t *testing.T) {
	for name, spoil := range map[string]func(*solver.CopyPrices){
		"loss":             func(m *solver.CopyPrices) { m.Loss = -1 },
		"containers":       func(m *solver.CopyPrices) { m.Container = m.Container[1:] },
		"not a number":     func(m *solver.CopyPrices) { m.Container[0] = math.NaN() },
		"infinite":         func(m *solver.CopyPrices) { m.Container[0] = math.Inf(-1) },
		"room":             func(m *solver.CopyPrices) { m.Room = nil },
		"no room":          func(m *solver.CopyPrices) { m.Room[0] = nil },
		"too much room":    func(m *solver.CopyPrices) { m.Room[2] = []float64{1} },
		"negative room":    func(m *solver.CopyPrices) { m.Room[0][0] = -1 },
		"room without end": func(m *solver.CopyPrices) { m.Room[0][0] = math.Inf(1) },
	} {
		m := free(tiny())
		spoil(m)
		if _, err := solver.CopyBound(tiny(), m); !errors.Is(err, solver.ErrMultipliers) {
			t.Errorf("%s: %v", name, err)
		}
	}
	inst := tiny()
	for range 16 {
		inst.Apps = append(inst.Apps, solver.App{
			Demand: apportion.Resources{0, 0, 1}, Max: 1, Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 1}},
		})
	}
	if _, err := solver.CopyBound(inst, free(inst)); !errors.Is(err, solver.ErrTooLarge) {
		t.Errorf("18 applications on a server: %v", err)
	}
}

// Where a server holds too many containers to try, what takes the packing's place is still a bound, and
// not far off: by the CPUs alone a container of the best worth a CPU fills the server.
func TestCopyBoundOfLargeServer(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{1001, 4000}}, Total: apportion.Resources{1001, 4000}, LossBudget: 9}
	for d := range int64(6) {
		inst.Apps = append(inst.Apps, solver.App{
			Demand: apportion.Resources{d + 2, 1}, Max: 1000, Value: float64(d+2) + float64(d)/1000, Delta: 1e-3,
		})
	}
	check := func(most float64) {
		t.Helper()
		if got, err := solver.CopyBound(inst, free(inst)); err != nil || math.Abs(got-most) > 1e-6*most {
			t.Errorf("CopyBound() = %g, %v; want %g", got, err, most)
		}
	}
	check(1001 * 7.005 / 7) // containers of 7 CPUs and 7.005, were they divisible
	const large = 1 << 40   // so many containers that none of their numbers may be tried one by one
	inst.Capacity, inst.Total = []apportion.Resources{{large, 4 * large}}, apportion.Resources{large, 4 * large}
	check(large * 7.005 / 7)
}
