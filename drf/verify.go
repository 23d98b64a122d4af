// This file implements Verify, the properties of a fair division, [Ghodsi11] §3 and §5.

package drf

import (
	"fmt"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Verify checks a division, however it came about: containers[i] is what claims[i] has. Capacity
// and bounds of whole containers are checked exactly, all else with a relative tolerance of 1e-9.
//
// The fillings of this package are within capacity, within bounds (if Min is not dropped) and
// Pareto efficient (whole containers: without StopAtFirst). [Fill] is envy-free, and without any
// Min gives everyone its sharing incentive. [FillWhole] with StopAtFirst and without Max is
// envy-free up to one container; without StopAtFirst it may fall short of that where containers
// differ in size.
//
// The time is O(K n²). The error is [apportion.Faults]: bad claims, another number of containers
// than of claims (ErrLength), one that is negative or not finite.
//
// Source: [Ghodsi11] §3; envy up to one container [Parkes15].
func Verify[N Amount](capacity apportion.Resources, claims []Claim, containers []N) (Report, error) {
	if err := newTree(capacity, nil).validate(claims); err != nil {
		return nil, err
	}
	if err := checkContainers(claims, containers); err != nil {
		return nil, err
	}
	v := &verifier{capacity: capacity, claims: claims, has: make([]float64, len(claims))}
	for i, n := range containers {
		v.has[i] = float64(n)
	}
	// Whole containers are kept as integers beside their floats, for what is checked exactly.
	if whole, ok := any(containers).([]int64); ok {
		v.whole = whole
	}
	// In the order of Property, which is that of the report.
	v.checkCapacity()
	v.checkBounds()
	v.checkPareto()
	v.checkEnvy()
	v.checkIncentive()
	return v.report, nil
}

// checkContainers refuses another number of containers than of claims, and counts that are negative or no
// numbers.
// All of them at once. A count may be any number otherwise: what is above Max is a violation and no
// fault.
func checkContainers[N Amount](claims []Claim, containers []N) error {
	var faults apportion.Faults
	if len(containers) != len(claims) {
		faults.Add(apportion.Item{}, "Containers", apportion.ErrLength, fmt.Sprintf("%d numbers for %d claims", len(containers), len(claims)))
		return faults.Err()
	}
	for i, n := range containers {
		item := check.Item("claim", claims[i].ID, i)
		switch number := float64(n); {
		case math.IsNaN(number) || math.IsInf(number, 0):
			faults.Add(item, "Containers", apportion.ErrNotFinite, fmt.Sprint(n))
		case number < 0:
			faults.Add(item, "Containers", apportion.ErrNegative, fmt.Sprint(n))
		}
	}
	return faults.Err()
}
