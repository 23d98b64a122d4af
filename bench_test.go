// This file measures the operations that solvers call in their inner loops. None of them allocates.

package apportion_test

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

func BenchmarkResources(b *testing.B) {
	for _, kinds := range []int{3, 8} {
		demand, room, total := make(apportion.Resources, kinds), make(apportion.Resources, kinds), make(apportion.Resources, kinds)
		for k := range demand {
			demand[k], room[k], total[k] = int64(k+1), int64(100*k+200), int64(1000*k+3000)
		}
		for _, op := range []struct {
			name string
			call func()
		}{
			{"FitsIn", func() { demand.FitsIn(room) }},
			{"CountIn", func() { demand.CountIn(room) }},
			{"DominantShare", func() { demand.DominantShare(total) }},
			{"AddTimesTo", func() { _ = exact.AddTimesTo(room, room, 0, demand) }},
		} {
			b.Run(fmt.Sprintf("op=%s/kinds=%d", op.name, kinds), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					op.call()
				}
			})
		}
	}
}
