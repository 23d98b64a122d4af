// This file tests packing beside a search of all ways, and on clusters that are known to be full.

package packing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/rapidtest"
)

const steps = 1 << 18

// check fails where placed is not all that a task needs, on servers that have it.
func check(t interface{ Fatalf(string, ...any) }, task *Task, placed [][]apportion.Placement) {
	left := make([]apportion.Resources, len(task.Left))
	for j := range left {
		left[j] = task.Left[j].Clone()
	}
	for s, list := range placed {
		n := int64(0)
		for at, p := range list {
			if p.Count <= 0 || !task.Open(s, p.Server) || at > 0 && list[at-1].Server >= p.Server {
				t.Fatalf("shape %d: %v", s, list)
			}
			n += p.Count
			for k, q := range task.Demand[s] {
				if left[p.Server][k] -= p.Count * q; left[p.Server][k] < 0 {
					t.Fatalf("server %d is too full", p.Server)
				}
			}
		}
		if n != task.Number[s] {
			t.Fatalf("%d of %d of shape %d", n, task.Number[s], s)
		}
	}
}

// fits tries all ways to place what is left from shape s on.
func fits(task *Task, left []apportion.Resources, s int, n int64) bool {
	if s == len(task.Demand) {
		return true
	}
	if n == 0 {
		return s+1 == len(task.Demand) || fits(task, left, s+1, task.Number[s+1])
	}
	return slices.ContainsFunc(left, func(on apportion.Resources) bool {
		if !task.Demand[s].FitsIn(on) || !task.Open(s, slices.IndexFunc(left, func(l apportion.Resources) bool { return &l[0] == &on[0] })) {
			return false
		}
		before := on.Clone()
		for k, q := range task.Demand[s] {
			on[k] -= q
		}
		found := fits(task, left, s, n-1)
		copy(on, before)
		return found
	})
}

// What is packed fits; on few servers nearly all that could be is.
func TestPropPack(t *testing.T) {
	found, missed := 0, 0
	rapidtest.Until(t, "50 tasks are packed, and at most one of 20 is missed", func() bool { return found >= 50 && missed <= found/20 }, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 2).Draw(t, "kinds")
		amounts := func(least, most int64) apportion.Resources {
			return rapid.SliceOfN(rapid.Int64Range(least, most), kinds, kinds).Draw(t, "amounts")
		}
		task := &Task{Open: func(s, j int) bool { return (s+j)%3 > 0 || s == 0 }}
		for range rapid.IntRange(1, 3).Draw(t, "servers") {
			task.Left = append(task.Left, amounts(0, 9))
		}
		for range rapid.IntRange(1, 4).Draw(t, "shapes") {
			task.Demand, task.Number = append(task.Demand, amounts(1, 5)), append(task.Number, rapid.Int64Range(0, 2).Draw(t, "number"))
		}
		placed := task.Pack(steps)
		if placed != nil {
			found++
			check(t, task, placed)
		}
		if possible := fits(task, task.Left, 0, task.Number[0]); possible && placed == nil {
			missed++
		} else if !possible && placed != nil {
			t.Fatal("there is no way")
		}
	})
}

// full is a cluster that containers of these shapes fill to the last unit of the first kind.
func full(random *rand.Rand, servers, shapes int) *Task {
	task := &Task{Number: make([]int64, shapes), Open: func(int, int) bool { return true }}
	for range shapes {
		task.Demand = append(task.Demand, apportion.Resources{1 + random.Int64N(32), 1 + random.Int64N(128)})
	}
	task.Demand[0] = apportion.Resources{1, 1}
	for len(task.Left) < servers {
		capacity, used, picked := apportion.Resources{64, 256}, apportion.Resources{0, 0}, make([]int64, shapes)
		for used[0] < capacity[0] {
			s := random.IntN(shapes)
			if task.Demand[s][0]+used[0] <= capacity[0] {
				picked[s]++
				used[0], used[1] = used[0]+task.Demand[s][0], used[1]+task.Demand[s][1]
			}
		}
		if used[1] > capacity[1]*7/8 {
			continue
		}
		task.Left = append(task.Left, capacity)
		for s, n := range picked {
			task.Number[s] += n
		}
	}
	return task
}

// Clusters without a unit of one kind to spare are filled.
func TestPackFull(t *testing.T) {
	for seed := range uint64(20) {
		task := full(rand.New(rand.NewPCG(seed, 1)), 20, 40)
		placed := task.Pack(steps)
		if placed == nil {
			t.Errorf("cluster %d is not filled", seed)
			continue
		}
		check(t, task, placed)
	}
}
