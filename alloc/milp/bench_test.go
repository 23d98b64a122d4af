package milp

import (
	"io"
	"math"
	"strings"
	"testing"
)

// buildLarge returns P2-like rows with about 100,000 coefficients: each variable is in five rows.
func buildLarge(b *testing.B) *Model {
	const apps, servers, kinds = 100, 200, 3
	builder := NewBuilder("large")
	vars := make([]Var, apps*servers)
	for k := range vars {
		vars[k] = builder.Integer(0, 32, "")
	}
	terms := make([]Term, 0, max(apps, servers))
	for range kinds {
		for s := range servers {
			terms = terms[:0]
			for a := range apps {
				terms = append(terms, Term{vars[a*servers+s], float64(1 + (a+s)%7)})
			}
			builder.AtMost("", terms, 96)
		}
	}
	for a := range apps {
		terms = terms[:0]
		for s := range servers {
			terms = append(terms, Term{vars[a*servers+s], 1})
		}
		builder.Row("", 1, terms, 32)
		builder.Row("", math.Inf(-1), terms, 40)
	}
	builder.Maximize(terms, 0)
	model, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	return model
}

func BenchmarkBuild(b *testing.B) {
	b.Run("nonzeros=100000", func(b *testing.B) {
		b.ReportAllocs()
		nonzeros := buildLarge(b).Nonzeros()
		for b.Loop() {
			buildLarge(b)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nonzeros), "ns/nonzero")
	})
}

func BenchmarkVerify(b *testing.B) {
	b.Run("nonzeros=100000", func(b *testing.B) {
		model := buildLarge(b)
		point := make([]float64, model.Variables())
		b.ReportAllocs()
		for b.Loop() {
			if model.Verify(point, 1e-6, 1e-6) == nil {
				b.Fatal("rows with a minimum of 1 hold at 0")
			}
		}
	})
}

func BenchmarkWriteMPS(b *testing.B) {
	b.Run("nonzeros=100000", func(b *testing.B) {
		model := buildLarge(b)
		b.ReportAllocs()
		for b.Loop() {
			if err := model.WriteMPS(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkReadMPS(b *testing.B) {
	b.Run("nonzeros=100000", func(b *testing.B) {
		text := write(b, buildLarge(b))
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ReadMPS(strings.NewReader(text), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
