// This file tests marginal gains, and that they are taken one after the other, [Peng18] §4.1.

package schedulers

import (
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion"
)

// Reference: [Peng18] §4.1: the gain is the time saved by each further container. Of 120 s at speeds 1, 2, 2, 4 two
// containers save 60 s, and three more save 30 s each, since the third alone saves none: the best mean counts.
func TestPaperGain(t *testing.T) {
	for _, test := range []struct {
		name   string
		speeds []float64
		has    int64
		free   int64
		more   int64
		gain   float64
	}{
		{"the second", []float64{1, 2, 2, 4}, 1, 3, 1, 60},
		{"over a plateau", []float64{1, 2, 2, 4}, 2, 2, 2, 15},
		{"the plateau is all there is", []float64{1, 2, 2, 4}, 2, 1, 0, 0},
		{"nothing is free", []float64{1, 2, 2, 4}, 1, 0, 0, 0},
		{"has all", []float64{1, 2, 2, 4}, 4, 4, 0, 0},
		{"slower with more", []float64{1, 0.5, 0.4}, 1, 4, 0, 0},
		{"slower, then faster", []float64{1, 0.5, 3}, 1, 4, 2, 40},
		{"of equal means the fewest", []float64{1, 1.5, 3}, 1, 4, 1, 40},
	} {
		s := scenario(servers(8, ""), job("a", 0, 120, 1, 8))
		state := at(s, 0, map[string][]apportion.Placement{"a": nil})
		p := &Optimus{}
		p.book = *opened(t, state)
		p.book.jobs["a"].speeds = [][]float64{test.speeds}
		seats := newSeats(&p.book, state)
		seats.free[0][0] = test.free
		more, gain := p.gain(seats, &want{0, test.has, 0})
		if more != test.more || math.Abs(gain-test.gain) > 1e-9 {
			t.Errorf("%s: %d more gain %g, want %d and %g", test.name, more, gain, test.more, test.gain)
		}
	}
}

// What is left counts, and not what was to be done at first: half done, a job gains half as much.
func TestGainOfWhatIsLeft(t *testing.T) {
	s := scenario(servers(8, ""), job("a", 0, 120, 1, 8))
	state := at(s, 0, map[string][]apportion.Placement{"a": on(0, 1)})
	state.Jobs[0].Left = 60 * time.Second
	p := &Optimus{}
	p.book = *opened(t, state)
	if _, gain := p.gain(newSeats(&p.book, state), &want{0, 1, 0}); math.Abs(gain-30) > 1e-9 {
		t.Errorf("gain %g, want 30", gain)
	}
}
