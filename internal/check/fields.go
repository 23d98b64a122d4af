// This file implements the checks of fields that every configuration has: required ones, and numbers that are not negative.

package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/apportion/apportion"
)

// Required adds apportion.ErrEmpty to faults for each field that is empty, ascending by name.
func Required(faults *apportion.Faults, item apportion.Item, empty map[string]bool) {
	for _, field := range slices.Sorted(maps.Keys(empty)) {
		if empty[field] {
			faults.Add(item, field, apportion.ErrEmpty, "")
		}
	}
}

// NotNegative adds apportion.ErrNegative to faults for each field below 0, ascending by name.
func NotNegative[T ~int | ~int64](faults *apportion.Faults, item apportion.Item, fields map[string]T) {
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if fields[field] < 0 {
			faults.Add(item, field, apportion.ErrNegative, fmt.Sprint(fields[field]))
		}
	}
}
