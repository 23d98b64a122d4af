package program

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// Classes are the servers of one capacity, each server in one of them, in the order of first appearance.
func TestClassesOf(t *testing.T) {
	for seed := range uint64(10) {
		for _, inst := range []*solver.Instance{alloctest.Table2(seed, 9, 3, false), alloctest.Mixed(seed, 12, 3, false), alloctest.Nodes(seed, 7, 3, false)} {
			c := classesOf(inst)
			next := 0 // the class that has not appeared yet
			for j, g := range c.of {
				if g > next {
					t.Fatalf("seed %d: server %d begins class %d before %d", seed, j, g, next)
				}
				if g == next {
					next++
				}
				for o, h := range c.of {
					if (g == h) != inst.Capacity[j].Equal(inst.Capacity[o]) {
						t.Errorf("seed %d: servers %d and %d are in classes %d and %d", seed, j, o, g, h)
					}
				}
			}
			n := 0
			for g, servers := range c.servers {
				for s, j := range servers {
					n++
					if c.of[j] != g || s > 0 && servers[s-1] >= j {
						t.Errorf("seed %d: class %d lists %v", seed, g, servers)
					}
				}
			}
			if n != len(inst.Capacity) || next != len(c.servers) {
				t.Errorf("seed %d: %d servers listed in %d classes, %d appeared", seed, n, len(c.servers), next)
			}
		}
	}
}

// pool sums what every application has by class.
func pool(c *classes, counts solver.Counts) solver.Counts {
	pooled := make(solver.Counts, len(counts))
	for a, placed := range counts {
		sums := make([]int64, len(c.servers))
		for _, p := range placed {
			sums[c.of[p.Server]] += p.Count
		}
		for g, n := range sums {
			if n > 0 {
				pooled[a] = append(pooled[a], apportion.Placement{Server: g, Count: n})
			}
		}
	}
	return pooled
}

// What runs, pooled and packed again, is what runs: nobody moves without need.
func TestUnpoolKeepsWhatStays(t *testing.T) {
	for seed := range uint64(10) {
		inst := alloctest.Table2(seed, 10, 12, true)
		held := make(solver.Counts, len(inst.Apps))
		for a := range inst.Apps {
			held[a] = inst.Apps[a].Previous
		}
		c := classesOf(inst)
		if diff := cmp.Diff(held, c.unpool(pool(c, held))); diff != "" {
			t.Errorf("seed %d (-held +unpooled):\n%s", seed, diff)
		}
	}
}

// Whatever the program says, unpooling overfills no server and invents no container; where room is plenty it
// drops none either.
func TestUnpoolFits(t *testing.T) {
	for seed := range uint64(30) {
		inst := alloctest.Table2(seed, 10, 12, seed%2 == 0)
		r := rand.New(rand.NewPCG(seed, 9))
		c := classesOf(inst)
		pooled := make(solver.Counts, len(inst.Apps))
		for a := range pooled {
			for g := range c.servers {
				if n := r.Int64N(1 + int64(seed)/3); n > 0 {
					pooled[a] = append(pooled[a], apportion.Placement{Server: g, Count: n})
				}
			}
		}
		counts := c.unpool(pooled)
		used, err := inst.Used(counts)
		if err != nil {
			t.Fatal(err)
		}
		for j, capacity := range inst.Capacity {
			if !used[j].FitsIn(capacity) {
				t.Errorf("seed %d: server %d uses %v of %v", seed, j, used[j], capacity)
			}
		}
		for a := range counts {
			n, want := solver.Containers(counts[a]), solver.Containers(pooled[a])
			if n > want || seed < 6 && inst.Apps[a].Demand[1] == 0 && n < want {
				t.Errorf("seed %d: application %d has %d containers of %d", seed, a, n, want)
			}
			for s, p := range counts[a] {
				if p.Count < 1 || s > 0 && counts[a][s-1].Server >= p.Server {
					t.Errorf("seed %d: application %d on %v", seed, a, counts[a])
				}
			}
		}
	}
}

