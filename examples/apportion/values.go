// This file holds the types of single values in the inputs: what they may be beyond what JSON says.

package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// decoded is what the types of this file read themselves from.
func decoded[T any](text []byte) (value T, err error) {
	return value, strictjson.Unmarshal(text, &value, nil)
}

// fault returns the fault of a value, whose path its reader knows.
func fault(sort error, detail string) error { return &apportion.FieldError{Err: sort, Detail: detail} }

// id is a name that is not empty.
type id string

// UnmarshalText refuses an empty text.
func (i *id) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return fault(apportion.ErrEmpty, "")
	}
	*i = id(text)
	return nil
}

// positive is a number above 0.
type positive float64

// UnmarshalJSON refuses 0 and what is below.
func (p *positive) UnmarshalJSON(text []byte) error {
	value, err := decoded[float64](text)
	if err == nil && value <= 0 {
		err = fault(apportion.ErrRange, jsonNumber(value)+" is not positive")
	}
	// The value is set even with an error, since the reader goes on to find other faults.
	*p = positive(value)
	return err
}

// notNegative is a number that is 0 or more.
type notNegative float64

// UnmarshalJSON refuses numbers below 0.
func (n *notNegative) UnmarshalJSON(text []byte) error {
	value, err := decoded[float64](text)
	if err == nil && value < 0 {
		err = fault(apportion.ErrNegative, jsonNumber(value))
	}
	*n = notNegative(value)
	return err
}

// belowOne is a number in [0, 1).
type belowOne float64

// UnmarshalJSON refuses every other number.
func (b *belowOne) UnmarshalJSON(text []byte) error {
	value, err := decoded[notNegative](text)
	if err == nil && value >= 1 {
		err = fault(apportion.ErrRange, jsonNumber(float64(value))+" is not below 1")
	}
	*b = belowOne(value)
	return err
}

// count is a whole number that is 0 or more, slot one that is 1 or more.
type (
	// A count counts what may be absent, as steps of a search.
	count int
	// Slots are numbered from 1, as in the paper: slot 0 is before the first.
	slot int
)

// UnmarshalJSON refuses numbers below 0.
func (c *count) UnmarshalJSON(text []byte) error {
	value, err := atLeast(text, 0)
	*c = count(value)
	return err
}

// UnmarshalJSON refuses numbers below 1.
func (s *slot) UnmarshalJSON(text []byte) error {
	value, err := atLeast(text, 1)
	*s = slot(value)
	return err
}

// atLeast reads a whole number that is not below least.
func atLeast(text []byte, least int) (int, error) {
	value, err := decoded[int](text)
	if err == nil && value < least {
		err = fault(apportion.ErrRange, strconv.Itoa(value)+" is below "+strconv.Itoa(least))
	}
	return value, err
}

// maxSeconds is the longest time in seconds: what a time.Duration holds.
//
// One second less than the largest Duration, so that rounding to the nanosecond cannot overflow.
const maxSeconds = float64(math.MaxInt64/int64(time.Second)) - 1

// seconds is a time, 0 or more, to the nanosecond; its text is a number of seconds.
type seconds time.Duration

// UnmarshalJSON refuses negative times and those that a time.Duration cannot hold.
func (s *seconds) UnmarshalJSON(text []byte) error {
	value, err := decoded[notNegative](text)
	// Compared as float64: a conversion to int64 that overflows has no defined value in Go.
	if err == nil && float64(value) > maxSeconds {
		err = fault(apportion.ErrRange, jsonNumber(float64(value))+" seconds are more than 292 years")
	}
	if err == nil {
		// Rounded and not cut off: 0.1 s is not representable in binary, and must be 100 ms.
		*s = seconds(math.Round(float64(value) * float64(time.Second)))
	}
	return err
}

// reading is a number, or one of the texts for what JSON has no numbers for.
type reading float64

// UnmarshalJSON refuses every other text.
func (r *reading) UnmarshalJSON(text []byte) error {
	// A training process that diverges reports NaN, which JSON writers put into quotes. It is a
	// reading like any other: the classifiers decide what to make of it.
	if word, err := decoded[string](text); err == nil {
		values := map[string]reading{"NaN": reading(math.NaN()), "Infinity": reading(math.Inf(1)), "-Infinity": reading(math.Inf(-1))}
		value, ok := values[word]
		if !ok {
			return fault(apportion.ErrType, strconv.Quote(word)+`, not a number, "NaN", "Infinity" or "-Infinity"`)
		}
		*r = value
		return nil
	}
	value, err := decoded[float64](text)
	*r = reading(value)
	return err
}

func jsonNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// checkVector adds to faults what is wrong with quantities, one for each kind.
func checkVector(faults *apportion.Faults, kinds apportion.Kinds, r apportion.Resources, item apportion.Item, field string) {
	if len(r) != len(kinds) {
		faults.Add(item, field, apportion.ErrLength, fmt.Sprintf("%d quantities for %d kinds", len(r), len(kinds)))
		return
	}
	for k, q := range r {
		if q < 0 {
			faults.Add(item, field+"["+kinds.Name(k)+"]", apportion.ErrNegative, strconv.FormatInt(q, 10))
		}
	}
}
