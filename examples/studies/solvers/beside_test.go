package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// The page is what -beside prints: its head, a row for everybody on every work, and ratios that follow from the times.
func TestBesidePage(t *testing.T) {
	page := string(must.Have(os.ReadFile("BESIDE.md"))(t))
	_, limit, _ := strings.Cut(page, "-limit ")
	limit, _, _ = strings.Cut(limit, "`")
	head := fmt.Sprintf(besideTitle+besideColumns, "`", limit)
	rows, is := strings.CutPrefix(page, head)
	if !is {
		t.Fatalf("the page does not begin with\n%s", head)
	}
	lines := strings.Split(strings.TrimSuffix(rows, "\n"), "\n")
	for _, w := range works {
		for _, o := range others {
			if o.assigns && !w.assigns {
				continue
			}
			if len(lines) == 0 {
				t.Fatal("rows are missing")
			}
			cells := strings.Split(strings.Trim(lines[0], "| "), " | ")
			lines = lines[1:]
			if len(cells) != 8 || cells[0] != w.name || cells[1] != fmt.Sprintf("%d x %d", w.servers, w.apps) || cells[2] != o.name {
				t.Fatalf("%q in place of %s, %d x %d, %s", cells, w.name, w.servers, w.apps, o.name)
			}
			ours, theirs, ratio := cellOf(t, cells[3]), cellOf(t, cells[4]), cellOf(t, cells[5])
			if math.Abs(theirs/ours-ratio) > .02*ratio {
				t.Errorf("%q: %g over %g is not %g", cells, theirs, ours, ratio)
			}
		}
	}
	if len(lines) > 0 {
		t.Errorf("more than there are: %q", lines)
	}
}

func cellOf(t *testing.T, text string) float64 {
	t.Helper()
	return must.Have(strconv.ParseFloat(text, 64))(t)
}

// Naive rules place containers legally, and no better than the bound of the embedded solver; who is not there is named.
func TestBesideSmall(t *testing.T) {
	t.Setenv(ortools.EnvLibrary, t.TempDir())
	t.Setenv(envRebalancer, "")
	all := works
	defer func() { works = all }()
	works = []work{{"placing", all[4].draw, 8, 12, false, true}}
	inst := works[0].instance()
	for _, o := range others[len(others)-2:] {
		p := must.Have(o.answer(t.Context(), inst, 0))(t)
		own := must.Have((&options{limit: 1 << 40}).solve(t.Context(), inst, 0))(t)
		if !(p.objective > 0 && p.objective <= own.bound+solver.ObjectiveTolerance) {
			t.Errorf("%s: %g, bound %g", o.name, p.objective, own.bound)
		}
	}
	var page bytes.Buffer
	must.Do(t, run(t.Context(), &page, io.Discard, []string{"-beside", "-limit", "1m"}))
	for _, part := range []string{"| placing | 8 x 12 | best fit | ", "Rebalancer was not there: no " + envRebalancer, "HiGHS was not there: "} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("no %q in\n%s", part, &page)
		}
	}
}
