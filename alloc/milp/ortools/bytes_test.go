package ortools

import (
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/mip"
)

// size returns the bytes of all that is handed to HiGHS.
func (p *highsProblem) size() int {
	columns, rows, nonzeros := len(p.cost), len(p.rowLower), len(p.coefs)
	const number, index = 8, 4
	return columns*(3*number+index) + rows*(2*number+index) + index + nonzeros*(number+index)
}

// BenchmarkEncode writes P2 for 100 servers and 100 applications in each engine's terms, and reports
// the bytes that cross the border to C for each coefficient of a row.
func BenchmarkEncode(b *testing.B) {
	opts := &milp.Options{
		FeasibilityTolerance: milp.DefaultFeasibilityTolerance, IntegralityTolerance: milp.DefaultIntegralityTolerance,
		AbsoluteGap: milp.DefaultAbsoluteGap, RelativeGap: milp.DefaultRelativeGap, Workers: 1,
	}
	inst := alloctest.Table2(0, 100, 100, true)
	for name, engine := range map[string]struct {
		solver milp.Solver
		encode func(*milp.Model) (int, error)
	}{
		"cp-sat": {CPSAT{}, func(m *milp.Model) (int, error) {
			cp, err := newCPModel(m, opts)
			if err != nil {
				return 0, err
			}
			return len(cp.encoded), nil
		}},
		"highs": {HiGHS{}, func(m *milp.Model) (int, error) {
			p, err := newHighsProblem(m, opts)
			if err != nil {
				return 0, err
			}
			return p.size(), nil
		}},
		"scip": {SCIP{}, func(m *milp.Model) (int, error) { return len(mathOptModel(m, true)), nil }},
	} {
		b.Run("engine="+name, func(b *testing.B) {
			model, err := mip.BuildFor(engine.solver, inst, mip.Verbatim)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			bytes := 0
			for b.Loop() {
				if bytes, err = engine.encode(model.MILP); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(bytes)/float64(model.MILP.Nonzeros()), "B/nonzero")
			b.ReportMetric(float64(model.MILP.Nonzeros()), "nonzeros")
		})
	}
}
