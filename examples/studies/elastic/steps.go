// This file makes speeds of measured step times: those of a model at a batch size, by where its containers are,
// [Qiao21] §5.1.

package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"iter"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/examples/studies/measured"
)

//go:embed data/packed_steps.csv
var packedSteps []byte

// point is a measured step: of so many samples a GPU, and its synchronizing part.
// local is samples, step and sync are seconds.
type point struct{ local, step, sync float64 }

// model holds the steps of a model by numbers of servers and GPUs, each ascending by samples.
type model struct {
	name string
	// exact are the steps by placement: the GPUs of its servers, ascending.
	exact map[string][]point
	// byCount are those by servers and GPUs, the mean over all placements.
	byCount map[[2]int64][]point
	// least and most are the samples of a GPU at one time that were measured.
	least, most float64
	// largest is the largest number of GPUs.
	largest int64
}

// local is the most samples that a GPU may have at one time, where not all that were measured fit: [Qiao21]'s own limit.
// Larger ones were measured by accumulating gradients, which iteration counts itself.
var local = map[string]float64{"yolov3": 8}

// readModels returns the models by name.
func readModels() (map[string]*model, error) {
	models := map[string]*model{}
	add := func(t trace.StepTime) {
		m := models[t.App]
		if m == nil {
			m = &model{name: t.App, exact: map[string][]point{}, byCount: map[[2]int64][]point{}, least: math.Inf(1)}
			models[t.App] = m
		}
		p := point{float64(t.LocalBatch.Value), t.Step.Value.Seconds(), t.Sync.Value.Seconds()}
		m.least, m.most = min(m.least, p.local), max(m.most, p.local)
		m.largest = max(m.largest, t.GPUs.Value)
		if t.Placement != "" {
			key := []byte(t.Placement)
			// A placement is written by server; which server is which does not matter.
			slices.Sort(key)
			m.exact[string(key)] = append(m.exact[string(key)], p)
		}
		counts := [2]int64{t.Nodes.Value, t.GPUs.Value}
		m.byCount[counts] = append(m.byCount[counts], p)
	}
	packed := trace.Placements("packed_steps.csv", bytes.NewReader(packedSteps))
	for _, steps := range []iter.Seq2[trace.StepTime, error]{measured.Placements(), measured.Scalability(), packed} {
		for t, err := range steps {
			if err != nil {
				return nil, err
			}
			add(t)
		}
	}
	for _, m := range models {
		if most, limited := local[m.name]; limited {
			m.most = most
		}
		for key := range m.exact {
			m.exact[key] = means(m.exact[key])
		}
		for key := range m.byCount {
			m.byCount[key] = means(m.byCount[key])
		}
	}
	return models, nil
}

// means returns one point for each number of samples, ascending: the mean of those that were measured.
func means(points []point) []point {
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.local, b.local) })
	var single []point
	for from := 0; from < len(points); {
		sum, to := point{}, from
		for ; to < len(points) && points[to].local == points[from].local; to++ {
			sum.step, sum.sync = sum.step+points[to].step, sum.sync+points[to].sync
		}
		n := float64(to - from)
		single = append(single, point{points[from].local, sum.step / n, sum.sync / n})
		from = to
	}
	return single
}

// at returns the point with so many samples, on the line between the two next to it, and at the ends those.
// Beyond what was measured the nearest measurement stands: nothing is extrapolated.
func at(points []point, local float64) point {
	i, _ := slices.BinarySearchFunc(points, local, func(p point, x float64) int { return cmp.Compare(p.local, x) })
	switch {
	case i == 0:
		return points[0]
	case i == len(points):
		return points[i-1]
	}
	a, b := points[i-1], points[i]
	return mix(a, b, (local-a.local)/(b.local-a.local))
}

// mix returns the point at a part of the way from a to b.
func mix(a, b point, part float64) point {
	return point{a.local + (b.local-a.local)*part, a.step + (b.step-a.step)*part, a.sync + (b.sync-a.sync)*part}
}

// step returns the step of a placement, GPUs by server ascending, with so many samples a GPU: as measured, or else
// between the placements with the next numbers of servers and GPUs.
// gpus are digits, one for each server; every model was measured on one server at least.
func (m *model) step(gpus []byte, local float64) point {
	if points := m.exact[string(gpus)]; points != nil {
		return at(points, local)
	}
	n := int64(0)
	for _, g := range gpus {
		n += int64(g - '0')
	}
	servers := int64(len(gpus))
	below, above := int64(0), int64(math.MaxInt64)
	for key := range m.byCount {
		if key[0] <= servers {
			below = max(below, key[0])
		}
		if key[0] >= servers {
			above = min(above, key[0])
		}
	}
	switch {
	case above == math.MaxInt64:
		return m.row(below, n, local)
	case below == above:
		return m.row(below, n, local)
	}
	return mix(m.row(below, n, local), m.row(above, n, local), float64(servers-below)/float64(above-below))
}

// row returns the step on a number of servers that was measured, between the numbers of GPUs.
func (m *model) row(servers, gpus int64, local float64) point {
	below, above := int64(0), int64(math.MaxInt64)
	for key := range m.byCount {
		if key[0] != servers {
			continue
		}
		if key[1] <= gpus {
			below = max(below, key[1])
		}
		if key[1] >= gpus {
			above = min(above, key[1])
		}
	}
	switch {
	case below == 0:
		return at(m.byCount[[2]int64{servers, above}], local)
	case above == math.MaxInt64 || below == above:
		return at(m.byCount[[2]int64{servers, below}], local)
	}
	a, b := at(m.byCount[[2]int64{servers, below}], local), at(m.byCount[[2]int64{servers, above}], local)
	return mix(a, b, float64(gpus-below)/float64(above-below))
}

// iteration returns the seconds of an iteration of a batch on a placement. What does not fit into a GPU at one time goes
// through it in several passes, of which the last one synchronizes. fast is how much faster than measured the GPU
// computes; it does not synchronize faster.
// on must not be empty, and a server must have less than ten GPUs. batch is that of all GPUs together.
func (m *model) iteration(on []apportion.Placement, batch, fast float64) float64 {
	gpus := make([]byte, len(on))
	n := int64(0)
	for i, p := range on {
		gpus[i], n = byte('0'+p.Count), n+p.Count
	}
	slices.Sort(gpus)
	// Samples are whole: the GPU with most of them is waited for.
	each := math.Ceil(batch / float64(n))
	passes := math.Ceil(each / m.most)
	p := m.step(gpus, math.Ceil(each/passes))
	compute := max(0, p.step-p.sync) / fast
	return passes*compute + p.sync
}

// mostGPUs returns on how many GPUs a batch may run: at least the least samples that were measured on each.
func (m *model) mostGPUs(batch float64) int64 {
	return max(1, min(m.largest, int64(batch/m.least)))
}
