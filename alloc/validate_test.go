package alloc_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

func TestValidate(t *testing.T) {
	lr := func(p *alloc.Problem) *alloc.Application { return &p.Applications[0] }
	refuse(t, []bad{
		{"no kinds", func(p *alloc.Problem) { p.Kinds = nil }, "", "Kinds", apportion.ErrEmpty},
		{"a kind twice", func(p *alloc.Problem) { p.Kinds[1] = "cpu" }, "", "Kinds[1]", apportion.ErrDuplicate},
		{"a step below zero", func(p *alloc.Problem) { p.Applications[0].Step = -1 }, `application "LR"`, "Step", apportion.ErrNegative},
		{"a limit below zero", func(p *alloc.Problem) { p.Applications[0].PerServer = -1 }, `application "LR"`, "PerServer", apportion.ErrNegative},
		{"servers below zero", func(p *alloc.Problem) { p.Applications[0].MaxServers = -1 }, `application "LR"`, "MaxServers", apportion.ErrNegative},
		{"a cost below zero", func(p *alloc.Problem) { p.Applications[0].AdjustCost = new(int64); *p.Applications[0].AdjustCost = -1 }, `application "LR"`, "AdjustCost", apportion.ErrNegative},
		{"no count", func(p *alloc.Problem) { p.Applications[0].Counts = []int64{} }, `application "LR"`, "Counts", apportion.ErrEmpty},
		{"a count of nothing", func(p *alloc.Problem) { p.Applications[0].Counts = []int64{0, 1} }, `application "LR"`, "Counts[0]", apportion.ErrRange},
		{"counts that fall", func(p *alloc.Problem) { p.Applications[0].Counts = []int64{2, 2} }, `application "LR"`, "Counts[1]", apportion.ErrRange},
		{"a requirement of nothing", requires(apportion.Requirement{Op: apportion.Exists}), `application "LR"`, "Requires[0].Key", apportion.ErrEmpty},
		{"an unknown operator", requires(apportion.Requirement{Key: "zone", Op: "like"}), `application "LR"`, "Requires[0].Op", apportion.ErrUnknown},
		{"in nothing", requires(apportion.Requirement{Key: "zone", Op: apportion.NotIn}), `application "LR"`, "Requires[0].Values", apportion.ErrEmpty},
		{"values that nobody reads", requires(apportion.Requirement{Key: "zone", Op: apportion.Exists, Values: []string{"a"}}), `application "LR"`, "Requires[0].Values", apportion.ErrConflict},
		{"a server without a name", func(p *alloc.Problem) { p.Servers[1].ID = "" }, "server 1", "ID", apportion.ErrEmpty},
		{"a server twice", func(p *alloc.Problem) { p.Servers[1].ID = "s0" }, `server "s0"`, "ID", apportion.ErrDuplicate},
		{"a negative capacity", func(p *alloc.Problem) { p.Servers[0].Capacity[2] = -1 }, `server "s0"`, "Capacity[memory]", apportion.ErrNegative},
		{"a short capacity", func(p *alloc.Problem) { p.Servers[0].Capacity = apportion.Resources{4} }, `server "s0"`, "Capacity", apportion.ErrLength},
		{"capacities that overflow", func(p *alloc.Problem) { p.Servers[0].Capacity[0] = math.MaxInt64 }, "", "Servers", apportion.ErrOverflow},
		{"an application without a name", func(p *alloc.Problem) { lr(p).ID = "" }, "application 0", "ID", apportion.ErrEmpty},
		{"an application twice", func(p *alloc.Problem) { lr(p).ID = "MF" }, `application "MF"`, "ID", apportion.ErrDuplicate},
		{"a demand of nothing", func(p *alloc.Problem) { lr(p).Demand = make(apportion.Resources, 3) }, `application "LR"`, "Demand", apportion.ErrNoDemand},
		{"a negative demand", func(p *alloc.Problem) { lr(p).Demand[0] = -2 }, `application "LR"`, "Demand[cpu]", apportion.ErrNegative},
		{"a long demand", func(p *alloc.Problem) { lr(p).Demand = make(apportion.Resources, 4) }, `application "LR"`, "Demand", apportion.ErrLength},
		{"weight zero", func(p *alloc.Problem) { lr(p).Weight = 0 }, `application "LR"`, "Weight", apportion.ErrRange},
		{"weight negative", func(p *alloc.Problem) { lr(p).Weight = -1 }, `application "LR"`, "Weight", apportion.ErrRange},
		{"weight beyond shares", func(p *alloc.Problem) { lr(p).Weight = 1e300 }, `application "LR"`, "Weight", apportion.ErrRange},
		{"weight below shares", func(p *alloc.Problem) { lr(p).Weight = 1e-300 }, `application "LR"`, "Weight", apportion.ErrRange},
		{"weight NaN", func(p *alloc.Problem) { lr(p).Weight = math.NaN() }, `application "LR"`, "Weight", apportion.ErrNotFinite},
		{"weight infinite", func(p *alloc.Problem) { lr(p).Weight = math.Inf(1) }, `application "LR"`, "Weight", apportion.ErrNotFinite},
		{"minimum above maximum", func(p *alloc.Problem) { lr(p).Min = 7 }, `application "LR"`, "Min", apportion.ErrConflict},
		{"minimum negative", func(p *alloc.Problem) { lr(p).Min = -1 }, `application "LR"`, "Min", apportion.ErrNegative},
		{"maximum zero", func(p *alloc.Problem) { lr(p).Min, lr(p).Max = 0, 0 }, `application "LR"`, "Max", apportion.ErrRange},
		{"maximum negative", func(p *alloc.Problem) { lr(p).Max = -3 }, `application "LR"`, "Max", apportion.ErrNegative},
		{"theta1 above one", func(p *alloc.Problem) { p.Theta1 = 1.5 }, "", "Theta1", apportion.ErrRange},
		{"theta1 NaN", func(p *alloc.Problem) { p.Theta1 = math.NaN() }, "", "Theta1", apportion.ErrNotFinite},
		{"theta2 negative", func(p *alloc.Problem) { p.Theta2 = -.1 }, "", "Theta2", apportion.ErrRange},
		{"theta2 infinite", func(p *alloc.Problem) { p.Theta2 = math.Inf(-1) }, "", "Theta2", apportion.ErrNotFinite},
		{"an unknown share rule", func(p *alloc.Problem) { p.Options.Share = "fairest" }, "", "Options.Share", apportion.ErrUnknown},
		{"previous on an unknown server", func(p *alloc.Problem) { p.Previous["LR"]["s9"] = 1 }, `application "LR"`, "Previous[s9]", apportion.ErrUnknown},
		{"previous that overfills", func(p *alloc.Problem) { p.Previous["LR"]["s0"] = 5 }, `server "s0"`, "Previous", alloc.ErrOverfilled},
		{"previous that overfills together", func(p *alloc.Problem) { p.Previous["MF"]["s0"] = 1 }, `server "s0"`, "Previous", alloc.ErrOverfilled},
		{"previous below zero", func(p *alloc.Problem) { p.Previous["LR"]["s0"] = -1 }, `application "LR"`, "Previous[s0]", apportion.ErrNegative},
		{"previous that overflows on two servers, and has finished", func(p *alloc.Problem) {
			p.Previous["gone"] = map[string]int64{"s0": math.MaxInt64, "s1": 1}
		}, `application "gone"`, "Previous[s1]", apportion.ErrOverflow},
		{"previous that overflows", func(p *alloc.Problem) { p.Previous["MF"]["s0"] = math.MaxInt64 }, `application "MF"`, "Previous[s0]", apportion.ErrOverflow},
	})
}

