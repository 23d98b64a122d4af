// This file implements what makes the evaluation functions of different jobs comparable, which
// [Zheng] §5.1.2 leaves open.

package growth

import "github.com/apportion/apportion/internal/enum"

// Normalization is what an evaluation function is divided by before it is compared with alpha and
// with the functions of other jobs. The thesis gives alpha as a percentage and leaves open of what.
type Normalization uint8

// The normalizations.
const (
	// FirstValue divides by the size of the job's first value that is not 0. It is the default:
	// a loss that starts at 180 and one that starts at 0.7 become comparable at once.
	FirstValue Normalization = iota
	// Raw divides by 1: growth in the job's own units, as the equations are printed.
	Raw
	// LargestGrowth divides by the largest growth that the job has shown: growth lies in [0, 1],
	// and the first interval of every job has growth 1. Alpha is then a percentage as the thesis
	// uses it: its 1 % to 15 % are parts of the job's best pace, whatever the unit of the evaluation
	// function, where a loss relative to its first value soon falls by less than 1 % a second. The
	// shares of growth that become limits then compare each job with its own best.
	LargestGrowth
)

var normalizations = []string{"first-value", "raw", "largest-growth"}

// String returns "first-value", "raw" or "largest-growth".
func (n Normalization) String() string { return enum.String(n, normalizations) }

// MarshalText returns what String returns.
func (n Normalization) MarshalText() ([]byte, error) { return enum.Marshal(n, normalizations) }

// UnmarshalText reads what MarshalText writes.
func (n *Normalization) UnmarshalText(text []byte) error {
	return enum.Unmarshal(n, text, normalizations)
}

// scaled returns growth divided by the scale of n: first is the size of the first value that is
// not 0, largest the largest growth so far. A series that has shown nothing but zeros has no scale
// and no growth: 0.
func (n Normalization) scaled(growth, first, largest float64) float64 {
	scale := 1.0
	switch n {
	case FirstValue:
		scale = first
	case LargestGrowth:
		scale = largest
	}
	if growth == 0 || scale == 0 {
		return 0
	}
	return min(growth/scale, growthLimit)
}
