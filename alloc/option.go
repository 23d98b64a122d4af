// This file takes applications apart that may run in one of several ways: the options H of [Program §1]. Each
// option becomes an entry of its own, and an application without any is one entry.

package alloc

import (
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// entry returns the application with option o alone: an application without options, whose Option says which one it was,
// as resolved.problem has it.
func (a *Application) entry(o int) Application {
	// Everything but what an option states is the application's: queue, weight, limits by server, priority, cost.
	e, option := *a, &a.Options[o]
	e.Form = option.Form
	if e.Max == 0 && len(e.Counts) > 0 {
		e.Max = e.Counts[len(e.Counts)-1]
	}
	e.Requires = slices.Concat(a.Requires, option.Requires)
	e.Options, e.Option = nil, option.ID
	return e
}

// entriesOf returns what the application may run as: itself, or one entry for each option, in their order.
func (a *Application) entriesOf() []Application {
	if a.Options == nil {
		return []Application{*a}
	}
	all := make([]Application, len(a.Options))
	for o := range all {
		all[o] = a.entry(o)
	}
	return all
}

// forms are what the entries state, in their order.
func (a *Application) forms(yield func(*Form) bool) {
	if a.Options == nil {
		yield(&a.Form)
		return
	}
	for o := range a.Options {
		if !yield(&a.Options[o].Form) {
			return
		}
	}
}

// form returns what an entry states.
func (a *Application) form(at int) *Form {
	if a.Options == nil {
		return &a.Form
	}
	return &a.Options[at].Form
}

// present returns which of its entries the application runs as if it runs, or -1: the option is not there any more.
func (a *Application) present(option string) int {
	// Whoever does not say which option it runs with runs with the first; so one that ran before it had any goes on.
	if a.Options == nil || option == "" {
		return 0
	}
	return slices.IndexFunc(a.Options, func(o Option) bool { return o.ID == option })
}

// apart returns p with every option as an application, and which application of p each of these is.
// Slices and maps are shared with p: entries are read, and never handed to the caller.
func (p *Problem) apart() (apart *Problem, of []int) {
	// The usual problem has no options, and is not copied.
	of = make([]int, 0, len(p.Applications))
	if !slices.ContainsFunc(p.Applications, func(a Application) bool { return a.Options != nil }) {
		for i := range p.Applications {
			of = append(of, i)
		}
		return p, of
	}
	entries := *p
	entries.Applications = make([]Application, 0, 2*len(p.Applications))
	for i := range p.Applications {
		app := &p.Applications[i]
		if app.Options == nil {
			entries.Applications, of = append(entries.Applications, *app), append(of, i)
		}
		for o := range app.Options {
			entries.Applications, of = append(entries.Applications, app.entry(o)), append(of, i)
		}
	}
	return &entries, of
}

// choices returns the options among apps: one Choice for each application that has several, with positions in apps.
// An application of whose options one alone is among apps still is a Choice, of one way.
// Required says that one of them must have containers, as a Min above 0 says of an application without
// options.
func (r *resolved) choices(apps []int) []solver.Choice {
	var choices []solver.Choice
	last := -1
	for a, i := range apps {
		o := r.of[i]
		if len(r.entries[o]) == 1 {
			continue
		}
		// Entries of one application follow each other.
		if o != last {
			choices, last = append(choices, solver.Choice{Required: !r.idle(i)}), o
		}
		choice := &choices[len(choices)-1]
		choice.Apps = append(choice.Apps, a)
	}
	return choices
}

// inUse returns the entry of application o that has containers under counts, else the one that it runs as, else the first
// that there is room for, else the first: the entry about which shares, reasons and explanations speak. counts has one
// entry for each application of the problem; nil: nobody has any.
func (r *resolved) inUse(o int, counts solver.Counts) int {
	// At most one entry has containers, as the choice of P2 demands.
	entries := r.entries[o]
	if at := slices.IndexFunc(entries, func(e int) bool { return counts != nil && len(counts[e]) > 0 }); at >= 0 {
		return entries[at]
	}
	if e := r.runs(o); e >= 0 {
		return e
	}
	if at := slices.IndexFunc(entries, r.fits); at >= 0 {
		return entries[at]
	}
	return entries[0]
}

// fitting lists the options of the application of entry i that the empty cluster could hold.
func (r *resolved) fitting(i int) []int {
	options := r.options(i)
	if len(options) == 1 && r.fits(options[0]) {
		return options // the usual application, of which nothing is copied
	}
	var fitting []int
	for _, e := range options {
		if r.fits(e) {
			fitting = append(fitting, e)
		}
	}
	return fitting
}

// usedOption returns the ID of the option of entry i; empty where the application has none.
func (r *resolved) usedOption(i int) string {
	if r.given.Applications[r.of[i]].Options == nil {
		return ""
	}
	return r.problem.Applications[i].Option
}
