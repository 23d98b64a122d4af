// This file tests the choice of a type for every job, on speeds that are written down.

package schedulers

import (
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// written returns a book and a state of jobs whose speeds by type and number are given, on as many servers of four
// accelerators as there are types, one of each. Who holds something is on the server of that number, -1 for nobody.
func written(speeds [][][]float64, on ...int) (*book, *sim.State) {
	types := []string{"x", "y", "z"}[:len(speeds[0])]
	s := scenario(servers(4, types...))
	b := &book{kinds: kinds(s.Servers), jobs: map[string]*record{}}
	for h := range s.Servers {
		b.kindOf = append(b.kindOf, h)
	}
	for i := range speeds {
		s.Jobs = append(s.Jobs, job(string(rune('a'+i)), 0, 1000, 1, 4))
	}
	state := &sim.State{Scenario: s}
	for i := range speeds {
		j := sim.JobState{Job: &s.Jobs[i], Index: i, Left: s.Jobs[i].Work}
		if i < len(on) && on[i] >= 0 {
			j.Places, j.Containers = []apportion.Placement{{Server: on[i], Count: 1}}, 1
		}
		state.Jobs = append(state.Jobs, j)
		b.jobs[s.Jobs[i].ID] = &record{speeds: speeds[i], on: make([]float64, len(types))}
	}
	return b, state
}

// always wants one number of containers, whoever asks and of whatever type.
func always(n int64) func(job, kind int) int64 { return func(int, int) int64 { return n } }

// The speed beside others: with all that a job wants, with its part of four containers, on the line between two numbers,
// and with less than one container for a part of the time.
func TestPartOfType(t *testing.T) {
	for _, test := range []struct {
		name   string
		wants  int64
		takers float64
		want   float64
	}{
		{"alone", 4, 0, 2.8},
		{"half", 4, 4, 1.8},
		{"a third of four", 2, 4, 1 + 0.8/3},
		{"a quarter", 4, 12, 1},
		{"an eighth is half a container", 4, 28, 0.5},
		{"nothing counts as one", 0, 0, 1},
		{"more than there is", 9, 0, 2.8},
	} {
		b, state := written([][][]float64{{{1, 1.8, 2.4, 2.8}, nil}})
		c := &chooser{book: b, state: state, most: always(test.wants), takers: []float64{test.takers, 0}}
		if got := c.part(0, 0); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", test.name, got, test.want)
		}
		must.Equal(t, c.part(0, 1), 0, test.name, "a speed of", "on a type that holds no container of it")
	}
}

// The regret is the best type against the second best, wherever in the list these are.
func TestRegret(t *testing.T) {
	for _, test := range []struct {
		speeds [][]float64
		want   float64
	}{
		{[][]float64{{2}, {1}}, 2}, {[][]float64{{1}, {2}}, 2}, {[][]float64{{1}, {4}, {2}}, 2}, {[][]float64{{2}, {1}, {6}}, 3},
		{[][]float64{{4}, {2}, {2}}, 2}, {[][]float64{{3}, nil, nil}, 3}, {[][]float64{nil, {3}, {2}}, 1.5}, {[][]float64{nil, nil}, 0},
		{[][]float64{{2, 9}, {2, 3}}, 1},
	} {
		b, state := written([][][]float64{test.speeds})
		must.Equal(t, (&chooser{book: b, state: state}).regret(0), test.want, test.speeds)
	}
}

// Who loses most by the second best type has the best one, in whatever order the jobs came; who runs stays.
func TestChooseTypes(t *testing.T) {
	line := func(speed float64) []float64 { return []float64{speed, 2 * speed, 3 * speed, 4 * speed} }
	little, much, equal := [][]float64{line(1.1), line(1)}, [][]float64{line(5), line(1)}, [][]float64{line(1), line(1)}
	for _, test := range []struct {
		name   string
		speeds [][][]float64
		on     []int
		wants  int64
		want   []int
	}{
		{"the second one gains more", [][][]float64{little, much}, nil, 4, []int{1, 0}},
		{"the first one gains more", [][][]float64{much, little}, nil, 4, []int{0, 1}},
		{"there is room for both", [][][]float64{little, much}, nil, 1, []int{0, 0}},
		{"equals part", [][][]float64{equal, equal}, nil, 4, []int{0, 1}},
		{"who runs stays where it is a little slower", [][][]float64{{line(1), line(1.1)}}, []int{0}, 4, []int{0}},
		// To share its type would halve the speed of the second one, although it runs there.
		{"who runs makes room", [][][]float64{equal, equal}, []int{-1, 0}, 4, []int{0, 1}},
		{"who runs goes where it is much faster", [][][]float64{{line(1), line(3)}}, []int{0}, 4, []int{1}},
		{"only one type holds it", [][][]float64{{nil, line(1)}, {nil, line(1)}}, nil, 4, []int{1, 1}},
		{"one type", [][][]float64{{{1}}, {{1}}}, nil, 4, []int{0, 0}},
	} {
		b, state := written(test.speeds, test.on...)
		must.Same(t, chooseTypes(b, state, always(test.wants)), test.want, test.name)
	}
	b, state := written([][][]float64{little})
	state.Jobs = nil
	if got := chooseTypes(b, state, always(1)); len(got) != 0 {
		t.Errorf("nobody: %v", got)
	}
}
