package solver_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// queued is three applications in two groups, one of them in both, on a server that holds everything.
func queued() *solver.Instance {
	total := apportion.Resources{1000, 1000}
	return &solver.Instance{
		Capacity: []apportion.Resources{total}, Total: total,
		Apps: []solver.App{
			{Demand: apportion.Resources{1, 0}, Max: 100},
			{Demand: apportion.Resources{2, 3}, Max: 100},
			{Demand: apportion.Resources{0, 5}, Max: 100},
		},
		Groups: []solver.Group{
			{Apps: []int{0, 1}, Ceiling: apportion.Resources{10, solver.NoLimit}},
			{Apps: []int{1, 2}, Ceiling: apportion.Resources{solver.NoLimit, 31}},
		},
	}
}

// on puts so many containers of each application on the first server.
func on(containers ...int64) solver.Counts {
	counts := make(solver.Counts, len(containers))
	for i, n := range containers {
		if n > 0 {
			counts[i] = []apportion.Placement{{Count: n}}
		}
	}
	return counts
}

// A ceiling is what all below it use together, kind by kind; up to it everything is allowed.
// Reference: [Program §2] (G).
func TestCeilings(t *testing.T) {
	for name, c := range map[string]struct {
		containers []int64
		broken     string // the group, "" for none
	}{
		"nobody has anything":               {[]int64{0, 0, 0}, ""},
		"both ceilings are reached":         {[]int64{6, 2, 5}, ""}, // 6 + 2*2 = 10, 2*3 + 5*5 = 31
		"the first by one":                  {[]int64{7, 2, 5}, "group 0"},
		"the second by one container":       {[]int64{0, 2, 6}, "group 1"},
		"a kind without a limit":            {[]int64{0, 5, 3}, ""}, // 15 of kind 1 in the first group
		"one application alone breaks both": {[]int64{0, 11, 0}, "group 0"},
	} {
		err := queued().Check(on(c.containers...))
		if c.broken == "" && err != nil || c.broken != "" && (!errors.Is(err, solver.ErrViolated) || !strings.Contains(err.Error(), c.broken)) {
			t.Errorf("%s: %v, want %q to be broken", name, err, c.broken)
		}
	}
}

// Room is how many more there may be before a ceiling is exceeded: as many as Check accepts, and no more.
func TestRoom(t *testing.T) {
	for name, c := range map[string]struct {
		app        int
		containers []int64
		want       int64
	}{
		"all below is empty":              {0, []int64{0, 0, 0}, 10},
		"the other uses some":             {0, []int64{3, 2, 0}, 3},
		"what it has itself counts":       {0, []int64{9, 0, 0}, 1},
		"of two ceilings the nearer":      {1, []int64{0, 0, 5}, 2}, // (31 - 25)/3, and 10/2
		"a kind that it does not ask for": {2, []int64{100, 0, 0}, 6},
		"a ceiling that is exceeded":      {0, []int64{11, 0, 0}, 0},
		"exceeded by another":             {0, []int64{0, 6, 0}, 0},
	} {
		if got := queued().Room(c.app, c.containers); got != c.want {
			t.Errorf("%s: room for %d, want %d", name, got, c.want)
		}
	}
	free := queued()
	free.Groups = nil
	if got := free.Room(0, []int64{1, 2, 3}); got != math.MaxInt64 {
		t.Errorf("without ceilings room for %d", got)
	}
}

// Products and sums of any size are compared exactly: with math/big as the twin.
func TestRoomOfAnySize(t *testing.T) {
	quantity := rapid.OneOf(rapid.Int64Range(0, 10), rapid.Int64Range(0, math.MaxInt64), rapid.Int64Range(math.MaxInt64-5, math.MaxInt64))
	rapid.Check(t, func(t *rapid.T) {
		inst := queued()
		containers := make([]int64, 3)
		for i := range inst.Apps {
			inst.Apps[i].Demand = apportion.Resources{quantity.Draw(t, "demand"), quantity.Draw(t, "demand")}
			containers[i] = quantity.Draw(t, "containers")
		}
		for g := range inst.Groups {
			inst.Groups[g].Ceiling = apportion.Resources{quantity.Draw(t, "ceiling"), quantity.Draw(t, "ceiling")}
		}
		i := rapid.IntRange(0, 2).Draw(t, "application")
		got := inst.Room(i, containers)
		want := big.NewInt(math.MaxInt64)
		for _, group := range inst.Groups {
			below := false
			for _, a := range group.Apps {
				below = below || a == i
			}
			for k, d := range inst.Apps[i].Demand {
				if !below || d == 0 || group.Ceiling[k] == solver.NoLimit {
					continue
				}
				left := big.NewInt(group.Ceiling[k])
				for _, a := range group.Apps {
					left.Sub(left, new(big.Int).Mul(big.NewInt(containers[a]), big.NewInt(inst.Apps[a].Demand[k])))
				}
				if left.Sign() < 0 {
					left.SetInt64(0)
				}
				if left.Div(left, big.NewInt(d)); left.Cmp(want) < 0 {
					want = left
				}
			}
		}
		if want.Cmp(big.NewInt(got)) != 0 {
			t.Fatalf("%+v, containers %v: room for %d of application %d, want %v", inst.Groups, containers, got, i, want)
		}
	})
}
