// This file holds how fast an application runs on n containers.

package sim

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// Speedup returns how much faster n containers, at least 1, are than the single container of the
// application's own unit: a positive, finite number. Only ratios matter to a simulation.
type Speedup func(n int64) float64

// Linear is the speed-up of an application that loses nothing to communication: n.
func Linear(n int64) float64 { return float64(n) }

// Amdahl returns the speed-up 1 / (serial + (1-serial)/n) of an application with a serial part.
// ErrRange unless 0 <= serial <= 1.
func Amdahl(serial float64) (Speedup, error) {
	if !(serial >= 0 && serial <= 1) {
		return nil, &apportion.FieldError{Field: "serial", Err: apportion.ErrRange}
	}
	return func(n int64) float64 {
		return 1 / (serial + float64((1-serial)/float64(n)))
	}, nil
}

// Measurement is the speed of an application on a number of containers, in any unit.
type Measurement struct {
	Containers int64
	Speed      float64
}

// Measured returns the speed-up that interpolates measurements linearly. Below the first one the
// speed is proportional to the containers; above the last one it stays as it is.
//
// ErrEmpty without measurements, ErrRange for containers or a speed that are not positive,
// ErrNotFinite for an infinite speed, ErrDuplicate for two measurements of one count.
func Measured(measurements []Measurement) (Speedup, error) {
	table := slices.Clone(measurements)
	slices.SortFunc(table, func(a, b Measurement) int { return int(a.Containers - b.Containers) })
	var faults apportion.Faults
	if len(table) == 0 {
		faults.Add(apportion.Item{}, "measurements", apportion.ErrEmpty, "")
	}
	for i, m := range table {
		switch {
		case math.IsInf(m.Speed, 0) || math.IsNaN(m.Speed):
			faults.Add(apportion.Item{}, "Speed", apportion.ErrNotFinite, "")
		case m.Containers < 1 || m.Speed <= 0:
			faults.Add(apportion.Item{}, "measurements", apportion.ErrRange, "not positive")
		case i > 0 && table[i-1].Containers == m.Containers:
			faults.Add(apportion.Item{}, "Containers", apportion.ErrDuplicate, "")
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return func(n int64) float64 { return interpolate(table, n) }, nil
}

func interpolate(table []Measurement, n int64) float64 {
	after, found := slices.BinarySearchFunc(table, n, func(m Measurement, n int64) int { return int(m.Containers - n) })
	switch {
	case found:
		return table[after].Speed
	case after == len(table):
		return table[after-1].Speed
	case after == 0:
		return table[0].Speed * float64(n) / float64(table[0].Containers)
	}
	a, b := table[after-1], table[after]
	part := float64(n-a.Containers) / float64(b.Containers-a.Containers)
	return a.Speed + float64(part*(b.Speed-a.Speed))
}
