// This file tests faults: each names its file, line and column, and has its sort.

package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

const curveHeader = "step,t_s,value\n"

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name, text string
		line       int
		column     string
		sort       error
	}{
		{"empty file", "", 0, "", apportion.ErrEmpty},
		{"missing column", "step,value\n1,2\n", 1, "t_s", ErrColumn},
		{"column twice", "step,t_s,value,step\n", 1, "step", apportion.ErrDuplicate},
		{"too few fields", curveHeader + "1,2\n", 2, "", csv.ErrFieldCount},
		{"stray quotation mark", curveHeader + "1,2,3\n1,\"2\"x,3\n", 3, "", csv.ErrQuote},
		{"open quotation mark", curveHeader + "1,\"2,3\n", 2, "", csv.ErrQuote},
		{"no number", curveHeader + "1,2,3\n1,2,three\n", 3, "value", ErrNumber},
		{"negative", curveHeader + "-1,2,3\n", 2, "step", apportion.ErrNegative},
		{"not finite", curveHeader + "1,nan,3\n", 2, "t_s", apportion.ErrNotFinite},
		{"infinite", curveHeader + "inf,,3\n", 2, "step", apportion.ErrNotFinite},
		{"overflow", curveHeader + "1,1e11,3\n", 2, "t_s", apportion.ErrOverflow},
		{"first of two faults", curveHeader + "-1,2,three\n", 2, "step", apportion.ErrNegative},
		{"line within quotes", "step,t_s,\"va\nlue\",value\n1,2,x,three\n", 3, "value", ErrNumber},
		{"row too long", curveHeader + "1,2,\"" + strings.Repeat("x", 2*maxRow), 0, "", ErrTooLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := collect(Curve("c.csv", strings.NewReader(test.text)))
			wantFault(t, err, test.sort, Error{File: "c.csv", Line: test.line, Column: test.column})
		})
	}
}

// wantFault fails unless err is an Error of the given sort at the given place.
func wantFault(t *testing.T, err, sort error, place Error) {
	t.Helper()
	fault := (*Error)(nil)
	if !errors.As(err, &fault) {
		t.Fatalf("error %v, want an *Error", err)
	}
	must.Err(t, err, sort, "error")
	if fault.File != place.File || fault.Line != place.Line || fault.Column != place.Column {
		t.Errorf("%q is at %s:%d %q, want %s:%d %q", err, fault.File, fault.Line, fault.Column, place.File, place.Line, place.Column)
	}
}

func TestFaultsOfEachColumn(t *testing.T) {
	jobs := strings.Join(jobColumns, ",") + "\n"
	for _, test := range []struct {
		row, column string
		sort        error
	}{
		{",0,,,,,,,,,,,", "job_id", apportion.ErrEmpty},
		{"j,,,,,,,,,,,,", "submit_s", apportion.ErrEmpty},
		{"j,0,-1,,,,,,,,,,", "duration_s", apportion.ErrNegative},
		{"j,0,1,x,,,,,,,,,", "gpus", ErrNumber},
		{"j,0,1,,-2,,,,,,,,", "cpus", apportion.ErrNegative},
		{"j,0,1,,,inf,,,,,,,", "mem_gb", apportion.ErrNotFinite},
		{"j,0,1,,,,,,1.5,,,,", "tasks", ErrNumber},
		{"j,0,1,,,,,,-1,,,,", "tasks", apportion.ErrNegative},
		{"j,0,1,,,,,,,nan,,,", "queue_s", apportion.ErrNotFinite},
		{"j,0,1,,,,,,,,1e300,,", "est_s", apportion.ErrOverflow},
	} {
		_, err := collect(Jobs("j.csv", strings.NewReader(jobs+test.row+"\n")))
		wantFault(t, err, test.sort, Error{File: "j.csv", Line: 2, Column: test.column})
	}
}

func TestErrorText(t *testing.T) {
	_, err := collect(Curve("c.csv", strings.NewReader(curveHeader+"-1,2,3\n")))
	if got, want := err.Error(), `c.csv:2: step: is negative: "-1"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A gzip file that was cut anywhere must end in an error: rows that are missing are not an end.
func TestTruncatedGzip(t *testing.T) {
	packed := must.Have(os.ReadFile("testdata/files/jobs.csv.gz"))(t)
	for n := 1; n < len(packed); n++ {
		jobs, err := collect(Jobs("jobs", bytes.NewReader(packed[:n])))
		fault := (*Error)(nil)
		if !errors.As(err, &fault) {
			t.Fatalf("%d of %d bytes: %d jobs and error %v, want an *Error", n, len(packed), len(jobs), err)
		}
		if n > 2 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v, want %v", n, len(packed), err, io.ErrUnexpectedEOF)
		}
	}
}

func TestCorruptGzip(t *testing.T) {
	packed := zip(t, curveHeader+"1,2,3\n")
	checksum := bytes.Clone(packed)
	checksum[len(checksum)-6] ^= 1
	_, err := collect(Curve("c.gz", bytes.NewReader(checksum)))
	wantFault(t, err, gzip.ErrChecksum, Error{File: "c.gz"})
	header := bytes.Clone(packed)
	header[2] = 99
	_, err = collect(Curve("c.gz", bytes.NewReader(header)))
	wantFault(t, err, gzip.ErrHeader, Error{File: "c.gz"})
}

// A small file may unpack to a row without end; it must be refused, not kept in memory.
func TestGzipBomb(t *testing.T) {
	packed := zip(t, curveHeader+"1,2,"+strings.Repeat("0", 64<<20))
	_, err := collect(Curve("bomb.gz", bytes.NewReader(packed)))
	wantFault(t, err, ErrTooLong, Error{File: "bomb.gz"})
}

func TestLongFileOfShortRows(t *testing.T) {
	text := curveHeader + strings.Repeat("1,2,3\n", maxRow/2)
	points := must.Have(collect(Curve("c.csv", strings.NewReader(text))))(t)
	must.Equal(t, len(points), maxRow/2, "points and")
}

func TestReaderThatFails(t *testing.T) {
	broken := fmt.Errorf("disk is on fire")
	_, err := collect(Curve("c.csv", io.MultiReader(strings.NewReader(curveHeader+"1,2,3\n"), iotest.ErrReader(broken))))
	wantFault(t, err, broken, Error{File: "c.csv"})
	_, err = collect(Curve("c.csv", iotest.ErrReader(broken)))
	wantFault(t, err, broken, Error{File: "c.csv"})
}
