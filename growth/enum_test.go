// This file tests that every enumeration is text in JSON and is read back.

package growth_test

import (
	"encoding"
	"reflect"
	"testing"

	"github.com/apportion/apportion/growth"
)

// all lets go-cmp look into every type.
func all(reflect.Type) bool { return true }

func TestEnumerationsAreText(t *testing.T) {
	type enumeration interface {
		encoding.TextMarshaler
		String() string
	}
	for _, values := range [][]enumeration{
		{growth.Outside, growth.Progressing, growth.Watching, growth.Converged},
		{growth.EitherWay, growth.SmallerIsBetter, growth.LargerIsBetter},
		{growth.FirstValue, growth.Raw, growth.LargestGrowth},
	} {
		for _, value := range values {
			text, err := value.MarshalText()
			read := reflect.New(reflect.TypeOf(value))
			if err == nil {
				err = read.Interface().(encoding.TextUnmarshaler).UnmarshalText(text)
			}
			if err != nil || read.Elem().Interface() != value || string(text) != value.String() {
				t.Errorf("%T %v is written as %q and read as %v, %v", value, value, text, read.Elem(), err)
			}
		}
		read := reflect.New(reflect.TypeOf(values[0])).Interface().(encoding.TextUnmarshaler)
		if read.UnmarshalText([]byte("unknown 7")) == nil {
			t.Errorf("%T reads what it never writes", values[0])
		}
	}
}
