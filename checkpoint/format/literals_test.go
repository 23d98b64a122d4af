// This file tests the literals of pickles, as Python's pickle writes them in each protocol, and what is refused.

package format

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// shown returns the literals of a pickle as text.
func shown(data string) (string, error) {
	var all []string
	err := literals(newCursor(strings.NewReader(data), int64(len(data))), func(value any) {
		switch value.(type) {
		case null:
			all = append(all, "None")
		case string:
			all = append(all, fmt.Sprintf("%q", value))
		default:
			all = append(all, fmt.Sprint(value))
		}
	})
	return strings.Join(all, " "), err
}

func TestLiterals(t *testing.T) {
	long := strings.Repeat("x", longestText)
	for data, want := range map[string]string{
		// pickle.dumps({"a": 7, "b": ["a", None, -3, 300, 70000]}, 2)
		"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01K\x07X\x01\x00\x00\x00bq\x02]q\x03(h\x01NJ\xfd\xff\xff\xffM,\x01Jp\x11\x01\x00eu.": `"a" 7 "b" "a" None -3 300 70000`,
		// The same in protocol 4, whose numbers of objects are counted.
		"\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94K\x07\x8c\x01b\x94]\x94(h\x01NJ\xfd\xff\xff\xffM,\x01Jp\x11\x01\x00eu.": `"a" 7 "b" "a" None -3 300 70000`,
		// Numbers of many bytes: 2^40, -2^40, nothing, and more than fit.
		"\x80\x02(\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xff\x8a\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01t.": "1099511627776 -1099511627776",
		// An object that is no literal is remembered as none: what refers to it shows nothing.
		"\x80\x02]q\x00X\x01\x00\x00\x00aq\x01h\x00h\x01h\x07.":  `"a" "a"`,
		"\x80\x02X\x00\x10\x00\x00" + long + ".":                 fmt.Sprintf("%q", long),
		"\x80\x02X\x01\x10\x00\x00" + long + "x.":                "",
		"\x80\x02U\x01aj\x00\x00\x00\x00.":                       `"a"`,
		"\x80\x02U\x01ar\x00\x00\x01\x00K\x01j\x00\x00\x01\x00.": `"a" 1 "a"`,
	} {
		must.Equal(t, must.Have(shown(data))(t), want, data)
		for n := range min(len(data), 60) {
			must.Fail(shown(data[:n]))(t, must.ErrAny, data, "cut to", n, "passes")
		}
	}
	// A text that is remembered again and again costs memory only up to a bound.
	var greedy bytes.Buffer
	greedy.WriteString("\x80\x02X\x00\x10\x00\x00" + long)
	for i := range mostRemembered/longestText + 1 {
		greedy.WriteString("r" + string([]byte{byte(i), byte(i >> 8), byte(i >> 16), 0}))
	}
	greedy.WriteString(".")
	must.Fail(shown(greedy.String()))(t, errMalformed, "a pickle that remembers too much")
}
