package enum_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/enum"
	"github.com/apportion/apportion/internal/must"
)

// size is an enumeration as every package writes it.
type size uint8

var sizes = []string{"small", "", "very large"}

func (s size) String() string                { return enum.String(s, sizes) }
func (s size) MarshalText() ([]byte, error)  { return enum.Marshal(s, sizes) }
func (s *size) UnmarshalText(t []byte) error { return enum.Unmarshal(s, t, sizes) }

// Every value survives JSON, as a value and as a key.
func TestRoundTrip(t *testing.T) {
	for i := range sizes {
		want := map[size]size{size(i): size(i)}
		text, err := json.Marshal(want)
		if err != nil || !strings.Contains(string(text), `"`+sizes[i]+`"`) {
			t.Errorf("%d is written as %s, %v", i, text, err)
		}
		var got map[size]size
		if err := json.Unmarshal(text, &got); err != nil || len(got) != 1 || got[size(i)] != size(i) {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
}

func TestUnknown(t *testing.T) {
	must.Equal(t, size(3).String(), "unknown 3")
	must.Fail(json.Marshal(size(3)))(t, must.ErrAny, "a value without a text was written")
	s := size(2)
	for _, text := range []string{`"large"`, `"Small"`, `2`} {
		if err := json.Unmarshal([]byte(text), &s); err == nil || s != 2 {
			t.Errorf("%s is read as %v, %v", text, s, err)
		}
	}
}
