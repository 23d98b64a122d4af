// This file tests the program by groups against the one by applications, and bounds at any prices against every allocation.

package event

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// drawn is a small cluster in the middle of an event, whose program is stated; ok is false where it has none.
func drawn(r *rand.Rand, servers, apps int, quantity int64) (c *Cluster, ok bool) {
	c = New(2, servers, Rule{Theta1: r.Float64() / 2, Theta2: r.Float64(), Ceil16: r.IntN(2) == 0, Restart: float64(r.IntN(2)) / 8, Gain: float64(r.IntN(2)) / 2})
	if r.IntN(2) == 0 {
		c.rule.Queues = []drf.Queue{{ID: "q", Weight: 1, Ceiling: drf.Ceiling{1 + r.Int64N(quantity), drf.NoLimit}},
			{ID: "r", Weight: 2, Parent: "q", Ceiling: drf.Ceiling{1 + r.Int64N(quantity), r.Int64N(quantity)}}, {ID: "s", Weight: 1, Parent: "q"}}
		c.ceilings, c.above = newCeilings(c.rule.Queues, 2)
	}
	for range servers {
		c.AddServer(apportion.Resources{1 + r.Int64N(quantity), r.Int64N(quantity)}, false)
	}
	sorts := make([]App, 1+r.IntN(6))
	for at := range sorts {
		a := &sorts[at]
		*a = App{Demand: apportion.Resources{1 + r.Int64N(2), r.Int64N(2)}, Weight: 1 + float64(r.IntN(3)), Min: r.Int64N(3), Cost: r.Int64N(3)}
		if a.Max = max(1, a.Min) + r.Int64N(4); r.IntN(2) == 0 {
			a.Counts = []int64{1, 3 + r.Int64N(2)}
		}
		if c.rule.Queues != nil {
			a.Queue = [...]string{"", "r", "s"}[r.IntN(3)]
		}
	}
	for range apps {
		i := c.AddApp(sorts[r.IntN(len(sorts))], 0)
		for range 1 + r.IntN(3) {
			if j := r.IntN(servers); c.apps[i].group.most(c.servers[j].left) > 0 && c.allowed(c.apps[i].group) > 0 {
				c.Put(i, j, 1)
			}
		}
	}
	c.Begin()
	if r.IntN(2) == 0 {
		c.AddApp(sorts[0], 0)
	}
	return c, c.begin(make(apportion.Resources, 2)) == "" && c.ev.restate() == ""
}

// individually returns P2 application by application, with the premium of each that stays.
func individually(c *Cluster) (inst *solver.Instance, premiums float64) {
	inst = &solver.Instance{Total: c.ev.total, LossBudget: c.ev.mostLoss, AdjustBudget: c.ev.adjustBudget}
	for j := range c.servers {
		inst.Capacity = append(inst.Capacity, c.servers[j].capacity)
	}
	for i := range c.apps {
		app := c.apps[i].group.app
		if app.Cost = c.apps[i].group.given.Cost; len(c.apps[i].placed) > 0 {
			app.Running, app.Previous, app.Stay = true, c.apps[i].placed, c.ev.restart(i, c.apps[i].n)
			premiums += app.Stay
		}
		inst.Apps = append(inst.Apps, app)
	}
	inst.Groups = make([]solver.Group, len(c.ceilings))
	for at := range c.ceilings {
		inst.Groups[at].Ceiling = c.ceilings[at].limit
		for i := range c.apps {
			if slices.Contains(c.apps[i].group.above, at) {
				inst.Groups[at].Apps = append(inst.Groups[at].Apps, i)
			}
		}
	}
	return inst, premiums
}

// At whatever prices, and after a search for better ones, no allocation is worth more than the bound.
func TestPropBound(t *testing.T) {
	tight := 0
	rapidtest.Until(t, "no bound was near the optimum", func() bool { return tight > 0 }, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		c, ok := drawn(r, 1+r.IntN(2), 1+r.IntN(3), 4)
		for i := range c.apps {
			if c.apps[i].n == 0 { // it comes
				c.ev.newcomer[i] = true
				c.ev.touch(i)
			}
		}
		if !ok {
			return
		}
		inst, premiums := individually(c)
		best, solutions := p2oracle.Best(inst)
		if solutions == 0 {
			return
		}
		most := inst.Objective(best) - premiums
		for round := range 4 {
			for _, s := range c.shapes {
				for k := range s.price {
					s.price[k] = r.Float64() * float64(r.IntN(3))
				}
			}
			for at := range c.ceilings {
				for k := range c.ceilings[at].price {
					c.ceilings[at].price[k] = r.Float64() * float64(r.IntN(3))
				}
			}
			c.prices.Loss = r.Float64() * float64(r.IntN(3))
			b := c.newPricing(&c.ev.program)
			if round%2 == 1 {
				b.countStays(c.ev)
			}
			if got := b.bound(); got < most-solver.ObjectiveTolerance {
				t.Fatalf("a bound of %g, and %v is worth %g", got, best, most)
			}
			got := b.reprice(most, 50)
			if got < most-solver.ObjectiveTolerance {
				t.Fatalf("a bound of %g after a search, and %v is worth %g", got, best, most)
			}
			if got < most+.01 {
				tight++
			}
		}
	})
}

