// This file holds small inputs, and fuzzes their reading.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/apportion/apportion"
)

const (
	smallDRF  = `{"kinds":["cpu"],"capacity":[4],"claims":[{"id":"a","demand":[1]}]}`
	smallDorm = `{"kinds":["cpu"],"servers":[{"id":"s","capacity":[4]}],"applications":[{"id":"a","demand":[1],"max":3}],"theta1":1,"theta2":0.5}`
)

// failing gives an error after its text.
type failing struct{ io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil {
		err = errors.New("the disk is gone")
	}
	return n, err
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
