// This file checks that the entries of a legend keep off each other.

package chart

import (
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Columns are equal as long as that is enough, then as wide as their names, then fewer; the last of them
// ends within the figure, unless one name alone is wider.
func TestColumns(t *testing.T) {
	const short, middle, long = "short", "embedded, thorough", "a name as long as half of the figure is wide"
	for _, test := range []struct {
		names []string
		want  int
		equal bool
	}{
		{nil, 3, true}, {[]string{short}, 3, true}, {[]string{short, short, short, short, short}, 4, true},
		{[]string{middle, short, short, short}, 4, false}, {[]string{middle, middle, middle, middle}, 3, true},
		{[]string{long, short, short, short}, 4, false}, {[]string{long, long, short}, 2, true},
		{[]string{long + long + long}, 1, true},
	} {
		f := New("f", "", "", "")
		for i, name := range test.names {
			f.Steps(i, name, plotter.XYs{{X: 0, Y: 1}})
		}
		const width = figureWidth - 2*margin
		columns := f.columns(width)
		equal := true
		for c, begin := range columns {
			equal = equal && begin == width*vg.Length(c)/vg.Length(len(columns))
		}
		if len(columns) != test.want || equal != test.equal {
			t.Errorf("%q: columns at %v, want %d, equal: %v", test.names, columns, test.want, test.equal)
		}
		ends := append(columns[1:len(columns):len(columns)], width)
		for i, e := range f.entries {
			if c := i % len(columns); len(columns) > 1 && columns[c]+e.width() > ends[c] {
				t.Errorf("%q: column %d is narrower than %q", test.names, c, e.name)
			}
		}
	}
}
