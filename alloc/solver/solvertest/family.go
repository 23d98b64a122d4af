// This file holds the generated clusters: the referee, determinism and contexts on sizes of the
// caller's choice.

package solvertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// family is a way to draw clusters, with the checks on them.
type family struct{ alloctest.Family }

// families returns those of alloctest: instances of the paper's program, in sizes that matter. What the whole
// program adds is asked on small ones, where the truth is known.
func families() []family {
	var all []family
	for _, f := range alloctest.Families() {
		all = append(all, family{f})
	}
	return all
}

// each calls do with every cluster of the family, fresh and full.
// A fresh cluster leaves all capacity to newcomers, a full one makes (16) and the residents' room
// bind: solvers take different ways through the two.
func (f family) each(p *probe, do func(name string, inst *solver.Instance) error) error {
	// The seed is the position of the size: the names of instances stay the same as long as the
	// list does.
	for seed, size := range p.opts.Sizes {
		for _, previous := range []bool{false, true} {
			name := fmt.Sprintf("alloctest.%s(%d, %d, %d, %v)", f.Name, seed, size.Servers, size.Apps, previous)
			inst, _ := f.Draw(uint64(seed), size.Servers, size.Apps, previous)
			if err := do(name, inst); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// refereed checks every answer by itself, and that the instance is left alone.
// It needs no optimum, and so reaches sizes that nobody can enumerate.
func (f family) refereed(p *probe) error {
	return f.each(p, func(name string, inst *solver.Instance) error {
		before := clone(inst)
		s, err := p.ask(name, inst)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(before, inst) {
			return errors.New("the instance was changed")
		}
		// alloctest promises full clusters, not solutions; on the sizes that a suite is run with
		// there is one, and a solver that finds none has given up.
		if !s.Status.HasSolution() && !p.opts.Relaxed {
			return fmt.Errorf("%s where there is a solution", s.Status)
		}
		return judge(inst, s)
	})
}

// deterministic asks everything twice, the second time with a copy.
func (f family) deterministic(p *probe) error {
	return f.each(p, func(name string, inst *solver.Instance) error {
		first, err := p.ask(name, inst)
		if err != nil {
			return err
		}
		// The copy has other addresses: an answer that depends on them, or on a map's order, is
		// found out.
		again, err := p.ask(name, clone(inst))
		if err != nil {
			return err
		}
		// The whole solution is compared, effort and prices included: a recorded decision must
		// replay exactly.
		if !reflect.DeepEqual(first, again) {
			return fmt.Errorf("asked again, %s with %g of at most %g, proven by %s; before %s with %g of at most %g, proven by %s",
				again.Status, again.Objective, again.Bound, again.Proven, first.Status, first.Objective, first.Bound, first.Proven)
		}
		return nil
	})
}

// clone returns a copy that shares nothing.
func clone(inst *solver.Instance) *solver.Instance {
	// Every slice that a solver could write to is copied; what remains of the struct are numbers. Absent
	// lists stay absent, since nil and empty differ in meaning for Classes and Counts.
	c := *inst
	c.Total = inst.Total.Clone()
	c.Capacity = append([]apportion.Resources(nil), inst.Capacity...)
	for j := range c.Capacity {
		c.Capacity[j] = c.Capacity[j].Clone()
	}
	c.Class = slices.Clone(inst.Class)
	c.Apps = append([]solver.App(nil), inst.Apps...)
	for i := range c.Apps {
		app := &c.Apps[i]
		app.Demand, app.Counts, app.Classes = app.Demand.Clone(), slices.Clone(app.Counts), slices.Clone(app.Classes)
		app.Worth, app.Losses = slices.Clone(app.Worth), slices.Clone(app.Losses)
		app.Previous = append([]apportion.Placement(nil), app.Previous...)
	}
	c.Choices = slices.Clone(inst.Choices)
	for o := range c.Choices {
		c.Choices[o].Apps = slices.Clone(c.Choices[o].Apps)
	}
	return &c
}

// refused hands over what is no instance: an error, not a panic.
func refused(p *probe) (err error) {
	// Each spoils a valid instance in one respect: among them are those that index out of range,
	// divide by zero or run without end in a solver that trusts its input.
	// The applications of Tiny are numbered 0 to 2, of which the last does not run.
	for name, spoil := range map[string]func(*solver.Instance){
		"no servers":                    func(i *solver.Instance) { i.Capacity = nil },
		"a capacity that is too short":  func(i *solver.Instance) { i.Capacity[1] = i.Capacity[1][:2] },
		"a demand that is too long":     func(i *solver.Instance) { i.Apps[0].Demand = make(apportion.Resources, 4) },
		"a negative demand":             func(i *solver.Instance) { i.Apps[0].Demand[0] = -1 },
		"a demand of nothing":           func(i *solver.Instance) { i.Apps[0].Demand = make(apportion.Resources, 3) },
		"a total that is no sum":        func(i *solver.Instance) { i.Total[0]-- },
		"a minimum above the maximum":   func(i *solver.Instance) { i.Apps[0].Min = 7 },
		"a value that is no number":     func(i *solver.Instance) { i.Apps[0].Value = math.NaN() },
		"a budget without end":          func(i *solver.Instance) { i.LossBudget = math.Inf(1) },
		"a server that does not exist":  func(i *solver.Instance) { i.Apps[0].Previous[0].Server = 2 },
		"containers that are not there": func(i *solver.Instance) { i.Apps[0].Previous[0].Count = 0 },
		"classes of other servers":      func(i *solver.Instance) { i.Class = []int{0} },
		"a negative class":              func(i *solver.Instance) { i.Class = []int{0, -1} },
		"a price below nothing":         func(i *solver.Instance) { i.LossPrice = -1 },
		"a price without end":           func(i *solver.Instance) { i.LossPrice = math.Inf(1) },
		"a negative step":               func(i *solver.Instance) { i.Apps[0].Step = -1 },
		"a negative limit by server":    func(i *solver.Instance) { i.Apps[0].PerServer = -1 },
		"a negative limit of servers":   func(i *solver.Instance) { i.Apps[0].MaxServers = -1 },
		"a negative cost":               func(i *solver.Instance) { i.Apps[0].Cost = -1 },
		"a list of nothing":             func(i *solver.Instance) { i.Apps[0].Counts = []int64{} },
		"a list that begins with none":  func(i *solver.Instance) { i.Apps[0].Counts = []int64{0, 1} },
		"a list that does not ascend":   func(i *solver.Instance) { i.Apps[0].Counts = []int64{1, 1} },
		"open classes out of order":     func(i *solver.Instance) { i.Apps[0].Classes = []int{1, 0} },
		"a newcomer that must stay":     func(i *solver.Instance) { i.Apps[2].Pinned = true },
		"worths for other numbers":      func(i *solver.Instance) { i.Apps[0].Worth = make([]float64, 5) },
		"a worth that is no number":     func(i *solver.Instance) { i.Apps[2].Worth = []float64{math.NaN()} },
		"a worth beyond all":            func(i *solver.Instance) { i.Apps[2].Worth = []float64{-2 * solver.MaxWorth} },
		"none without worths":           func(i *solver.Instance) { i.Apps[0].Idle = 1 },
		"losses that begin with one":    func(i *solver.Instance) { i.Apps[0].Losses = []solver.LossPoint{{N: 1}} },
		"losses out of order":           func(i *solver.Instance) { i.Apps[0].Losses = []solver.LossPoint{{}, {N: 2}, {N: 2}} },
		"a loss below nothing":          func(i *solver.Instance) { i.Apps[0].Losses = []solver.LossPoint{{Loss: -1}} },
		"a loss without end":            func(i *solver.Instance) { i.Apps[0].Losses = []solver.LossPoint{{Loss: math.Inf(1)}} },
		"staying below nothing":         func(i *solver.Instance) { i.Apps[0].Stay = -1 },
		"a part below nothing":          func(i *solver.Instance) { i.Apps[0].Spread = &solver.Spread{Part: -1} },
		"lists without worths":          func(i *solver.Instance) { i.Apps[0].Spread = &solver.Spread{Lost: [][]float64{{0}}} },
		"a list of no servers": func(i *solver.Instance) {
			i.Apps[2].Worth, i.Apps[2].Spread = []float64{1}, &solver.Spread{Lost: [][]float64{{}}}
		},
		"rooms that do not fall": func(i *solver.Instance) {
			i.Apps[0].Spread = &solver.Spread{Rooms: []solver.Rooms{{Containers: 1, Servers: 1}, {Containers: 1, Servers: 1}}}
		},
		"an option that does not exist": func(i *solver.Instance) { i.Choices = []solver.Choice{{Apps: []int{3}}} },
		"a choice of nothing":           func(i *solver.Instance) { i.Choices = []solver.Choice{{}} },
		"an option that must run":       func(i *solver.Instance) { i.Choices = []solver.Choice{{Apps: []int{2}}} },
		"options of unlike shares": func(i *solver.Instance) {
			i.Apps[1].Elective, i.Apps[2].Elective, i.Choices = true, true, []solver.Choice{{Apps: []int{1, 2}}}
		},
		"options that run both": func(i *solver.Instance) {
			i.Apps[0].Elective, i.Apps[1].Elective, i.Apps[1].Share = true, true, i.Apps[0].Share
			i.Choices = []solver.Choice{{Apps: []int{0, 1}}}
		},
		"an option of two applications": func(i *solver.Instance) {
			i.Apps[2].Elective, i.Choices = true, []solver.Choice{{Apps: []int{2}}, {Apps: []int{2}}}
		},
		"one that must stay and cannot": func(i *solver.Instance) { i.Apps[0].Pinned, i.Apps[0].Displaced = true, true },
	} {
		inst := Tiny()
		spoil(inst)
		if err := p.refuses(name, inst); err != nil {
			return err
		}
	}
	return nil
}

// refuses hands over one such instance; a panic is a fault of the solver, and named.
func (p *probe) refuses(name string, inst *solver.Instance) (err error) {
	// A panic in the check's goroutine would end the whole test binary.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: panics: %v", name, r)
		}
	}()
	if _, err := p.ask(name, inst); err == nil {
		return fmt.Errorf("%s: taken for an instance", name)
	}
	return nil
}

// cancelledBefore asks with a context that has ended.
func cancelledBefore(p *probe) error { return p.cancelled(0) }

// cancelledInside asks with a context that ends soon.
//
// Five milliseconds end a search in its middle on large sizes; on small ones the solver may have
// finished, and is then held to a complete answer.
func cancelledInside(p *probe) error { return p.cancelled(5 * time.Millisecond) }

// cancelled asks for the last cluster of every family, with a context that ends after so long. The answer
// comes soon and is as right as any; where it was cut short, it says so.
// A solver may be called by a scheduler that has to answer in time: what it knows by then is worth
// having, and a wrong bound under pressure is as wrong as any.
func (p *probe) cancelled(after time.Duration) error {
	for _, f := range families() {
		// The last size is the largest as a rule, where a search is least likely to be over in
		// time.
		size := p.opts.Sizes[len(p.opts.Sizes)-1]
		name := fmt.Sprintf("alloctest.%s(7, %d, %d, true), ended after %v", f.Name, size.Servers, size.Apps, after)
		inst, _ := f.Draw(7, size.Servers, size.Apps, true)
		// A context of no time has ended before the call, as context.WithTimeout promises for a
		// deadline in the past.
		ctx, cancel := context.WithTimeout(p.ctx, after)
		start := time.Now()
		s, err := p.askWithin(ctx, name, inst)
		took := time.Since(start)
		cancel()
		switch {
		case err != nil:
			return err
		case took > after+patience:
			return fmt.Errorf("%s: returned %v after the context had ended", name, took-after)
		// A search that was cut short before it began cannot have finished, however small the
		// instance is.
		case after == 0 && !s.Interrupted:
			return fmt.Errorf("%s: not marked as interrupted", name)
		}
		if err := judge(inst, s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
