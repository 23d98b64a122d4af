// This file tests the reading of single fields, and what a reader holds in memory.

package trace

import (
	"errors"
	"io/fs"
	"math"
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

// An empty number is unknown, which is not 0, and a value may be anything that strconv calls a number.
func TestReal(t *testing.T) {
	points, err := collect(Curve("c", strings.NewReader(curveHeader+"0,,\n,1,NaN\n1,1,-Inf\n1,1,-0x1p-2\n")))
	if err != nil {
		t.Fatal(err)
	}
	if points[0].Step != Known(0.) || points[0].At.Known || points[0].Value.Known || points[1].Step.Known {
		t.Errorf("unknown fields: %+v", points)
	}
	if !math.IsNaN(points[1].Value.Value) || !math.IsInf(points[2].Value.Value, -1) || points[3].Value != Known(-.25) {
		t.Errorf("values: %+v", points)
	}
}

// A fault stands on the line of its field, though a quoted field before it goes over several.
func TestFaultLines(t *testing.T) {
	text := "step,note,t_s,value\n1,\"two\nlines\",x,3\n"
	_, err := collect(Curve("c", strings.NewReader(text)))
	wantFault(t, err, ErrNumber, Error{File: "c", Line: 3, Column: "t_s"})
	if want := `c:3: t_s: is not a number: "x"`; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestRecordedUnknown(t *testing.T) {
	var path *fs.PathError
	if _, _, err := Recorded("no such curve"); !errors.As(err, &path) {
		t.Errorf("error %v, want a *fs.PathError", err)
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
