// This file replays curves as jobs of some length under some noise, and keeps what is known at twenty times of each.

package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
)

const (
	// enough is the share of all improvement that may be ahead of a job that has converged.
	enough = 0.05
	// every is the time between two readings.
	every = 5 * time.Second
	// parts is into how many parts a run is divided, first the part after which it is first judged.
	parts, first = 20, 3
)

var (
	// lengths are readings of a run, evenly on a logarithmic scale.
	lengths = []int{15, 26, 45, 77, 133, 231, 400}
	noises  = []float64{0, 0.1, 0.3}
)

// moment is a time at which a job is judged.
type moment struct {
	curve, length, part int
	family              string
	noise               float64
	left                float64 // share of all improvement that is ahead
	evidence            growth.Evidence
	rivals              []float64 // by rival: larger says that more is ahead
}

// gather replays all curves. The moments of a run stand together.
func gather(curves []*curve, seeds int) (all []moment) {
	for i, c := range curves {
		for _, length := range lengths {
			for _, noise := range noises {
				for seed := range seeds {
					random := rand.New(rand.NewPCG(uint64(seed), uint64(1000*i+length)))
					for _, m := range replay(c, length, noise, random) {
						m.curve = i
						all = append(all, m)
					}
				}
			}
		}
	}
	return all
}

// replay plays one run.
func replay(c *curve, length int, noise float64, random *rand.Rand) (all []moment) {
	var series growth.Series
	series.Toward(c.better)
	jitter, patience, part := noisy.Noise{Share: noise}, &patience{alpha: 0.03}, 0
	for i := range length {
		point := c.point(float64(i) / float64(length))
		value, _ := jitter.Of(c.values[point], random)
		series.Add(time.Duration(i)*every, value, growth.Used(1))
		patience.add(value, c.better)
		if parts*i/length == part {
			continue
		}
		part = parts * i / length
		if evidence, _ := series.Evidence(); part >= first {
			m := moment{length: length, part: part, family: c.family, noise: noise, left: c.left[point], evidence: evidence}
			for _, rival := range rivals {
				m.rivals = append(m.rivals, rival.score(&series, patience))
			}
			all = append(all, m)
		}
	}
	return all
}

// families returns the families of curves, sorted.
func families(curves []*curve) []string {
	var names []string
	for _, c := range curves {
		names = append(names, c.family)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
