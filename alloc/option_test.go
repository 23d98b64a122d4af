package alloc_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// accelerators is a cluster of four V100 and two A100, with one job that may use either, as an input has it: an A100 is
// twice as fast.
const accelerators = `{"kinds": ["v100", "a100"], "theta1": 1, "theta2": 1,
	"servers": [{"id": "old", "capacity": [4, 0]}, {"id": "new", "capacity": [0, 2]}],
	"applications": [
		{"id": "net", "options": [
			{"id": "v100", "demand": [1, 0], "min": 1, "counts": [1, 2, 4], "worth": [1, 1.8, 3]},
			{"id": "a100", "demand": [0, 1], "min": 1, "counts": [1, 2], "worth": [2, 3.6]}]},
		{"id": "fixed", "demand": [0, 1], "max": 1, "worth": [1]}]}`

// read returns the problem of a text.
func read(t *testing.T, text string) *alloc.Problem {
	t.Helper()
	p := &alloc.Problem{}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return p
}

// moveTo makes d what runs now.
func moveTo(p *alloc.Problem, d *alloc.Decision) {
	p.Previous = d.Allocation
	for i := range p.Applications {
		p.Applications[i].Option = d.Shares[i].Option
	}
}

// A job that has the whole server goes on with less of it for one that comes, if it may be adjusted, and the reason is true if not.
func TestOptionMakesRoom(t *testing.T) {
	for _, test := range []struct {
		theta2 string
		runs   string
		waits  string // why B waits; empty: it does not
	}{
		{"0.1", `{}`, ""},
		{"1", `{"A": {"s": 1}}`, ""},
		{"0", `{"A": {"s": 1}}`, "adjustment budget (theta2) is 0"},
	} {
		p := read(t, `{"kinds": ["gpu"], "servers": [{"id": "s", "capacity": [8]}], "applications": [
			{"id": "A", "options": [{"id": "large", "demand": [8], "max": 1, "min": 1}, {"id": "small", "demand": [4], "max": 1, "min": 1}]},
			{"id": "B", "demand": [4], "max": 1, "min": 1}], "theta1": 0.1, "theta2": `+test.theta2+`, "previous": `+test.runs+`}`)
		d := reallocate(t, p)
		if test.waits != "" {
			if r := without(t, d.Waiting, "B"); !strings.Contains(r.Text, test.waits) || d.Shares[0].Option != "large" {
				t.Errorf("theta2 %s: %s", test.theta2, r.Text)
			}
			continue
		}
		if len(d.Waiting) > 0 || d.Shares[0].Option != "small" || d.Metrics.ResourceUtilization != 1 {
			t.Errorf("theta2 %s, running %s: %+v, waiting %+v", test.theta2, test.runs, d.Shares, d.Waiting)
		}
	}
}

// The job is worth most on old machines while the other one needs a new one, and moves over when that has gone, if it may.
func TestOptionsFollowWorth(t *testing.T) {
	p := read(t, accelerators)
	d := reallocate(t, p)
	if got := d.Shares[0]; got.Option != "v100" || got.Containers != 4 || d.Objective != 4 || d.Bound < 4 {
		t.Fatalf("%+v, worth %g of %g", got, d.Objective, d.Bound)
	}
	moveTo(p, d)
	p.Applications = p.Applications[:1]
	p.Theta2 = 0
	d = reallocate(t, p)
	if got := d.Shares[0]; got.Option != "v100" || got.Adjusted {
		t.Errorf("it moved without a budget: %+v", got)
	}
	p.Theta2 = 1
	d = reallocate(t, p)
	if got := d.Shares[0]; got.Option != "a100" || got.Containers != 2 || !got.Adjusted || math.Abs(got.Worth-(3.6-3./8)) > 1e-8 {
		t.Errorf("%+v", got)
	}
	if d.Metrics.Adjusted != 1 || d.Metrics.AdjustCost != 1 || d.Metrics.Forced != 0 {
		t.Errorf("%+v", d.Metrics)
	}
	// What staying is worth keeps it.
	stay := 3.7
	p.Applications[0].StayWorth = &stay
	if d = reallocate(t, p); d.Shares[0].Option != "v100" || d.Objective != 3.7 {
		t.Errorf("%+v, worth %g", d.Shares[0], d.Objective)
	}
}

