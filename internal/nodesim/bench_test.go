// This file measures the simulation at the thesis' sizes.

package nodesim

import (
	"fmt"
	"testing"
	"time"
)

func BenchmarkRun(b *testing.B) {
	for _, size := range []struct{ jobs, workers int }{{15, 1}, {50, 8}} {
		s := &Scenario{Workers: size.workers, MoveCost: 5 * second}
		for i := range size.jobs {
			s.Jobs = append(s.Jobs, job1(fmt.Sprint(i), time.Duration(i)*9*second, time.Duration(60+17*(i%11))*second))
			s.Jobs[i].Request = 1
		}
		for p := range policies() {
			b.Run(fmt.Sprintf("jobs=%d/workers=%d/policy=%s-%d", size.jobs, size.workers, policies()[p].Name(), p), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Run(s, policies()[p]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
