// This file measures the package against the plainest way to do the same: container/heap, a sorted
// slice.

package drf_test

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// benchInstance has claims whose demands, weights and bounds all differ.
func benchInstance(claims, kinds int) instance {
	random := rand.New(rand.NewPCG(1, uint64(claims)))
	in := instance{capacity: make(apportion.Resources, kinds)}
	for i := range claims {
		claim := drf.Claim{
			ID:     fmt.Sprintf("queue-%06d", i),
			Demand: make(apportion.Resources, kinds),
			Weight: 1 + float64(random.IntN(8)),
			Min:    random.Int64N(3),
		}
		claim.Max = claim.Min + 1 + random.Int64N(40)
		for k := range claim.Demand {
			claim.Demand[k] = 1 + random.Int64N(16)
			in.capacity[k] += 12 * claim.Demand[k]
		}
		in.claims = append(in.claims, claim)
	}
	return in
}

func BenchmarkFill(b *testing.B) {
	for _, claims := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprintf("claims=%d/kinds=3", claims), func(b *testing.B) {
			in := benchInstance(claims, 3)
			b.ReportAllocs()
			for b.Loop() {
				in.fill(b)
			}
		})
	}
}

func BenchmarkFillWhole(b *testing.B) {
	for _, claims := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("claims=%d/kinds=3", claims), func(b *testing.B) {
			in := benchInstance(claims, 3)
			b.ReportAllocs()
			var total int64
			for b.Loop() {
				total = 0
				for _, n := range containers(in.whole(b, nil)) {
					total += n
				}
			}
			b.ReportMetric(float64(total), "containers/op")
		})
	}
}

// Containers of one claim are up to ratio times as large as those of another.
func BenchmarkFillWholeRatio(b *testing.B) {
	for _, claims := range []int{2, 1000} {
		for _, ratio := range []int64{1e3, 1e6, 4e8, 1 << 53} {
			b.Run(fmt.Sprintf("claims=%d/ratio=%d", claims, ratio), func(b *testing.B) {
				random := rand.New(rand.NewPCG(1, 2))
				in := instance{capacity: apportion.Resources{ratio*100 + ratio/2}}
				for i := range claims {
					size := max(1, int64(math.Pow(float64(ratio), random.Float64())))
					switch i {
					case 0:
						size = 1
					case 1:
						size = ratio
					}
					in.claims = append(in.claims, claim(fmt.Sprint(i), 1+float64(i%7), 0, top, size))
				}
				for b.Loop() {
					in.whole(b, nil)
				}
			})
		}
	}
}

// benchSorter has clients that hold random amounts.
func benchSorter(b *testing.B, clients int) (*drf.Sorter, []apportion.Resources) {
	in := benchInstance(clients, 3)
	sorter := newSorter(b, in.capacity...)
	demands := make([]apportion.Resources, clients)
	for i, claim := range in.claims {
		add(b, sorter, claim.ID, claim.Weight, claim.Demand...)
		demands[i] = claim.Demand
	}
	return sorter, demands
}

func BenchmarkShare(b *testing.B) {
	sorter, _ := benchSorter(b, 1000)
	clients := sorter.Order(nil)
	total, held := apportion.Resources{1000, 2000, 3000}, apportion.Resources{17, 19, 100}
	b.Run("of=client", func(b *testing.B) {
		var sum float64
		for i := 0; b.Loop(); i++ {
			share, _ := clients[i%1000].Share()
			sum += share
		}
		sink = sum
	})
	b.Run("of=resources", func(b *testing.B) {
		var sum float64
		for b.Loop() {
			share, _ := held.DominantShare(total)
			sum += share
		}
		sink = sum
	})
}

var sink float64

