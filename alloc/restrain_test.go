// This file plays growth beside something that waits within its guarantee, [Program §7], point 6.

package alloc_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/rapidtest"
)

// besideGang is two queues with 16 of 32 GPUs guaranteed each. b has four gangs of 5, one on each server, and an elastic application of 1 to 12; a gang
// of 8 of a finds no server, and nothing may be suspended.
func besideGang() *alloc.Problem {
	p := teams()
	p.Theta1, p.Theta2, p.Options.Preempt = 1, 1, false
	for n := range 4 {
		submit(p, "b", "b"+string(rune('0'+n)), 5, 5)
		p.Previous["b"+string(rune('0'+n))] = map[string]int64{"s" + string(rune('0'+n)): 5}
	}
	submit(p, "b", "elastic", 1, 12)
	p.Previous["elastic"] = map[string]int64{"s0": 1}
	submit(p, "a", "gang", 8, 8)
	for _, at := range []int{0, 1, 2, 3, 5} {
		p.Applications[at].MaxServers = 1
	}
	return p
}

// What waits within its guarantee is not passed by growth beyond one; where nothing waits, or the queue that grows stays within its own
// guarantee, all grows.
func TestGrowthWaitsForAGuarantee(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *alloc.Problem)
		want   int64
	}{
		{"beyond", func(*alloc.Problem) {}, 1},
		{"as far as the guarantee goes", func(p *alloc.Problem) { p.Queues[0].Guarantee[0], p.Queues[1].Guarantee[0] = 8, 24 }, 4},
		{"nothing waits", func(p *alloc.Problem) { p.Applications = p.Applications[:5] }, 12},
		{"what waits goes beyond too", func(p *alloc.Problem) { p.Queues[0].Guarantee[0] = 7 }, 12},
		{"of another kind of server", func(p *alloc.Problem) { p.Applications[5].Demand[0] = 9 }, 12},
	} {
		p := besideGang()
		c.change(p)
		d := follow(t, p)
		if got := d.Allocation.Containers("elastic"); got != c.want {
			t.Errorf("%s: it has %d, want %d: %+v", c.name, got, c.want, d.Waiting)
		}
	}
}

// genCrowded draws servers on which a gang of queue a waits beside small applications of others that would grow, and below a ceiling that
// some of these share.
func genCrowded(t *rapid.T) *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Previous: alloc.Allocation{}, Queues: []drf.Queue{{ID: "top", Weight: 1, Guarantee: apportion.Resources{15}},
		{ID: "a", Parent: "top", Weight: 1, Guarantee: apportion.Resources{9}}, {ID: "b", Parent: "top", Weight: 1, Guarantee: apportion.Resources{3}},
		{ID: "c", Weight: 1}}}
	run := func(queue string, n, most int64, server string) {
		id := fmt.Sprint("j", len(p.Applications))
		submit(p, queue, id, n, most)
		p.Previous[id] = map[string]int64{server: n}
	}
	for j := range 3 {
		server := fmt.Sprint("s", j)
		p.Servers = append(p.Servers, apportion.Server{ID: server, Capacity: apportion.Resources{6}})
		rigid := rapid.Int64Range(2, 4).Draw(t, "rigid")
		run(rapid.SampledFrom([]string{"a", "b", "c", "c"}).Draw(t, "queue"), rigid, rigid, server)
		run(rapid.SampledFrom([]string{"b", "c"}).Draw(t, "queue"), 1, rapid.Int64Range(2, 4).Draw(t, "most"), server)
	}
	gang := rapid.Int64Range(3, 6).Draw(t, "gang")
	submit(p, "a", "gang", gang, gang)
	p.Applications[len(p.Applications)-1].MaxServers = 1
	if rapid.IntRange(0, 3).Draw(t, "ceiling") > 0 {
		p.Queues[0].Ceiling = drf.Ceiling{rapid.Int64Range(15, 18).Draw(t, "at most")}
	}
	return p
}

// With a ceiling above what waits or none, above what would grow or not, nothing grows beyond a guarantee that has to wait.
func TestPropGrowthWaits(t *testing.T) {
	held := 0
	rapidtest.Until(t, "growth was seldom held back below a ceiling", func() bool { return held > 2 }, func(t *rapid.T) {
		v := &division{p: genCrowded(t)}
		before := v.p.Previous
		d, err := alloc.Reallocate(t.Context(), v.p, nil)
		if err != nil {
			t.Fatal(err)
		}
		v.p.Previous = d.Allocation
		if ids := v.passed(before, d.Reservations); ids != nil {
			t.Fatalf("%v grow beyond their guarantees, and the gang waits: %v", ids, d.Allocation)
		}
		if slices.ContainsFunc(d.Shares, func(s alloc.Share) bool { return s.Most > 0 }) && v.p.Queues[0].Ceiling != nil {
			held++
		}
	})
}

// The explanation says what stops it and what waits, and the referee refuses growth, a bound for nothing, and one below what it has.
func TestRestraintIsExplained(t *testing.T) {
	p := besideGang()
	d := reallocate(t, p)
	e, err := alloc.Explain(p, d)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(e.Applications, func(s alloc.Stop) bool { return s.ID == "elastic" })
	r := e.Applications[at].Reason
	if r.Constraint != alloc.Guarantee || r.Need != 2 || r.Have != 1 || !strings.Contains(r.Text, `"gang" waits within its own`) {
		t.Errorf("%+v", r)
	}
	if d.Shares[4].Most != 1 {
		t.Errorf("%+v", d.Shares[4])
	}
	for name, change := range map[string]func(d *alloc.Decision){
		"grows beyond what its queue": func(d *alloc.Decision) {
			d.Allocation["elastic"] = map[string]int64{"s0": 2}
			d.Shares[4].Containers, d.Shares[4].Most = 2, 2
		},
		`1 for "gang"`:    func(d *alloc.Decision) { d.Shares[5].Most = 1 },
		`-1 for "elastic`: func(d *alloc.Decision) { d.Shares[4].Most = -1 },
	} {
		d := reallocate(t, p)
		change(d)
		if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Applications, d.Waiting = p.Applications[:5], nil
	if d = reallocate(t, p); d.Shares[4].Most != 0 {
		t.Errorf("nothing waits: %+v", d.Shares[4])
	}
	d.Shares[4].Most = 12
	if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) {
		t.Errorf("for nothing: %v", err)
	}
}