// Bad worths are refused like any other bad input.
func TestValidateWorth(t *testing.T) {
	refuse(t, []bad{
		{"a worth that is no number", worths(1, 2, math.NaN(), 4, 5, 6), `application "LR"`, "Worth[2]", apportion.ErrNotFinite},
		{"a worth without end", worths(1, 2, 3, 4, 5, math.Inf(1)), `application "LR"`, "Worth[5]", apportion.ErrNotFinite},
		{"a worth beyond all", worths(-1e7, 2, 3, 4, 5, 6), `application "LR"`, "Worth[0]", apportion.ErrRange},
		{"a worth that is missing", worths(1, 2, 3, 4, 5), `application "LR"`, "Worth", apportion.ErrLength},
		{"a worth too many", worths(1, 2, 3, 4, 5, 6, 7), `application "LR"`, "Worth", apportion.ErrLength},
		{"no worth at all", func(p *alloc.Problem) { p.Applications[0].Worth = []float64{} }, `application "LR"`, "Worth", apportion.ErrLength},
		{"worths for other steps", func(p *alloc.Problem) {
			p.Applications[0].Step, p.Applications[0].Worth = 2, []float64{1, 2, 3, 4}
		}, `application "LR"`, "Worth", apportion.ErrLength},
		{"worths for counts beyond the bounds", func(p *alloc.Problem) {
			p.Applications[0].Counts, p.Applications[0].Worth = []int64{2, 6, 7}, []float64{1, 2, 3}
		}, `application "LR"`, "Worth", apportion.ErrLength},
		{"none without worths", func(p *alloc.Problem) { p.Applications[0].Min, p.Applications[0].IdleWorth = 0, 1 }, `application "LR"`, "IdleWorth", apportion.ErrConflict},
		{"none where it must run", func(p *alloc.Problem) {
			worths(1, 2, 3, 4, 5, 6)(p)
			p.Applications[0].IdleWorth = 1
		}, `application "LR"`, "IdleWorth", apportion.ErrConflict},
		{"none that is no number", func(p *alloc.Problem) {
			worths(1, 2, 3, 4, 5, 6)(p)
			p.Applications[0].Min, p.Applications[0].IdleWorth = 0, math.NaN()
		}, `application "LR"`, "IdleWorth", apportion.ErrNotFinite},
		{"staying without end", func(p *alloc.Problem) {
			p.Applications[0].StayWorth = new(float64)
			*p.Applications[0].StayWorth = math.Inf(-1)
		}, `application "LR"`, "StayWorth", apportion.ErrNotFinite},
	})
}

