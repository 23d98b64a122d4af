package bb

import (
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
)

var names = []string{"enigma", "flugpl", "lseu", "misc03", "mod008", "p0033", "rgn", "stein27"}

func readInstance(b *testing.B, name string) *milp.Model {
	b.Helper()
	file, err := os.Open("../testdata/miplib/" + name + ".mps.gz")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	model, err := milp.ReadMPS(text, nil)
	if err != nil {
		b.Fatal(err)
	}
	return model
}

func BenchmarkMIPLIB(b *testing.B) {
	for _, name := range names {
		b.Run("instance="+name, func(b *testing.B) {
			model := readInstance(b, name)
			b.ReportAllocs()
			var nodes int64
			for b.Loop() {
				got, err := milp.Solve(context.Background(), Solver{}, model, nil)
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
	for _, name := range names {
		model := readInstance(b, name)
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