// take takes everything or nothing.
func TestTake(t *testing.T) {
	app := &solver.App{Demand: apportion.Resources{2, 1}, Previous: []apportion.Placement{{Server: 0, Count: 2}, {Server: 1, Count: 1}}}
	free := []apportion.Resources{{5, 2}, {2, 3}}
	if !take(free, app) || !free[0].Equal(apportion.Resources{1, 0}) || !free[1].Equal(apportion.Resources{0, 2}) {
		t.Errorf("%v is left", free)
	}
	free = []apportion.Resources{{9, 9}, {1, 9}}
	if take(free, app) || !free[0].Equal(apportion.Resources{9, 9}) {
		t.Errorf("taken, and %v is left", free)
	}
}

// gcd is the largest number that divides both, and 0 says nothing.
func TestGCD(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Range(1, math.MaxInt64).Draw(t, "a"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "b")
		want := new(big.Int).GCD(nil, nil, big.NewInt(a), big.NewInt(b)).Int64()
		if got := gcd(a, b); got != want || gcd(b, a) != want {
			t.Errorf("gcd(%d, %d) = %d, want %d", a, b, got, want)
		}
	})
	if gcd(0, 0) != 0 || gcd(0, 6) != 6 || gcd(6, 0) != 6 {
		t.Errorf("%d, %d, %d", gcd(0, 0), gcd(0, 6), gcd(6, 0))
	}
}

func TestMulSaturated(t *testing.T) {
	for _, c := range []struct{ a, b, want int64 }{
		{0, math.MaxInt64, 0}, {3, 4, 12}, {1, math.MaxInt64, math.MaxInt64}, {2, math.MaxInt64/2 + 1, math.MaxInt64}, {1 << 40, 1 << 40, math.MaxInt64},
	} {
		if got := mulSaturated(c.a, c.b); got != c.want || mulSaturated(c.b, c.a) != c.want {
			t.Errorf("%d * %d = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// In its unit no place has more than 2^53 of a kind; the unit is 1 where no place has much anyway, divides every
// demand where nothing was rounded, and is no larger than it must be to be exact.
func TestUnitsFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quantity := rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, math.MaxInt64/2))
		factor := rapid.SampledFrom([]int64{1, 1 << 20, 1 << 50}).Draw(t, "factor")
		p := places{size: []int64{rapid.Int64Range(1, 4).Draw(t, "servers")}, capacity: []apportion.Resources{{quantity.Draw(t, "capacity")}}}
		var apps []solver.App
		for range rapid.IntRange(1, 3).Draw(t, "apps") {
			apps = append(apps, solver.App{Demand: apportion.Resources{factor * rapid.Int64Range(0, 50).Draw(t, "demand")}})
		}
		unit, rounded := unitsFor(apps, p)
		most := float64(p.size[0]) * float64(p.capacity[0][0])
		common := int64(0)
		for i := range apps {
			common = gcd(common, apps[i].Demand[0])
		}
		switch {
		case most <= large || common == 0:
			if unit[0] != 1 || rounded {
				t.Errorf("unit %d, rounded %v, of %g", unit[0], rounded, most)
			}
		case most/float64(unit[0]) > maxExact*(1+1e-9):
			t.Errorf("%g in units of %d is more than 2^53", most, unit[0])
		case unit[0]%common != 0 || rounded != (unit[0] > common):
			t.Errorf("unit %d, rounded %v, divisor %d", unit[0], rounded, common)
		case rounded && most/float64(unit[0]-common) <= maxExact*(1-1e-9):
			t.Errorf("unit %d, one less would do for %g", unit[0], most)
		}
	})
}

