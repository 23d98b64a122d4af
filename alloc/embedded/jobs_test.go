package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// few draws so many jobs for 16 servers of eight accelerators, each with a worth by its number.
func few(seed uint64, jobs int) *alloc.Problem {
	r := rand.New(rand.NewPCG(seed, 16))
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Theta1: 0.1, Theta2: 0.1, Previous: alloc.Allocation{}}
	for j := range 16 {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{64, 8}})
	}
	for i := range jobs {
		app := alloc.Application{ID: fmt.Sprint("a", i), Weight: 1, Form: alloc.Form{Demand: apportion.Resources{4 + r.Int64N(8), 1}, Min: 1, Max: 16 + r.Int64N(48)}}
		if i%2 == 1 {
			lists(&app)
		}
		p.Applications = append(p.Applications, app)
	}
	return p
}

// lists lets an application have some numbers alone.
func lists(app *alloc.Application) { app.Counts = []int64{1, 2, 4, 8, 16, 32} }

// Few jobs on equal servers are proven also where their best numbers fill these nearly to the last unit, or only the budget of losses
// tells which these are.
func TestFewJobsAreProven(t *testing.T) {
	for _, test := range []struct {
		seed uint64
		jobs int
	}{{2, 3}, {6, 12}, {9, 12}, {15, 12}, {23, 12}, {113, 12}} {
		d, err := alloc.Reallocate(t.Context(), few(test.seed, test.jobs), nil)
		if err != nil || d.Gap > 0 {
			t.Errorf("%d jobs, seed %d: %v, gap %v", test.jobs, test.seed, err, d.Gap)
		}
	}
}