// The share of a member is that of its own claim, and what whole containers lose is between the two ends in any order of applications.
func TestPropProgramOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		c, ok := drawn(r, 1+r.IntN(8), 1+r.IntN(20), 9)
		if !ok {
			return
		}
		claims := make([]drf.Claim, len(c.apps))
		for i := range c.apps {
			g := c.apps[i].group
			claims[i] = drf.Claim{ID: strconv.Itoa(i), Demand: g.given.Demand, Weight: g.given.Weight, Min: g.given.Min, Max: min(g.given.Max, g.room), Queue: g.given.Queue}
		}
		tree, err := drf.NewTree(c.ev.total, c.rule.Queues)
		if err != nil {
			t.Fatal(err)
		}
		filling, err := tree.Fill(claims)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.apps {
			if want := filling.Claims[i].Share; math.Abs(c.apps[i].group.app.Share-want) > 1e-9 {
				t.Fatalf("application %d has a share of %g, by itself %g", i, c.apps[i].group.app.Share, want)
			}
		}
		least, most := c.rounded(c.ev.total)
		if loss := roundedByApps(c, r.Perm(len(c.apps))); loss < least-1e-9 || loss > most+1e-9 {
			t.Fatalf("whole containers lose %g, by groups %g to %g", loss, least, most)
		}
	})
}

// roundedByApps divides the cluster among applications in their order, as package alloc does.
func roundedByApps(c *Cluster, order []int) (loss float64) {
	d := c.newDivision(c.ev.total)
	n := make([]int64, len(order))
	give := func(i int, to int64) bool {
		g := c.apps[i].group
		if min(g.given.Demand.CountIn(d.left), c.below(g, func(at, k int) int64 { return d.below[at][k] })) < to-n[i] {
			return false
		}
		d.take(g, to-n[i])
		n[i] = to
		return true
	}
	for _, i := range order {
		if g := c.apps[i].group; g.given.Min > 0 {
			first := g.app.AtLeast(1)
			d.take(g, first) // the fewest are given whether or not there is room
			n[i] = first
		}
	}
	within := func(i int) int64 {
		app := &c.apps[i].group.app
		return app.AtMost(int64(math.Min(float64(app.Max), app.Share/app.Delta+ceilTolerance)))
	}
	for _, i := range order {
		app := &c.apps[i].group.app
		for to := within(i); to > n[i] && !give(i, to); to = app.AtMost(to - 1) {
		}
	}
	rise := func(i int) float64 {
		app := &c.apps[i].group.app
		return app.Loss(app.AtLeast(n[i]+1)) - app.Loss(n[i])
	}
	var rising []int
	for _, i := range order {
		if n[i] >= within(i) && c.apps[i].group.app.AtLeast(n[i]+1) > 0 {
			rising = append(rising, i)
		}
	}
	slices.SortStableFunc(rising, func(x, y int) int { return cmp.Compare(rise(x), rise(y)) })
	for _, i := range rising {
		give(i, c.apps[i].group.app.AtLeast(n[i]+1))
	}
	for _, i := range order {
		loss += c.apps[i].group.app.Loss(n[i])
	}
	return loss
}

