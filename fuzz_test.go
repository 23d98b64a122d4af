// This file fuzzes the reading of the text form.

package apportion_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// FuzzParse reads any text with any names. What Parse takes has the right length and no negative
// quantity, has no more words than there are kinds, and survives Format where the names are valid;
// what it refuses is a FieldError.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"cpu=2 gpu=1", "cpu=9223372036854775808", "cpu=1 cpu=1", "=", "cpu=+1", "gpu=007", "cpu==1", "\u00a0gpu=3"} {
		f.Add("cpu gpu", text)
	}
	f.Add("a=b", "a=b=3")
	f.Add("", "x=1")
	f.Fuzz(func(t *testing.T, names, text string) {
		kinds := apportion.Kinds(strings.Split(names, " "))
		r, err := kinds.Parse(text)
		if err != nil {
			var fault *apportion.FieldError
			if !errors.As(err, &fault) || r != nil {
				t.Fatalf("Parse = %v, %v", r, err)
			}
			return
		}
		must.Equal(t, len(r), len(kinds), "quantities for", "kinds")
		for k, q := range r {
			if q < 0 {
				t.Fatalf("%s = %d", kinds[k], q)
			}
		}
		if words := len(strings.Fields(text)); words > len(kinds) {
			t.Fatalf("took %d words for %d kinds", words, len(kinds))
		}
		if kinds.Validate() != nil {
			return
		}
		if again, err := kinds.Parse(kinds.Format(r)); err != nil || !again.Equal(r) {
			t.Fatalf("Parse(Format(%v)) = %v, %v", r, again, err)
		}
	})
}
