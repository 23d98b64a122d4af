// This file has HiGHS itself read LP files, and compares what it has understood with the model: a reader of one's own
// understands what its author means.

package milp

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// noNumber is the size that testdata/highs.py prints for infinity; dropped is what HiGHS takes for 0.
const noNumber, dropped = 1e300, 1e-12

// highsSeen is one line of testdata/highs.py.
type highsSeen struct {
	Status   int     `json:"status"`
	Maximize bool    `json:"maximize"`
	Constant float64 `json:"constant"`
	Columns  map[string]struct {
		Cost    float64 `json:"cost"`
		Lower   float64 `json:"lower"`
		Upper   float64 `json:"upper"`
		Integer bool    `json:"integer"`
	} `json:"columns"`
	Rows []struct {
		Name  string             `json:"name"`
		Lower float64            `json:"lower"`
		Upper float64            `json:"upper"`
		Terms map[string]float64 `json:"terms"`
	} `json:"rows"`
}

// bound returns a bound with its infinities.
func bound(x float64) float64 {
	if math.Abs(x) >= noNumber {
		return math.Inf(int(math.Copysign(1, x)))
	}
	return x
}

// program returns what HiGHS has understood in the terms of the other reader.
func (s *highsSeen) program() *lpProgram {
	p := &lpProgram{
		maximise: s.Maximize, constant: s.Constant, cost: map[string]float64{},
		lower: map[string]float64{}, upper: map[string]float64{}, integer: map[string]bool{},
	}
	for name, c := range s.Columns {
		p.lower[name], p.upper[name], p.integer[name] = bound(c.Lower), bound(c.Upper), c.Integer
		if c.Cost != 0 {
			p.cost[name] = c.Cost
		}
	}
	for _, r := range s.Rows {
		row := lpRow{name: r.Name, terms: r.Terms, relation: "<=", bound: r.Upper}
		switch {
		case r.Lower == r.Upper:
			row.relation = "="
		case !math.IsInf(bound(r.Upper), 1) && !math.IsInf(bound(r.Lower), -1):
			row.relation = "a range"
		case math.IsInf(bound(r.Upper), 1):
			row.relation, row.bound = ">=", r.Lower
		}
		for name, coef := range r.Terms {
			if coef == 0 {
				delete(r.Terms, name)
			}
		}
		p.rows = append(p.rows, row)
	}
	return p
}

// libhighs returns Python and the library of HiGHS; the test is skipped where one is missing.
func libhighs(t *testing.T) (python, library string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err == nil {
		for _, below := range []string{"", "ortools/.libs"} {
			library = filepath.Join(os.Getenv("APPORTION_ORTOOLS_LIB"), below, "libhighs.so.1")
			if _, err = os.Stat(library); err == nil {
				return python, library
			}
		}
	}
	if os.Getenv("APPORTION_REQUIRE_ORTOOLS") == "1" {
		t.Fatal(err)
	}
	t.Skipf("NOT TESTED, Python or HiGHS is missing: %v", err)
	return "", ""
}

// withoutDust returns whether no coefficient of a row is so small that HiGHS drops it.
func withoutDust(m *Model) bool {
	for i := range m.Rows() {
		for _, coef := range m.Row(i).Coefs {
			if math.Abs(coef) < dropped {
				return false
			}
		}
	}
	return true
}

// HiGHS reads out of every file what the model says: ranges, equations, free rows and variables, names that are none.
func TestHiGHSReadsLP(t *testing.T) {
	python, library := libhighs(t)
	files := 600
	if testing.Short() {
		files = 60
	}
	models, texts := make([]*Model, 0, files), make([]string, 0, files)
	args := []string{filepath.Join("testdata", "highs.py"), library}
	for seed := 0; len(models) < files; seed++ {
		m := rapid.Custom(genModel).Example(seed)
		if m.Variables() == 0 || !withoutDust(m) {
			continue
		}
		var text strings.Builder
		must.Do(t, m.WriteLP(&text))
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.lp", seed))
		must.Do(t, os.WriteFile(file, []byte(text.String()), 0o600))
		models, texts, args = append(models, m), append(texts, text.String()), append(args, file)
	}
	out, err := exec.CommandContext(t.Context(), python, args...).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != files {
		t.Fatalf("%d answers for %d files", len(lines), files)
	}
	ranges := 0
	for k, line := range lines {
		var seen highsSeen
		if err := json.Unmarshal([]byte(line), &seen); err != nil || seen.Status < 0 {
			t.Fatalf("refused, status %d, %v\n%s", seen.Status, err, texts[k])
		}
		checkLP(t, models[k], seen.program(), texts[k])
		ranges += strings.Count(texts[k], ".upper")
	}
	if ranges == 0 {
		t.Error("no file has a range")
	}
}
