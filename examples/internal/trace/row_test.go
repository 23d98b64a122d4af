// This file tests the reading of single fields, and what a reader holds in memory.

package trace

import (
	"strings"
	"testing"
	"time"
)

// Seconds are rounded to microseconds, up to the longest duration; beyond it they are refused.
func TestSeconds(t *testing.T) {
	for text, want := range map[string]Maybe[time.Duration]{
		"":          {},
		"0":         Known(time.Duration(0)),
		"1.5":       Known(1500 * time.Millisecond),
		"0.0000004": Known(time.Duration(0)),
		"0.0000006": Known(time.Microsecond),
		// 100 days to the microsecond, which a float64 of nanoseconds would not tell from its neighbour.
		"8640000.000001": Known(100*24*time.Hour + time.Microsecond),
		"9.2e9":          Known(9_200_000_000 * time.Second),
	} {
		points, err := collect(Curve("c", strings.NewReader(curveHeader+"1,"+text+",2\n")))
		if err != nil || len(points) != 1 || points[0].At != want {
			t.Errorf("%q: %+v, error %v, want %+v", text, points, err, want)
		}
	}
}

// Nothing is read before the rows are asked for, and nothing more once the caller has stopped.
func TestLazy(t *testing.T) {
	reader := &counting{text: curveHeader + strings.Repeat("1,2,3\n", 100_000)}
	rows := Curve("c", reader)
	if reader.read > 0 {
		t.Errorf("%d bytes are read before the first row", reader.read)
	}
	for range rows {
		break
	}
	if reader.read > 1<<16 {
		t.Errorf("%d bytes are read for one row", reader.read)
	}
}

// counting counts what is read of a text.
type counting struct {
	text string
	read int
}

func (c *counting) Read(p []byte) (int, error) {
	n := copy(p, c.text[c.read:])
	c.read += n
	return n, nil
}
