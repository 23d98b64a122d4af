package solvertest

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// answerToTiny is the proven answer of the default solver to Tiny.
func answerToTiny(t *testing.T) *solver.Solution {
	t.Helper()
	s, err := embedded.New(nil).Solve(context.Background(), Tiny())
	if err != nil || s.Status != solver.Optimal {
		t.Fatalf("%+v, %v", s, err)
	}
	return s
}

// says reports whether err is what is wanted: nothing where text is empty.
func says(err error, text string) bool {
	if text == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), text)
}

// Each thing that is wrong with a solution by itself is told in its own words.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *solver.Solution)
		want   string
	}{
		{"right", func(*solver.Solution) {}, ""},
		{"rounded", func(s *solver.Solution) { s.Objective += solver.ObjectiveTolerance / 2 }, ""},
		{"a bound above the cap", func(s *solver.Solution) { s.Bound = 3.1 }, "above the cap"},
		{"a bound that is no number", func(s *solver.Solution) { s.Bound = math.NaN() }, "above the cap"},
		{"a server overfilled", func(s *solver.Solution) { s.Counts[0][0].Count = 9 }, "constraint violated"},
		{"an objective of its own", func(s *solver.Solution) { s.Objective -= .1 }, "recomputed 2.375"},
		{"an objective that is no number", func(s *solver.Solution) { s.Objective = math.NaN() }, "recomputed"},
		{"a bound below", func(s *solver.Solution) { s.Bound = 2 }, "above its bound"},
		{"feasible and proven", func(s *solver.Solution) { s.Status = solver.Feasible }, "feasible, proven by"},
		{"optimal and not proven", func(s *solver.Solution) { s.Proven = solver.ByNothing }, "proven by nothing"},
		{"prices for no server", func(s *solver.Solution) { s.Multipliers = new(solver.Multipliers) }, "multipliers must"},
		{"infeasible with counts", func(s *solver.Solution) { s.Status = solver.Infeasible }, "and yet with counts"},
		{"infeasible with a bound", func(s *solver.Solution) { s.Status, s.Counts = solver.Infeasible, nil }, "infeasible with bound"},
		{"unknown below everything", func(s *solver.Solution) { *s = solver.Solution{Bound: math.Inf(-1)} }, "unknown with bound -Inf"},
		{"unknown", func(s *solver.Solution) { *s = solver.Solution{Bound: 3} }, ""},
		{"infeasible", func(s *solver.Solution) { *s = solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)} }, ""},
		{"a status that JSON refuses", func(s *solver.Solution) { *s = solver.Solution{Status: 9, Bound: 3} }, "no value 9"},
		{"a pointer to text that is none", func(s *solver.Solution) { s.By.Solver = "\xff" }, "JSON gives another"},
	} {
		s := answerToTiny(t)
		c.change(s)
		if err := judge(Tiny(), s); !says(err, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Prices must prove what is claimed, unless a search is said to have done the rest.
func TestCertified(t *testing.T) {
	zero := &solver.Multipliers{Server: [][]float64{{0, 0, 0}, {0, 0, 0}}} // proves the cap, 3, alone
	for _, c := range []struct {
		name        string
		certificate solver.Certificate
		bound       float64
		want        string
	}{
		{"the cap", solver.Certificate{Multipliers: zero}, 3, ""},
		{"less than the prices prove", solver.Certificate{Multipliers: zero}, 2.375, "without a search"},
		{"by a search", solver.Certificate{Multipliers: zero, Searched: true}, 2.375, ""},
		{"no prices, nothing to hold them to", solver.Certificate{}, 2.375, ""},
	} {
		s := answerToTiny(t)
		s.Certificate, s.Bound = c.certificate, c.bound
		if err := certified(Tiny(), s); !says(err, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	s := answerToTiny(t)
	s.Objective = 3.5 // whatever it is, no prices may prove less
	if err := certified(Tiny(), s); !says(err, "below the objective") {
		t.Errorf("an objective above what is proven: %v", err)
	}
}

// Against the truth, Relaxed excuses that nothing is found, and nothing else.
func TestCompare(t *testing.T) {
	best, _ := p2oracle.Best(Tiny())
	none := solver.Solution{Bound: 3}
	infeasible := solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}
	for _, c := range []struct {
		name            string
		s               *solver.Solution
		best            solver.Counts
		strict, relaxed string
	}{
		{"the answer", answerToTiny(t), best, "", ""},
		{"nothing found", &none, best, "unknown where there is a solution", ""},
		{"denied", &infeasible, best, "infeasible where there is a solution", "infeasible where there is a solution"},
		{"a bound below the optimum", &solver.Solution{Bound: 2}, best, "below the optimum", "below the optimum"},
		{"an answer where there is none", answerToTiny(t), nil, "optimal where there is no solution", "optimal where there is no solution"},
		{"unknown where there is none", &none, nil, "unknown where there is no solution", ""},
		{"infeasible where there is none", &infeasible, nil, "", ""},
	} {
		for relaxed, want := range map[bool]string{false: c.strict, true: c.relaxed} {
			opts := (&Options{Relaxed: relaxed}).complete()
			if err := opts.compare(Tiny(), c.s, c.best); !says(err, want) {
				t.Errorf("%s, relaxed %v: %v, want %q", c.name, relaxed, err, want)
			}
		}
	}
}

// An answer that claims to be optimal and is not is found out at the tolerance that was asked for.
func TestCompareTolerance(t *testing.T) {
	best, _ := p2oracle.Best(Tiny())
	s := answerToTiny(t)
	s.Counts, s.Certificate = solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 1}, {Server: 1, Count: 1}}, {{Server: 0, Count: 1}}}, solver.Certificate{}
	inst := Tiny()
	inst.AdjustBudget = 2
	s.Objective = inst.Objective(s.Counts) // a container of MF less: 5/16
	for tolerance, want := range map[float64]string{.1: "where 2.375 is attained", .4: ""} {
		opts := (&Options{Tolerance: tolerance}).complete()
		s.Proven = solver.ByUtilization
		if err := opts.compare(inst, s, best); !says(err, want) {
			t.Errorf("tolerance %g: %v, want %q", tolerance, err, want)
		}
	}
}

