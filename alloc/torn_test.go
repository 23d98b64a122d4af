// This file tests what is said about servers beyond the fewest, [Program §14].

package alloc

import (
	"slices"
	"strings"
	"testing"
)

// Whoever is torn is told what that costs and which other one would have to move, and a warning says where that costs no less.
func TestTornIsSaid(t *testing.T) {
	free, dear := new(float64), .2
	for name, c := range map[string]struct {
		most []int64
		on   [][]int64
		// pinned keeps the first one where it is, cost is what restarts cost.
		pinned  bool
		cost    *float64
		text    string
		warning string
	}{
		"nothing is torn": {[]int64{8}, [][]int64{{8, 0, 0}}, false, nil, "", ""},
		"there is room for it": {[]int64{8, 2}, [][]int64{{6, 2, 0}, {2, 0, 0}}, false, &dear, "two servers instead of one: 0.04333 lost; it would have to move itself",
			`spread_cost takes 0.04333 from "a0", which stays torn: to move "a0" would cost 0.06667`},
		"a small one is in the way": {[]int64{8, 2, 8, 6}, [][]int64{{6, 2, 0}, {2, 0, 0}, {0, 0, 8}, {0, 6, 0}}, true, nil,
			`two servers instead of one: 0.04333 lost; moving "a1" would mend it`,
			`spread_cost takes 0.04333 from "a0", which stays torn: to move "a1", "a0" would cost 0.01042`},
		"by prices that nobody has stated": {[]int64{8, 2, 8, 6}, [][]int64{{6, 2, 0}, {2, 0, 0}, {0, 0, 8}, {0, 6, 0}}, false, nil,
			`two servers instead of one: 0.04333 lost; moving "a1" would mend it`, ""},
		"nobody alone": {[]int64{8, 4, 6, 6}, [][]int64{{4, 2, 2}, {4, 0, 0}, {0, 6, 0}, {0, 0, 6}}, true, free, "three servers instead of one: 0.08667 lost", ""},
	} {
		p := halves(3, c.most...)
		p.Options.RestartCost = c.cost
		for i, on := range c.on {
			p.runs(i, on...)
			p.Applications[i].Pinned = c.pinned && i == 0
		}
		e, err := Explain(p, mustReallocate(t, p))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := e.Applications[0].Spread; got != c.text {
			t.Errorf("%s: %q, want %q", name, got, c.text)
		}
		// What is pinned costs what it may not, so that the first words are compared.
		warning, _, _ := strings.Cut(c.warning, ": to")
		if c.cost == nil && strings.Contains(strings.Join(e.Warnings, " "), "spread_cost") {
			t.Errorf("%s: %q", name, e.Warnings)
		}
		if c.warning != "" && c.pinned == slices.ContainsFunc(e.Warnings, func(w string) bool { return strings.HasPrefix(w, warning) }) {
			t.Errorf("%s: %q", name, e.Warnings)
		}
		if c.text != "" && !strings.Contains(e.String(), c.text) {
			t.Errorf("%s: %s", name, e)
		}
	}
}

// A job that could only grow on a server more is told what that costs, and one whose worths are by servers how much it lacks.
func TestServersAreSaid(t *testing.T) {
	p := halves(2, 8, 5)
	p.Applications[0].Min = 1
	p.runs(1, 5)
	p.Servers[1].Capacity[0] = 2
	p.Applications[0].Max = 4
	p.Applications[1].Pinned = true
	half := .5
	p.Applications[0].SpreadCost = &half
	e, err := Explain(p, mustReallocate(t, p))
	want := "there is room, but on a server more, which costs 0.2, and 1 more would bring 0.1"
	if s := e.Applications[0]; err != nil || s.Containers != 3 || s.Constraint != Servers || s.Text != want {
		t.Errorf("%+v, %v", e.Applications[0], err)
	}
	p = halves(2, 2)
	p.Applications[0].WorthOn = [][]float64{{4, 1}}
	p.runs(0, 1, 1)
	p.Applications[0].Pinned = true
	e, err = Explain(p, mustReallocate(t, p))
	if want := "two servers: 3 less than on the best number of them"; err != nil || e.Applications[0].Spread != want {
		t.Errorf("%+v, %v", e.Applications[0], err)
	}
}
