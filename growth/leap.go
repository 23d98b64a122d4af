// This file implements what keeps single wrong readings out of a history: a leap counts once the next
// reading confirms it. It is not in the thesis.

package growth

import "math"

// On real curves leapScale, leapMemory and leapClip move the mark by up to a hundredth of a run, and strayFirst by three; confirmations
// and strayNear nothing, as these curves are not misread: TestHolds and TestStrayStart say what they do.
const (
	// leapScale is how many times the usual distance of a reading from its forerunners is a leap.
	leapScale = 6
	// confirmations is how many more readings must be close to a leap.
	confirmations = 2
	// leapMemory is the weight of a new distance in the usual one, and leapClip the largest that counts,
	// in usual ones: so a single wrong reading moves it by little.
	leapMemory, leapClip = 0.1, 3
	// strayFirst is how many times the first value is larger than the next two where it is taken for a
	// wrong one, and strayNear how much closer those two are to each other.
	strayFirst, strayNear = 30, 20
)

// leaps tells leaps from the usual scatter. Its fields are exported for encoding/json only.
type leaps struct {
	Newest [3]float64 `json:"newest"` // values that counted, in turn
	N      int        `json:"n"`      // values that counted
	Usual  float64    `json:"usual"`  // usual distance of a value from the median of the three before it
	Held   int        `json:"held"`   // how many values in a row are a leap that waits for the next
	Value  float64    `json:"value"`  // that leap
	Work   float64    `json:"work"`
}

// middle returns the median of the three newest values, or the newest one while there are fewer.
func (l *leaps) middle() float64 {
	a, b, c := l.Newest[0], l.Newest[1], l.Newest[2]
	if l.N < len(l.Newest) {
		return l.Newest[max(l.N-1, 0)]
	}
	return max(min(a, b), min(max(a, b), c))
}

func (l *leaps) count(value float64) {
	if l.N > 0 {
		distance := math.Abs(value - l.middle())
		if l.N <= len(l.Newest) {
			l.Usual = max(l.Usual, distance)
		} else {
			l.Usual += float64(leapMemory * (min(distance, leapClip*l.Usual) - l.Usual))
		}
	}
	l.Newest[l.N%len(l.Newest)] = value
	l.N++
}

// holds reports whether a value is a leap that waits for the next one. Confirmed says that it ends such a
// wait: the held value and this one are both true.
func (l *leaps) holds(work, value float64) (held, confirmed bool) {
	middle := l.middle()
	if l.N < len(l.Newest) || math.Abs(value-middle) <= leapScale*l.Usual {
		l.Held = 0
		return false, false
	}
	if l.Held == 0 || math.Abs(value-l.Value) > math.Abs(l.Value-middle)/2 {
		l.Held, l.Value, l.Work = 1, value, work
		return true, false
	}
	if l.Held++; l.Held <= confirmations {
		return true, false
	}
	l.Held = 0
	return false, true
}

// land makes the two readings of a confirmed leap the newest, so that those after it are measured from there.
func (l *leaps) land(value float64) { l.Newest = [3]float64{l.Value, value, value} }

// strayStart reports whether the first of three values is a wrong one: many times larger than the next
// two, which are close together.
func (l *leaps) strayStart() bool {
	first, second, third := l.Newest[0], l.Newest[1], l.Newest[2]
	far := math.Abs(first) > strayFirst*max(math.Abs(second), math.Abs(third))
	return l.N == len(l.Newest) && far && math.Abs(first-second) > strayNear*math.Abs(second-third)
}

// restart forgets the first of three values.
func (l *leaps) restart() {
	l.Newest[0] = l.Newest[1]
	l.Usual = math.Abs(l.Newest[1] - l.Newest[2])
}
