// This file tests the best count of one application at prices against every count, and the ways below a ceiling.

package lagrange

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// bestTwin tries every number that application i may have at the steps of the last evaluation; of equal values the least
// number counts.
func bestTwin(d *Dual, x []float64, i int32) (at int64, best float64) {
	a, app := &d.Problem.Apps[i], &d.Problem.Inst.Apps[i]
	steps := d.steps[a.Type]
	best = math.Inf(-1)
	for n := a.Min; n <= min(a.Max, fullest(steps)); n++ {
		if !app.Allows(n) && (app.Worth != nil || app.Losses != nil) {
			continue
		}
		if value := fill(steps, n) + app.Extra(n) - d.lossPrice(x)*app.Loss(n); value > best+1e-12 {
			at, best = n, value
		}
	}
	return at, best
}

// Whatever the shape of worths and losses is, the best count brings what the best of all numbers brings.
func TestBestAgainstAllNumbers(t *testing.T) {
	stated, worth, formula := 0, 0, 0
	for name, draw := range map[string]func(uint64) *solver.Instance{"loss": solvertest.Loss, "worth": solvertest.Worth, "small": solvertest.Small} {
		for seed := range uint64(400) {
			inst := draw(seed)
			inst.Groups, inst.Choices = nil, nil
			d := NewDual(problem.New(inst), seed%2 == 0)
			x := somePrices(rand.New(rand.NewPCG(seed, 17)), d.Dim(), 1)
			d.Evaluate(x)
			for _, i := range d.moving {
				app := &inst.Apps[i]
				if app.Worth == nil && app.Losses == nil && (app.Step > 1 || app.Counts != nil || app.Elective) {
					continue
				}
				n, value := d.best(x, i)
				_, want := bestTwin(d, x, i)
				if math.Abs(value-want) > 1e-9 && value != want {
					t.Errorf("%s %d: application %d brings %.12g with %d, %.12g can be had", name, seed, i, value, n, want)
				}
				switch {
				case app.Worth != nil:
					worth++
				case app.Losses != nil:
					stated++
				default:
					formula++
				}
			}
		}
	}
	if stated < 100 || worth < 100 || formula < 100 {
		t.Errorf("%d with losses, %d with worths and %d with neither were tried", stated, worth, formula)
	}
}

// lossyCrowd is one application of up to most containers on two servers, at 4 and 6 of which it loses nothing.
func lossyCrowd(most, step int64) *solver.Instance {
	inst := instancetest.Crowd(2, 1, 6, 1, 0.5)
	app := &inst.Apps[0]
	app.Min, app.Max, app.Step = 0, most, step
	app.Losses = []solver.LossPoint{{Loss: 1}, {N: 4}, {N: 5, Loss: 1}, {N: 6}, {N: 12, Loss: 3}}
	return instancetest.Finish(inst)
}

// The best number is a point of the losses, an end of a step or a bound; of equals it is the least, and one that its steps or
// bounds rule out never.
func TestBestOfLosses(t *testing.T) {
	for name, c := range map[string]struct {
		min, most, step int64
		first, second   float64 // price of a unit on either server, in parts of what a container brings
		loss            float64 // price of loss
		want            int64
	}{
		"no price on anything":          {most: 12, want: 12},
		"no price on what runs there":   {most: 7, want: 7},
		"dear loss":                     {most: 12, loss: 9, want: 6},
		"nothing pays, nothing is lost": {most: 12, first: 1, second: 1, loss: 1, want: 4},
		"too dear":                      {most: 12, first: 9, second: 9, want: 0},
		"one server pays":               {most: 12, first: 0.5, second: 2, loss: 0.01, want: 6},
		"in fives":                      {most: 12, step: 5, loss: 9, want: 5},
		"in threes":                     {most: 12, step: 3, loss: 9, want: 6},
		"up to five":                    {most: 5, loss: 9, want: 4},
		"five at least":                 {most: 12, min: 5, first: 1, second: 1, loss: 1, want: 6},
		"seven at least":                {most: 12, min: 7, first: 1, second: 1, loss: 1, want: 7},
	} {
		inst := lossyCrowd(c.most, c.step)
		inst.Apps[0].Min = c.min
		p := problem.New(inst)
		d := NewDual(p, true)
		// Equal servers are one class; the price of the second is that of a class of its own.
		if c.first != c.second {
			inst.Capacity[1] = apportion.Resources{7}
			p = problem.New(instancetest.Finish(inst))
			d = NewDual(p, true)
		}
		x := make([]float64, d.Dim())
		x[0] = c.first * inst.Apps[0].Value
		if len(d.Size) > 1 {
			x[1] = c.second * inst.Apps[0].Value
		}
		x[len(x)-1] = c.loss
		d.Evaluate(x)
		if n, value := d.best(x, 0); n != c.want {
			t.Errorf("%s: %d containers bring %g, want %d", name, n, value, c.want)
		}
	}
}

