package alloctest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/internal/must"
)

// held returns what runs now, as Counts.
func held(inst *solver.Instance) solver.Counts {
	counts := make(solver.Counts, len(inst.Apps))
	for i := range inst.Apps {
		counts[i] = inst.Apps[i].Previous
	}
	return counts
}

// checkSound asserts what every instance here promises.
func checkSound(t *testing.T, inst *solver.Instance) {
	t.Helper()
	used := must.Have(inst.Used(held(inst)))(t)
	total := make(apportion.Resources, len(inst.Total))
	for j, capacity := range inst.Capacity {
		if !used[j].FitsIn(capacity) {
			t.Errorf("server %d holds %v of %v", j, used[j], capacity)
		}
		must.Do(t, exact.AddTo(total, total, capacity))
	}
	if !total.Equal(inst.Total) {
		t.Errorf("Total %v, the sum is %v", inst.Total, total)
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		n := solver.Containers(app.Previous)
		if app.Running != (n > 0) || n > app.Max || app.Running && n < app.Min {
			t.Errorf("application %d: running %v with %d containers of %d to %d", i, app.Running, n, app.Min, app.Max)
		}
		var value float64
		for k, q := range app.Demand {
			value += float64(q) / float64(inst.Total[k])
		}
		delta, _ := app.Demand.DominantShare(inst.Total)
		if math.Abs(value-app.Value) > 1e-12 || delta != app.Delta || !(app.Share >= 0 && app.Share <= 1) {
			t.Errorf("application %d: value %g delta %g share %g", i, app.Value, app.Delta, app.Share)
		}
	}
}

// An instance of one's own is read like those that are here; a solver need not have answered it.
func TestReadReference(t *testing.T) {
	const text = `{"kinds": ["cpu"], "servers": [[4], [6]], "applications": [{"demand": [1], "min": 1, "max": 2}, {"demand": [2], "min": 0, "max": 3}],
		"previous": {"1": {"1": 2, "0": 1}}, "theoretical_share": [0.25, 0.5], "loss_budget": 0.5, "adjust_budget": 3%s}`
	ref, err := ReadReference("mine", fmt.Appendf(nil, text, ""))
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, ref.Instance)
	want := []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 2}}
	if inst := ref.Instance; ref.Name != "mine" || inst.AdjustBudget != 3 || inst.LossBudget != .5 || inst.Apps[0].Running || !slices.Equal(inst.Apps[1].Previous, want) {
		t.Errorf("%+v", ref)
	}
	if ref.Objective != 0 || ref.Bound != 0 || ref.Seconds != 0 {
		t.Errorf("answered with %g, %g after %g s", ref.Objective, ref.Bound, ref.Seconds)
	}
	if ref, err = ReadReference("", fmt.Appendf(nil, text, `, "reference": {"model": "class relaxation", "objective": 0.8, "bound": 0.9, "seconds": 1.5}`)); err != nil || !ref.Relaxed || ref.Objective != .8 || ref.Bound != .9 || ref.Seconds != 1.5 {
		t.Errorf("%+v, %v", ref, err)
	}
	for _, broken := range [][2]string{
		{text, ""}, {text, "{"}, {text, "[]"}, {`budget": 3`, `budget": "much"`}, {`"1": 2`, `"x": 2`}, {`"1": 2`, `"7": 2`}, {`[[4]`, `[[4, 1]`}, {`[1], "min"`, `[], "min"`}, {`[1], "min"`, `[1, 1], "min"`},
		{`0.25, `, ``}, {`[[4], [6]]`, `[]`}, {`[[4], [6]]`, `[[9223372036854775807], [1]]`}, {`"max": 2`, `"max": 0`},
	} {
		changed := strings.Replace(strings.Replace(text, broken[0], broken[1], 1), "%s", "", 1)
		if ref, err := ReadReference("", []byte(changed)); err == nil {
			t.Errorf("%q is read as %+v", changed, ref)
		}
	}
}

func TestReferences(t *testing.T) {
	references := References()
	if len(references) != 38 {
		t.Fatalf("%d references", len(references))
	}
	relaxed := 0
	for _, ref := range references {
		t.Run(ref.Name, func(t *testing.T) {
			checkSound(t, ref.Instance)
			if !(ref.Objective > 0 && ref.Bound >= ref.Objective-1e-9 && ref.Bound <= float64(len(ref.Instance.Total))*1.001) {
				t.Errorf("objective %g, bound %g", ref.Objective, ref.Bound)
			}
			// Where everything may stay, staying is a solution (but for the loss), so that the
			// reference is at least as good.
			if now := ref.Instance.Objective(held(ref.Instance)); now > ref.Bound+1e-9 {
				t.Errorf("what runs now is worth %g, the bound is %g", now, ref.Bound)
			}
		})
		if ref.Relaxed {
			relaxed++
		}
	}
	if relaxed != 7 {
		t.Errorf("%d references are relaxations", relaxed)
	}
}

