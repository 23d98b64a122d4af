// This file measures long streams: jobs a second, and snapshots of what then runs.

package primaldual

import (
	"fmt"
	"runtime"
	"testing"

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

// BenchmarkStream offers jobs to a cluster that moves on with them; an operation is one job.
func BenchmarkStream(b *testing.B) {
	for _, servers := range []int{100, 1000} {
		for _, learn := range []bool{false, true} {
			b.Run(fmt.Sprintf("servers=%d/learn=%v", servers, learn), func(b *testing.B) {
				cluster, perSlot := streamCluster(servers, 60), servers*8/50
				var sample []Job
				for i := range 200 {
					j := streamJob(i, perSlot)
					j.Arrival = 1
					sample = append(sample, j)
				}
				options, known := &SchedulerOptions{}, (*Bounds)(nil)
				if bounds := boundsOf(b, cluster, sample, &BoundsOptions{Rolling: true}); learn {
					options.Learn = &Learning{}
				} else {
					known = &bounds
				}
				s, err := NewScheduler(cluster, known, options)
				if err != nil {
					b.Fatal(err)
				}
				admitted := 0
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					j := streamJob(i, perSlot)
					if j.Arrival > s.First() {
						if _, err := s.Advance(j.Arrival); err != nil {
							b.Fatal(err)
						}
					}
					if offer(b, s, j).Admitted {
						admitted++
					}
				}
				var memory runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&memory)
				b.ReportMetric(float64(admitted)/float64(b.N), "admitted/job")
				b.ReportMetric(float64(len(s.jobs)), "running")
				b.ReportMetric(float64(memory.HeapAlloc)/1e6, "heap-MB")
			})
		}
	}
}

// BenchmarkSnapshot saves and restores a scheduler with thousands of jobs on 1,000 servers a side.
func BenchmarkSnapshot(b *testing.B) {
	cluster := streamCluster(1000, 60)
	s, err := NewScheduler(cluster, nil, &SchedulerOptions{Learn: &Learning{}})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 3000 {
		j := streamJob(i, 160)
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
			if _, err := RestoreScheduler(cluster, nil, &SchedulerOptions{Learn: &Learning{}}, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
