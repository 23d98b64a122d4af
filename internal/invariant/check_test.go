// This file tests Check in both builds: with the tag "invariants" and without.

package invariant_test

import (
	"testing"

	"github.com/apportion/apportion/internal/invariant"
	"github.com/apportion/apportion/internal/must"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name  string
		holds bool
		want  any // what Check panics with where Enabled; nil: it returns
	}{
		{"holds", true, nil},
		{"violated", false, "invariant violated: used 3 of 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := test.want
			if !invariant.Enabled {
				want = nil
			}
			must.Equal(t, recovered(func() { invariant.Check(test.holds, "used %d of %d", 3, 2) }), want, "Check", test.holds, "panicked with")
		})
	}
}

func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