// Servers of one capacity are in different classes where they are open to different applications.
func TestClassesOfOpen(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{4}, {4}, {4}, {2}, {4}}, Class: []int{1, 0, 1, 1, 0}}
	if diff := cmp.Diff([][]int{{0, 2}, {1, 4}, {3}}, classesOf(inst).servers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Unpooled, nobody is on a server that is closed to him, has more on a server than he may, or is on more servers
// than he may; what a class has too much of goes to another that is open.
func TestUnpoolHonoursLimits(t *testing.T) {
	app := func(change func(*solver.App)) solver.App {
		a := solver.App{Demand: apportion.Resources{1}, Max: 20, Delta: .1}
		change(&a)
		return a
	}
	on := func(counts ...int64) (placed []apportion.Placement) {
		for j, n := range counts {
			if n > 0 {
				placed = append(placed, apportion.Placement{Server: j, Count: n})
			}
		}
		return placed
	}
	for _, c := range []struct {
		name   string
		app    solver.App
		pooled []apportion.Placement // by class: servers 0, 1, 2 and servers 3, 4
		want   []apportion.Placement
	}{
		{"no limit", app(func(*solver.App) {}), on(5, 1), on(4, 1, 0, 1, 0)},
		{"a closed class", app(func(a *solver.App) { a.Classes = []int{1} }), on(3, 2), on(0, 0, 0, 5, 0)},
		{"nothing open", app(func(a *solver.App) { a.Classes = []int{7} }), on(3, 2), nil},
		{"two on a server", app(func(a *solver.App) { a.PerServer = 2 }), on(5, 0), on(2, 2, 1, 0, 0)},
		{"too many for the class", app(func(a *solver.App) { a.PerServer = 1 }), on(4, 0), on(1, 1, 1, 1, 0)},
		{"one server", app(func(a *solver.App) { a.MaxServers = 1 }), on(3, 0), on(3, 0, 0, 0, 0)},
		{"one server is too few", app(func(a *solver.App) { a.MaxServers = 1 }), on(6, 0), on(4, 0, 0, 0, 0)},
		{"two servers in two classes", app(func(a *solver.App) { a.MaxServers = 2 }), on(3, 4), on(3, 0, 0, 4, 0)},
		{"no third server", app(func(a *solver.App) { a.MaxServers = 2 }), on(5, 4), on(4, 4, 0, 0, 0)},
		{"both limits", app(func(a *solver.App) { a.PerServer, a.MaxServers = 3, 2 }), on(9, 0), on(3, 3, 0, 0, 0)},
	} {
		inst := &solver.Instance{
			Capacity: []apportion.Resources{{4}, {4}, {4}, {6}, {6}}, Total: apportion.Resources{24}, Class: []int{0, 0, 0, 1, 1}, Apps: []solver.App{c.app},
		}
		if diff := cmp.Diff(solver.Counts{c.want}, classesOf(inst).unpool(solver.Counts{c.pooled})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Of several servers a limited application takes the smallest room that holds all it has left, or else the largest.
func TestPackLimitedChooses(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{8}, {8}, {8}}, Total: apportion.Resources{24}}
	app := &solver.App{Demand: apportion.Resources{1}, MaxServers: 2}
	for _, c := range []struct {
		count, left int64
		want        map[int]int64
	}{{3, 0, map[int]int64{1: 3}}, {5, 0, map[int]int64{2: 5}}, {7, 0, map[int]int64{0: 7}}, {10, 0, map[int]int64{0: 7, 1: 3}}, {13, 1, map[int]int64{0: 7, 2: 5}}} {
		classes := classesOf(inst)
		packers := classes.packers([]apportion.Resources{{7}, {3}, {5}})
		on := map[int]int64{}
		if left := classes.packLimited(packers[0], 0, app, c.count, on); left != c.left || !cmp.Equal(on, c.want) {
			t.Errorf("%d containers: %v and %d left, want %v and %d", c.count, on, left, c.want, c.left)
		}
		for j, n := range on {
			if free := packers[0].Free(j)[0]; free != []int64{7, 3, 5}[j]-n {
				t.Errorf("%d containers: %d is free on server %d", c.count, free, j)
			}
		}
	}
}
