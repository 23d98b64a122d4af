// This file checks flags and exit codes.

package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestExitCode(t *testing.T) {
	for _, test := range []struct {
		err  error
		code int
		text string
	}{
		{nil, 0, ""},
		{fmt.Errorf("%w: %w", ErrUsage, flag.ErrHelp), 0, ""},
		{fmt.Errorf("%w: bad flag", ErrUsage), 2, ""},
		{io.ErrUnexpectedEOF, 1, "demo: unexpected EOF\n"},
	} {
		var text strings.Builder
		if code := exitCode("demo", test.err, &text); code != test.code || text.String() != test.text {
			t.Errorf("%v: code %d, %q; want %d, %q", test.err, code, &text, test.code, test.text)
		}
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		args string
		want error
		text string
	}{
		{"-n 3", nil, ""},
		{"-n three", ErrUsage, `invalid value "three" for flag -n`},
		{"-h", flag.ErrHelp, "Usage of demo"},
		{"-n 3 more", ErrUsage, `demo: what is "more"?`},
	} {
		var text strings.Builder
		flags := Flags("demo", &text)
		n := flags.Int("n", 1, "a number")
		err := Parse(flags, strings.Fields(test.args))
		if !errors.Is(err, test.want) || !strings.Contains(text.String(), test.text) || (text.Len() == 0) != (test.text == "") {
			t.Errorf("%s: %v, %q; want %v, %q", test.args, err, &text, test.want, test.text)
		}
		if err == nil && *n != 3 {
			t.Errorf("%s: n is %d", test.args, *n)
		}
	}
}

// A writer that is no terminal sees nothing of the progress.
func TestProgress(t *testing.T) {
	var text strings.Builder
	tick := Progress(&text, 2, "testing")
	for range 3 {
		tick()
	}
	if text.Len() > 0 {
		t.Errorf("%q", &text)
	}
}
