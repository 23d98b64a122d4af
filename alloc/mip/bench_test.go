package mip_test

import (
	"context"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
)

func BenchmarkBuild(b *testing.B) {
	inst := alloctest.Table2(0, 20, 50, true)
	for _, form := range mip.Forms() {
		b.Run("form="+string(form), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				model, err := mip.Build(inst, form)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(model.MILP.Nonzeros()), "nonzeros")
			}
		})
	}
}

// A general solver on the tiny cluster; the embedded one is in package alloc's BenchmarkTiny.
func BenchmarkTiny(b *testing.B) {
	inst := instanceOf(b, tinyProblem())
	for _, form := range mip.Forms() {
		b.Run("solver=bb/form="+string(form), func(b *testing.B) {
			for b.Loop() {
				if _, err := mip.New(bb.Solver{}, form, nil).Solve(context.Background(), inst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
