// This file measures what the protocol adds to an adjustment: machine and journal, without anything
// that the effects do.

package checkpoint_test

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// BenchmarkAdjustment resizes a job among others, from Adjust to Running, each effect done at once.
func BenchmarkAdjustment(b *testing.B) {
	for _, disk := range []string{"local", "memory"} {
		for _, jobs := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("disk=%s/jobs=%d", disk, jobs), func(b *testing.B) {
				d := newBenchDriver(b, disk, jobs)
				d.adjust("s1")
				b.ReportAllocs()
				at := 0
				for b.Loop() {
					d.adjust([]string{"s2", "s1"}[at%2])
					at++
				}
				b.ReportMetric(float64(d.records)/float64(at+1), "records/op")
			})
		}
	}
}

// BenchmarkOpen recovers a machine of so many jobs from its journal.
func BenchmarkOpen(b *testing.B) {
	for _, jobs := range []int{100, 1000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			d := newBenchDriver(b, "memory", jobs)
			b.ReportAllocs()
			for b.Loop() {
				_, j, err := journal.Open(d.fsys, checkpoint.Config{Kinds: slotKinds})
				must.Do(b, err)
				must.Do(b, j.Close())
			}
		})
	}
}

type benchDriver struct {
	b       *testing.B
	fsys    vfs.FS
	m       *checkpoint.Machine
	j       *journal.Journal
	records int
}

func newBenchDriver(b *testing.B, disk string, jobs int) *benchDriver {
	d := &benchDriver{b: b, fsys: vfstest.NewMem()}
	if disk == "local" {
		fsys, err := vfs.NewOS(b.TempDir())
		must.Do(b, err)
		b.Cleanup(func() { fsys.Close() })
		d.fsys = fsys
	}
	var err error
	if d.m, d.j, err = journal.Open(d.fsys, checkpoint.Config{Kinds: slotKinds}); err != nil {
		b.Fatal(err)
	}
	events := []checkpoint.Event{}
	for _, id := range []string{"s1", "s2"} {
		events = append(events, checkpoint.ServerUp{Server: apportion.Server{ID: id, Capacity: apportion.Resources{int64(8 * jobs)}}})
	}
	targets := make(map[string][]string)
	for i := range jobs {
		job := fmt.Sprintf("job%04d", i)
		events = append(events, checkpoint.Submit{Job: job, Demand: slot, Min: 1})
		targets[job] = []string{"s1", "s1", "s2", "s2"}
	}
	d.drive(append(events, checkpoint.Adjust{Targets: targets})...)
	return d
}

func (d *benchDriver) adjust(server string) {
	d.drive(checkpoint.Adjust{Targets: map[string][]string{"job0000": {server, server}}})
}

func (d *benchDriver) drive(events ...checkpoint.Event) {
	for len(events) > 0 {
		for _, e := range events {
			must.Do(d.b, d.m.Step(e))
		}
		ready := d.m.Ready()
		must.Do(d.b, d.j.Append(ready.Record))
		d.records++
		events = events[:0]
		for _, e := range ready.Effects {
			if e.Action != checkpoint.Prune {
				events = append(events, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: e.ID})
			}
		}
		if d.j.Bytes() > 8<<20 {
			must.Do(d.b, d.j.Compact(d.m.Snapshot()))
		}
	}
}

// BenchmarkSwap measures steps while thousands of jobs wait for each other's places.
func BenchmarkSwap(b *testing.B) {
	for _, jobs := range []int{250, 1000, 5000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(swapAll(b, jobs)), "steps")
			}
		})
	}
}
