// This file tests that what is scarce is not broken up, on the pods of a production cluster and on small ones.

package alloc

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/apportion/apportion"
)

// shapes reads a file of testdata/pods: CPUs in thousandths, MB and GPUs, and how many there are.
func shapesIn(t testing.TB, name string) (shapes []apportion.Resources, counts []int) {
	file, err := os.Open("testdata/pods/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		shape := make(apportion.Resources, 3)
		for k, scale := range []float64{1000, 1000, 1} {
			x, err := strconv.ParseFloat(row[k], 64)
			if err != nil {
				t.Fatal(err)
			}
			shape[k] = int64(math.Round(x * scale))
		}
		n, err := strconv.Atoi(row[3])
		if err != nil {
			t.Fatal(err)
		}
		shapes, counts = append(shapes, shape), append(counts, n)
	}
	return shapes, counts
}

// stream is one in part of the servers, and pods in some order that want as many GPUs as there are; pods of several GPUs come times as
// often as they did.
func stream(t testing.TB, seed uint64, part, times int) *Problem {
	r := rand.New(rand.NewPCG(seed, 5))
	p := &Problem{Kinds: apportion.Kinds{"cpu", "memory", "gpu"}, Compact: []string{"gpu"}, Theta1: 1, Options: Options{RestartCost: new(float64)}}
	left := int64(0)
	shapes, counts := shapesIn(t, "servers.csv")
	for at, shape := range shapes {
		for n := range counts[at] {
			if (n+at)%part == 0 {
				left += shape[2]
				p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprintf("s%d.%d", at, n), Capacity: shape})
			}
		}
	}
	r.Shuffle(len(p.Servers), func(a, b int) { p.Servers[a], p.Servers[b] = p.Servers[b], p.Servers[a] })
	shapes, counts = shapesIn(t, "pods.csv")
	sum := 0
	for at, shape := range shapes {
		if shape[2] > 1 {
			counts[at] *= times
		}
		sum += counts[at]
	}
	for left > 0 {
		at := 0
		for n := r.IntN(sum); n >= counts[at]; at++ {
			n -= counts[at]
		}
		left -= shapes[at][2]
		p.Applications = append(p.Applications, Application{ID: fmt.Sprint("p", len(p.Applications)), Weight: 1, Form: Form{Demand: shapes[at], Min: 1, Max: 1}})
	}
	return p
}

// fragment returns which part of the GPUs is left on a server, and of no use to the next pod, in expectation: [Weng23] §3.2.
func fragment(r *resolved, left apportion.Resources) (useless float64) {
	for _, t := range r.typical {
		if gpus := r.compact[0]; !t.demand.FitsIn(left) {
			useless += t.part * float64(left[gpus]) / float64(r.total[gpus])
		}
	}
	return useless
}

// fragments is that of all servers.
func (d *draft) fragments() (sum float64) {
	for j := range d.left {
		sum += fragment(d.r, d.left[j])
	}
	return sum
}

// play places the pods of a stream one after the other, as decisions do, by best fit, or where the fragment rises the least as [Weng23]
// has it, and returns which part of the GPUs is of no use then; a pod without room is dropped.
func play(p *Problem, rule string) float64 {
	r := resolve(p)
	typical := r.typical
	if rule == "best fit" {
		r.typical = nil
	}
	d := newDraft(r)
	for i := range p.Applications {
		if rule != "fragments" {
			d.place(i, 1)
			continue
		}
		best, least := -1, 0.0
		for j := range d.left {
			if r.most(i, j, d.left[j]) > 0 {
				if breaks := fragment(r, less(d.left[j], p.Applications[i].Demand)) - fragment(r, d.left[j]); best < 0 || breaks < least {
					best, least = j, breaks
				}
			}
		}
		if best >= 0 {
			d.put(i, []apportion.Placement{{Server: best, Count: 1}})
		}
	}
	r.typical = typical
	return d.fragments()
}

