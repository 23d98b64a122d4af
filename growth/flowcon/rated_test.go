// This file tests the limits of jobs whose growth a classifier rates: no limit is kept.

package flowcon_test

import (
	"math"
	"testing"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
)

// told is a growth.Rater that reads verdict and rate from the value: below 100 a job is slow, below 200 nobody is sure,
// above it grows, and the rate is what remains.
type told struct{ judged }

func (told) Rate(series *growth.Series, _ growth.Normalization) float64 {
	value, _ := series.Value()
	return math.Mod(value, 100)
}

// judged has the verdicts of told, and no rate.
type judged struct{}

func (judged) Judge(series *growth.Series) growth.Verdict {
	switch value, _ := series.Value(); {
	case value < 100:
		return growth.Slow
	case value < 200:
		return growth.Unsure
	default:
		return growth.Growing
	}
}

// Jobs of which nobody is sure, and those that grow while a newcomer is not measured, share by what they are rated; one that
// has converged yields to the newcomer, and who is not rated keeps what he has.
func TestRatedLimits(t *testing.T) {
	full := []float64{1}
	scene := func(a, b float64) []reading {
		return []reading{{Job: "a", Value: a, Usage: full}, {Job: "b", Value: b, Usage: full}}
	}
	with := func(scene []reading, value float64) []reading {
		return append(scene, reading{Job: "new", Value: value, Usage: full})
	}
	unmeasured := func(scene []reading) []reading {
		scene[1].Usage = nil
		return scene
	}
	rated := func() *flowcon.Options { return &flowcon.Options{Classifier: told{}, Beta: 100} }
	for _, test := range []limitTest{
		{"watched", rated(), [][]reading{scene(203, 1), scene(203, 1), scene(201, 104)}, map[string]float64{"a": 0.2, "b": 0.8}},
		{"watched, use not measured", rated(), [][]reading{unmeasured(scene(203, 1)), unmeasured(scene(203, 1)), unmeasured(scene(201, 104))},
			map[string]float64{"a": 0.2, "b": 0.8}},
		{"watched, not rated", &flowcon.Options{Classifier: judged{}, Beta: 100},
			[][]reading{scene(203, 1), scene(203, 1), scene(201, 104)}, map[string]float64{"b": 1}},
		{"a newcomer", rated(), [][]reading{scene(203, 1), scene(203, 1), with(scene(201, 104), 205)}, map[string]float64{"a": 0.2, "b": 0.8, "new": 1}},
		{"a newcomer, not rated", &flowcon.Options{Classifier: judged{}, Beta: 100},
			[][]reading{scene(203, 201), scene(203, 201), with(scene(201, 204), 205)}, map[string]float64{"a": 0.005, "b": 0.005, "new": 1}},
		{"a newcomer is measured", rated(), [][]reading{scene(203, 1), scene(203, 1), with(scene(201, 104), 205), with(scene(201, 104), 205)},
			map[string]float64{"a": 0.1, "b": 0.4, "new": 0.5}},
		{"watched, bound as printed", &flowcon.Options{Classifier: told{}, BoundConvergedOnly: true},
			[][]reading{scene(203, 0), scene(203, 0), scene(201, 100)}, map[string]float64{"a": 1, "b": 0.25}},
		{"converged beside a newcomer", rated(), [][]reading{scene(203, 1), scene(203, 1), with(scene(203, 1), 204)},
			map[string]float64{"a": 0.75, "b": 1. / 300, "new": 1}},
		{"converged, the newcomer measured", rated(), [][]reading{scene(203, 1), scene(203, 1), with(scene(203, 1), 204), with(scene(203, 1), 204)},
			map[string]float64{"a": 3. / 8, "b": 1. / 8, "new": 0.5}},
	} {
		t.Run(test.name, test.run)
	}
}
