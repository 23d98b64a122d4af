// This file tests that an error ends a test, and a value does not.

package must_test

import (
	"errors"
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