// An application whose option is gone must change it, which costs nothing.
func TestOptionGone(t *testing.T) {
	p := read(t, accelerators)
	p.Previous, p.Applications[0].Option = alloc.Allocation{"net": {"old": 4}}, "k80"
	p.Theta2 = 0
	d := reallocate(t, p)
	if got := d.Shares[0]; !got.Forced || !got.Adjusted || got.Containers == 0 || got.Option == "" || d.Metrics.AdjustCost != 0 {
		t.Errorf("%+v %+v", got, d.Metrics)
	}
}

// Another option on the same server is another set of containers: all go, all come, and the job is saved between.
func TestOptionPlan(t *testing.T) {
	p := read(t, `{"kinds": ["gpu"], "theta1": 1, "theta2": 1, "servers": [{"id": "s", "capacity": [8]}],
		"applications": [{"id": "net", "option": "small", "start": ["go"], "resume": ["go on"], "options": [
			{"id": "small", "demand": [1], "max": 2, "worth": [1, 2]}, {"id": "large", "demand": [4], "max": 2, "worth": [3, 5]}]}],
		"previous": {"net": {"s": 2}}}`)
	d := reallocate(t, p)
	want := []alloc.Step{
		{Action: alloc.Save, Application: "net"},
		{Action: alloc.Destroy, Application: "net", Option: "small", Server: "s", Containers: 2},
		{Action: alloc.Create, Application: "net", Option: "large", Server: "s", Containers: 2},
		{Action: alloc.Resume, Application: "net", Command: []string{"go on"}},
	}
	if diff := cmp.Diff(want, alloc.NewPlan(p, d.Allocation, d.Shares...).Steps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	moveTo(p, d)
	if steps := alloc.NewPlan(p, d.Allocation, d.Shares...).Steps; steps != nil {
		t.Errorf("what is as it should be changes: %+v", steps)
	}
}

// Where no server has what any option needs the reason says so of each.
func TestOptionsNobodyHas(t *testing.T) {
	p := read(t, accelerators)
	p.Applications = p.Applications[:1]
	p.Servers[0].Capacity, p.Servers[1].Capacity = apportion.Resources{0, 0}, apportion.Resources{0, 0}
	d := reallocate(t, p)
	if len(d.Waiting) != 1 || !d.Waiting[0].LeftOut {
		t.Fatalf("%+v", d.Waiting)
	}
	reason := d.Waiting[0].Reason
	for _, part := range []string{`with option "v100" it demands v100, of which the cluster has none`, `With option "a100" it demands a100`} {
		if !strings.Contains(reason.Text, part) {
			t.Errorf("%q says nothing of %q", reason.Text, part)
		}
	}
	// With one kind there it runs, and takes no notice of the other.
	p.Servers[1].Capacity = apportion.Resources{0, 1}
	if d := reallocate(t, p); d.Shares[0].Option != "a100" || len(d.Waiting) > 0 {
		t.Errorf("%+v, waiting %+v", d.Shares[0], d.Waiting)
	}
}

// The theoretical share is that of the first option that there is room for, and the loss that of the option in use.
func TestOptionsShare(t *testing.T) {
	p := read(t, accelerators)
	p.Applications = p.Applications[:1]
	d := reallocate(t, p)
	// Four of four V100 are its share, two of two A100 as much.
	if got := d.Shares[0]; got.Option != "a100" || got.Theoretical != 1 || got.Actual != 1 || got.Loss != 0 {
		t.Errorf("%+v", got)
	}
	p.Applications[0].Options[0], p.Applications[0].Options[1] = p.Applications[0].Options[1], p.Applications[0].Options[0]
	p.Applications[0].Options[0].Counts, p.Applications[0].Options[0].Worth = []int64{1}, []float64{5}
	d = reallocate(t, p)
	if got := d.Shares[0]; got.Option != "a100" || got.Theoretical != .5 || got.Loss != 0 {
		t.Errorf("%+v", got)
	}
	// With no more than half of its share lost it has two V100 and not one A100 where those are worth more.
	p.Applications[0].Options[1].Worth = []float64{6, 7, 9}
	p.Theta1, p.Options.NoCeil15 = 0, true
	d = reallocate(t, p)
	if got := d.Shares[0]; got.Option != "v100" || got.Containers != 2 || got.Loss != 0 {
		t.Errorf("%+v", got)
	}
}

// Where every option has a minimum the job has to run, in the way that is least bad; with none in one of them it may be
// left without.
func TestOptionsMustRun(t *testing.T) {
	p := read(t, accelerators)
	p.Applications = p.Applications[:1]
	options := p.Applications[0].Options
	options[0].Worth, options[1].Worth = []float64{-2, -3, -4}, []float64{-1, -3}
	d := reallocate(t, p)
	if got := d.Shares[0]; got.Option != "a100" || got.Containers != 1 || d.Objective != -1 {
		t.Errorf("%+v, worth %g", got, d.Objective)
	}
	options[0].Min = 0
	d = reallocate(t, p)
	if got := d.Shares[0]; got.Option != "" || got.Containers != 0 || d.Objective != 0 || len(d.Waiting) != 1 || d.Waiting[0].LeftOut {
		t.Errorf("%+v, worth %g, waiting %+v", got, d.Objective, d.Waiting)
	}
}

// Bad options are refused, with their place.
func TestValidateOptions(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(app *alloc.Application)
		field  string
		want   error
	}{
		{"none", func(a *alloc.Application) { a.Options = []alloc.Option{} }, "Options", apportion.ErrEmpty},
		{"a demand beside", func(a *alloc.Application) { a.Demand = apportion.Resources{1, 0} }, "Demand", apportion.ErrConflict},
		{"a maximum beside", func(a *alloc.Application) { a.Max = 1 }, "Max", apportion.ErrConflict},
		{"a minimum beside", func(a *alloc.Application) { a.Min = 1 }, "Min", apportion.ErrConflict},
		{"a step beside", func(a *alloc.Application) { a.Step = 1 }, "Step", apportion.ErrConflict},
		{"counts beside", func(a *alloc.Application) { a.Counts = []int64{1} }, "Counts", apportion.ErrConflict},
		{"worths beside", func(a *alloc.Application) { a.Worth = []float64{1} }, "Worth", apportion.ErrConflict},
		{"no name", func(a *alloc.Application) { a.Options[1].ID = "" }, "Options[1].ID", apportion.ErrEmpty},
		{"a name twice", func(a *alloc.Application) { a.Options[1].ID = "v100" }, "Options[1].ID", apportion.ErrDuplicate},
		{"no demand", func(a *alloc.Application) { a.Options[1].Demand = nil }, "Options[1].Demand", apportion.ErrLength},
		{"a demand of nothing", func(a *alloc.Application) { a.Options[0].Demand = apportion.Resources{0, 0} }, "Options[0].Demand", apportion.ErrNoDemand},
		{"a short demand", func(a *alloc.Application) { a.Options[0].Demand = apportion.Resources{1} }, "Options[0].Demand", apportion.ErrLength},
		{"no number", func(a *alloc.Application) { a.Options[0].Counts, a.Options[0].Worth = nil, nil }, "Options[0].Max", apportion.ErrRange},
		{"a worth too many", func(a *alloc.Application) { a.Options[0].Worth = []float64{1, 2, 3, 4} }, "Options[0].Worth", apportion.ErrLength},
		{"a minimum above all", func(a *alloc.Application) { a.Options[1].Min = 3 }, "Options[1].Min", apportion.ErrConflict},
		{"a requirement of nothing", func(a *alloc.Application) {
			a.Options[1].Requires = []apportion.Requirement{{Op: apportion.Exists}}
		}, "Options[1].Requires[0].Key", apportion.ErrEmpty},
		{"none without worths", func(a *alloc.Application) { a.IdleWorth, a.Options[0].Min, a.Options[0].Worth = 1, 0, nil }, "IdleWorth", apportion.ErrConflict},
		{"none where it must run", func(a *alloc.Application) { a.IdleWorth = 1 }, "IdleWorth", apportion.ErrConflict},
	} {
		p := read(t, accelerators)
		c.change(&p.Applications[0])
		var faults apportion.Faults
		err := p.Validate()
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Item.ID != "net" || faults[0].Field != c.field || !errors.Is(faults[0].Err, c.want) {
			t.Errorf("%s: %v, want %v in %s", c.name, err, c.want, c.field)
		}
		if _, _, err := p.Instance(); err == nil {
			t.Errorf("%s: there is an instance", c.name)
		}
	}
	p := read(t, accelerators)
	p.Options.Paper, p.Applications[0].Option, p.Previous = true, "k80", alloc.Allocation{"net": {"old": 1}}
	if err := p.Validate(); !errors.Is(err, apportion.ErrUnknown) {
		t.Errorf("the paper's rule with an option that is gone: %v", err)
	}
	p = read(t, accelerators)
	p.Applications[1].Option = "v100"
	var fault *apportion.FieldError
	if err := p.Validate(); !errors.As(err, &fault) || fault.Field != "Option" || !errors.Is(err, apportion.ErrUnknown) {
		t.Errorf("an option of one without options: %v", err)
	}
}

