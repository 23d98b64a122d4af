// This file tests the single values of inputs at their edges, and the reading of a stream line by line.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// parsed reads a text as a value and writes that with %v, or its error's sort.
func parsed[T any](text string) string {
	var value T
	err := json.Unmarshal([]byte(text), &value)
	var fault *apportion.FieldError
	switch {
	case errors.As(err, &fault):
		return "fault: " + fault.Err.Error() + ": " + fault.Detail
	case err != nil:
		return "no JSON"
	}
	return fmt.Sprint(value)
}

func TestValues(t *testing.T) {
	for name, read := range map[string]struct {
		parse func(string) string
		want  map[string]string // what comes of a text; behind "!" a part of its fault
	}{
		"positive":    {parsed[positive], map[string]string{"1e-300": "1e-300", "2": "2", "0": "!0 is not positive", "-0": "!not positive", "-3": "!-3 is not positive"}},
		"notNegative": {parsed[notNegative], map[string]string{"0": "0", "1.5": "1.5", "-1e-300": "!-1e-300"}},
		"belowOne":    {parsed[belowOne], map[string]string{"0": "0", "0.999": "0.999", "1": "!1 is not below 1", "-0.5": "!-0.5"}},
		"count":       {parsed[count], map[string]string{"0": "0", "7": "7", "-1": "!-1 is below 0", "1.5": "!fault"}},
		"slot":        {parsed[slot], map[string]string{"1": "1", "0": "!0 is below 1", "-9": "!-9 is below 1"}},
		"id":          {parsed[id], map[string]string{`"a/b"`: "a/b", `""`: "!fault", `" "`: " "}},
		"reading":     {parsed[reading], map[string]string{`"NaN"`: "NaN", `"Infinity"`: "+Inf", `"-Infinity"`: "-Inf", "-2.5": "-2.5", `"nan"`: "!not a number", `"1"`: "!not a number"}},
		"weights":     {parsed[weights], map[string]string{"[4,2,1]": "{{8 4 2}}", "[1.5,1,0.5]": "{{3 2 1}}", "[4,2]": "!2 numbers, not 3", "[2,2,1]": "!that fall", "[1,2,3]": "!that fall", "[4,2,0]": "!that fall", "[0.75,0.5,0.25]": "!that fall", "[2097152,2,1]": "!that fall"}},
	} {
		for text, want := range read.want {
			got := read.parse(text)
			words, refused := strings.CutPrefix(want, "!")
			if refused && (!strings.HasPrefix(got, "fault") || !strings.Contains(got, words)) || !refused && got != want {
				t.Errorf("%s %s: %s, want %s", name, text, got, want)
			}
		}
	}
}

// Seconds are rounded to the nanosecond, and the longest that are taken are still a positive time.
func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "0.1": 100 * time.Millisecond, "1e-9": 1, "0.6e-9": 1, "0.4e-9": 0, "86400": 24 * time.Hour} {
		var s seconds
		if err := json.Unmarshal([]byte(text), &s); err != nil || time.Duration(s) != want {
			t.Errorf("%s: %v, %v, want %v", text, time.Duration(s), err, want)
		}
	}
	var longest seconds
	if err := json.Unmarshal([]byte(jsonNumber(maxSeconds)), &longest); err != nil || longest <= 0 {
		t.Errorf("%v, %v", time.Duration(longest), err)
	}
	for _, text := range []string{jsonNumber(math.Nextafter(maxSeconds, math.Inf(1))), "1e300", "-1e-9"} {
		if got := parsed[seconds](text); !strings.HasPrefix(got, "fault") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Blank lines are skipped and counted, and the last line needs no line break.
func TestLines(t *testing.T) {
	l, err := firstLine(strings.NewReader("\n{\"a\": 1}\r\n \t\r\r\n\n[2]"))
	var got []string
	for ; err == nil; err = l.next() {
		got = append(got, fmt.Sprintf("%d %s", l.number, strings.TrimSpace(string(l.text))))
	}
	if want := `[2 {"a": 1} 5 [2]]`; fmt.Sprint(got) != want || err != io.EOF {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}

// A reader that fails is no end of the stream, whether before its first line or behind it.
func TestLinesFail(t *testing.T) {
	for _, text := range []string{"", "{}\n"} {
		l, err := firstLine(failing{strings.NewReader(text)})
		if text != "" && err == nil {
			err = l.next()
		}
		if err == nil || !strings.Contains(err.Error(), "the disk is gone") {
			t.Errorf("behind %q: %v", text, err)
		}
	}
}

// Every fault gets its line, and keeps what it was about.
func TestLineOfFaults(t *testing.T) {
	job := func(id string) apportion.Item { return apportion.Item{Kind: "job", ID: id} }
	var several apportion.Faults
	several.Add(job("a"), "demand", apportion.ErrLength, "1 for 2")
	several.Add(job(""), "id", apportion.ErrMissing, "")
	several.Add(apportion.Item{}, "slots", apportion.ErrRange, "0")
	var named apportion.Faults
	if !errors.As(atLine(7, fmt.Errorf("around: %w", several)), &named) || len(named) != 3 {
		t.Fatal(named)
	}
	for i, want := range []string{`line 7, job "a"`, "line 7", "line 7"} {
		if got := named[i]; got.Item.String() != want || got.Field != several[i].Field || got.Err != several[i].Err || got.Detail != several[i].Detail {
			t.Errorf("%+v, want the item %s", got, want)
		}
	}
	single := &apportion.FieldError{Item: job("b"), Field: "x", Err: apportion.ErrRange}
	if err := atLine(1, single); !errors.Is(err, apportion.ErrRange) || !strings.Contains(err.Error(), `line 1, job "b"`) {
		t.Error(err)
	}
	must.Equal(t, single.Item, job("b"), "the fault that was given has changed")
	if err := atLine(3, io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Error(err)
	}
}

// A time-out that is not positive is none, and one that is ends the context by itself.
func TestLimited(t *testing.T) {
	for _, timeout := range []time.Duration{0, -1, time.Hour} {
		ctx, cancel := (&command{timeout: timeout}).limited(t.Context())
		if _, has := ctx.Deadline(); has != (timeout > 0) || ctx.Err() != nil {
			t.Errorf("%v: a deadline %v, error %v", timeout, has, ctx.Err())
		}
		cancel()
		if ctx.Err() == nil {
			t.Errorf("%v: it cannot be cancelled", timeout)
		}
	}
}
