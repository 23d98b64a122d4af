// This file holds applications that may run in one of several ways: the options H of the general program. Each option
// becomes an entry of its own, and whoever has none is one entry.

package alloc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/check"
)

// Option is one way to run an application: on one kind of accelerator, or with containers of one size.
type Option struct {
	// ID names the option; not empty, unique in its application.
	ID string `json:"id"`
	// Demand, Step and Counts are as those of an Application, and so are Worth and Speed: all options state a Speed, in one
	// unit, or none does.
	Demand apportion.Resources `json:"demand"`
	// Requires is what the labels of its servers must satisfy, beside what the application requires.
	Requires []apportion.Requirement `json:"requires,omitzero"`
	// Max and Min bound its containers; a Max of 0 is the last of Counts. Where one option has a Min of 0 the application
	// may be without containers.
	Max    int64     `json:"max,omitzero"`
	Min    int64     `json:"min,omitzero"`
	Step   int64     `json:"step,omitzero"`
	Counts []int64   `json:"counts,omitzero"`
	Worth  []float64 `json:"worth,omitzero"`
	Speed  []float64 `json:"speed,omitzero"`
}

// entry returns the application with option o alone.
func (a *Application) entry(o int) Application {
	e, option := *a, &a.Options[o]
	e.Demand, e.Max, e.Min, e.Step, e.Counts, e.Worth = option.Demand, option.Max, option.Min, option.Step, option.Counts, option.Worth
	e.Speed = option.Speed
	if e.Max == 0 && len(e.Counts) > 0 {
		e.Max = e.Counts[len(e.Counts)-1]
	}
	e.Requires = slices.Concat(a.Requires, option.Requires)
	e.Options, e.Option = nil, option.ID
	return e
}

// entries returns what the application may run as: itself, or one entry for each option.
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

// present returns which of its entries the application runs as if it runs, or -1: the option is not there any more.
func (a *Application) present(option string) int {
	if a.Options == nil || option == "" {
		return 0
	}
	return slices.IndexFunc(a.Options, func(o Option) bool { return o.ID == option })
}

// checkOptions adds what is wrong with the options of an application, and with what they stand in place of.
func (p *Problem) checkOptions(faults *apportion.Faults, app *Application, item apportion.Item) {
	if len(app.Options) == 0 {
		faults.Add(item, "Options", apportion.ErrEmpty, "")
	}
	for _, f := range [...]struct {
		field string
		set   bool
	}{{"Demand", app.Demand != nil}, {"Max", app.Max != 0}, {"Min", app.Min != 0}, {"Step", app.Step != 0}, {"Counts", app.Counts != nil}, {"Worth", app.Worth != nil}, {"Speed", app.Speed != nil}} {
		if f.set {
			faults.Add(item, f.field, apportion.ErrConflict, "with Options, which have it each")
		}
	}
	seen := make(map[string]bool)
	for o := range app.Options {
		before := len(*faults)
		option := &app.Options[o]
		field := "Options[" + strconv.Itoa(o) + "]."
		switch {
		case option.ID == "":
			faults.Add(item, field+"ID", apportion.ErrEmpty, "")
		case seen[option.ID]:
			faults.Add(item, field+"ID", apportion.ErrDuplicate, strconv.Quote(option.ID))
		}
		seen[option.ID] = true
		e := app.entry(o)
		if (option.Speed == nil) != (app.Options[0].Speed == nil) {
			faults.Add(item, field+"Speed", apportion.ErrConflict, "some options state one, others none")
		}
		p.checkDemand(faults, &e, item)
		checkNumbers(faults, &e, item)
		// What is wrong with an option is told with its place.
		for f := before; f < len(*faults); f++ {
			if !strings.HasPrefix((*faults)[f].Field, "Options[") {
				(*faults)[f].Field = field + (*faults)[f].Field
			}
		}
		for r := range option.Requires {
			check.Requirement(faults, &option.Requires[r], item, field+"Requires["+strconv.Itoa(r)+"]")
		}
	}
}

// apart returns p with every option as an application, and which application of p each of these is.
func (p *Problem) apart() (apart *Problem, of []int) {
	of = make([]int, 0, len(p.Applications))
	if !slices.ContainsFunc(p.Applications, func(a Application) bool { return a.Options != nil }) {
		for i := range p.Applications {
			of = append(of, i)
		}
		return p, of
	}
	entries := *p
	entries.Applications = nil
	for i := range p.Applications {
		for _, e := range p.Applications[i].entriesOf() {
			entries.Applications, of = append(entries.Applications, e), append(of, i)
		}
	}
	return &entries, of
}

// choices returns the options among apps: one Choice for each application that has several.
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

// options returns the entries of the application of entry i.
func (r *resolved) options(i int) []int { return r.entries[r.of[i]] }

// idle reports whether the application of entry i may be without containers.
func (r *resolved) idle(i int) bool {
	return slices.ContainsFunc(r.options(i), func(e int) bool { return r.problem.Applications[e].Min == 0 })
}

// runs returns the entry that application o runs as, or -1: it does not run.
func (r *resolved) runs(o int) int {
	if at := slices.IndexFunc(r.entries[o], r.running); at >= 0 {
		return r.entries[o][at]
	}
	return -1
}

// isForced reports whether application o runs and cannot stay as it is.
func (r *resolved) isForced(o int) bool {
	e := r.runs(o)
	return e >= 0 && r.forced[e]
}

// inUse returns the entry of application o that has containers under counts, else the one that it runs as, else the first
// that there is room for, else the first.
func (r *resolved) inUse(o int, counts solver.Counts) int {
	entries := r.entries[o]
	if at := slices.IndexFunc(entries, func(e int) bool { return len(counts[e]) > 0 }); at >= 0 {
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

// usedOption returns the ID of the option of entry i; empty where the application has none.
func (r *resolved) usedOption(i int) string {
	if r.given.Applications[r.of[i]].Options == nil {
		return ""
	}
	return r.problem.Applications[i].Option
}

// optionsUsed maps the ID of every application with an option in shares to that.
func optionsUsed(shares []Share) map[string]string {
	used := make(map[string]string)
	for _, share := range shares {
		if share.Option != "" {
			used[share.ID] = share.Option
		}
	}
	return used
}

// withOption puts the option that a reason is about before its text, where there are several.
func (r *resolved) withOption(i int, reason apportion.Reason) apportion.Reason {
	if len(r.options(i)) > 1 {
		reason.Text = fmt.Sprintf("with option %q %s", r.problem.Applications[i].Option, reason.Text)
	}
	return reason
}

// reasonOf joins the reasons of the options of one application: the first is told with its numbers, the text is of all.
func (r *resolved) reasonOf(options []int, why func(e int) apportion.Reason) apportion.Reason {
	var joined apportion.Reason
	for at, e := range options {
		reason := r.withOption(e, why(e))
		if at == 0 {
			joined = reason
		} else {
			joined.Text += "; " + reason.Text
		}
	}
	return joined
}
