// This file plays the study: every solver, on every form, on every instance.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/studies/command"
)

// newStudy chooses the instances, in the order of their size, and the solvers that are there.
// Solvers that are not there are left out and named in the first lines; if none is there, that is an error.
func newStudy(o *options) (*study, error) {
	s := &study{limit: o.limit, workers: o.workers}
	var solvers []backend.Backend
	var absent []string
	var why error
	for _, b := range o.solvers {
		err := available(b)
		switch {
		case errors.Is(err, ortools.ErrUnavailable):
			absent, why = append(absent, b.Name), err
		case err != nil:
			return nil, err
		default:
			solvers = append(solvers, b)
		}
	}
	if len(solvers) == 0 {
		return nil, fmt.Errorf("no solver is there: %w", why)
	}
	if why != nil {
		s.skipped = append(s.skipped, fmt.Sprintf("%s: %v", strings.Join(absent, ", "), why))
	}
	references, err := o.references()
	if err != nil {
		return nil, err
	}
	for _, ref := range references {
		inst := &instance{Reference: ref, fresh: !slices.ContainsFunc(ref.Instance.Apps, isRunning)}
		for _, b := range solvers {
			inst.cells = append(inst.cells, s.cellsOf(inst, b, o.forms)...)
		}
		s.instances = append(s.instances, inst)
	}
	// What is silently left out would look like a defeat.
	if slices.ContainsFunc(solvers, func(b backend.Backend) bool { return b.Name == backend.BranchAndBound }) &&
		slices.ContainsFunc(s.instances, func(i *instance) bool { return i.size() > smallSize }) {
		s.skipped = append(s.skipped, fmt.Sprintf("bb on instances of more than %d applications times servers", smallSize))
	}
	slices.SortStableFunc(s.instances, func(a, b *instance) int { return a.size() - b.size() })
	return s, nil
}

// available solves the smallest of programs.
// The library is opened by that, once.
func available(b backend.Backend) error {
	if b.General == nil {
		return nil
	}
	program := milp.NewBuilder("probe")
	program.Maximize([]milp.Term{{Var: program.Integer(0, 1, "x"), Coef: 1}}, 0)
	model, err := program.Build()
	if err != nil {
		return err
	}
	_, err = milp.Solve(context.Background(), b.General, model, nil)
	return err
}

// smallSize is the largest size that is given to bb.
// bb needs minutes for more, and finds little.
const smallSize = 600

// cellsOf returns what one solver is asked on an instance. Where nothing runs, the disjunctive form is
// the verbatim one.
// The embedded solver has a cell for each effort, the others one for each form.
func (s *study) cellsOf(inst *instance, b backend.Backend, forms []mip.Form) []*cell {
	var cells []*cell
	if b.Own != nil {
		for _, e := range efforts {
			cells = append(cells, &cell{solver: b.Name, form: e.name, measure: func(ctx context.Context, _ float64) (trace, error) {
				return measureOwn(ctx, inst.Instance, e, s.limit)
			}})
		}
		return cells
	}
	if b.Name == backend.BranchAndBound && inst.size() > smallSize {
		return nil
	}
	for _, form := range forms {
		if inst.fresh && form == mip.Disjunctive && slices.Contains(forms, mip.Verbatim) {
			continue
		}
		cells = append(cells, &cell{solver: b.Name, form: string(form), measure: func(ctx context.Context, near float64) (trace, error) {
			one := search{inst.Instance, b.General, form, s.limit, s.workers, near}
			return one.measure(ctx)
		}})
	}
	return cells
}

// measure fills in the cells, one after the other, and prints a table whenever an instance is done.
// Where ctx ends, the instances that are not done are dropped.
// Solvers never run beside each other, since most of them use several threads.
func (s *study) measure(ctx context.Context, stdout, stderr io.Writer) error {
	n := 0
	for _, inst := range s.instances {
		n += len(inst.cells)
	}
	tick := command.Progress(stderr, n, "solving")
	for done, inst := range s.instances {
		for _, c := range inst.cells {
			// best grows while cells are measured: a later solver may find more.
			c.points, c.failed = c.measure(ctx, (1-loose)*inst.best())
			if ctx.Err() != nil {
				s.instances = s.instances[:done]
				return nil
			}
			tick()
		}
		if err := inst.report(stdout, s.limit); err != nil {
			return err
		}
	}
	return nil
}

// An application that runs has a previous allocation.
func isRunning(app solver.App) bool { return app.Running }