func BenchmarkSorterNext(b *testing.B) {
	for _, clients := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			sorter, demands := benchSorter(b, clients)
			b.ReportAllocs()
			start := cpuTime(b)
			for i := 0; b.Loop(); i++ {
				must.Do(b, sorter.Allocate(sorter.Next(), demands[i%clients]))
			}
			reportCPU(b, cpuTime(b)-start)
		})
		b.Run(fmt.Sprintf("clients=%d/baseline=container-heap", clients), func(b *testing.B) {
			plain, demands := benchPlain(clients)
			heap.Init(plain)
			b.ReportAllocs()
			start := cpuTime(b)
			for i := 0; b.Loop(); i++ {
				plain.clients[0].allocate(plain.total, demands[i%clients])
				heap.Fix(plain, 0)
			}
			reportCPU(b, cpuTime(b)-start)
		})
	}
}

// Before each run every hundredth client, or each, is allocated something, which is not measured.
func BenchmarkSorterOrder(b *testing.B) {
	for _, clients := range []int{10_000, 100_000} {
		for _, every := range []int{1, 100} {
			b.Run(fmt.Sprintf("clients=%d/changed=%d", clients, clients/every), func(b *testing.B) {
				sorter, demands := benchSorter(b, clients)
				random := rand.New(rand.NewPCG(3, 4))
				dst := sorter.Order(nil)
				b.ReportAllocs()
				var took time.Duration
				for b.Loop() {
					b.StopTimer()
					for range clients / every {
						client := dst[random.IntN(clients)]
						must.Do(b, sorter.Allocate(client, demands[random.IntN(clients)]))
					}
					b.StartTimer()
					start := cpuTime(b)
					dst = sorter.Order(dst[:0])
					took += cpuTime(b) - start
				}
				reportCPU(b, took)
			})
			b.Run(fmt.Sprintf("clients=%d/changed=%d/baseline=sorted-slice", clients, clients/every), func(b *testing.B) {
				plain, demands := benchPlain(clients)
				random := rand.New(rand.NewPCG(3, 4))
				slices.SortFunc(plain.clients, comparePlain)
				b.ReportAllocs()
				var took time.Duration
				for b.Loop() {
					b.StopTimer()
					for range clients / every {
						plain.clients[random.IntN(clients)].allocate(plain.total, demands[random.IntN(clients)])
					}
					b.StartTimer()
					start := cpuTime(b)
					slices.SortFunc(plain.clients, comparePlain)
					took += cpuTime(b) - start
				}
				reportCPU(b, took)
			})
		}
	}
}

// reportCPU reports the time of the processor that a run took: other programs do not count.
func reportCPU(b *testing.B, took time.Duration) {
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// plainClient and plainHeap are what one writes without this package: rounded shares.
type plainClient struct {
	id     string
	weight float64
	held   apportion.Resources
	level  float64
}

func (c *plainClient) allocate(total, r apportion.Resources) {
	c.level = 0
	for k := range r {
		c.held[k] += r[k]
		c.level = max(c.level, float64(c.held[k])/float64(total[k])/c.weight)
	}
}

func comparePlain(a, b *plainClient) int {
	switch {
	case a.level < b.level:
		return -1
	case a.level > b.level:
		return 1
	default:
		return strings.Compare(a.id, b.id)
	}
}

type plainHeap struct {
	total   apportion.Resources
	clients []*plainClient
}

func (h *plainHeap) Len() int           { return len(h.clients) }
func (h *plainHeap) Less(i, j int) bool { return comparePlain(h.clients[i], h.clients[j]) < 0 }
func (h *plainHeap) Swap(i, j int)      { h.clients[i], h.clients[j] = h.clients[j], h.clients[i] }
func (h *plainHeap) Push(x any)         { h.clients = append(h.clients, x.(*plainClient)) }
func (h *plainHeap) Pop() any           { panic("not used") }

func benchPlain(clients int) (*plainHeap, []apportion.Resources) {
	in := benchInstance(clients, 3)
	plain := &plainHeap{total: in.capacity}
	demands := make([]apportion.Resources, clients)
	for i, claim := range in.claims {
		client := &plainClient{id: claim.ID, weight: claim.Weight, held: make(apportion.Resources, 3)}
		client.allocate(in.capacity, claim.Demand)
		plain.clients = append(plain.clients, client)
		demands[i] = claim.Demand
	}
	return plain, demands
}
