package milptest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
)

// mutant is the reference back-end with a fault.
type mutant struct {
	name string
	// can replaces the capabilities; 0: those of the reference.
	can milp.Capability
	// before changes what the reference is given, after what it answers; nil: nothing.
	before func(*call)
	after  func(*milp.Solution) error
	// caught is part of the name of a check that must fail.
	caught string
}

func (m mutant) Capabilities() milp.Capability {
	if m.can != 0 {
		return m.can
	}
	return bb.Solver{}.Capabilities()
}

func (m mutant) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	c := call{ctx, model, *opts}
	if m.before != nil {
		m.before(&c)
	}
	answer, err := bb.Solver{}.Solve(c.ctx, c.model, &c.opts)
	if m.after != nil && err == nil {
		err = m.after(&answer)
	}
	return answer, err
}

// edit changes a model; nil functions change nothing.
type edit struct {
	variable func(j int, v *milp.Variable)
	row      func(r *milp.Row)
	minimise bool
}

// apply returns a copy of the model with the changes.
func (e edit) apply(m *milp.Model) *milp.Model {
	b := milp.NewBuilder("")
	vars := make([]milp.Var, m.Variables())
	var cost []milp.Term
	for j := range vars {
		v := m.Variable(j)
		if e.variable != nil {
			e.variable(j, &v)
		}
		if v.Integer {
			vars[j] = b.Integer(v.Lower, v.Upper, "")
		} else {
			vars[j] = b.Continuous(v.Lower, v.Upper, "")
		}
		cost = append(cost, milp.Term{Var: vars[j], Coef: v.Cost})
	}
	for i := range m.Rows() {
		r := m.Row(i)
		if e.row != nil {
			e.row(&r)
		}
		var terms []milp.Term
		for k, j := range r.Columns {
			terms = append(terms, milp.Term{Var: vars[j], Coef: r.Coefs[k]})
		}
		b.Row("", r.Lower, terms, r.Upper)
	}
	if m.Sense() == milp.Maximize && !e.minimise {
		b.Maximize(cost, m.Constant())
	} else {
		b.Minimize(cost, m.Constant())
	}
	model, err := b.Build()
	if err != nil {
		panic(err)
	}
	return model
}

// call is what a back-end is called with.
type call struct {
	ctx   context.Context
	model *milp.Model
	opts  milp.Options
}

// editing returns a before that changes the model.
func editing(e edit) func(*call) { return func(c *call) { c.model = e.apply(c.model) } }

// turning returns an after that replaces one status by another.
func turning(from, to milp.Status) func(*milp.Solution) error {
	return func(s *milp.Solution) error {
		if s.Status == from {
			s.Status = to
		}
		return nil
	}
}

// capped keeps a mutant that ignores its limits from running for ever.
const capped = time.Second

// mutants returns back-ends with one fault each.
func mutants() []mutant {
	return append(append(modelMutants(), answerMutants()...), optionMutants()...)
}