// Below a ceiling everybody's ways hold the one that the prices prefer, whichever that is, the best at the prices first; to
// stay is one for whoever may, and costs no adjustment.
func TestWaysHaveTheBest(t *testing.T) {
	stays, changes := 0, 0
	for name, draw := range map[string]func(uint64) *solver.Instance{"loss": solvertest.Loss, "worth": solvertest.Worth, "small": solvertest.Small} {
		for seed := range uint64(200) {
			inst := solvertest.Grouped(draw(seed), seed)
			inst.Choices = nil
			p := problem.New(inst)
			if len(p.Ceilings) == 0 {
				continue
			}
			d := NewDual(p, true)
			x := somePrices(rand.New(rand.NewPCG(seed, 19)), d.Dim(), 0.5)
			d.Evaluate(x)
			w := whole{d: d, x: x, price: d.Next, most: 1000}
			for _, i := range d.moving {
				ways := w.ways(i, int32(p.Ceilings[0].Group), x)
				a, best := &p.Apps[i], math.Inf(-1)
				for at, way := range ways {
					best = math.Max(best, way.value)
					if at > 0 && way.priced > ways[at-1].priced {
						t.Errorf("%s %d: %d brings %g, after %g", name, seed, way.n, way.priced, ways[at-1].priced)
					}
				}
				// What may not have every number counts as if it did elsewhere, and here it does not.
				if want := w.better(i); len(ways) > 0 && best > want+1e-9 || best < want-1e-9 && !p.Worthy && p.Types[a.Type].Own == nil {
					t.Errorf("%s %d: the ways of %d bring %.12g at best, %.12g at the prices", name, seed, i, best, want)
				}
				stay := slices.IndexFunc(ways, func(way way) bool { return way.n < 0 })
				if (stay >= 0) != a.Pinnable {
					t.Errorf("%s %d: %d may stay: %v, and position %d says so", name, seed, i, a.Pinnable, stay)
				}
				if stay >= 0 && ways[stay].value != d.Keep[i] {
					t.Errorf("%s %d: to stay brings %g, want %g", name, seed, ways[stay].value, d.Keep[i])
				}
				if stay >= 0 {
					stays++
				} else {
					changes++
				}
			}
		}
	}
	if stays < 20 || changes < 20 {
		t.Errorf("%d may stay, %d may not", stays, changes)
	}
}

// More numbers than may be tried are no ways at all; as many are.
func TestWaysAreBounded(t *testing.T) {
	inst := instancetest.Crowd(2, 1, 6, 1, 0.5)
	inst.Apps[0].Min, inst.Apps[0].Max = 2, 9
	d := NewDual(problem.New(inst), true)
	x := make([]float64, d.Dim())
	d.Evaluate(x)
	for most, want := range map[int]int{7: 8, 6: 0, 100: 8} {
		w := whole{d: d, x: x, most: most}
		if ways := w.ways(0, 0, x); len(ways) != want {
			t.Errorf("with %d to try there are %d ways of 2 to 9 containers, want %d", most, len(ways), want)
		}
	}
}

// Groups whose ceilings are kept have no application in common, those of few come first, and their prices are gone; a group
// whose ceiling cannot be exceeded is none of them.
func TestDisjointGroups(t *testing.T) {
	inst := instancetest.Crowd(4, 5, 3, 1, 0)
	for i := range inst.Apps {
		inst.Apps[i].Min, inst.Apps[i].Max = 0, 3
	}
	ceiling := func(n int64) apportion.Resources { return apportion.Resources{n} }
	inst.Groups = []solver.Group{
		{Apps: []int{0, 1, 2, 3, 4}, Ceiling: ceiling(9)}, {Apps: []int{0, 1, 2}, Ceiling: ceiling(5)}, {Apps: []int{1, 3}, Ceiling: ceiling(4)},
		{Apps: []int{4}, Ceiling: ceiling(100)}, {Apps: []int{0, 4}, Ceiling: ceiling(4)},
	}
	p := problem.New(instancetest.Finish(inst))
	d := NewDual(p, true)
	w := whole{d: d, x: make([]float64, d.Dim()), group: make([]int32, len(p.Apps))}
	for c := range w.x {
		w.x[c] = 1
	}
	picked := w.disjoint()
	if !slices.Equal(picked, []int32{2, 4}) || !slices.Equal(w.group, []int32{4, 2, -1, 2, 4}) {
		t.Errorf("groups %v are kept, by application %v", picked, w.group)
	}
	for c, row := range p.Ceilings {
		want := 1.0
		if row.Group == 2 || row.Group == 4 {
			want = 0
		}
		if got := w.x[d.ceilingsAt()+c]; got != want {
			t.Errorf("the ceiling of group %d has a price of %g, want %g", row.Group, got, want)
		}
	}
	for _, row := range p.Ceilings {
		if row.Group == 3 {
			t.Error("a ceiling that cannot be exceeded has a row")
		}
	}
}

// Where steps rule the points of the losses out, the numbers on either side of them are tried, and among those above none the
// first one.
func TestBestNextToPoints(t *testing.T) {
	for _, c := range []struct{ point, step, want, some int64 }{{7, 4, 8, 8}, {5, 4, 4, 4}, {6, 4, 8, 8}, {9, 5, 10, 10}, {0, 5, 0, 5}, {12, 7, 7, 7}} {
		inst := lossyCrowd(12, c.step)
		inst.Apps[0].Value = 0
		inst.Apps[0].Losses = []solver.LossPoint{{Loss: 9}, {N: c.point}, {N: 13, Loss: 9}}
		if c.point == 0 {
			inst.Apps[0].Losses = inst.Apps[0].Losses[1:]
		}
		d := NewDual(problem.New(inst), true)
		x := make([]float64, d.Dim())
		x[len(x)-1] = 1
		d.Evaluate(x)
		if n, _ := d.best(x, 0); n != c.want {
			t.Errorf("in steps of %d, losing nothing with %d: %d, want %d", c.step, c.point, n, c.want)
		}
		if n, _ := d.some(x, 0); n != c.some {
			t.Errorf("in steps of %d, losing nothing with %d: at least one: %d, want %d", c.step, c.point, n, c.some)
		}
	}
}
