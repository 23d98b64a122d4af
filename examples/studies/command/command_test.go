// This file checks flags and exit codes.

package command

import (
	"context"
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

func TestOf(t *testing.T) {
	for _, test := range []struct {
		args string
		want error
		text string
	}{
		{"-n 3", nil, ""},
		{"-n three", ErrUsage, `invalid value "three" for flag -n`},
		{"-h", flag.ErrHelp, "Usage of demo"},
		{"-n 3 more", ErrUsage, `demo: what is "more"?`},
		{"-n 0", ErrUsage, "demo: -n is 0\n"},
		{"-n 1", io.EOF, ""},
	} {
		var text strings.Builder
		run := Of("demo", func(flags *flag.FlagSet) Body {
			n := flags.Int("n", 1, "a number")
			return func(context.Context, io.Writer, io.Writer) error {
				return map[int]error{0: Misused("-n is %d", *n), 1: io.EOF}[*n]
			}
		})
		err := run(t.Context(), io.Discard, &text, strings.Fields(test.args))
		if !errors.Is(err, test.want) || !strings.Contains(text.String(), test.text) || (text.Len() == 0) != (test.text == "") {
			t.Errorf("%s: %v, %q; want %v, %q", test.args, err, &text, test.want, test.text)
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
