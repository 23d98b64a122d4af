package bb

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/milptest"
)

func BenchmarkMIPLIB(b *testing.B) {
	for _, i := range milptest.MIPLIB() {
		b.Run("instance="+i.Name, func(b *testing.B) {
			b.ReportAllocs()
			var nodes int64
			for b.Loop() {
				got, err := milp.Solve(context.Background(), Solver{}, i.Model, nil)
				if err != nil || got.Status != milp.Optimal {
					b.Fatal(got.Status, err)
				}
				nodes = got.Nodes
			}
			b.ReportMetric(float64(nodes), "nodes/op")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(nodes), "µs/node")
		})
	}
}

// BenchmarkRelaxation solves the relaxation from scratch, with our simplex method and with gonum's.
func BenchmarkRelaxation(b *testing.B) {
	for _, i := range milptest.MIPLIB() {
		name, model := i.Name, i.Model
		b.Run(fmt.Sprintf("instance=%s/method=bb", name), func(b *testing.B) {
			for b.Loop() {
				s := newSimplex(newRelaxation(model), func() bool { return false })
				if got := s.solve(math.Inf(1)); got != optimal {
					b.Fatal(got)
				}
			}
		})
		if name == "misc03" { // has a free variable; gonum says that its matrix is singular
			continue
		}
		b.Run(fmt.Sprintf("instance=%s/method=gonum", name), func(b *testing.B) {
			form := toStandard(model)
			for b.Loop() {
				if _, err := form.solve(model.Sense()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTrivial is the cost of one call on a model of one variable.
func BenchmarkTrivial(b *testing.B) {
	builder := milp.NewBuilder("")
	x := builder.Integer(0, 10, "")
	builder.AtMost("", []milp.Term{{Var: x, Coef: 2}}, 7)
	builder.Maximize([]milp.Term{{Var: x, Coef: 1}}, 0)
	model, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := milp.Solve(context.Background(), Solver{}, model, &milp.Options{TimeLimit: time.Minute}); err != nil {
			b.Fatal(err)
		}
	}
}
