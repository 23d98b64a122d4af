// This file tests what is found out about a problem before anything is decided: who cannot stay, and what is left of the
// cluster.

package alloc

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

// states writes for each application that runs whether it is forced (f), pinned (p), or free to stay (-); a newcomer is n.
func states(r *resolved) string {
	text := ""
	for i := range r.previous {
		switch {
		case !r.running(i):
			text += "n"
		case r.forced[i]:
			text += "f"
		case r.pinned[i]:
			text += "p"
		default:
			text += "-"
		}
	}
	return text
}

// Who cannot stay is found by itself, then server by server; the pinned stay as long as they can.
func TestForced(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *Problem)
		want   string
	}{
		"all stay":                      {func(*Problem) {}, "---n"},
		"a pin":                         {func(p *Problem) { p.Applications[0].Pinned = true }, "p--n"},
		"a pin on a newcomer":           {func(p *Problem) { p.Applications[3].Pinned = true }, "---n"},
		"a server is gone":              {func(p *Problem) { p.Servers = p.Servers[:1] }, "--fn"},
		"a server is gone, and a pin":   {func(p *Problem) { p.Servers, p.Applications[2].Pinned = p.Servers[:1], true }, "--fn"},
		"a server holds too much":       {func(p *Problem) { p.Servers[0].Capacity[0] = 3 }, "ff-n"},
		"too much, but the pinned fit":  {func(p *Problem) { p.Servers[0].Capacity[0], p.Applications[1].Pinned = 3, true }, "fp-n"},
		"too much of pinned ones alone": {func(p *Problem) { p.Servers[0].Capacity[0] = 3; p.pin(0, 1) }, "ff-n"},
		"too little for one by itself":  {func(p *Problem) { p.Servers[0].Capacity[0] = 1; p.pin(0) }, "ff-n"},
		"its maximum is lowered":        {func(p *Problem) { p.Applications[0].Min, p.Applications[0].Max = 1, 1 }, "f--n"},
		"its minimum is raised":         {func(p *Problem) { p.Applications[0].Min, p.Applications[0].Max = 3, 3 }, "f--n"},
		"one on a server":               {func(p *Problem) { p.Applications[2].PerServer = 1 }, "--fn"},
		"a cordon forces nobody":        {func(p *Problem) { p.Servers[0].Cordoned = true }, "---n"},
		"labels that no longer fit": {func(p *Problem) {
			p.Applications[1].Requires = []apportion.Requirement{{Key: "zone", Op: apportion.Exists}}
		}, "-f-n"},
		"it has finished": {func(p *Problem) { p.Applications = p.Applications[1:] }, "--n"},
	} {
		p := gpuProblem(4, 4)
		p.add(1, 1, 3, 2, 0)
		p.add(1, 1, 3, 2, 0)
		p.add(2, 1, 2, 0, 2)
		p.add(1, 1, 1)
		c.change(p)
		if got := states(resolve(p)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// pin pins applications.
func (p *Problem) pin(apps ...int) {
	for _, i := range apps {
		p.Applications[i].Pinned = true
	}
}

// With the paper's rule a server that holds too much forces nobody: Displace leaves that to (6).
func TestForcedByPaper(t *testing.T) {
	p := gpuProblem(4)
	p.Options.Paper, p.Options.Displace = true, true
	p.add(1, 1, 3, 2)
	p.add(1, 1, 3, 2)
	p.Servers[0].Capacity[0] = 3
	if got := states(resolve(p)); got != "--" {
		t.Errorf("%s", got)
	}
	// One that is too large by itself cannot stay by either rule, and is charged by this one.
	p.Servers[0].Capacity[0] = 1
	r := resolve(p)
	app := r.app(0)
	if got := states(r); got != "ff" || app.Cost != 1 {
		t.Errorf("%s, cost %d", got, app.Cost)
	}
	p.Options.Paper = false
	r = resolve(p)
	if app := r.app(0); app.Cost != 0 {
		t.Errorf("forced, and costs %d", app.Cost)
	}
}

// What is free on a cordoned server is no part of the cluster; where it holds too much its capacity is what it is.
func TestCordonedCapacity(t *testing.T) {
	p := gpuProblem(4, 6)
	p.add(1, 1, 5, 1, 2)
	p.add(1, 1, 5)
	p.Servers[1].Cordoned = true
	r := resolve(p)
	if diff := cmp.Diff([]apportion.Resources{{4}, {2}}, r.capacity); diff != "" || r.total[0] != 6 {
		t.Errorf("total %v\n%s", r.total, diff)
	}
	// Nobody new may come there, so that a newcomer has the room of the open server alone.
	if want := []int64{4, 4}; !slices.Equal(r.room, want) {
		t.Errorf("room %v, want %v", r.room, want)
	}
	p.Servers[1].Capacity[0] = 1
	r = resolve(p)
	if r.capacity[1][0] != 1 || states(r) != "fn" {
		t.Errorf("capacity %v, %s", r.capacity, states(r))
	}
	if p.Servers[1].Capacity[0] != 1 || p.Servers[0].Capacity[0] != 4 {
		t.Error("the problem has been written to")
	}
}

// Options are entries of their own: what runs belongs to one of them, and what a missing option has is somewhere where
// it cannot stay.
func TestEntriesOfOptions(t *testing.T) {
	for present, want := range map[string]string{"": "-nn", "large": "n-n", "gone": "fnn"} {
		p := gpuProblem(8)
		p.add(0, 0, 0, 2)
		p.Applications[0] = Application{ID: "a0", Weight: 1, Option: present, Options: []Option{
			{ID: "small", Form: Form{Demand: apportion.Resources{1}, Max: 4}}, {ID: "large", Form: Form{Demand: apportion.Resources{2}, Counts: []int64{1, 2}}}}}
		p.add(1, 1, 1)
		r := resolve(p)
		if got := states(r); got != want {
			t.Errorf("option %q: %s, want %s", present, got, want)
		}
		if diff := cmp.Diff([][]int{{0, 1}, {2}}, r.entries); diff != "" || !slices.Equal(r.of, []int{0, 0, 1}) {
			t.Errorf("entries %v of %v", r.entries, r.of)
		}
		// Without a Max the last of Counts is it.
		if app := r.app(1); app.Max != 2 || !app.Elective {
			t.Errorf("%+v", app)
		}
	}
}

// Names become positions and back; whatever is not there is told, all of it.
func TestNames(t *testing.T) {
	p := gpuProblem(4, 4)
	for range 3 {
		p.add(1, 0, 4)
	}
	r := resolve(p)
	given := Allocation{"a0": {"s1": 1, "s0": 3}, "a1": {}, "a2": {"s0": 0, "s1": 2}}
	counts, err := r.counts(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(given.Clone(), r.allocation(counts)); diff != "" {
		t.Errorf("there and back (-want +got):\n%s", diff)
	}
	if counts[0][0].Server != 0 || counts[1] != nil || len(counts[2]) != 1 {
		t.Errorf("%v: servers ascend, and nothing is nil", counts)
	}
	some := []int{0, 2}
	if all := r.scatter(some, gather(some, counts)); !cmp.Equal(all, counts) {
		t.Errorf("scattered %v, want %v", all, counts)
	}
	_, err = r.counts(Allocation{"a0": {"s9": 1, "s0": -1}, "who": {"s0": 1}}, []Share{{ID: "a1", Option: "fast"}})
	faults, _ := err.(apportion.Faults)
	var told []string
	for _, fault := range faults {
		told = append(told, fmt.Sprint(fault.Item.ID, " ", fault.Field, " ", fault.Err))
	}
	want := []string{"a0 Allocation[s0] " + apportion.ErrNegative.Error(), "a0 Allocation[s9] " + apportion.ErrUnknown.Error(), "who Allocation " + apportion.ErrUnknown.Error()}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// An allocation without shares is read with the options that run, and with shares by what these say.
func TestNamesOfOptions(t *testing.T) {
	p := gpuProblem(8)
	p.Applications = []Application{{ID: "a0", Weight: 1, Option: "large", Options: []Option{
		{ID: "small", Form: Form{Demand: apportion.Resources{1}, Max: 4}}, {ID: "large", Form: Form{Demand: apportion.Resources{2}, Max: 2}}}}}
	p.Previous["a0"] = map[string]int64{"s0": 1}
	for name, c := range map[string]struct {
		shares []Share
		entry  int // that has the containers; -1: an error
	}{
		"no shares":         {nil, 1},
		"no option in use":  {[]Share{{ID: "a0"}}, 1},
		"the other one":     {[]Share{{ID: "a0", Option: "small"}}, 0},
		"the same one":      {[]Share{{ID: "a0", Option: "large"}}, 1},
		"one that is not":   {[]Share{{ID: "a0", Option: "huge"}}, -1},
		"of somebody else":  {[]Share{{ID: "a1", Option: "small"}}, 1},
		"of several shares": {[]Share{{ID: "a1", Option: "huge"}, {ID: "a0", Option: "small"}}, 0},
	} {
		counts, err := resolve(p).counts(p.Previous, c.shares)
		if (err != nil) != (c.entry < 0) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for entry := range counts {
			if has := len(counts[entry]) > 0; err == nil && has != (entry == c.entry) {
				t.Errorf("%s: entry %d has containers: %v", name, entry, has)
			}
		}
	}
}

// What is said about an application is about the option in use, else the one that it ran with, else the first that fits.
func TestInUse(t *testing.T) {
	p := gpuProblem(4)
	p.Applications = []Application{{ID: "a0", Weight: 1, Options: []Option{
		{ID: "giant", Form: Form{Demand: apportion.Resources{9}, Max: 1}}, {ID: "small", Form: Form{Demand: apportion.Resources{1}, Max: 4}}, {ID: "large", Form: Form{Demand: apportion.Resources{2}, Max: 2}}}}}
	some := []apportion.Placement{{Server: 0, Count: 1}}
	for name, c := range map[string]struct {
		runs  string
		inUse int // -1: none has containers
		want  int
	}{
		"new, and without containers": {"", -1, 1},
		"new, with the last":          {"", 2, 2},
		"it ran with the last":        {"large", -1, 2},
		"it changes to the middle":    {"large", 1, 1},
		"it changes to the first":     {"large", 0, 0}, // which does not fit; the counts decide all the same
	} {
		p.Applications[0].Option, p.Previous = c.runs, Allocation{}
		if c.runs != "" {
			p.Previous["a0"] = map[string]int64{"s0": 1}
		}
		counts := make([][]apportion.Placement, 3)
		if c.inUse >= 0 {
			counts[c.inUse] = some
		}
		if got := resolve(p).inUse(0, counts); got != c.want {
			t.Errorf("%s: entry %d, want %d", name, got, c.want)
		}
	}
	// Where nothing fits it is the first.
	p.Applications[0].Options = p.Applications[0].Options[:1]
	p.Previous = Allocation{}
	if got := resolve(p).inUse(0, make([][]apportion.Placement, 1)); got != 0 {
		t.Errorf("entry %d of one", got)
	}
}
