// This file reads the list of bugs.

package main

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// list has a bug in each line, as Go quotes strings: what it is, the file from the folder checkpoint on, a text that stands there once, and
// what somebody might have written instead. Each changes what the library does.
//
//go:embed bugs.txt
var list string

// bug is a line of the list.
type bug struct{ what, file, from, to string }

// bugs returns all. The error says which line is none.
func bugs() (all []bug, err error) {
	for line := range strings.Lines(list) {
		var b bug
		if n, err := fmt.Sscanf(line, "%q %q %q %q\n", &b.what, &b.file, &b.from, &b.to); err != nil {
			return nil, fmt.Errorf("bug %d, after %d fields: %w: %s", len(all), n, err, strconv.Quote(line))
		}
		all = append(all, b)
	}
	return all, nil
}
