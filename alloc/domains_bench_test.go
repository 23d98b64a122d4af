//go:build unix

// This file measures what domains cost a decision.

package alloc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// halls is 1,000 servers of 8 GPUs in 50 racks of 5 zones: 350 jobs that run, and more that come. Every third asks for domains: in turn to
// be within a rack, for few racks, and for slices, where these are among asks.
func halls(coming int, asks ...string) *alloc.Problem {
	r := rand.New(rand.NewPCG(3, 4))
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu", "cpu"}, Theta1: .3, Theta2: .2, Previous: alloc.Allocation{}}
	for j := range 1000 {
		labels := map[string]string{"zone": fmt.Sprint(j / 200), "rack": fmt.Sprint(j / 20)}
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{8, 96}, Labels: labels})
	}
	next := 0
	for i := range 350 + coming {
		n := int64(1) << r.IntN(6)
		app := alloc.Application{ID: fmt.Sprint("a", i), Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 6 + r.Int64N(6)}, Min: max(1, n/2), Max: n}}
		if i < 350 {
			// It runs on whole servers of one rack, one after the other.
			if next%20+int(n+7)/8 > 20 {
				next += 20 - next%20
			}
			places := make(map[string]int64)
			for left := n; left > 0; left -= 8 {
				places[fmt.Sprint("s", next)] = min(8, left)
				next++
			}
			p.Previous[app.ID] = places
		} else {
			app.Min, app.Max = 8*app.Max, 8*app.Max
		}
		app.Min, app.Max = min(app.Min, 96), min(app.Max, 160)
		switch {
		case i%9 == 0 && slices.Contains(asks, "within"):
			app.Within = "rack"
		case i%9 == 3 && slices.Contains(asks, "prefer"):
			app.Prefer = "rack"
		case i%9 == 6 && slices.Contains(asks, "slices") && app.Min%8 == 0:
			app.Slices = &alloc.Slices{Containers: 8, Within: "rack"}
		}
		p.Applications = append(p.Applications, app)
	}
	if asks != nil {
		p.Topology = []string{"zone", "rack"}
	}
	if slices.Contains(asks, "compact") {
		p.Compact = []string{"gpu"} // domains and servers beyond the fewest cost then
	}
	return p
}

// usedTime is what this process has used of a processor so far.
func usedTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A decision with domains, beside the same without: in a cluster with room for all, and in one where most of those that come wait.
func BenchmarkDomains(b *testing.B) {
	for _, coming := range []int{50, 300} {
		for _, asks := range [][]string{nil, {"nothing"}, {"within"}, {"prefer"}, {"within", "prefer"}, {"within", "prefer", "slices"}, {"compact"}, {"prefer", "compact"}} {
			b.Run(fmt.Sprintf("servers=1000/racks=50/coming=%d/asks=%s", coming, strings.Join(asks, "+")), func(b *testing.B) {
				p := halls(coming, asks...)
				b.ReportAllocs()
				before := usedTime(b)
				for b.Loop() {
					d, err := alloc.Reallocate(context.Background(), p, nil)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(d.Waiting)), "waiting")
					b.ReportMetric(100*d.Gap, "gap-%")
				}
				b.ReportMetric(float64((usedTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms")
			})
		}
	}
}