// A record with options is read back as it was, verified, and taken again with the same answer; another option in it is
// no answer.
func TestOptionRecord(t *testing.T) {
	p := read(t, accelerators)
	d := reallocate(t, p)
	record := reread(t, alloc.NewRecord(p, d))
	if diff := cmp.Diff(p, record.Problem); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if proof, err := record.Verify(); err != nil || proof.Bound < d.Objective-1e-9 {
		t.Errorf("%+v, %v", proof, err)
	}
	if found, err := record.Replay(t.Context(), nil); err != nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
	record.Decision.Shares[0].Option = "a100"
	if found, err := record.Replay(t.Context(), nil); err != nil || len(found) != 1 || found[0].Field != "Shares.Option" {
		t.Errorf("another option than recorded: %v, %v", found, err)
	}
	if _, err := record.Verify(); !errors.Is(err, alloc.ErrMismatch) {
		t.Errorf("four of two A100: %v", err)
	}
	record.Decision.Shares[0].Option = "k80"
	if _, err := record.Verify(); !errors.Is(err, alloc.ErrMismatch) {
		t.Errorf("an option that there is not: %v", err)
	}
}

// What was let in past one that waits is checked by the options that newcomers have, and not by those that they have in the end alone: here a2
// is let in with 4 of the memory, and has a CPU in its place.
func TestPassedByAnotherOption(t *testing.T) {
	const text = `{"kinds": ["cpu", "memory"], "servers": [{"id": "s0", "capacity": [0, 4]}, {"id": "s1", "capacity": [3, 1]}],
		"applications": [
			{"id": "a0", "weight": 1, "demand": [0, 1], "min": 1, "max": 2, "step": 2, "counts": [1, 2, 4], "max_servers": 1},
			{"id": "a2", "weight": 1, "options": [{"id": "memory", "demand": [0, 2], "min": 2, "max": 2}, {"id": "cpu", "demand": [1, 0], "max": 2, "counts": [1, 2]}], "max_servers": 1},
			{"id": "a3", "weight": 1, "demand": [0, 2], "min": 2, "max": 2, "step": 2, "counts": [1, 2, 4], "max_servers": 1}],
		"previous": {"a3": {"s0": 1}}}`
	var p alloc.Problem
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	d, err := recorded(t, t.Context(), &p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := d.Waiting[0]; w.ID != "a0" || w.Passed < 1 || d.Shares[1].Option != "cpu" {
		t.Errorf("%+v, %+v", d.Waiting, d.Shares)
	}
}