// What a family draws is sound, has its size, newcomers and budgets, shares nothing with the next one, and has the shares
// of DRF within the bounds by the weights beside it.
func TestFamilies(t *testing.T) {
	named := map[string]func(uint64, int, int, bool) *solver.Instance{"Table2": Table2, "Mixed": Mixed, "Nodes": Nodes, "": Table2}
	for _, family := range append(Families(), Family{}) {
		for seed := range uint64(20) {
			previous := seed%2 == 1
			inst, weights := family.Draw(seed, 20, 30, previous)
			checkSound(t, inst)
			if !reflect.DeepEqual(inst, named[family.Name](seed, 20, 30, previous)) {
				t.Errorf("%q, seed %d: another instance than that of its function", family.Name, seed)
			}
			running := 0
			claims := make([]drf.Claim, len(inst.Apps))
			for i := range inst.Apps {
				app := &inst.Apps[i]
				if app.Running {
					running++
				}
				claims[i] = drf.Claim{ID: string(rune('a' + i)), Demand: app.Demand, Weight: weights[i], Min: app.Min, Max: app.Max}
			}
			if len(inst.Capacity) != 20 || len(inst.Apps) != 30 || inst.LossBudget != 1 || inst.AdjustBudget != int64(running+9)/10 ||
				previous != (running > 0) || inst.Apps[28].Running || inst.Apps[29].Running {
				t.Errorf("%s, seed %d: %d servers, %d of %d applications run, budgets %g and %d", family.Name, seed, len(inst.Capacity), running, len(inst.Apps), inst.LossBudget, inst.AdjustBudget)
			}
			filling := must.Have(drf.Fill(inst.Total, claims))(t)
			for i := range claims {
				if got, want := inst.Apps[i].Share, filling.Claims[i].Share; math.Abs(got-want) > 1e-12 {
					t.Errorf("%s, seed %d: application %d has the share %g, want %g", family.Name, seed, i, got, want)
				}
			}
			for _, capacity := range inst.Capacity {
				clear(capacity)
			}
			for i := range inst.Apps {
				clear(inst.Apps[i].Demand)
			}
			again, _ := family.Draw(seed, 20, 30, previous)
			checkSound(t, again)
		}
	}
}

// Sized has the size that is asked for, and panics where there is none.
func TestSized(t *testing.T) {
	for _, size := range []Size{{1, 1, 1, 1}, {20, 30, 1, 5}, {20, 40, 3, 20}, {7, 60, 8, 12}} {
		inst := Sized(5, size, size.Apps > 2)
		checkSound(t, inst)
		demands := map[string]bool{}
		for i := range inst.Apps {
			demands[fmt.Sprint(inst.Apps[i].Demand)] = true
		}
		if len(inst.Capacity) != size.Servers || len(inst.Apps) != size.Apps || len(inst.Total) != size.Kinds || len(demands) > size.Demands || 3*len(demands) < size.Demands {
			t.Errorf("%+v: %d servers, %d applications, %d kinds, %d demands", size, len(inst.Capacity), len(inst.Apps), len(inst.Total), len(demands))
		}
	}
	for _, size := range []Size{{0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 0}, {1, 1, 1, 6}, {1, 1, 2, 36}, {1, 2, 1, 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", size)
				}
			}()
			Sized(1, size, size.Apps == 2)
		}()
	}
}

// Instances with worths and options are valid, and what runs may stay as it is.
func TestWorthsAndAccelerators(t *testing.T) {
	for seed := range uint64(50) {
		for name, inst := range map[string]*solver.Instance{"worths": withWorths(seed, 6, 9, true), "accelerators": Accelerators(seed, 6, 9, true)} {
			for c := range inst.Choices {
				inst.Choices[c].Required = false // newcomers have nothing yet
			}
			for i := range inst.Apps {
				inst.Apps[i].Elective = true
			}
			if err := errors.Join(inst.Validate(), inst.Check(held(inst))); err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
}

// Rounding up forgives what a product adds to a whole number.
func TestCeil(t *testing.T) {
	for x, want := range map[float64]float64{.1 * 2 * 3: 1, .1 * 30: 3, 1 + 1e-12: 1, 1.001: 2} {
		if got := ceil(x); got != want {
			t.Errorf("ceil(%.17g) = %g, want %g", x, got, want)
		}
	}
}

// Reference: [Dorm] §V: 20 slaves with 240 CPUs, 5 GPUs and 2.5 TB; the workload of Table II has 50 applications.
func TestTable2IsTheTestbed(t *testing.T) {
	if got := Table2(0, 20, 50, false).Total; !got.Equal(apportion.Resources{240, 5, 2560}) {
		t.Errorf("total %v", got)
	}
	number := 0
	for _, row := range tableII {
		number += row.number
	}
	if number != 50 {
		t.Errorf("%d applications", number)
	}
}
