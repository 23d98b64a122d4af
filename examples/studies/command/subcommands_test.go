package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestSubcommands(t *testing.T) {
	failed := errors.New("failed")
	all := Subcommands{
		"ask": func(_ context.Context, out, _ io.Writer, args []string) error {
			_, err := io.WriteString(out, strings.Join(args, " "))
			return err
		},
		"fail": func(context.Context, io.Writer, io.Writer, []string) error { return failed },
		"wait": func(ctx context.Context, _, _ io.Writer, _ []string) error { <-ctx.Done(); return context.Cause(ctx) },
		"lose": func(context.Context, io.Writer, io.Writer, []string) error { return context.Canceled },
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx      context.Context
		args     string
		err      error
		out, say string
	}{
		{t.Context(), "ask -n 3", nil, "-n 3", ""},
		{t.Context(), "fail", failed, "", ""},
		{t.Context(), "", ErrUsage, "", "all: which of ask, fail, lose, wait?\n"},
		{t.Context(), "dance now", ErrUsage, "", "all: what is \"dance\"? The subcommands are ask, fail, lose, wait.\n"},
		{ended, "wait", nil, "", ""},
		{ended, "fail", failed, "", ""},
		{t.Context(), "lose", context.Canceled, "", ""},
	} {
		var out, say bytes.Buffer
		err := all.Run(test.ctx, "all", &out, &say, strings.Fields(test.args))
		if !errors.Is(err, test.err) || out.String() != test.out || say.String() != test.say {
			t.Errorf("%q: %v, %q, %q", test.args, err, out.String(), say.String())
		}
	}
}