// modelMutants misread the model.
func modelMutants() []mutant {
	inf := math.Inf(1)
	return []mutant{
		{name: "minimises always", caught: "model/", before: editing(edit{minimise: true})},
		{name: "forgets integrality", caught: "model/", before: editing(edit{variable: func(_ int, v *milp.Variable) { v.Integer = false }})},
		{name: "treats every variable as integer", caught: "model/mixed",
			before: editing(edit{variable: func(_ int, v *milp.Variable) { v.Integer = true }})},
		{name: "takes no lower bound below 0", caught: "model/negative bounds",
			before: editing(edit{variable: func(_ int, v *milp.Variable) {
				v.Lower = math.Max(v.Lower, 0)
				v.Upper = math.Max(v.Upper, v.Lower)
			}})},
		{name: "takes 1000 for infinite", caught: "model/unbounded",
			before: editing(edit{variable: func(_ int, v *milp.Variable) {
				v.Lower, v.Upper = math.Max(v.Lower, -1000), math.Min(v.Upper, 1000)
			}})},
		{name: "forgets the lower side of ranges", caught: "model/range row",
			before: editing(edit{row: func(r *milp.Row) {
				if r.Lower != r.Upper && r.Upper < inf {
					r.Lower = -inf
				}
			}})},
		{name: "forgets fixed variables", caught: "model/fixed variables",
			before: editing(edit{variable: func(_ int, v *milp.Variable) {
				if v.Lower == v.Upper {
					v.Lower, v.Upper = 0, 0
				}
			}})},
		{name: "rounds bounds to the nearest", caught: "model/fractional bounds",
			before: editing(edit{variable: func(_ int, v *milp.Variable) {
				if v.Integer {
					v.Lower, v.Upper = math.Round(v.Lower), math.Round(v.Upper)
				}
			}})},
		{name: "takes equations for upper bounds", caught: "model/assignment",
			before: editing(edit{row: func(r *milp.Row) {
				if r.Lower == r.Upper {
					r.Lower = -inf
				}
			}})},
		{name: "forgets the upper side of ranges", caught: "model/infeasible rows",
			before: editing(edit{row: func(r *milp.Row) { r.Upper = inf }})},
		{name: "takes small coefficients for nothing", caught: "model/rows of very different size",
			before: editing(edit{row: func(r *milp.Row) {
				if r.Upper < 0.1 && r.Upper > 0 {
					r.Upper = inf
				}
			}})},
		{name: "gives free variables a lower bound of 0", caught: "model/free variable",
			before: editing(edit{variable: func(_ int, v *milp.Variable) {
				if math.IsInf(v.Lower, -1) {
					v.Lower = math.Min(0, v.Upper)
				}
			}})},
		{name: "knows no costs but the first", caught: "model/no rows, maximise",
			before: editing(edit{variable: func(j int, v *milp.Variable) {
				if j > 0 {
					v.Cost = 0
				}
			}})},
		{name: "takes ranges for equations", caught: "model/range row",
			before: editing(edit{row: func(r *milp.Row) {
				if r.Lower != r.Upper && r.Lower > -inf && r.Upper < inf {
					r.Lower = r.Upper
				}
			}})},
		{name: "forgets empty rows", caught: "model/infeasible empty row",
			before: editing(edit{row: func(r *milp.Row) {
				if len(r.Coefs) == 0 {
					r.Lower, r.Upper = -inf, inf
				}
			}})},
	}
}

// answerMutants misread the outcome.
func answerMutants() []mutant {
	return []mutant{
		{name: "calls unbounded infeasible", caught: "model/unbounded", after: turning(milp.Unbounded, milp.Infeasible)},
		{name: "calls infeasible a limit", caught: "model/infeasible", after: turning(milp.Infeasible, milp.LimitReached)},
		{name: "takes what is worth little for nothing", caught: "known/", after: func(s *milp.Solution) error {
			if s.Status == milp.Optimal && len(s.Values) > 4 {
				clear(s.Values)
				s.Bound = 0
			}
			return nil
		}},
		{name: "calls what it has proven infeasible", caught: "model/knapsack", after: func(s *milp.Solution) error {
			if s.Status == milp.Optimal {
				*s = milp.Solution{Status: milp.Infeasible}
			}
			return nil
		}},
		{name: "loosens its bound", caught: "model/objective constant", after: func(s *milp.Solution) error {
			s.Bound += math.Copysign(0.1, s.Bound)
			return nil
		}},
		{name: "gives the values in another order", caught: "model/rounding is wrong", after: func(s *milp.Solution) error {
			slices.Reverse(s.Values)
			return nil
		}},
	}
}

// optionMutants misread options, and what a limit means.
func optionMutants() []mutant {
	return []mutant{
		{name: "claims optimality of what it has", caught: "limit/nodes, solution", after: turning(milp.Feasible, milp.Optimal)},
		{name: "gives an error for a limit", caught: "limit/", after: func(s *milp.Solution) error {
			if s.Status == milp.LimitReached {
				return errors.New("limit")
			}
			return nil
		}},
		{name: "ignores the node limit", caught: "limit/nodes", before: func(c *call) {
			if c.opts.NodeLimit > 0 {
				c.opts.NodeLimit, c.opts.TimeLimit = 0, capped
			}
		}},
		{name: "ignores the context", caught: "cancel/in the middle", before: func(c *call) {
			if c.ctx = context.Background(); c.opts.TimeLimit == 0 {
				c.opts.TimeLimit = capped
			}
		}},
		{name: "drops its incumbent when cancelled", caught: "cancel/in the middle", after: func(s *milp.Solution) error {
			if s.Status == milp.Cancelled {
				s.Values = nil
			}
			return nil
		}},
		{name: "believes hints", caught: "hint", before: func(c *call) {
			editing(edit{variable: func(j int, v *milp.Variable) {
				if c.opts.Hint == nil {
					return
				}
				if x := math.Round(c.opts.Hint[j]); x >= v.Lower && x <= v.Upper {
					v.Lower, v.Upper = x, x
				}
			}})(c)
		}},
		{name: "calls an end by its gap a limit", caught: "option/gap", after: turning(milp.Optimal, milp.Feasible)},
		{name: "gives NaN for a bound at a limit", caught: "limit/nodes, no solution", after: func(s *milp.Solution) error {
			if s.Status == milp.LimitReached {
				s.Bound = math.NaN()
			}
			return nil
		}},
		{name: "ignores the memory limit", caught: "limit/memory", before: func(c *call) {
			if c.opts.MemoryLimitBytes == 1 {
				c.opts.MemoryLimitBytes, c.opts.NodeLimit = 0, 1
			}
		}, after: func(s *milp.Solution) error {
			s.Reason = "memory"
			if s.Status == milp.LimitReached {
				s.Status = milp.Infeasible
			}
			return nil
		}},
		{name: "fails where a hint is not feasible", caught: "option/infeasible hint", before: func(c *call) {
			if len(c.opts.Hint) > 0 && c.model.Verify(c.opts.Hint, 0, 0) != nil {
				c.opts.NodeLimit = 1
			}
		}},
		{name: "searches more nodes than it may", caught: "limit/nodes, no solution", after: func(s *milp.Solution) error {
			s.Nodes = 13
			return nil
		}},
		{name: "is wrong when asked at once", caught: "option/concurrent", after: turning(milp.Optimal, milp.Feasible)},
		{name: "claims a log and never calls it", caught: "option/log", before: func(c *call) { c.opts.Log = nil }},
	}
}

