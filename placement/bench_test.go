// This file measures a host, a plan and a placement.

package placement_test

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement"
)

func BenchmarkChooseHost(b *testing.B) {
	for _, n := range []int{8, 1_000} {
		b.Run(fmt.Sprintf("workers=%d", n), func(b *testing.B) {
			request := placement.HostRequest{Kinds: cpu, Containers: 1, Demand: apportion.Resources{1}}
			for w := range n {
				request.Workers = append(request.Workers, placement.Worker{ID: fmt.Sprint("worker", w), Usage: float64(w % 7),
					Counts: placement.Counts{Progressing: int64(3 + (n-w)%11)}, Free: apportion.Resources{int64(w % 5)}})
			}
			b.ReportAllocs()
			for b.Loop() {
				must.Have(placement.ChooseHost(request, nil))(b)
			}
		})
	}
}

func BenchmarkRebalance(b *testing.B) {
	for _, size := range []struct{ workers, containers int }{{8, 50}, {100, 1_000}, {1_000, 10_000}} {
		b.Run(fmt.Sprintf("workers=%d/containers=%d", size.workers, size.containers), func(b *testing.B) {
			request := placement.RebalanceRequest{Now: 1_000_000, Kinds: cpu, Free: free(size.workers, 1000)}
			for i := range size.containers {
				request.Containers = append(request.Containers, placement.Active{ID: fmt.Sprint("c", i), Worker: i * i % (size.workers - size.workers/8),
					Demand: apportion.Resources{int64(1 + i%9)}, Migrated: true, Since: 1})
			}
			transfers := 0
			b.ReportAllocs()
			for b.Loop() {
				plan := must.Have(placement.Rebalance(request, nil))(b)
				transfers = len(plan.Transfers)
			}
			b.ReportMetric(float64(transfers), "transfers")
		})
	}
}

// BenchmarkPlace places a gang of 8 and takes it back.
func BenchmarkPlace(b *testing.B) {
	for _, rule := range []placement.Rule{placement.FirstFit, placement.BestFit, placement.RoundRobin, placement.FewestFirst} {
		for _, n := range []int{20, 1_000} {
			b.Run(fmt.Sprintf("rule=%v/servers=%d", rule, n), func(b *testing.B) {
				bins := make([]placement.Bin, n)
				for j := range bins {
					bins[j] = placement.Bin{Free: apportion.Resources{int64(12 + j%5), int64(j % 4), 128}}
				}
				packer := must.Have(placement.NewPacker(rule, apportion.Kinds{"cpu", "gpu", "memory"}, bins))(b)
				demand := apportion.Resources{2, 0, 8}
				var placed []apportion.Placement
				b.ReportAllocs()
				for b.Loop() {
					var ok bool
					if placed, ok = packer.Place(demand, 8, placed[:0]); !ok {
						b.Fatal("does not fit")
					}
					for _, p := range placed {
						must.Do(b, packer.Release(p.Server, demand, p.Count))
					}
				}
			})
		}
	}
}

// TestPlaceDoesNotAllocate holds Place to its documentation.
func TestPlaceDoesNotAllocate(t *testing.T) {
	packer, err := placement.NewPacker(placement.BestFit, cpu, []placement.Bin{{Free: apportion.Resources{9}}, {Free: apportion.Resources{9}}})
	must.Do(t, err)
	placed := make([]apportion.Placement, 0, 8)
	demand := apportion.Resources{3}
	if n := testing.AllocsPerRun(100, func() {
		got, _ := packer.Place(demand, 4, placed)
		for _, p := range got {
			if packer.Release(p.Server, demand, p.Count) != nil {
				t.Fatal("not released")
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
