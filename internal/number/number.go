// This file implements the form that bounds and gaps have in JSON: numbers, and words for what JSON
// has no number for.

// Package number writes float64 as JSON where a result may be infinite. JSON has no infinities, and
// encoding/json refuses a value that holds one.
//
// # Contract
//
// A [Float] survives encoding/json unchanged: finite numbers in the shortest form that reads back to
// the same bits, infinities and NaN as the texts "+Inf", "-Inf" and "NaN".
package number

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Float is a float64 of a JSON document that may be infinite or NaN.
type Float float64

// MarshalJSON writes a number, or one of "+Inf", "-Inf" and "NaN".
func (f Float) MarshalJSON() ([]byte, error) {
	x := float64(f)
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return []byte(strconv.Quote(strconv.FormatFloat(x, 'g', -1, 64))), nil
	}
	return json.Marshal(x)
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses every other text.
func (f *Float) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*float64)(f))
	}
	switch string(data) {
	case `"+Inf"`:
		*f = Float(math.Inf(1))
	case `"-Inf"`:
		*f = Float(math.Inf(-1))
	case `"NaN"`:
		*f = Float(math.NaN())
	default:
		return fmt.Errorf("number: %s is none of \"+Inf\", \"-Inf\" and \"NaN\"", data)
	}
	return nil
}
