// This file implements the texts of enumerations: what String prints and what JSON holds.

// Package enum writes the values of an enumeration as text and reads them back. An enumeration is a
// type whose values count from 0, with one text for each.
//
// # Contract
//
// A value that has a text survives Marshal and Unmarshal unchanged. One that has none is printed by
// String as "unknown" with its number, and refused by Marshal; a text that no value has is refused
// by Unmarshal, which leaves the value as it was.
package enum

import (
	"fmt"
	"slices"
	"strconv"
)

// String returns the text of value: the one at its place in names, or "unknown 7".
func String[T ~uint8](value T, names []string) string {
	if int(value) < len(names) {
		return names[value]
	}
	return "unknown " + strconv.Itoa(int(value))
}

// Marshal returns the text of value, for MarshalText, and refuses a value that has none.
func Marshal[T ~uint8](value T, names []string) ([]byte, error) {
	if int(value) >= len(names) {
		return nil, fmt.Errorf("%T has no value %d", value, value)
	}
	return []byte(names[value]), nil
}

// Unmarshal sets value to the one with that text, for UnmarshalText, and refuses any other text.
func Unmarshal[T ~uint8](value *T, text []byte, names []string) error {
	at := slices.Index(names, string(text))
	if at < 0 {
		return fmt.Errorf("%T is none of %q: %q", *value, names, text)
	}
	*value = T(at)
	return nil
}
