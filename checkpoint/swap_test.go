// This file tests what a step costs while thousands of jobs wait for each other's places.

package checkpoint_test

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// swapAll brings up jobs, each on a server of its own of twice as many, and lets each two of them swap places. Effects are
// answered one after the other.
func swapAll(b testing.TB, jobs int) (steps int) {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds}, 1))(b)
	step := func(e checkpoint.Event) []checkpoint.Effect {
		steps++
		must.Do(b, m.Step(e))
		return m.Ready().Effects
	}
	play := func(open []checkpoint.Effect) {
		for ; len(open) > 0; open = open[1:] {
			if e := open[0]; e.Action != checkpoint.Prune {
				open = append(open, step(checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: e.ID})...)
			}
		}
	}
	server := func(i int) string { return fmt.Sprintf("s%05d", i) }
	job := func(i int) string { return fmt.Sprintf("j%05d", i) }
	first, second := map[string][]string{}, map[string][]string{}
	for i := range 2 * jobs {
		step(checkpoint.ServerUp{Server: apportion.Server{ID: server(i), Capacity: apportion.Resources{1}}})
	}
	for i := range jobs {
		step(checkpoint.Submit{Job: job(i), Demand: slot})
		first[job(i)], second[job(i)] = []string{server(i)}, []string{server(i ^ 1)}
	}
	play(step(checkpoint.Adjust{Targets: first}))
	play(step(checkpoint.Adjust{Targets: second}))
	for i := range jobs {
		if j := m.Look(job(i)); j.Phase != checkpoint.Running || j.Containers[0] != server(i^1) {
			b.Fatalf("%s is %s on %v", j.Name, j.Phase, j.Containers)
		}
	}
	return steps
}

// All jobs come to their new places, however many wait for each other meanwhile; what that takes is for
// BenchmarkSwap to measure.
func TestSwap(t *testing.T) {
	if steps := swapAll(t, 60); steps < 60*10 {
		t.Errorf("%d steps are too few for 60 jobs that were started and moved", steps)
	}
}
