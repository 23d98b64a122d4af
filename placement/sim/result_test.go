// This file tests what is computed from results.

package sim_test

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

func TestMeanAndMax(t *testing.T) {
	r := &sim.Result{Samples: []sim.Sample{{At: 2, Total: 1, Adjusted: 1}, {At: 4, Total: 3, Adjusted: 2}}}
	total := func(s *sim.Sample) float64 { return s.Total }
	for _, test := range []struct {
		from, to  time.Duration
		mean, max float64
	}{
		{0, 2, 0, 0}, {0, 4, 0.5, 1}, {0, 8, 14. / 8, 3}, {3, 5, 2, 3}, {5, 9, 3, 0}, {4, 4, 0, 0}, {5, 3, 0, 0},
	} {
		if got := r.Mean(test.from, test.to, total); math.Abs(got-test.mean) > 1e-12 {
			t.Errorf("mean over [%d, %d): %v, want %v", test.from, test.to, got, test.mean)
		}
		must.Equal(t, r.Max(test.from, test.to, total), test.max, "max over [", test.from, test.to)
	}
	if a, b := r.Adjusted(4), r.Adjusted(5); a != 1 || b != 3 {
		t.Errorf("%d and %d adjusted, want 1 and 3", a, b)
	}
}

// responses is a result of jobs that took so long from 1 s on; 0: it did not complete.
func responses(times ...time.Duration) *sim.Result {
	r := &sim.Result{Policy: "policy", End: 20 * second, Samples: []sim.Sample{{At: 0, Total: 0.5, FairnessLoss: 0.25}}}
	for _, d := range times {
		o := sim.Outcome{Arrival: second, Completed: d > 0, Worth: 1.5, Adjusted: 2}
		if d > 0 {
			o.Start, o.Completion = 2*second, second+d
		}
		r.Jobs = append(r.Jobs, o)
	}
	return r
}

func TestGains(t *testing.T) {
	base := responses(10*second, 10*second, 10*second, 10*second, 10*second, 0)
	sooner, reductions := responses(5*second, 10*second-3, 9990*time.Millisecond, 15*second, 0, second).Gains(base)
	want := []float64{0.5, 3e-10, 0.001, -0.5, 0, 0}
	if diff := cmp.Diff(want, reductions); diff != "" || sooner != 2 {
		t.Errorf("%d sooner, want 2; reductions (-want +got):\n%s", sooner, diff)
	}
	must.Equal(t, base.MeanResponse(), 10*second, "mean")
}

// A move is a change of places without a wait; a change of speed is none.
func TestMoves(t *testing.T) {
	on := func(server int) []apportion.Placement { return []apportion.Placement{{Server: server, Count: 1}} }
	o := sim.Outcome{Spans: []sim.Span{
		{From: 0, Until: 1, Places: on(0)}, {From: 1, Until: 2, Places: on(1), Why: "first"}, {From: 2, Until: 3, Places: on(1), Rate: 5},
		{From: 4, Until: 5, Places: on(0)}, {From: 5, Until: 6, Places: on(2), Why: "second"},
	}}
	if moves := o.Moves(); len(moves) != 2 || moves[0].Why != "first" || moves[1].Why != "second" {
		t.Errorf("%+v", moves)
	}
}

func TestTable(t *testing.T) {
	refused := responses(9*second, 0)
	refused.Jobs[1].Refused = true
	var text bytes.Buffer
	must.Do(t, sim.Table(&text, responses(10*second, 14*second), refused))
	want := `policy  completed  refused  wait  response  makespan  utilization  loss   adjusted  worth
policy  2 of 2     0        1s    12s       15s       0.500        0.250  4         3.0
policy  1 of 2     1        1s    9s        10s       0.500        0.250  4         3.0
`
	must.Equal(t, cmp.Diff(want, text.String()), "")
	broken := errors.New("broken")
	must.Err(t, sim.Table(failing{broken}, refused), broken, "error")
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