// Each level of the preference is held against the best answer as soon as it is claimed, not before.
func TestRanked(t *testing.T) {
	inst := Tiny()
	best := held(inst)
	other := func(change func(solver.Counts)) solver.Counts {
		counts := held(inst)
		change(counts)
		return counts
	}
	for _, c := range []struct {
		name   string
		counts solver.Counts
		from   solver.Rank // the first level at which it is wrong
		want   string
	}{
		{"the same", best, solver.ByOrder + 1, ""},
		{"more loss", other(func(c solver.Counts) { c[0] = nil }), solver.ByLoss, "with loss"},
		{"as much loss, elsewhere", other(func(c solver.Counts) { c[0] = []apportion.Placement{{Server: 1, Count: 2}} }), solver.ByAdjusted, "1 adjusted, where 0"},
	} {
		for rank := solver.ByNothing; rank <= solver.ByOrder; rank++ {
			want := ""
			if rank >= c.from {
				want = c.want
			}
			if err := ranked(inst, &solver.Solution{Counts: c.counts, Proven: rank}, best); !says(err, want) {
				t.Errorf("%s, proven by %s: %v, want %q", c.name, rank, err, want)
			}
		}
	}
	// As many are adjusted, but more containers move: two of two instead of one.
	one := other(func(c solver.Counts) {
		c[0] = []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 1}}
	})
	two := other(func(c solver.Counts) { c[0] = []apportion.Placement{{Server: 1, Count: 2}} })
	for rank, want := range map[solver.Rank]string{solver.ByAdjusted: "", solver.ByMoved: "4 moved, where 2", solver.ByOrder: "4 moved, where 2"} {
		if err := ranked(inst, &solver.Solution{Counts: two, Proven: rank}, one); !says(err, want) {
			t.Errorf("more moved, proven by %s: %v, want %q", rank, err, want)
		}
	}
}

// held is what runs in an instance.
func held(inst *solver.Instance) solver.Counts {
	counts := make(solver.Counts, len(inst.Apps))
	for i := range inst.Apps {
		counts[i] = inst.Apps[i].Previous
	}
	return counts
}

// answers is a solver that says what it is told, and remembers how often it was asked.
type answers struct {
	solution *solver.Solution
	err      error
	asked    int
}

func (a *answers) Solve(context.Context, *solver.Instance) (*solver.Solution, error) {
	a.asked++
	return a.solution, a.err
}

// A probe passes answers on, names the instance of every fault, and asks nothing more once it was stopped.
func TestProbe(t *testing.T) {
	broken, right := errors.New("broken"), &solver.Solution{}
	for _, c := range []struct {
		name string
		by   *answers
		want string
	}{
		{"an answer", &answers{solution: right}, ""},
		{"an error", &answers{err: broken}, "the instance: broken"},
		{"an error beside an answer", &answers{solution: right, err: broken}, "the instance: broken"},
		{"nothing", &answers{}, "the instance: neither a solution nor an error"},
	} {
		p := &probe{Solver: c.by, ctx: context.Background()}
		s, err := p.ask("the instance", Tiny())
		if !says(err, c.want) || (s == right) != (err == nil) || *p.busy.Load() != "the instance" {
			t.Errorf("%s: %+v, %v; want %q", c.name, s, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	by := &answers{solution: right}
	if _, err := (&probe{Solver: by, ctx: ctx}).ask("late", Tiny()); !errors.Is(err, context.Canceled) || by.asked != 0 {
		t.Errorf("asked %d times after the end, %v", by.asked, err)
	}
}

// A check that hangs before it asks for anything is named without an instance.
func TestHangWithoutInstance(t *testing.T) {
	idle := check{"idle", func(p *probe) error { <-p.ctx.Done(); return nil }}
	err := idle.within((&Options{Deadline: time.Millisecond}).complete(), &answers{})
	if !says(err, "*solvertest.answers hangs on no instance: idle ended only when it was stopped after 1ms") {
		t.Error(err)
	}
	quick := check{"quick", func(*probe) error { return errors.New("found") }}
	if err := quick.within((*Options)(nil).complete(), &answers{}); !says(err, "found") {
		t.Error(err)
	}
}

// A solution whose levels are better than the best one's is let pass: it may stand where the utilization
// differs within the tolerance.
func TestRankedLetsBetterPass(t *testing.T) {
	inst := Tiny()
	worse := held(inst)
	worse[0] = []apportion.Placement{{Server: 1, Count: 3}}
	if err := ranked(inst, &solver.Solution{Counts: held(inst), Proven: solver.ByOrder}, worse); err != nil {
		t.Error(err)
	}
}

// The loss of a general solver is held to rankTolerance, not to the last digit.
func TestRankedTolerance(t *testing.T) {
	for off, want := range map[float64]string{rankTolerance / 2: "", rankTolerance * 2: "with loss"} {
		inst := Tiny()
		counts := held(inst)
		inst.Apps[2].Delta = off // one container of NN loses so much less than none
		inst.Apps[2].Share = off
		with := append(counts[:2:2], []apportion.Placement{{Server: 0, Count: 1}})
		if err := ranked(inst, &solver.Solution{Counts: counts, Proven: solver.ByLoss}, with); !says(err, want) {
			t.Errorf("%g more loss: %v, want %q", off, err, want)
		}
	}
}
