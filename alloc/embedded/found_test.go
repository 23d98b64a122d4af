package embedded_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apportion/apportion/alloc"
)

// found are problems that an attack has found an answer at fault to, the optimum, which HiGHS proves, and the least loss budget
// where Theta1 cannot be held.
var found = map[string]struct {
	optimum, least float64
	// most is how many applications may be adjusted by an answer, -1: any number.
	most int
}{
	"panic_thorough_2x2":    {1.513846, 0.16, -1},
	"panic_thorough_4x2":    {1.571935, 0.411854, -1},
	"verify_refuses_own":    {0.442105, 0, -1},
	"whole_optimum_missing": {6.788462, 0, 0},
	"pinned_10jobs":         {7.669509, 0, -1},
	"options_4jobs":         {3.932387, 0, 1},
	"short49_4x5":           {4.064159, 0.340580, -1},
	"least_not_least_20x30": {2.406475, 0.534328, -1},
	"negative_loss":         {0.681818, 0, -1},
}

// read returns one of the problems found.
func read(t *testing.T, name string) *alloc.Problem {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "found", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var p alloc.Problem
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	// They were found when the loss budget was that of the paper.
	if !p.Options.NoCeil15 {
		kinds := float64(2 * len(p.Kinds))
		p.Theta1, p.Options.NoCeil15 = math.Ceil(p.Theta1*kinds-1e-9)/kinds, true
	}
	p.Options.RestartCost = new(float64) // as when they were found
	return &p
}

// What was found is optimal, of no more loss than need be, and proven by what its certificate says.
func TestFound(t *testing.T) {
	for name, want := range found {
		t.Run(name, func(t *testing.T) {
			p := read(t, name)
			d, err := alloc.Reallocate(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(d.Objective-want.optimum) > 1e-5 {
				t.Errorf("objective %g, the optimum is %g", d.Objective, want.optimum)
			}
			if least := d.LeastLoss; want.least > 0 && (least == nil || math.Abs(least.Loss-want.least) > 1e-5) {
				t.Errorf("the least loss is %+v, want %g", least, want.least)
			}
			if want.most >= 0 && d.Metrics.Adjusted > want.most {
				t.Errorf("%d are adjusted, want %d", d.Metrics.Adjusted, want.most)
			}
			if d.Metrics.FairnessLoss < 0 {
				t.Errorf("the fairness loss is %g", d.Metrics.FairnessLoss)
			}
			if _, err := alloc.Verify(p, d); err != nil {
				t.Errorf("verify refuses it: %v", err)
			}
		})
	}
}
