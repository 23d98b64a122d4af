// This file plays a few applications under every solver of -solver.

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/internal/must"
)

// Three applications are decided by every solver, to proof by the general ones and nearly so by the
// embedded one, which may leave a gap that is too small to search on; without its library an engine of OR-Tools
// says how to install it.
func TestSolvers(t *testing.T) {
	for _, b := range backend.All() {
		t.Run(b.Name, func(t *testing.T) {
			var text bytes.Buffer
			err := run(t.Context(), &text, io.Discard, []string{"-solver", b.Name, "-seeds", "1", "-apps", "3", "-hours", "2", "-out", t.TempDir()})
			if errors.Is(err, ortools.ErrUnavailable) && os.Getenv("APPORTION_REQUIRE_ORTOOLS") == "" {
				t.Skip(err)
			}
			must.Do(t, err)
			if want := " by solver " + b.Name + "."; strings.Count(text.String(), want) != 2 {
				t.Errorf("no two lines with %q in\n%s", want, &text)
			}
			line := `(?m)^Dorm-[123] +[1-9][0-9]* +0 +100.0 % +0.000 % +0.000 % `
			if b.Own != nil {
				line = `(?m)^Dorm-[123] +[1-9][0-9]* +0 +[0-9.]+ % +0.000 % +0.00[0-9] % `
			}
			must.Equal(t, len(regexp.MustCompile(line).FindAllString(text.String(), -1)), 2*3, "of 6 lines like", line, "in", &text)
		})
	}
}

func TestAbsentLibrary(t *testing.T) {
	t.Setenv(ortools.EnvLibrary, t.TempDir())
	err := run(t.Context(), io.Discard, io.Discard, []string{"-solver", backend.HiGHS, "-small", "-out", t.TempDir()})
	if !errors.Is(err, ortools.ErrUnavailable) || !strings.Contains(err.Error(), "install OR-Tools") {
		t.Errorf("%v, want %v and how to install it", err, ortools.ErrUnavailable)
	}
}