// Of pods that use whole GPUs and come until they want all there are: the GPUs that are of no use in the end are a fifth fewer than by best
// fit at least, and no more than by the gradient of fragmentation alone.
func TestFragmentsOfPods(t *testing.T) {
	part := 1
	if testing.Short() {
		part = 4
	}
	t.Log("| pods of several GPUs | best fit | fragments alone | ours |")
	for _, times := range []int{1, 5, 20} {
		var fit, fragments, ours float64
		for seed := range uint64(3) {
			p := stream(t, seed, part, times)
			fit, fragments, ours = fit+play(p, "best fit")/3, fragments+play(p, "fragments")/3, ours+play(p, "ours")/3
		}
		t.Logf("| %d times as many | %.2f %% | %.2f %% | %.2f %% |", times, 100*fit, 100*fragments, 100*ours)
		if !(ours <= .8*fit && ours <= fragments) {
			t.Errorf("%d times: %.4f of the GPUs are of no use, %.4f by best fit and %.4f by fragments alone", times, ours, fit, fragments)
		}
	}
}

// drawn is a cluster and pods that were not looked at when what a mixture counts for was chosen: 40 to 200 servers of 8 GPUs, and 4 to 33 sorts of
// pods which want up to twice the CPUs and 1.5 times the memory of their GPUs, until they want all GPUs.
func drawn(seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 99))
	p := &Problem{Kinds: apportion.Kinds{"cpu", "memory", "gpu"}, Compact: []string{"gpu"}, Theta1: 1, Options: Options{RestartCost: new(float64)}}
	cpus, left := int64(4+r.IntN(12)), int64(0)
	for j := range 40 + r.IntN(160) {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{8 * cpus, 8 * 64, 8}})
		left += 8
	}
	sorts := make([]apportion.Resources, 4+r.IntN(30))
	for at := range sorts {
		gpus := []int64{1, 1, 1, 2, 2, 4}[r.IntN(6)]
		sorts[at] = apportion.Resources{(1 + r.Int64N(2*cpus)) * gpus, (4 + r.Int64N(90)) * gpus, gpus}
	}
	for left > 0 {
		demand := sorts[int(float64(len(sorts))*r.Float64()*r.Float64())] // the first ones more often
		left -= demand[2]
		p.Applications = append(p.Applications, Application{ID: fmt.Sprint("p", len(p.Applications)), Weight: 1, Form: Form{Demand: demand, Min: 1, Max: 1}})
	}
	return p
}

// Of pods that were drawn decisions leave no more GPUs of no use than best fit or fragments alone, in the mean of 40 clusters.
func TestFragmentsOfDrawnPods(t *testing.T) {
	var fit, fragments, ours, worst float64
	const clusters = 40
	for seed := range uint64(clusters) {
		seed += 2000 // others have chosen what a mixture counts for
		f, s := play(drawn(seed), "best fit"), play(drawn(seed), "ours")
		fit, fragments, ours, worst = fit+f/clusters, fragments+play(drawn(seed), "fragments")/clusters, ours+s/clusters, max(worst, s-f)
	}
	t.Logf("best fit %.2f %%, fragments alone %.2f %%, ours %.2f %%; in the worst cluster %.2f %% more than best fit", 100*fit, 100*fragments, 100*ours, 100*worst)
	if ours > min(fit, fragments) {
		t.Errorf("%.4f of the GPUs are of no use, %.4f by best fit, %.4f by fragments alone", ours, fit, fragments)
	}
}

// Decisions break up as little: pods that come by tens, on one server in eight.
func TestFragmentsOfDecisions(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of decisions")
	}
	all := stream(t, 1, 8, 1)
	broken := make([]float64, 2)
	for at, compact := range [][]string{{"gpu"}, nil} {
		p := *all
		p.Applications, p.Compact = nil, compact
		for from := 0; from < len(all.Applications); from += 10 {
			p.Applications = append(p.Applications, all.Applications[from:min(from+10, len(all.Applications))]...)
			d := mustReallocate(t, &p)
			p.Previous = d.Allocation
			var in []Application
			for _, app := range p.Applications {
				if d.Allocation.Containers(app.ID) > 0 {
					in = append(in, app)
				}
			}
			p.Applications = in
		}
		r := resolve(all)
		counts, err := r.counts(p.Previous, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := newDraft(r)
		for i := range counts {
			d.put(i, counts[i])
		}
		broken[at] = d.fragments()
		t.Logf("compact %v: %.2f %% of the GPUs are of no use, of %d pods %d run", compact, 100*broken[at], len(all.Applications), len(p.Applications))
	}
	if broken[0] > .8*broken[1] {
		t.Errorf("%.4f of the GPUs are of no use, %.4f by best fit", broken[0], broken[1])
	}
}
