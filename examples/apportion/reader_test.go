// This file tests the reading of texts that are no JSON, or too much of it, and fuzzes it.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

const (
	smallDRF  = `{"kinds":["cpu"],"capacity":[4],"claims":[{"id":"a","demand":[1]}]}`
	smallDorm = `{"kinds":["cpu"],"servers":[{"id":"s","capacity":[4]}],"applications":[{"id":"a","demand":[1],"max":3}],"theta1":1,"theta2":0.5}`
)

func TestReadTexts(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       error // nil: any error that says where
	}{
		{"empty", "", strictjson.ErrCutOff},
		{"white space", " \n\t ", strictjson.ErrCutOff},
		{"trailing value", smallDRF + "{}", strictjson.ErrTrailing},
		{"trailing text", smallDRF + " x", strictjson.ErrTrailing},
		{"cut off in a number", `{"capacity":[4`, strictjson.ErrCutOff},
		{"cut off in a string", `{"kinds":["cp`, strictjson.ErrCutOff},
		{"cut off behind a key", `{"kinds":`, strictjson.ErrCutOff},
		{"cut off in a value that is skipped", `{"x":[[`, strictjson.ErrCutOff},
		{"deep", `{"x":` + strings.Repeat("[", 1_000_000), strictjson.ErrTooDeep},
		{"deep where a number is due", `{"capacity":[` + strings.Repeat(`{"a":`, 1_000_000), strictjson.ErrTooDeep},
		{"not JSON", `{'kinds':[]}`, nil},
		{"no comma", `{"capacity":[4 5]}`, nil},
		{"wrong bracket", `{"capacity":[4}`, nil},
		{"leading zero", `{"capacity":[04]}`, nil},
		{"NaN", `{"claims":[{"weight":NaN}]}`, nil},
		{"another encoding", "\xff\xfe{\x00}\x00", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readDRF(strings.NewReader(test.text))
			var faults apportion.Faults
			switch {
			case err == nil || errors.As(err, &faults):
				t.Errorf("error %v, want that of a text that is no JSON", err)
			case test.want != nil && !errors.Is(err, test.want):
				t.Errorf("error %v, want %v", err, test.want)
			case test.want == nil && !strings.Contains(err.Error(), "not JSON, near byte"):
				t.Errorf("error %v does not say where", err)
			}
		})
	}
}

// TestTruncated cuts a right input at every byte.
func TestTruncated(t *testing.T) {
	for i := range len(smallDorm) {
		if _, err := readProblem(strings.NewReader(smallDorm[:i])); !errors.Is(err, strictjson.ErrCutOff) {
			t.Errorf("cut off at byte %d: error %v", i, err)
		}
	}
	if _, err := readProblem(strings.NewReader(smallDorm)); err != nil {
		t.Error(err)
	}
}

// endless is a text, over and over.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		copied := copy(p[n:], e.text[e.at:])
		n += copied
		e.at = (e.at + copied) % len(e.text)
	}
	return n, nil
}

func TestTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 64 MiB some times")
	}
	for name, in := range map[string]io.Reader{
		"white space": &endless{text: " "},
		"one string":  io.MultiReader(strings.NewReader(`{"x":"`), &endless{text: "a"}),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readDRF(in); !errors.Is(err, strictjson.ErrTooLong) {
				t.Errorf("error %v, want %v", err, strictjson.ErrTooLong)
			}
		})
	}
}

// failing gives an error after its text.
type failing struct{ io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil {
		err = errors.New("the disk is gone")
	}
	return n, err
}

func TestReadFails(t *testing.T) {
	if _, err := readDRF(failing{strings.NewReader(smallDRF[:20])}); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("error %v hides why reading failed", err)
	}
}

// FuzzRead reads any text as both inputs. What is taken has no fault that the library finds; what is
// refused has faults that name a problem, or an error; and an answer of drf is JSON without faults
// of its own.
func FuzzRead(f *testing.F) {
	for _, text := range []string{smallDRF, smallDorm, `{"claims":[{"min":1e3}]}`, `{"previous":{"a":{"s":-1}}}`, "[", `{"a":null,"a":{}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		problem, err := readProblem(bytes.NewReader(text))
		if err == nil {
			err = problem.Validate()
		}
		checkNamed(t, err)
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"drf"}, bytes.NewReader(text), &out, &errs)
		answer := &out
		if code != answered {
			answer = &errs
		}
		var value map[string]any
		if err := json.Unmarshal(answer.Bytes(), &value); err != nil || out.Len() > 0 && errs.Len() > 0 {
			t.Errorf("exit %d, %v: %s%s", code, err, &out, &errs)
		}
	})
}

func checkNamed(t *testing.T, err error) {
	var faults apportion.Faults
	if errors.As(err, &faults) {
		for _, fault := range faults {
			if fault.Err == nil || fault.Item.IsZero() && fault.Field == "" && fault.Detail == "" {
				t.Errorf("a fault without a name: %+v", fault)
			}
		}
	}
}
