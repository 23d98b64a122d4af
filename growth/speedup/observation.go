// This file implements the measurements of a job's steps, [Qiao21] §4.1, and the checks on them.

package speedup

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Observation is one measurement of a training step.
type Observation struct {
	// Containers and Servers are how many containers the job had and on how many servers they were; at least
	// 1, no more servers than containers, at most 2^20.
	Containers int64 `json:"containers"`
	Servers    int64 `json:"servers"`
	// Samples is what one step of all containers together trains on; positive. Where the batch is fixed it is the
	// same for every observation.
	Samples float64 `json:"samples"`
	// Seconds is how long the step took; positive and finite.
	Seconds float64 `json:"seconds"`
}

const (
	// mostContainers bounds containers, so that tables of speeds and products of counts stay small.
	mostContainers = 1 << 20
	// largest bounds samples and seconds, and its inverse does so from below: squares stay finite.
	largest = 1e60
)

func checkCounts(faults *apportion.Faults, item apportion.Item, containers, servers int64) {
	if containers < 1 || containers > mostContainers {
		faults.Add(item, "Containers", apportion.ErrRange, strconv.FormatInt(containers, 10))
	}
	if servers < 1 || servers > max(containers, 1) {
		faults.Add(item, "Servers", apportion.ErrRange, strconv.FormatInt(servers, 10)+" for "+strconv.FormatInt(containers, 10)+" containers")
	}
}

// checkPositive adds to faults a number that is not positive, not finite or out of all bounds.
func checkPositive(faults *apportion.Faults, item apportion.Item, field string, x float64) {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		faults.Add(item, field, apportion.ErrNotFinite, text)
	case !(x >= 1/largest && x <= largest):
		faults.Add(item, field, apportion.ErrRange, text)
	}
}

func (o *Observation) check(faults *apportion.Faults, i int) {
	item := check.Item("observation", "", i)
	checkCounts(faults, item, o.Containers, o.Servers)
	checkPositive(faults, item, "Samples", o.Samples)
	checkPositive(faults, item, "Seconds", o.Seconds)
}

func (o *Observation) each() float64 { return o.Samples / float64(o.Containers) }

func (o *Observation) rate() float64 { return o.Samples / o.Seconds }

// compare orders observations by all that they hold, so that their order in the input leaves no trace.
func compare(a, b Observation) int {
	return cmp.Or(cmp.Compare(a.Containers, b.Containers), cmp.Compare(a.Servers, b.Servers),
		cmp.Compare(a.Samples, b.Samples), cmp.Compare(a.Seconds, b.Seconds))
}

// configuration is what an observation was measured on.
type configuration struct {
	containers, servers int64
	samples             float64
}

func (o *Observation) configuration() configuration {
	return configuration{o.Containers, o.Servers, o.Samples}
}

// tidy returns a sorted copy in which each configuration is there once, with the median of its times: one wrong measurement
// of three leaves it as it was.
func tidy(observations []Observation) []Observation {
	sorted := slices.Clone(observations)
	slices.SortFunc(sorted, compare)
	var single []Observation
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && sorted[to].configuration() == sorted[from].configuration() {
			to++
		}
		// Sorted by seconds within a configuration, so the median is in the middle.
		// A median and not a mean: a step that was interrupted takes ten times as long and says nothing of the
		// others.
		middle := sorted[(from+to-1)/2]
		if (to-from)%2 == 0 {
			middle.Seconds += (sorted[(from+to)/2].Seconds - middle.Seconds) / 2
		}
		single = append(single, middle)
		from = to
	}
	return single
}
