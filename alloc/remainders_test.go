// This file tests that groups of servers give the answers of a look at each, and that there are few of them.

package alloc

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
)

// Whatever comes and goes, and whatever is reserved, the groups name the server that a look at all of them names.
func TestPropBestServerOfGroups(t *testing.T) {
	used := 0
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(4, 24).Draw(t, "servers")
		p := &Problem{Kinds: apportion.Kinds{"gpu", "cpu"}}
		for j := range servers {
			s := apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{4, rapid.SampledFrom([]int64{8, 16}).Draw(t, "cpu")}}
			if rapid.IntRange(0, 3).Draw(t, "label") == 0 {
				s.Labels = map[string]string{"fast": "yes"}
			}
			s.Cordoned = rapid.IntRange(0, 7).Draw(t, "cordon") == 0
			p.Servers = append(p.Servers, s)
		}
		for i := range rapid.IntRange(1, 6).Draw(t, "apps") {
			app := Application{ID: fmt.Sprint("a", i), Weight: 1, Form: Form{Max: 40, Demand: apportion.Resources{
				rapid.Int64Range(0, 2).Draw(t, "gpus"), rapid.Int64Range(1, 3).Draw(t, "cpus")}}}
			app.PerServer, app.MaxServers = rapid.Int64Range(0, 2).Draw(t, "perServer"), rapid.Int64Range(0, 3).Draw(t, "maxServers")
			if rapid.IntRange(0, 2).Draw(t, "requires") == 0 {
				app.Requires = []apportion.Requirement{{Key: "fast", Op: apportion.In, Values: []string{"yes"}}}
			}
			p.Applications = append(p.Applications, app)
		}
		grouped, plain := newDraft(resolve(p)), newDraft(resolve(p))
		plain.grouped = true
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			i := rapid.IntRange(0, len(p.Applications)-1).Draw(t, "i")
			if rapid.IntRange(0, 5).Draw(t, "reserve") == 0 {
				v := &reserved{i: i, servers: []apportion.Placement{{Server: rapid.IntRange(0, servers-1).Draw(t, "on"), Count: 1}}}
				grouped.reserved, plain.reserved = []*reserved{v}, []*reserved{v}
			}
			grouped.remove(i)
			plain.remove(i)
			n := rapid.Int64Range(1, 12).Draw(t, "n")
			a, b := grouped.place(i, n), plain.place(i, n)
			if a != b || !slices.Equal(grouped.counts[i], plain.counts[i]) {
				t.Fatalf("%d of %d: %v %v by groups, %v %v by all", n, i, a, grouped.counts[i], b, plain.counts[i])
			}
			if grouped.remain != nil {
				used++
			}
		}
	})
	if used == 0 {
		t.Error("no draft had groups")
	}
}

// On the paper's cluster there are few groups whatever its size, so that a placement looks at few servers.
func TestGroupsAreFew(t *testing.T) {
	for _, servers := range []int{200, 2000} {
		inst, _ := alloctest.Families()[0].Draw(1, servers, servers/2, false)
		p := &Problem{Kinds: apportion.Kinds{"cpu", "gpu", "memory"}}
		for j, capacity := range inst.Capacity {
			p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: capacity})
		}
		for i := range inst.Apps {
			p.Applications = append(p.Applications, Application{ID: fmt.Sprint("a", i), Weight: 1,
				Form: Form{Demand: inst.Apps[i].Demand, Min: 1, Max: inst.Apps[i].Max}})
		}
		a := resolve(p).admitAll(t.Context())
		if a.remain == nil || len(a.remain.Live()) > 32 {
			t.Errorf("%d servers: %d groups", servers, len(a.remain.Live()))
		}
		n := 0
		for j := range servers {
			if a.remain.Grouped(j) {
				n++
			}
		}
		if n != servers || len(a.taken()) != servers/2 {
			t.Errorf("%d of %d servers are in groups, %d are in", n, servers, len(a.taken()))
		}
	}
}

// What is free of a kind is what the servers have left of it.
func TestFreeIsWhatIsLeft(t *testing.T) {
	inst, _ := alloctest.Families()[0].Draw(2, 12, 20, true)
	p := &Problem{Kinds: apportion.Kinds{"cpu", "gpu", "memory"}, Theta1: 1, Theta2: 1}
	for j, capacity := range inst.Capacity {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: capacity})
	}
	for i := range inst.Apps {
		p.Applications = append(p.Applications, Application{ID: fmt.Sprint("a", i), Weight: 1, Form: Form{Demand: inst.Apps[i].Demand, Min: 1, Max: inst.Apps[i].Max}})
	}
	d := newDraft(resolve(p))
	for i := range p.Applications {
		d.place(i, 1)
	}
	for k := range p.Kinds {
		var left int64
		for j := range d.left {
			left += d.left[j][k]
		}
		if d.free(k) != left {
			t.Errorf("%s: %d is free, and %d is left", p.Kinds[k], d.free(k), left)
		}
	}
}
