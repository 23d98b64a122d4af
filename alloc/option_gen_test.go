package alloc_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// genOptions gives some applications one to three options: what they were is one of them, that of what runs.
func genOptions(t *rapid.T, p *alloc.Problem) {
	for i := range p.Applications {
		app := &p.Applications[i]
		if rapid.IntRange(0, 2).Draw(t, "options") > 0 {
			continue
		}
		own := alloc.Option{ID: "own", Form: alloc.Form{Demand: app.Demand, Max: app.Max, Min: app.Min, Step: app.Step, Counts: app.Counts, Worth: app.Worth, WorthOn: app.WorthOn, Speed: app.Speed}}
		options := []alloc.Option{own}
		for o := range rapid.IntRange(0, 2).Draw(t, "more options") {
			other := own
			other.ID, other.Demand = fmt.Sprint("other", o), genVector(t, "other demand", len(p.Kinds), 3)
			if other.Demand.IsZero() {
				other.Demand[0] = 1
			}
			if app.Worth != nil {
				other.Worth = slices.Clone(own.Worth)
				for n := range other.Worth {
					other.Worth[n] += float64(rapid.IntRange(-2, 2).Draw(t, "other worth")) / 4
				}
			}
			if app.IdleWorth == 0 {
				other.Min = min(other.Max, rapid.Int64Range(0, 2).Draw(t, "other min"))
				if other.Worth != nil || other.WorthOn != nil || other.Speed != nil {
					other.Min = own.Min
				}
			}
			options = slices.Insert(options, rapid.IntRange(0, len(options)).Draw(t, "where"), other)
		}
		app.Options, app.Option = options, "own"
		if rapid.IntRange(0, 9).Draw(t, "gone") == 0 && !p.Options.Paper {
			app.Option = "gone"
		}
		app.Demand, app.Max, app.Min, app.Step, app.Counts, app.Worth, app.WorthOn, app.Speed = nil, 0, 0, 0, nil, nil, nil, nil
	}
}

// using returns p with every application as its option in shares says, or as it runs; what runs with an option that is
// gone uses nothing.
func using(p *alloc.Problem, shares []alloc.Share) *alloc.Problem {
	plain := *p
	plain.Applications = slices.Clone(p.Applications)
	for i := range plain.Applications {
		app := &plain.Applications[i]
		if app.Options == nil {
			continue
		}
		id := app.Option
		if i < len(shares) && shares[i].Option != "" {
			id = shares[i].Option
		}
		at := max(0, slices.IndexFunc(app.Options, func(o alloc.Option) bool { return o.ID == id }))
		o := app.Options[at]
		app.Demand, app.Max, app.Min, app.Step, app.Counts, app.Worth, app.WorthOn, app.Speed = o.Demand, o.Max, o.Min, o.Step, o.Counts, o.Worth, o.WorthOn, o.Speed
		if app.Max == 0 {
			app.Max = o.Counts[len(o.Counts)-1]
		}
		// Nobody knows what an option that is gone has used.
		if id == "gone" {
			app.Demand = make(apportion.Resources, len(p.Kinds))
		}
		app.Options, app.Option = nil, ""
	}
	return &plain
}

// ranWith returns the option of what application i has in Previous.
func ranWith(app *alloc.Application) string {
	if app.Options != nil && app.Option == "" {
		return app.Options[0].ID
	}
	return app.Option
}