// TestMutantsAreCaught: the suite finds every planted fault, by the check that is meant for it.
func TestMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var failed []string
			for _, c := range checks(modelsPerFamily) {
				if strings.Contains(c.name, m.caught) && c.needs&^m.Capabilities() == 0 && c.run(context.Background(), m) != nil {
					failed = append(failed, c.name)
				}
			}
			if len(failed) == 0 {
				t.Errorf("no check named %q failed", m.caught)
			}
		})
	}
}

// Each comparison with the enumeration notices a row that is a little too tight, and a limit in place of a proof.
func TestRandomChecksFindFaults(t *testing.T) {
	tight := mutant{before: editing(edit{row: func(r *milp.Row) {
		if r.Lower < r.Upper-1 {
			r.Upper--
		}
	}})}
	for _, c := range randomChecks(modelsPerFamily) {
		for _, by := range []mutant{tight, {after: turning(milp.Infeasible, milp.LimitReached)}} {
			if c.run(context.Background(), by) == nil {
				t.Errorf("%s: passed", c.name)
			}
		}
	}
}

// stuck hangs on models with a certain number of variables, and says when it is told to stop.
type stuck struct {
	bb.Solver
	variables int
	obeys     bool
	stopped   chan struct{}
}

func (s stuck) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	if model.Variables() != s.variables {
		return s.Solver.Solve(ctx, model, opts)
	}
	if !s.obeys {
		select {} // for ever
	}
	<-ctx.Done()
	close(s.stopped)
	return milp.Solution{Status: milp.Cancelled, Bound: math.Inf(-1)}, nil
}

// A back-end that hangs is named with the check at which it hangs, and stopped if it can be.
func TestHangIsNamed(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		s := stuck{variables: knapsack().Variables(), obeys: obeys, stopped: make(chan struct{})}
		c := check{"option/hang", 0, func(ctx context.Context, solver milp.Solver) error {
			_, err := milp.Solve(ctx, solver, knapsack(), nil)
			return err
		}}
		start := time.Now()
		err := c.within(50*time.Millisecond, s)
		if took := time.Since(start); took > Patience {
			t.Errorf("waited for %v", took)
		}
		if err == nil || !strings.Contains(err.Error(), "milptest.stuck hangs: option/hang") {
			t.Errorf("%v, want the back-end and the check named", err)
		}
		if obeys {
			<-s.stopped
		}
	}
}

// A back-end that claims little passes what is left.
func TestSkips(t *testing.T) {
	Run(t, func(*testing.T) milp.Solver {
		return mutant{can: milp.CanInteger | milp.CanInterrupt | milp.CanTolerances}
	})
}

// fickle claims no seed when it is asked first, and everything from then on.
type fickle struct {
	bb.Solver
	asked bool
}

func (f *fickle) Capabilities() milp.Capability {
	if !f.asked {
		f.asked = true
		return milp.CanEverything &^ milp.CanSeed
	}
	return milp.CanEverything
}

// What is not claimed must be refused.
func TestRefusalsAreChecked(t *testing.T) {
	if err := refusals(context.Background(), &fickle{}); err == nil || !strings.Contains(err.Error(), "is not claimed") {
		t.Errorf("a back-end that claims a seed at the second question: %v", err)
	}
}
