// This file drives the policies by hand.

package nodesim

import (
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/growth/specon"
)

// What happens on another worker between two runs must not cut a measurement short.
func TestFlowConMeasuresWholeIntervals(t *testing.T) {
	flowcon, err := NewFlowCon(flowcon.Config{Interval: 20 * second, Alpha: 0.1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var slow []growth.Change
	flowcon.Observe = func(_ time.Duration, move growth.Change) {
		if move.Cause == growth.GrowsSlowly {
			slow = append(slow, move)
		}
	}
	a, b := job1("a", 0, 100*second), job1("b", 0, 100*second)
	for _, now := range []time.Duration{0, 10 * second, 20 * second} {
		// a uses half of the worker until 10 s and nothing after, and goes from 1 to 0.6.
		state := &State{Now: now, Workers: 2, Tasks: []Task{{Job: &a, Index: 0, Worker: 0,
			Value: 1 - 0.02*now.Seconds(), Used: WorkOf(min(now, 10*second)) / 2}}}
		if now > 0 {
			state.Tasks = append(state.Tasks, Task{Job: &b, Index: 1, Worker: 1})
		}
		if _, err := flowcon.Decide(state); err != nil {
			t.Fatal(err)
		}
	}
	// 0.02 a second at a usage of a quarter.
	if len(slow) != 1 || slow[0].Job != "a" || slow[0].Growth < 0.07999 || slow[0].Growth > 0.08001 {
		t.Errorf("slow: %v, want a with 0.08", slow)
	}
}

// stage plays SpeCon checks 10 s apart, with jobs on the workers given; value tells the value of a
// job at a check. It returns the orders of each check.
func stage(t *testing.T, checks int, workers []int, value func(index, check int) float64) (*SpeCon, *State, []Orders) {
	t.Helper()
	specon, err := NewSpeCon(specon.Config{Interval: 10 * second, Alpha: 0.05}, nil)
	if err != nil {
		t.Fatal(err)
	}
	state := &State{Workers: 2}
	for i, w := range workers {
		j := job1(string(rune('a'+i)), 0, 1000*second)
		state.Tasks = append(state.Tasks, Task{Job: &j, Index: i, Worker: w})
	}
	var all []Orders
	for check := range checks {
		state.Now = time.Duration(check) * 10 * second
		for i := range state.Tasks {
			state.Tasks[i].Value = value(state.Tasks[i].Index, check)
		}
		orders, err := specon.Decide(state)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, orders)
	}
	return specon, state, all
}

// shrinking returns a value whose gains shrink from below alpha, so that it is slow at every check
// from the second on.
func shrinking(check int) float64 {
	value, gain := 1.0, 0.04
	for range check {
		value -= gain
		gain *= 0.6
	}
	return value
}

// Job a is decided on once, at the fourth check after the first gain, although it stays slow and two
// others on its new worker go on growing.
func TestSpeConDecidesOnce(t *testing.T) {
	specon, _, all := stage(t, 8, []int{0, 0, 0, 0, 0, 1, 1}, func(index, check int) float64 {
		if index == 0 {
			return shrinking(check)
		}
		return 100 - 10*float64(check) // grows by a tenth of its first value
	})
	for check, orders := range all {
		var want []Placement
		if check == 4 { // checks: 0 first value, 1 first gain, 2 watching, 3 converged, 4 asks
			want = []Placement{{Index: 0, Worker: 1, Why: Slow}}
		}
		if !slices.Equal(orders.Placements, want) {
			t.Errorf("check %d: %v, want %v", check, orders.Placements, want)
		}
		if orders.Next != time.Duration(check+1)*10*second {
			t.Errorf("check %d: next %v", check, orders.Next)
		}
	}
	if job := specon.manager.State().Jobs[0]; !job.Decided || job.Since != 40*second {
		t.Errorf("decided %v at %v, want only at 40 s", job.Decided, job.Since)
	}
}

// When all jobs have converged, idle workers get the jobs that converged last, each job once.
func TestSpeConRebalances(t *testing.T) {
	specon, state, all := stage(t, 7, []int{0, 0, 0, 0}, func(index, check int) float64 {
		return shrinking(max(0, check-index/2)) // c and d start to move one check later
	})
	var moved []Placement
	for _, orders := range all {
		moved = append(moved, orders.Placements...)
	}
	want := []Placement{{Index: 2, Worker: 1, Why: Rebalanced}, {Index: 3, Worker: 1, Why: Rebalanced}}
	if !slices.Equal(moved, want) {
		t.Errorf("moved %v, want %v", moved, want)
	}
	// The jobs of worker 0 leave: it is idle, and those of worker 1 have been moved before.
	state.Tasks = state.Tasks[2:]
	state.Now += second
	orders, err := specon.Decide(state)
	if err != nil || len(orders.Placements) != 0 {
		t.Errorf("moved again: %v (%v)", orders.Placements, err)
	}
}

func TestMeters(t *testing.T) {
	m := meters{}
	task := &Task{Index: 3, Used: WorkOf(second)}
	if got := m.read(task, 5*second); got != nil {
		t.Errorf("first reading %v, want none", got)
	}
	task.Used = WorkOf(2 * second)
	if got := m.read(task, 9*second); len(got) != 1 || got[0] != 0.25 {
		t.Errorf("usage %v, want 0.25", got)
	}
	if got := m.read(task, 9*second); got != nil {
		t.Errorf("usage over no time %v, want none", got)
	}
}

func TestWhyString(t *testing.T) {
	for why, want := range map[Why]string{Arrived: "arrived", Slow: "slow", Rebalanced: "rebalanced"} {
		if got := why.String(); got != want {
			t.Errorf("%d is %q, want %q", why, got, want)
		}
	}
}
