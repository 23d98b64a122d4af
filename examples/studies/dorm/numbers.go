// This file prints numbers for the tables.

package main

import (
	"math"
	"strconv"
)

// noNumber stands where a run has no such number, or a ratio to zero.
const noNumber = "-"

func number(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return noNumber
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}
