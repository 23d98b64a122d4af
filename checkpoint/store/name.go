// This file implements the rules on names: what jobs and the parts of checkpoints may be called, so
// that every store can use the names as they are.

package store

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The longest names, in bytes.
const (
	// MaxJobBytes bounds the name of a job. It is one element of a path.
	MaxJobBytes = 128
	// MaxPartBytes bounds the name of a part, slashes included, and maxElement each element of it:
	// what common file systems take.
	MaxPartBytes = 1024
	maxElement   = 255
)

// CheckJob returns an error that wraps ErrName and says what is wrong, unless job can name a job: one
// element of a path, of 1 to MaxJobBytes bytes, valid UTF-8 without control characters, slashes and
// backslashes, and neither "." nor "..". Names differ when their bytes differ.
func CheckJob(job string) error {
	if fault := checkJob(job); fault != "" {
		return fmt.Errorf("job %s %s: %w", quote(job), fault, ErrName)
	}
	return nil
}

// CheckName returns an error that wraps ErrName and says what is wrong, unless part can name a part of
// a checkpoint: a relative path with forward slashes, of 1 to MaxPartBytes bytes, valid UTF-8 without
// control characters and backslashes, none of whose elements is empty, ".", ".." or longer than 255
// bytes.
func CheckPart(part string) error {
	if fault := checkPart(part); fault != "" {
		return fmt.Errorf("part %s %s: %w", quote(part), fault, ErrName)
	}
	return nil
}

func checkJob(job string) string {
	switch {
	case len(job) > MaxJobBytes:
		return fmt.Sprintf("is longer than %d bytes", MaxJobBytes)
	case strings.Contains(job, "/"):
		return "has a slash"
	}
	return checkElement(job)
}

func checkPart(part string) string {
	if len(part) > MaxPartBytes {
		return fmt.Sprintf("is longer than %d bytes", MaxPartBytes)
	}
	for element := range strings.SplitSeq(part, "/") {
		if fault := checkElement(element); fault != "" {
			return fault
		}
	}
	return ""
}

func checkElement(name string) string {
	switch {
	case name == "":
		return "is empty or has an empty element"
	case name == "." || name == "..":
		return "has an element that is . or .."
	case len(name) > maxElement:
		return fmt.Sprintf("has an element longer than %d bytes", maxElement)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.Contains(name, `\`):
		return "has a backslash"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character"
	}
	return ""
}

// quote returns a name for a message, cut where it is too long to read.
func quote(name string) string {
	const readable = 60
	if len(name) > readable {
		return strconv.Quote(name[:readable]) + "..."
	}
	return strconv.Quote(name)
}
