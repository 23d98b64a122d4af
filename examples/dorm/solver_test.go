// This file plays a few applications under every solver of -solver.

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/examples/internal/backend"
)

// Three applications are decided to proof by every solver; without its library an engine of OR-Tools
// says how to install it.
func TestSolvers(t *testing.T) {
	for _, b := range backend.All() {
		t.Run(b.Name, func(t *testing.T) {
			var text bytes.Buffer
			err := run(t.Context(), &text, io.Discard, []string{"-solver", b.Name, "-seeds", "1", "-apps", "3", "-hours", "2", "-out", t.TempDir()})
			if errors.Is(err, ortools.ErrUnavailable) && os.Getenv("APPORTION_REQUIRE_ORTOOLS") == "" {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := "solver " + b.Name + ": gap to its proven bound, median 0.00 %, largest 0.00 %"; strings.Count(text.String(), want) != 2 {
				t.Errorf("no two lines %q in\n%s", want, &text)
			}
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
