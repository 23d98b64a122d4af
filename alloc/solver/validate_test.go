package solver_test

import (
	"errors"
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// badInstances are faults of tiny, each with its place.
var badInstances = []struct {
	name   string
	damage func(*solver.Instance)
	item   string
	field  string
	err    error
}{
	{"no servers", func(in *solver.Instance) { in.Capacity = nil }, "", "Capacity", apportion.ErrEmpty},
	{"length", func(in *solver.Instance) { in.Capacity[1] = apportion.Resources{1} }, "server 1", "Capacity", apportion.ErrLength},
	{"negative", func(in *solver.Instance) { in.Capacity[0][1] = -1 }, "server 0", "Capacity", apportion.ErrNegative},
	{"overflow", func(in *solver.Instance) {
		in.Capacity[0][0], in.Capacity[1][0] = math.MaxInt64, 1
	}, "server 1", "Capacity", apportion.ErrOverflow},
	{"total", func(in *solver.Instance) { in.Total[0]-- }, "", "Total", apportion.ErrConflict},
	{"loss budget", func(in *solver.Instance) { in.LossBudget = math.NaN() }, "", "LossBudget", apportion.ErrNotFinite},
	{"infinite loss budget", func(in *solver.Instance) { in.LossBudget = math.Inf(1) }, "", "LossBudget", apportion.ErrNotFinite},
	{"class for each server", func(in *solver.Instance) { in.Class = []int{0} }, "", "Class", apportion.ErrLength},
	{"negative class", func(in *solver.Instance) { in.Class = []int{0, -1} }, "server 1", "Class", apportion.ErrNegative},
	{"negative price of loss", func(in *solver.Instance) { in.LossPrice = -1 }, "", "LossPrice", apportion.ErrRange},
	{"price of loss that is NaN", func(in *solver.Instance) { in.LossPrice = math.NaN() }, "", "LossPrice", apportion.ErrRange},
	{"negative minimum", func(in *solver.Instance) { in.Apps[0].Min = -1 }, "application 0", "Min", apportion.ErrRange},
	{"negative demand", func(in *solver.Instance) { in.Apps[2].Demand[0] = -1 }, "application 2", "Demand", apportion.ErrNegative},
	{"value that is NaN", func(in *solver.Instance) { in.Apps[0].Value = math.NaN() }, "application 0", "Value", apportion.ErrNotFinite},
	{"negative delta", func(in *solver.Instance) { in.Apps[0].Delta = -.1 }, "application 0", "Value", apportion.ErrNotFinite},
	{"step", func(in *solver.Instance) { in.Apps[0].Step = -1 }, "application 0", "Step", apportion.ErrNegative},
	{"per server", func(in *solver.Instance) { in.Apps[0].PerServer = -1 }, "application 0", "PerServer", apportion.ErrNegative},
	{"servers at most", func(in *solver.Instance) { in.Apps[0].MaxServers = -1 }, "application 0", "MaxServers", apportion.ErrNegative},
	{"cost", func(in *solver.Instance) { in.Apps[0].Cost = -1 }, "application 0", "Cost", apportion.ErrNegative},
	{"no counts", func(in *solver.Instance) { in.Apps[0].Counts = []int64{} }, "application 0", "Counts", apportion.ErrRange},
	{"counts from 0", func(in *solver.Instance) { in.Apps[0].Counts = []int64{0, 1} }, "application 0", "Counts", apportion.ErrRange},
	{"equal counts", func(in *solver.Instance) { in.Apps[0].Counts = []int64{2, 2} }, "application 0", "Counts", apportion.ErrRange},
	{"classes that do not ascend", func(in *solver.Instance) { in.Apps[0].Classes = []int{1, 0} }, "application 0", "Classes", apportion.ErrRange},
	{"pinned and new", func(in *solver.Instance) { in.Apps[2].Pinned = true }, "application 2", "Pinned", apportion.ErrConflict},
	{"pinned and displaced", func(in *solver.Instance) {
		in.Apps[0].Pinned, in.Apps[0].Displaced = true, true
	}, "application 0", "Pinned", apportion.ErrConflict},
	{"no losses", func(in *solver.Instance) { in.Apps[0].Losses = []solver.LossPoint{} }, "application 0", "Losses", apportion.ErrRange},
	{"losses from 1", func(in *solver.Instance) { in.Apps[0].Losses = []solver.LossPoint{{N: 1}} }, "application 0", "Losses", apportion.ErrRange},
	{"losses of one number", func(in *solver.Instance) { in.Apps[0].Losses = []solver.LossPoint{{}, {N: 2}, {N: 2}} }, "application 0", "Losses[2]", apportion.ErrRange},
	{"negative loss", func(in *solver.Instance) { in.Apps[0].Losses = []solver.LossPoint{{Loss: -1}} }, "application 0", "Losses[0]", apportion.ErrNegative},
	{"loss that is NaN", func(in *solver.Instance) { in.Apps[0].Losses = []solver.LossPoint{{Loss: math.NaN()}} }, "application 0", "Losses[0]", apportion.ErrNotFinite},
	{"loss too large", func(in *solver.Instance) { in.Apps[0].Losses = []solver.LossPoint{{Loss: 2e6}} }, "application 0", "Losses[0]", apportion.ErrRange},
	{"ceiling length", func(in *solver.Instance) { in.Groups = []solver.Group{{Ceiling: apportion.Resources{1}}} }, "group 0", "Ceiling", apportion.ErrLength},
	{"negative ceiling", func(in *solver.Instance) { in.Groups = []solver.Group{{Ceiling: apportion.Resources{0, 0, -1}}} }, "group 0", "Ceiling", apportion.ErrNegative},
	{"group of who is not there", func(in *solver.Instance) {
		in.Groups = []solver.Group{{Apps: []int{3}, Ceiling: apportion.Resources{1, 1, 1}}}
	}, "group 0", "Apps", apportion.ErrRange},
	{"group of a negative position", func(in *solver.Instance) {
		in.Groups = []solver.Group{{Apps: []int{-1}, Ceiling: apportion.Resources{1, 1, 1}}}
	}, "group 0", "Apps", apportion.ErrRange},
	{"twice in a group", func(in *solver.Instance) {
		in.Groups = []solver.Group{{}, {Apps: []int{1, 1}, Ceiling: apportion.Resources{1, 1, 1}}}
		in.Groups[0].Ceiling = in.Groups[1].Ceiling
	}, "group 1", "Apps", apportion.ErrRange},
	{"demand length", func(in *solver.Instance) { in.Apps[0].Demand = nil }, "application 0", "Demand", apportion.ErrLength},
	{"demand zero", func(in *solver.Instance) { in.Apps[0].Demand = make(apportion.Resources, 3) }, "application 0", "Demand", apportion.ErrNoDemand},
	{"bounds", func(in *solver.Instance) { in.Apps[0].Min = 7 }, "application 0", "Min", apportion.ErrRange},
	{"max zero", func(in *solver.Instance) { in.Apps[0].Min, in.Apps[0].Max = 0, 0 }, "application 0", "Min", apportion.ErrRange},
	{"share", func(in *solver.Instance) { in.Apps[0].Share = math.Inf(1) }, "application 0", "Value", apportion.ErrNotFinite},
	{"server", func(in *solver.Instance) { in.Apps[1].Previous[1].Server = 2 }, "application 1", "Previous", apportion.ErrRange},
	{"order", func(in *solver.Instance) { in.Apps[1].Previous[1].Server = 0 }, "application 1", "Previous", apportion.ErrRange},
	{"count", func(in *solver.Instance) { in.Apps[1].Previous[0].Count = 0 }, "application 1", "Previous", apportion.ErrRange},
	{"held", func(in *solver.Instance) { in.Apps[1].Previous[0].Count = math.MaxInt64 }, "application 1", "Previous", apportion.ErrRange},
	{"options", func(in *solver.Instance) { in.Choices = []solver.Choice{{}} }, "choice 0", "Apps", apportion.ErrEmpty},
	{"option out of range", func(in *solver.Instance) { in.Choices = []solver.Choice{{Apps: []int{3}}} }, "choice 0", "Apps", apportion.ErrRange},
	{"option that must run", func(in *solver.Instance) {
		in.Apps[0].Elective, in.Choices = true, []solver.Choice{{Apps: []int{0}}, {Apps: []int{1}}}
	}, "choice 1", "Apps", apportion.ErrConflict},
	{"option twice", func(in *solver.Instance) {
		in.Apps[0].Elective, in.Choices = true, []solver.Choice{{Apps: []int{0}}, {Apps: []int{0}}}
	}, "choice 1", "Apps", apportion.ErrRange},
	{"options that run", func(in *solver.Instance) {
		in.Apps[0].Elective, in.Apps[1].Elective, in.Apps[0].Share = true, true, in.Apps[1].Share
		in.Choices = []solver.Choice{{Apps: []int{0, 1}}}
	}, "choice 0", "Apps", apportion.ErrConflict},
	{"options of unlike shares", func(in *solver.Instance) {
		in.Apps[0].Elective, in.Apps[2].Elective, in.Choices = true, true, []solver.Choice{{Apps: []int{0, 2}}}
	}, "choice 0", "Apps", apportion.ErrConflict},
}

// What is no instance is refused, with the place.
func TestValidate(t *testing.T) {
	for _, test := range badInstances {
		t.Run(test.name, func(t *testing.T) {
			inst := tiny()
			if err := inst.Validate(); err != nil {
				t.Fatal("before the damage:", err)
			}
			test.damage(inst)
			err := inst.Validate()
			var fault *apportion.FieldError
			if !errors.As(err, &fault) || fault.Item.String() != test.item || fault.Field != test.field || !errors.Is(err, test.err) {
				t.Errorf("%v; want %v in %s of %s", err, test.err, test.field, test.item)
			}
		})
	}
}

// What looks odd and is an instance is not refused: a solver must cope with it, or say that there is no solution.
func TestValidateAccepts(t *testing.T) {
	for name, change := range map[string]func(*solver.Instance){
		"nothing is changed":             func(*solver.Instance) {},
		"no applications":                func(in *solver.Instance) { in.Apps = nil },
		"a loss budget below nothing":    func(in *solver.Instance) { in.LossBudget = -1 },
		"an adjust budget below nothing": func(in *solver.Instance) { in.AdjustBudget = -1 },
		"classes with gaps":              func(in *solver.Instance) { in.Class, in.Apps[0].Classes = []int{7, 3}, []int{3, 5, 7} },
		"open nowhere":                   func(in *solver.Instance) { in.Apps[0].Classes = []int{} },
		"numbers outside the bounds":     func(in *solver.Instance) { in.Apps[0].Counts = []int64{3, 100} },
		"no number is left":              func(in *solver.Instance) { in.Apps[0].Counts = []int64{100} },
		"a step above the maximum":       func(in *solver.Instance) { in.Apps[0].Step = 100 },
		"it overfills its server":        func(in *solver.Instance) { in.Apps[0].Previous[0].Count = 1000 },
		"it has fewer than its minimum":  func(in *solver.Instance) { in.Apps[0].Min = 4 },
		"it ran on servers that are gone": func(in *solver.Instance) {
			in.Apps[0].Displaced, in.Apps[0].Previous = true, nil
		},
		"pinned where there is no room": func(in *solver.Instance) { in.Apps[0].Pinned, in.Capacity[0][0], in.Total[0] = true, 0, 4 },
		"a group of nobody":             func(in *solver.Instance) { in.Groups = []solver.Group{{Ceiling: apportion.Resources{0, 0, 0}}} },
		"a group without limits": func(in *solver.Instance) {
			in.Groups = []solver.Group{{Apps: []int{0, 1, 2}, Ceiling: apportion.Resources{solver.NoLimit, solver.NoLimit, solver.NoLimit}}}
		},
		"a choice of one": func(in *solver.Instance) {
			in.Apps[2].Elective, in.Choices = true, []solver.Choice{{Apps: []int{2}, Required: true}}
		},
		"losses up to below the maximum": func(in *solver.Instance) { in.Apps[0].Losses = []solver.LossPoint{{}, {N: 2, Loss: 1}} },
		"a worth below nothing":          func(in *solver.Instance) { in.Apps[2].Worth = []float64{-solver.MaxWorth} },
		"a server of nothing":            func(in *solver.Instance) { in.Capacity = append(in.Capacity, apportion.Resources{0, 0, 0}) },
	} {
		inst := tiny()
		change(inst)
		if err := inst.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// Whatever is legal has a cap and a bound without prices, and neither is NaN.
		bound, err := solver.DualBound(inst, zero(inst))
		if limit := inst.Cap(); err != nil || math.IsNaN(limit) || math.IsNaN(bound) {
			t.Errorf("%s: cap %g, bound %g, %v", name, limit, bound, err)
		}
	}
}
