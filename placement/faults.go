// This file holds the checks on input that scores, hosts, plans and packings share.

package placement

import (
	"fmt"
	"math"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// attribute names the i-th thing of a list as the item of its faults. Names cost more than checks,
// so they are made only where there is a fault.
func attribute(faults apportion.Faults, what, id string, i int) {
	for _, fault := range faults {
		fault.Item = check.Item(what, id, i)
	}
}

// checkFree adds to faults what is wrong with a vector of free quantities, which may be negative.
func checkFree(faults *apportion.Faults, kinds apportion.Kinds, free apportion.Resources) {
	if len(free) != len(kinds) {
		faults.Add(apportion.Item{}, "Free", apportion.ErrLength, fmt.Sprintf("%d quantities for %d kinds", len(free), len(kinds)))
	}
}

// checkFinite adds to faults a NaN or an infinity.
func checkFinite(faults *apportion.Faults, x float64, field string) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		faults.Add(apportion.Item{}, field, apportion.ErrNotFinite, strconv.FormatFloat(x, 'g', -1, 64))
	}
}
