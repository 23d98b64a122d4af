package alloctest

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
)

// demandsOf lists the demands of an instance that a family has drawn.
func demandsOf(inst *solver.Instance) []apportion.Resources {
	all := make([]apportion.Resources, len(inst.Apps))
	for i := range all {
		all[i] = inst.Apps[i].Demand
	}
	return all
}

// Applications come in the proportions of Table II, within five standard deviations of 5,000 draws.
// Reference: [Dorm, Table II].
func TestDrawTable2(t *testing.T) {
	const draws = 5000
	r := newRand(7)
	found := make([]int, len(tableII))
	for range draws {
		c := drawTable2(r)
		for row := range tableII {
			if c.weight == tableII[row].weight && c.demand.Equal(tableII[row].demand) {
				found[row]++
			}
		}
	}
	for row, n := range found {
		part := float64(tableII[row].number) / 50
		if deviation := math.Sqrt(draws * part * (1 - part)); math.Abs(float64(n)-draws*part) > 5*deviation {
			t.Errorf("row %d was drawn %d times, want %g within %g", row, n, draws*part, 5*deviation)
		}
	}
}

// What the comments of the families say about servers and demands holds.
func TestFamiliesAreAsDescribed(t *testing.T) {
	gpus := func(all []apportion.Resources) (n int) {
		for _, r := range all {
			if r[1] > 0 {
				n++
			}
		}
		return n
	}
	const n = 2000
	for name, c := range map[string]struct {
		inst      *solver.Instance
		wantGPUs  float64 // part of the applications
		different int     // demands, at least
	}{
		"Table2": {Table2(1, 40, n, false), 4. / 50, 5},
		"Mixed":  {Mixed(1, 40, n, false), 1. / 3, 90},
		"Nodes":  {Nodes(1, 40, n, false), 1. / 4, 30},
	} {
		want := map[string]bool{}
		for _, demand := range demandsOf(c.inst) {
			want[string(vector(demand))] = true
		}
		if got := float64(gpus(demandsOf(c.inst))) / n; math.Abs(got-c.wantGPUs) > .05 || len(want) < c.different {
			t.Errorf("%s: %.3g of the applications want GPUs, want %.3g; %d demands, want %d", name, got, c.wantGPUs, len(want), c.different)
		}
	}
	table := Table2(1, 41, 3, false)
	if got := gpus(table.Capacity); got != 11 {
		t.Errorf("%d of 41 servers have a GPU, want every fourth from the first", got)
	}
	for j, capacity := range Mixed(1, 40, 3, false).Capacity {
		known := false
		for _, shape := range shapes {
			known = known || shape.Equal(capacity)
		}
		if !known {
			t.Errorf("server %d has %v, no shape", j, capacity)
		}
	}
}

// vector is a key for a vector of small quantities.
func vector(r apportion.Resources) []rune {
	key := make([]rune, len(r))
	for k, q := range r {
		key[k] = rune(q%50_000 + 1)
	}
	return key
}

// Instances share no memory: whoever writes into one leaves the next and the shapes alone.
func TestInstancesAreFresh(t *testing.T) {
	for _, family := range Families() {
		first, weights := family.Draw(3, 6, 8, true)
		want, _ := family.Draw(3, 6, 8, true)
		for j := range first.Capacity {
			for k := range first.Capacity[j] {
				first.Capacity[j][k] = -7
			}
		}
		for i := range first.Apps {
			first.Apps[i].Previous, first.Apps[i].Max = nil, -1
			weights[i] = -1
		}
		first.Total[0] = -1
		if again, _ := family.Draw(3, 6, 8, true); cmp.Diff(want, again) != "" {
			t.Errorf("%s: the next instance has changed:\n%s", family.Name, cmp.Diff(want, again))
		}
	}
}

