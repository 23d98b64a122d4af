package alloc

import (
	"testing"

	"github.com/apportion/apportion"
)

// Extra servers are those beyond the fewest that would hold an application if they were empty.
func TestExtraServers(t *testing.T) {
	for name, c := range map[string]struct {
		servers []int64
		gpus    int64 // of one container
		change  func(*Problem)
		places  []int64 // containers by server
		want    int64
	}{
		"nothing":                         {[]int64{4, 4}, 1, nil, []int64{0, 0}, 0},
		"on one server":                   {[]int64{4, 4}, 1, nil, []int64{4, 0}, 0},
		"two where one is enough":         {[]int64{4, 4}, 1, nil, []int64{1, 1}, 1},
		"two, and one is just enough":     {[]int64{4, 4}, 1, nil, []int64{2, 2}, 1},
		"two, and one is too small":       {[]int64{4, 4}, 1, nil, []int64{3, 2}, 0},
		"small ones, and there is a wide": {[]int64{1, 1, 1, 8}, 1, nil, []int64{1, 1, 1, 0}, 2},
		"containers of three":             {[]int64{8, 8, 4}, 3, nil, []int64{1, 1, 1}, 1},
		"one on a server":                 {[]int64{4, 4}, 1, func(p *Problem) { p.Applications[0].PerServer = 1 }, []int64{1, 1}, 0},
		"the wide one is of another sort": {[]int64{1, 1, 8}, 1, func(p *Problem) {
			p.Servers[0].Labels, p.Servers[1].Labels = map[string]string{"zone": "a"}, map[string]string{"zone": "a"}
			p.Applications[0].Requires = []apportion.Requirement{{Key: "zone", Op: apportion.Exists}}
		}, []int64{1, 1, 0}, 0},
	} {
		p := gpuProblem(c.servers...)
		p.add(c.gpus, 0, 9)
		p.add(1, 0, 9) // another sort, which must not be taken for the first
		if c.change != nil {
			c.change(p)
		}
		placed := map[string]int64{}
		for j, n := range c.places {
			placed[p.Servers[j].ID] = n
		}
		m, err := Measure(p, Allocation{"a0": placed})
		if err != nil || m.ExtraServers != c.want {
			t.Errorf("%s: %d extra servers, %v; want %d", name, m.ExtraServers, err, c.want)
		}
	}
}

// Of several applications the extra servers are summed up, each by its own sort.
func TestExtraServersOfAll(t *testing.T) {
	p := gpuProblem(4, 4, 4)
	p.add(1, 0, 9)
	p.add(1, 0, 9).PerServer = 2
	p.add(2, 0, 9)
	spread := map[string]int64{"s0": 1, "s1": 1, "s2": 1}
	m, err := Measure(p, Allocation{"a0": spread, "a1": spread, "a2": {"s0": 1, "s1": 1}})
	if err != nil || m.ExtraServers != 2+1+1 {
		t.Errorf("%d extra servers, %v; want 2 of a0, 1 of a1 and 1 of a2", m.ExtraServers, err)
	}
}

// One that no server is open to any more has as many extra servers as it is on, and what holds for it holds for no other.
func TestExtraServersOfTheClosedOut(t *testing.T) {
	p := gpuProblem(4, 4)
	p.add(1, 0, 9).Requires = []apportion.Requirement{{Key: "zone", Op: apportion.Exists}}
	p.add(1, 0, 9)
	spread := map[string]int64{"s0": 1, "s1": 1}
	m, err := Measure(p, Allocation{"a0": spread, "a1": spread})
	if err != nil || m.ExtraServers != 2+1 {
		t.Errorf("%d extra servers, %v; want 2 of the one that may be nowhere, 1 of the other", m.ExtraServers, err)
	}
}
