// This file measures long streams: jobs a second, and snapshots of what then runs.

package primaldual

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
)

// streamCluster has so many servers of 8 units a side.
func streamCluster(servers, slots int) *Cluster {
	c := &Cluster{Kinds: apportion.Kinds{"unit"}, Slots: slots}
	for h := range servers {
		c.WorkerServers = append(c.WorkerServers, apportion.Server{ID: fmt.Sprint("w", h), Capacity: vec{8}})
		c.PSServers = append(c.PSServers, apportion.Server{ID: fmt.Sprint("p", h), Capacity: vec{8}})
	}
	return c
}

// streamJob is the i-th job of a stream with so many jobs a slot: sizes and deadlines of many sorts.
func streamJob(i, perSlot int) Job {
	j := deadlined(fmt.Sprint("j", i), 1+i/perSlot, int64(4+i*7%97), 6+i*13%40, float64(1+i*5%31))
	j.WorkerBandwidth, j.PSBandwidth = 1, 4
	j.Chunks, j.Epochs = int64(4+i%13), 1
	j.MinibatchSlots = float64(4+i*7%97) / float64(j.Chunks)
	return j
}

// featured gives a stream job what the paper's jobs do not have: every third one may run on labelled servers only, every third
// one has measured speeds, of which none is linear.
func featured(i int, j Job) Job {
	switch i % 3 {
	case 0:
		j.WorkerRequires = []apportion.Requirement{{Key: "zone", Op: apportion.In, Values: []string{"b"}}}
	case 1:
		most, work := j.Chunks, j.WorkerSlots()
		j.Epochs, j.Chunks, j.Minibatches, j.MinibatchSlots, j.WorkerBandwidth, j.PSBandwidth = 0, 0, 0, 0, 0, 0
		for n := int64(1); n <= most; n++ {
			// Sixteen workers do half of what linear ones would.
			j.Speeds = append(j.Speeds, Speed{Workers: n, PS: (n + 3) / 4, Units: 1600 * n / (15 + n)})
		}
		j.Units = 100 * work
	}
	return j
}

// labelled puts every second worker server into zone b.
func labelled(c *Cluster) *Cluster {
	for h := range c.WorkerServers {
		c.WorkerServers[h].Labels = map[string]string{"zone": string('a' + rune(h%2))}
	}
	return c
}

// streamKind is a way to run a stream: at the paper's prices, at learnt ones, or those with labels, speeds and displacement.
type streamKind struct {
	name     string
	learn    *Learning
	featured bool
}

var streamKinds = []streamKind{
	{name: "bounds"}, {name: "learnt", learn: &Learning{}}, {name: "everything", learn: &Learning{Displace: 2}, featured: true},
}

// start returns a scheduler for a stream, and the job at each place of it.
func (k *streamKind) start(b *testing.B, servers, slots, perSlot int) (*Scheduler, func(i int) Job) {
	b.Helper()
	cluster, options, known := labelled(streamCluster(servers, slots)), &SchedulerOptions{Learn: k.learn}, (*Bounds)(nil)
	if k.learn == nil {
		var sample []Job
		for i := range 200 {
			j := streamJob(i, perSlot)
			j.Arrival = 1
			sample = append(sample, j)
		}
		bounds := boundsOf(b, cluster, sample, &BoundsOptions{Rolling: true})
		known = &bounds
	}
	s, err := NewScheduler(cluster, known, options)
	if err != nil {
		b.Fatal(err)
	}
	return s, func(i int) Job {
		if j := streamJob(i, perSlot); !k.featured {
			return j
		} else {
			return featured(i, j)
		}
	}
}

// heapMB returns what the heap holds.
func heapMB() float64 {
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	return float64(memory.HeapAlloc) / 1e6
}

// BenchmarkStream offers jobs to a cluster that moves on with them; an operation is one job. With -benchtime 100000x the heap
// after 10,000 jobs can be held against that at the end.
func BenchmarkStream(b *testing.B) {
	const early = 10000
	for _, servers := range []int{100, 1000} {
		for _, kind := range streamKinds {
			b.Run(fmt.Sprintf("servers=%d/%s", servers, kind.name), func(b *testing.B) {
				s, job := kind.start(b, servers, 60, servers*8/50)
				admitted, displaced := 0, 0
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					j := job(i)
					if j.Arrival > s.First() {
						if _, err := s.Advance(j.Arrival); err != nil {
							b.Fatal(err)
						}
					}
					d := offer(b, s, j)
					if d.Admitted {
						admitted++
					}
					displaced += len(d.Displaced)
					if i == early {
						b.StopTimer()
						b.ReportMetric(heapMB(), "early-heap-MB")
						b.StartTimer()
					}
				}
				b.ReportMetric(float64(admitted)/float64(b.N), "admitted/job")
				b.ReportMetric(float64(displaced)/float64(b.N), "displaced/job")
				b.ReportMetric(float64(len(s.jobs)), "running")
				b.ReportMetric(heapMB(), "heap-MB")
			})
		}
	}
}

// BenchmarkDecision offers jobs of the stream to 2,000 servers a side over 1,000 slots, for each kind of stream; the metrics are
// of single decisions.
func BenchmarkDecision(b *testing.B) {
	for _, kind := range streamKinds {
		b.Run(kind.name, func(b *testing.B) {
			const servers = 2000
			var times []time.Duration
			for b.Loop() {
				s, job := kind.start(b, servers, 1000, servers*8/50)
				times = times[:0]
				for i := range 2000 {
					j := job(i)
					start := time.Now()
					offer(b, s, j)
					times = append(times, time.Since(start))
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-us")
			b.ReportMetric(float64(times[len(times)-1].Microseconds()), "max-us")
		})
	}
}

// BenchmarkSnapshot saves and restores a scheduler with thousands of jobs on 1,000 servers a side, a third of them with labels
// and a third with speeds.
func BenchmarkSnapshot(b *testing.B) {
	kind := streamKinds[len(streamKinds)-1]
	s, job := kind.start(b, 1000, 60, 160)
	for i := range 5000 {
		j := job(i)
		if _, err := s.Advance(max(s.First(), j.Arrival)); err != nil {
			b.Fatal(err)
		}
		offer(b, s, j)
	}
	data, err := s.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("save", func(b *testing.B) {
		b.ReportMetric(float64(len(s.jobs)), "running")
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := s.Snapshot(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("restore", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := RestoreScheduler(s.Cluster(), nil, &SchedulerOptions{Learn: kind.learn}, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