// bad is a change that makes a problem none, with a fault of that sort in that field.
type bad struct {
	name   string
	break_ func(*alloc.Problem)
	item   string
	field  string
	want   error
}

// refuse makes each change to a problem of LR and MF, which then is refused by all that take one.
func refuse(t *testing.T, changes []bad) {
	for _, bad := range changes {
		t.Run(bad.name, func(t *testing.T) {
			p := tiny(alloc.Allocation{"LR": {"s0": 4, "s1": 2}, "MF": {"s1": 1}}, "LR", "MF")
			if err := p.Validate(); err != nil {
				t.Fatal("before the change:", err)
			}
			bad.break_(p)
			err := p.Validate()
			if !errors.Is(err, bad.want) {
				t.Fatalf("Validate() = %v, want %v", err, bad.want)
			}
			var faults apportion.Faults
			if !errors.As(err, &faults) || !names(faults, bad.item, bad.field) {
				t.Errorf("Validate() = %v, want a fault of %q in %q", err, bad.field, bad.item)
			}
			if _, err := alloc.Reallocate(context.Background(), p, nil); !errors.Is(err, bad.want) {
				t.Errorf("Reallocate() = %v, want %v", err, bad.want)
			}
			if _, err := alloc.Measure(p, nil); !errors.Is(err, bad.want) {
				t.Errorf("Measure() = %v, want %v", err, bad.want)
			}
		})
	}
}

func names(faults apportion.Faults, item, field string) bool {
	for _, fault := range faults {
		if fault.Item.String() == item && fault.Field == field {
			return true
		}
	}
	return false
}

func TestValidateNamesEveryFault(t *testing.T) {
	p := tiny(nil, "LR", "MF", "NN")
	p.Servers[1].Capacity[0] = -4
	p.Applications[0].Weight = math.NaN()
	p.Applications[1].Min = 9
	p.Applications[2].ID = "MF"
	p.Theta2 = 2
	p.Previous = alloc.Allocation{"LR": {"s9": 1, "s0": -1}}
	var faults apportion.Faults
	if err := p.Validate(); !errors.As(err, &faults) || len(faults) != 7 {
		t.Fatalf("%d faults, want 7:\n%v", len(faults), faults)
	}
}

// Servers fail and shrink: with Displace that is a legal Previous.
func TestValidateDisplace(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 5, "gone": 2}, "finished": {"gone": 3, "s0": 9}}, "LR")
	if err := p.Validate(); !errors.Is(err, apportion.ErrUnknown) {
		t.Errorf("without Displace: %v, want %v", err, apportion.ErrUnknown)
	}
	p.Options.Displace = true
	if err := p.Validate(); err != nil {
		t.Errorf("with Displace: %v", err)
	}
}

// requires gives the first application a requirement.
func requires(r apportion.Requirement) func(*alloc.Problem) {
	return func(p *alloc.Problem) { p.Applications[0].Requires = []apportion.Requirement{r} }
}

// Costs whose sum is no exact float64 are refused; the largest sum that is one is not.
func TestSumOfCosts(t *testing.T) {
	p := tiny(nil, "LR", "MF")
	for i := range p.Applications {
		cost := int64(1) << 52
		p.Applications[i].AdjustCost = &cost
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	for _, more := range []int64{1, math.MaxInt64 - 1<<52} {
		*p.Applications[1].AdjustCost = 1<<52 + more
		var faults apportion.Faults
		if err := p.Validate(); !errors.Is(err, apportion.ErrOverflow) || !errors.As(err, &faults) || !names(faults, `application "MF"`, "AdjustCost") {
			t.Errorf("%d more: %v", more, err)
		}
	}
}

// worths sets what the containers of LR are worth.
func worths(w ...float64) func(*alloc.Problem) {
	return func(p *alloc.Problem) { p.Applications[0].Worth = w }
}
