// This file tests what worths know of servers: blocks there and back, and speeds on more servers than are needed.

package schedulers

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// A job of up to 11 GPUs on servers of 4 has blocks of 1 and 2 once, and whole servers twice; what it holds is said in the largest blocks
// that it is made of, and what is decided in GPUs again.
func TestBlocks(t *testing.T) {
	s := scenario(servers(4, "", "", ""), job("a", 0, 1000, 3, 11))
	for held, want := range map[string]struct {
		on     map[string]int64
		option string
		blocks map[string]int64
	}{
		"nothing":     {nil, "", nil},
		"one":         {map[string]int64{"s0": 1}, "1", map[string]int64{"s0": 1}},
		"two":         {map[string]int64{"s0": 2}, "2", map[string]int64{"s0": 1}},
		"two servers": {map[string]int64{"s0": 4, "s1": 4}, "4", map[string]int64{"s0": 1, "s1": 1}},
	} {
		app := asked(t, &Worth{Place: InBlocks}, at(s, 0, map[string][]apportion.Placement{"a": nil}))
		var options []string
		for _, o := range app.Options {
			options = append(options, fmt.Sprint(o.Demand, o.Counts, len(o.Worth)))
		}
		must.Equal(t, cmp.Diff([]string{"[1] [1] 1", "[2] [1] 1", "[4] [1 2] 2"}, options), "")
		before := fmt.Sprint(want.on)
		hold(app, want.on)
		if app.Option != want.option || !cmp.Equal(want.on, want.blocks) {
			t.Errorf("%s: %v of %q", held, want.on, app.Option)
		}
		again := unblocked(&alloc.Decision{Allocation: alloc.Allocation{"a": want.on}, Shares: []alloc.Share{{ID: "a", Option: app.Option}}})
		if want.on != nil && fmt.Sprint(again["a"]) != before {
			t.Errorf("%s: %v again", held, again)
		}
	}
}

// Worths by servers are those of the speed on as many servers, each of which has a container.
func TestWorthByServers(t *testing.T) {
	s := scenario(servers(4, "", "", ""), job("a", 0, 1000, 3, 6))
	s.Jobs[0].SpeedOn = func(on []apportion.Placement) float64 {
		sum := 0.
		for _, p := range on {
			sum += float64(p.Count)
		}
		return sum / float64(len(on))
	}
	app := asked(t, &Worth{Place: ByServers, Any: true, Utility: func(x float64) float64 { return x }, Price: Free}, at(s, 0, map[string][]apportion.Placement{"a": nil}))
	var sizes []int
	for _, row := range app.WorthOn {
		sizes = append(sizes, len(row))
	}
	if want := []int{1, 2, 3, 3, 3, 3}; app.Worth != nil || !cmp.Equal(sizes, want) {
		t.Fatalf("%v servers, worth %v", sizes, app.Worth)
	}
	// Four on one, two and three servers; six on one are six on two.
	four, six := app.WorthOn[3], app.WorthOn[5]
	if !(four[0] > 1.99*four[1] && four[0] < 2.01*four[1] && four[0] > 2.99*four[2] && six[0] == six[1]) {
		t.Errorf("%v, %v", four, six)
	}
	k := kinds(s.Servers)[0]
	must.Equal(t, fmt.Sprint(k.packed(s.Servers, s.Jobs[0].Demand, 5, 3)), "[{0 3} {1 1} {2 1}]")
}