// What is taken back leaves nothing behind.
func TestPropRollback(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		c, _ := drawn(r, 2+r.IntN(6), 2+r.IntN(9), 9)
		if r.IntN(2) == 0 {
			j, demand := r.IntN(len(c.servers)), apportion.Resources{1, 0}
			waits := []int{r.IntN(len(c.apps))}
			if n := demand.CountIn(c.servers[j].left); n > 0 {
				c.Hold(c.AddWaiting(App{Demand: demand, Weight: 1, Min: n, Max: n}, 0, 0), []apportion.Placement{{Server: j, Count: n}}, waits)
			}
		}
		c.Commit()
		before := c.text()
		c.Begin()
		for range 1 + r.IntN(4) {
			switch i, j := r.IntN(len(c.apps)), r.IntN(len(c.servers)); r.IntN(5) {
			case 0:
				c.Arrive(App{Demand: apportion.Resources{1, r.Int64N(2)}, Weight: 1, Min: 1, Max: 1 + r.Int64N(8)}, r.Int64N(2))
			case 1:
				if c.apps[i].group != nil && c.ev.before[i] == nil {
					c.End(i)
				}
			case 2:
				if !c.servers[j].gone && !c.Held(j) {
					c.Lose(j)
				}
			case 3:
				c.AddServer(apportion.Resources{r.Int64N(5), 3}, false)
			default:
				if !c.servers[j].closed && !c.servers[j].gone && !c.Held(j) {
					c.Drain(j)
				}
			}
		}
		if c.begin(make(apportion.Resources, 2)) == "" {
			if c.ev.admit(t.Context()) == "" {
				_ = c.ev.repair(t.Context())
			}
		}
		c.Rollback()
		if after := c.text(); after != before {
			t.Fatalf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

// text is all that a cluster knows.
func (c *Cluster) text() string {
	var text []byte
	add := func(list ...int64) {
		for _, n := range list {
			text = append(strconv.AppendInt(text, n, 10), ' ')
		}
		text = append(text, '\n')
	}
	for j := range c.servers {
		s := &c.servers[j]
		add(s.left...)
		add(s.kept...)
		if !s.closed {
			add(int64(j), s.shape.count, int64(len(s.residents)))
		}
		if c.remain.Grouped(j) == s.closed {
			text = append(text, "grouped otherwise\n"...)
		}
	}
	for i := range c.apps {
		a := &c.apps[i]
		add(int64(i), a.n)
		for _, p := range a.placed {
			add(int64(p.Server), p.Count)
		}
	}
	for at := range c.ceilings {
		add(c.ceilings[at].used...)
	}
	for _, l := range c.lines {
		text = append(strconv.AppendQuote(text, l.key), '\n')
		for _, i := range l.apps {
			add(int64(i), c.apps[i].priority, int64(math.Float64bits(c.apps[i].passed)))
		}
	}
	for _, g := range c.groups {
		text = append(strconv.AppendQuote(text, g.key), '\n')
		add(g.members)
		for _, l := range g.levels {
			add(l.n)
			for _, i := range l.apps {
				add(int64(i))
			}
		}
	}
	return string(text)
}

// Where not all have room for what is within their shares, less of another kind is taken than by their shares, or more.
func TestRoundedBesideShort(t *testing.T) {
	type app struct {
		demand       apportion.Resources
		fewest, most int64
		step         int64
		fair         float64 // containers
	}
	for says, of := range map[string]struct {
		total apportion.Resources
		apps  []app
	}{
		"less": {apportion.Resources{4, 6}, []app{{apportion.Resources{1, 1}, 3, 4, 0, 3}, {apportion.Resources{1, 1}, 0, 3, 0, 2}, {apportion.Resources{0, 1}, 0, 2, 2, 1.9}}},
		"more": {apportion.Resources{200, 100}, []app{{apportion.Resources{11, 0}, 0, 2, 0, 1}, {apportion.Resources{1, 1}, 0, 100, 10, 99}, {apportion.Resources{0, 10}, 0, 1, 0, 0},
			{apportion.Resources{1, 0}, 100, 100, 0, 100}}},
	} {
		c := New(2, 1, Rule{})
		c.AddServer(of.total, false)
		for _, a := range of.apps {
			i := c.AddApp(App{Demand: a.demand, Min: a.fewest, Max: a.most, Step: a.step}, 0)
			delta, _ := a.demand.DominantShare(of.total)
			c.apps[i].group.app = solver.App{Demand: a.demand, Min: a.fewest, Max: a.most, Step: a.step, Delta: delta, Share: delta * a.fair}
		}
		c.Begin()
		c.ev.total = of.total
		least, most := c.rounded(of.total)
		for _, order := range [...][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}} {
			for i := 3; i < len(of.apps); i++ {
				order = append(order, i)
			}
			if loss := roundedByApps(c, order); loss < least-1e-9 || loss > most+1e-9 {
				t.Errorf("%s: in order %v whole containers lose %g, by groups %g to %g", says, order, loss, least, most)
			}
		}
	}
}
