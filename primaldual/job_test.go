// This file tests the quantities derived from a job.

package primaldual

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

func TestCommSlots(t *testing.T) {
	// 90 MB there and back over 1 Gb/s take 1.44 s, a thousandth of a slot of 24 minutes.
	near(t, "slots", []float64{CommSlots(90_000_000, 1_000_000_000, 24*time.Minute)}, []float64{0.001})
}

// Work is exact where binary fractions are not: 10 x 3 x 0.1 is 3 worker-slots.
func TestWorkerSlots(t *testing.T) {
	for _, test := range []struct {
		epochs, chunks, minibatches int64
		tau, comm                   float64
		want                        int64
	}{
		{10, 3, 1, 0.1, 0, 3},
		{10, 1, 3, 0.1, 0, 3},
		{1, 1, 1, 0.3 - 0.2, 0.9, 1},
		{3, 7, 1, 0.1, 0, 3},
		{1, 1, 1, 1e-9, 0, 1},
		{1, 1, 1, 1e-300, 0, 1},
		{1, 5, 1, 0.6, 0, 3},
		{1, 5, 1, 0.61, 0, 4},
		{1 << 52, 1, 1, 1, 0, 1 << 52}, // the slack is more than 1 here
	} {
		j := Job{Epochs: test.epochs, Chunks: test.chunks, Minibatches: test.minibatches, MinibatchSlots: test.tau, CommSlots: test.comm}
		must.Equal(t, j.WorkerSlots(), test.want, test, "W")
	}
}

// Deadlines that do not ascend are refused before the job is looked at any further.
func TestStepsMustAscend(t *testing.T) {
	for _, test := range []struct {
		steps Steps
		field string // "": accepted
	}{
		{nil, ""}, {Steps{{0, 3}}, ""}, {Steps{{1, 3}, {2, 2}}, ""},
		{Steps{{-1, 3}}, "Utility[0]"}, {Steps{{2, 3}, {1, 2}}, "Utility[1]"}, {Steps{{1, 3}, {2, 3}, {2, 2}}, "Utility[2]"},
	} {
		j := plainJob("j", 1)
		j.Utility = test.steps
		err := j.Validate(apportion.Kinds{"unit"})
		var faults apportion.Faults
		if errors.As(err, &faults) != (test.field != "") || err != nil && (faults[0].Field != test.field || !errors.Is(err, apportion.ErrRange)) {
			t.Errorf("%v: %v, want a fault of %q", test.steps, err, test.field)
		}
	}
}

// The number of parameter servers is exact for any bandwidths.
func TestPSFor(t *testing.T) {
	for _, test := range []struct{ b, B, workers, want int64 }{
		{1, 2, 0, 0}, {1, 2, 1, 1}, {1, 2, 2, 1}, {1, 2, 3, 2}, {3, 3, 7, 7}, {2, 1, 5, 6},
		{1, math.MaxInt64, math.MaxInt64, 1}, {math.MaxInt64, math.MaxInt64, maxWorkerSlots, maxWorkerSlots},
		{math.MaxInt64 - 1, math.MaxInt64, 1 << 40, 1 << 40}, {1, 3, 1 << 52, (1<<52)/3 + 1},
	} {
		j := Job{WorkerBandwidth: test.b, PSBandwidth: test.B}
		must.Equal(t, j.PSFor(test.workers), test.want, "b", test.b, "B", test.B, "parameter servers for", test.workers, "workers")
	}
}