// A family is the function of its name, and the weights beside it give the shares: DRF within the bounds.
func TestFamilies(t *testing.T) {
	named := map[string]func(uint64, int, int, bool) *solver.Instance{"Table2": Table2, "Mixed": Mixed, "Nodes": Nodes}
	families := Families()
	if len(families) != len(named) {
		t.Fatalf("%d families", len(families))
	}
	for _, family := range families {
		inst, weights := family.Draw(5, 9, 12, true)
		if diff := cmp.Diff(named[family.Name](5, 9, 12, true), inst); diff != "" || len(weights) != 12 {
			t.Errorf("%s: %d weights, another instance:\n%s", family.Name, len(weights), diff)
		}
		claims := make([]drf.Claim, len(inst.Apps))
		for i := range claims {
			app := &inst.Apps[i]
			claims[i] = drf.Claim{ID: string(rune('a' + i)), Demand: app.Demand, Weight: weights[i], Min: app.Min, Max: app.Max}
		}
		filling, err := drf.Fill(inst.Total, claims)
		if err != nil {
			t.Fatal(err)
		}
		for i := range claims {
			if got, want := inst.Apps[i].Share, filling.Claims[i].Share; math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: application %d has the share %g, want %g", family.Name, i, got, want)
			}
		}
	}
}

// Handing out is fair: whoever has a container more than another could have had it earlier, so that levels
// differ by one container at most unless room or the maximum stopped the lower one.
func TestHandOutIsFair(t *testing.T) {
	for seed := range uint64(10) {
		r := newRand(seed)
		capacity := make([]apportion.Resources, 4)
		for j := range capacity {
			capacity[j] = apportion.Resources{8 + r.Int64N(8), 2, 64}
		}
		var claims []claim
		for range 6 {
			claims = append(claims, claim{apportion.Resources{2, 0, 6}, pick(r, 1.0, 2, 4), 1, 20})
		}
		inst := newInstance(capacity, claims)
		counts := handOut(inst, claims)
		n := make([]int64, len(claims))
		for i, row := range counts {
			for _, c := range row {
				n[i] += c
			}
		}
		for i, c := range claims {
			if n[i] > c.max {
				t.Errorf("seed %d: application %d has %d of at most %d", seed, i, n[i], c.max)
			}
			for o, d := range claims {
				if !c.demand.Equal(d.demand) || n[i] == c.max {
					continue // another demand may find no room
				}
				before := float64(n[o]-1) * inst.Apps[o].Delta / d.weight
				if level := float64(n[i]) * inst.Apps[i].Delta / c.weight; level < before-1e-12 {
					t.Errorf("seed %d: application %d stays at %g, although %d went on from %g", seed, i, level, o, before)
				}
			}
		}
	}
}

// Rounding up forgives what a product adds to a whole number.
func TestCeil(t *testing.T) {
	for x, want := range map[float64]float64{0: 0, .1 * 2 * 3: 1, .1 * 30: 3, 1 + 1e-12: 1, 1.001: 2, 2: 2} {
		if got := ceil(x); got != want {
			t.Errorf("ceil(%.17g) = %g, want %g", x, got, want)
		}
	}
}

// The dense numbers of one application, by hand.
func TestNewInstance(t *testing.T) {
	inst := newInstance([]apportion.Resources{{4, 0, 10}, {4, 0, 30}}, []claim{{apportion.Resources{2, 0, 30}, 3, 1, 5}, {apportion.Resources{0, 1, 0}, 1, 0, 1}})
	if !inst.Total.Equal(apportion.Resources{8, 0, 40}) {
		t.Errorf("total %v", inst.Total)
	}
	if app := inst.Apps[0]; app.Value != 1 || app.Delta != .75 || app.Min != 1 || app.Max != 5 {
		t.Errorf("%+v, want value 2/8 + 30/40 and the larger of both", app)
	}
	if app := inst.Apps[1]; app.Value != 0 || app.Delta != 0 {
		t.Errorf("%+v, want nothing of a kind that is not there", app)
	}
}
