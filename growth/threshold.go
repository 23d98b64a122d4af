// This file implements the two tests of the thesis as classifiers: [Zheng] Algorithm 1, lines 4-13,
// and Algorithm 3, lines 6-22.

package growth

// Threshold is FlowCon's test: growth efficiency below Alpha is slow, anything else is growing.
type Threshold struct {
	// Alpha is in the unit of a growth efficiency, (4.2), under Normalization: share of the first
	// value per second and per unit of usage where that is FirstValue. Positive.
	Alpha float64
	// Normalization says what growth is divided by; the zero value is FirstValue.
	Normalization Normalization
}

// Judge implements [Classifier].
func (t Threshold) Judge(series *Series) Verdict {
	if series.Efficiency(t.Normalization) < t.Alpha {
		return Slow
	}
	return Growing
}

// Validate returns what is wrong with the test, as apportion.Faults, or nil.
func (t Threshold) Validate() error { return checkAlpha(t.Alpha).Err() }

// Decline is SpeCon's test: a gain below Alpha that is also smaller than the gain before is slow,
// a gain of at least Alpha is growing, and a job whose small gain does not shrink stays.
//
// A job that stands still for good is slow once only, because 0 is not smaller than 0; so it is in
// the listing.
type Decline struct {
	// Alpha is the gain per categorization interval, under Normalization. Positive.
	Alpha float64
	// Normalization says what gain is divided by; the zero value is FirstValue.
	Normalization Normalization
}

// Judge implements [Classifier].
func (d Decline) Judge(series *Series) Verdict {
	gain := series.Gain(d.Normalization)
	if gain >= d.Alpha {
		return Growing
	}
	if before, ok := series.GainBefore(d.Normalization); ok && gain < before {
		return Slow
	}
	return Unsure
}

// Validate returns what is wrong with the test, as apportion.Faults, or nil.
func (d Decline) Validate() error { return checkAlpha(d.Alpha).Err() }
