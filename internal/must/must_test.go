// This file tests that what a test does not expect ends it, and nothing else.

package must_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// ends is a test that records what ended it.
type ends struct{ by []any }

func (*ends) Helper()             {}
func (e *ends) Fatal(args ...any) { e.by = append(e.by, args...) }

func TestHave(t *testing.T) {
	wrong := errors.New("wrong")
	for _, err := range []error{nil, wrong} {
		e := new(ends)
		if got := must.Have(7, err)(e); got != 7 || (err != nil) != (len(e.by) == 1 && e.by[0] == wrong) {
			t.Errorf("%v: %d, ended by %v", err, got, e.by)
		}
	}
}

func TestValues(t *testing.T) {
	wrong := errors.New("wrong")
	e := new(ends)
	must.Equal(e, 7, 7)
	must.Same(e, []int{7}, []int{7})
	must.Same(e, nil, []int{})
	must.Err(e, fmt.Errorf("so: %w", wrong), wrong)
	must.Err(e, nil, nil)
	must.Err(e, wrong, must.ErrAny)
	must.Fail(7, wrong)(e, wrong)
	must.Same(t, e.by, nil)
	must.Fail(7, wrong)(e, nil)
	must.Err(e, nil, must.ErrAny)
	must.Equal(e, 7, 8, "seed", 3)
	must.Same(e, []int{7}, nil)
	must.Err(e, nil, wrong, []byte("name"))
	must.Same(t, e.by, []any{"error wrong, want <nil>", "error <nil>, want an error", "seed 3: 7, want 8", "[7], want []", "name: error <nil>, want wrong"})
}
