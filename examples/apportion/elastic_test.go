// This file tests a caller's way to decisions by worth: problems with worths and prices in, counts and places out.

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// What worths.py prints is worth.json, but for the last digits of roots, and the command decides on it.
func TestWorthsInPython(t *testing.T) {
	want := problemIn(t, "worth.json")
	d := decided(t, encode(t, want))
	if got := d.Allocation.Containers("text"); got != 4 || d.Gap == nil || *d.Gap != 0 {
		t.Errorf("%v, gap %v", d.Allocation, d.Gap)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT TESTED, there is no python3")
	}
	text := must.Have(exec.Command(python, "-B", "worths.py").Output())(t)
	got := &alloc.Problem{}
	must.Do(t, json.Unmarshal(text, got))
	must.Equal(t, cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })), "", "worth.json against worths.py (-file +python)")
}

// loopJob is a job of a caller's own: how much of its step does not divide, and how long its containers talk to each other.
type loopJob struct {
	id           string
	serial, sync float64
	service      float64
}

// loopCounts are the numbers of GPUs that a job may have: within a server of four, and whole servers.
var loopCounts = []int64{1, 2, 3, 4, 8, 12, 16, 24, 32}

// speed is in steps a second, on as few servers as possible.
func (j *loopJob) speed(n int64) float64 {
	servers := float64((n + 3) / 4)
	step := j.serial + (1-j.serial)/float64(n)
	if n > 1 {
		step += float64(j.sync * servers)
	}
	return 1 / step
}

// application states a job as worths.py does: by the square root of its speed, weighed by attained service, with a price of
// restarts if it runs.
func (j *loopJob) application(fair float64, held int64) alloc.Application {
	weight := math.Pow(1+j.service/7200, -0.5)
	worth := func(speed float64) float64 { return weight * math.Sqrt(speed/j.speed(int64(math.Max(1, fair)))) }
	a := alloc.Application{ID: j.id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: loopCounts[len(loopCounts)-1], Counts: loopCounts}, IdleWorth: 0}
	best := 0.0
	for _, n := range loopCounts {
		best = max(best, j.speed(n))
		if held > 0 {
			a.Worth = append(a.Worth, worth(0.85*best))
		} else {
			a.Worth = append(a.Worth, worth(best))
		}
	}
	if held > 0 {
		stay := worth(j.speed(held))
		a.StayWorth = &stay
	}
	return a
}

// A caller's loop of many jobs on 64 GPUs, by the command: what it answers goes into the next problem as it is. Every answer
// is legal, uses all GPUs, is proven, and changes no job that it need not.
func TestWorthLoop(t *testing.T) {
	jobs, rounds := 160, 6
	if testing.Short() {
		jobs, rounds = 40, 3
	}
	random := rand.New(rand.NewPCG(1, 160))
	next := 0
	fresh := func() *loopJob {
		next++
		return &loopJob{fmt.Sprint("j", next), 0.3 * random.Float64(), 0.1 * random.Float64(), 1e5 * random.Float64()}
	}
	var active []*loopJob
	for range jobs {
		active = append(active, fresh())
	}
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Previous: alloc.Allocation{}}
	for h := range 16 {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("n", h), Capacity: apportion.Resources{4}})
	}
	for round := range rounds {
		p.Applications = nil
		for _, j := range active {
			p.Applications = append(p.Applications, j.application(64/float64(jobs), p.Previous.Containers(j.id)))
		}
		before := time.Now()
		d := decided(t, encode(t, p))
		used := int64(0)
		for id := range d.Allocation {
			used += d.Allocation.Containers(id)
		}
		t.Logf("round %d: %v, worth %.6g, gap %.2g, %d adjusted", round, time.Since(before).Round(time.Millisecond), d.Objective, *d.Gap, d.Metrics.Adjusted)
		if used != 64 || *d.Gap > 1e-6 {
			t.Errorf("round %d: %d of 64 GPUs in use, gap %g", round, used, *d.Gap)
		}
		if round > 0 && d.Metrics.Adjusted > jobs/4 {
			t.Errorf("round %d: %d jobs adjusted", round, d.Metrics.Adjusted)
		}
		p.Previous = d.Allocation
		// Three jobs end, three come, and the others grow older.
		for range 3 {
			at := random.IntN(len(active))
			delete(p.Previous, active[at].id)
			active = append(slices.Delete(active, at, at+1), fresh())
		}
		for _, j := range active {
			j.service += 60 * float64(p.Previous.Containers(j.id))
		}
	}
}

// problemIn reads a problem.
func problemIn(t *testing.T, name string) *alloc.Problem {
	t.Helper()
	text, err := os.ReadFile(name)
	p := &alloc.Problem{}
	if err != nil || json.Unmarshal(text, p) != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}
