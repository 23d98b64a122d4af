// This file has every solver decide a small P2, and look for one that is not there.

package backend

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// Every solver finds the optimum of the same small problem, or says that its library is absent and
// how to install it.
func TestDecide(t *testing.T) {
	inst := alloctest.Table2(1, 3, 5, true)
	want := must.Have(All()[0].P2(nil).Solve(t.Context(), inst))(t)
	must.Equal(t, want.Status, solver.Optimal, Embedded, want)
	for _, b := range All() {
		t.Run(b.Name, func(t *testing.T) {
			if (b.Own == nil) == (b.General == nil) {
				t.Error("not exactly one of Own and General is set")
			}
			got, err := b.P2(nil).Solve(t.Context(), inst)
			if errors.Is(err, ortools.ErrUnavailable) && os.Getenv("APPORTION_REQUIRE_ORTOOLS") == "" {
				if !strings.Contains(err.Error(), "install OR-Tools") {
					t.Errorf("%v: does not say how to install it", err)
				}
				t.Skip(err)
			}
			must.Do(t, err)
			if got.Status != solver.Optimal || math.Abs(got.Objective-want.Objective) > 1e-6 || inst.Check(got.Counts) != nil {
				t.Errorf("%v, objective %v, want %v; check: %v", got.Status, got.Objective, want.Objective, inst.Check(got.Counts))
			}
		})
	}
}

// A library in a folder without it is not available, and the message names the folder and the way
// out.
func TestAbsentLibrary(t *testing.T) {
	absent := t.TempDir()
	t.Setenv(ortools.EnvLibrary, absent)
	for _, b := range All()[2:] {
		_, err := b.P2(nil).Solve(t.Context(), alloctest.Table2(1, 3, 5, false))
		must.Err(t, err, ortools.ErrUnavailable, b.Name)
		for _, part := range []string{"install OR-Tools", ortools.EnvLibrary} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v: no %q", b.Name, err, part)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for _, b := range All() {
		if got, err := Find(All(), b.Name); err != nil || got.Name != b.Name || got.About != b.About {
			t.Errorf("%s: %v, %v", b.Name, got, err)
		}
	}
	_, err := Find(All()[:2], "oracle")
	if want := "must be one of embedded, bb"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
