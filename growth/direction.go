// This file implements Direction, which way the evaluation function of a job is to go; [Zheng] (4.1)
// takes sizes of changes and does not ask.

package growth

import "github.com/apportion/apportion/internal/enum"

// Direction says which values of an evaluation function are better.
type Direction uint8

// The directions.
const (
	// EitherWay: nobody knows. The side to which the job has gone since its first value counts as the
	// better one, so a loss that only rises counts as progress.
	EitherWay Direction = iota
	// SmallerIsBetter: a loss or an error rate.
	SmallerIsBetter
	// LargerIsBetter: an accuracy or a reward.
	LargerIsBetter
)

var directions = []string{"either way", "smaller is better", "larger is better"}

// String returns the direction in words.
func (d Direction) String() string { return enum.String(d, directions) }

// MarshalText returns what String returns.
func (d Direction) MarshalText() ([]byte, error) { return enum.Marshal(d, directions) }

// UnmarshalText reads what MarshalText writes.
func (d *Direction) UnmarshalText(text []byte) error { return enum.Unmarshal(d, text, directions) }

// better returns what a fall from one value to another is worth: positive towards the better side. With
// no direction that is the side of now, the way that the job has gone since its start.
func (d Direction) better(fall, now float64) float64 {
	if d == LargerIsBetter || d == EitherWay && now < 0 {
		return -fall
	}
	return fall
}
