// This file shows a whole resize, with the loop that drives a machine, on a toy cluster.

package checkpoint_test

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/internal/vfstest"
)

// toy is a cluster in which everything works. It remembers how many steps each job has done, and what
// was saved.
type toy struct {
	steps map[string]int64
	store map[int64]int64
}

// perform does an effect. A real one asks the servers in e.Servers, and takes its time.
func (t *toy) perform(e checkpoint.Effect) checkpoint.Reply {
	reply := checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done}
	text := fmt.Sprintf("%s %s", e.Action, e.Job)
	switch e.Action {
	case checkpoint.Save:
		t.steps[e.Job] += 100
		t.store[e.Checkpoint] = t.steps[e.Job]
		reply.Step = t.steps[e.Job]
		text += fmt.Sprintf(" after %d steps", reply.Step)
	case checkpoint.Release:
		text += fmt.Sprintf(" on %v, keep %v", e.Servers, e.Containers)
	case checkpoint.Create:
		text += fmt.Sprintf(" on %v", e.Containers)
	case checkpoint.Resume:
		t.steps[e.Job] = t.store[e.Checkpoint]
		text += fmt.Sprintf(" at step %d", t.steps[e.Job])
	}
	fmt.Println(text)
	return reply
}

// drive steps the machine through an event and all that follows from it.
func drive(m *checkpoint.Machine, records *journal.Journal, world *toy, event checkpoint.Event) error {
	for events := []checkpoint.Event{event}; len(events) > 0; events = events[1:] {
		if err := m.Step(events[0]); err != nil {
			return err
		}
		ready := m.Ready()
		if err := records.Append(ready.Record); err != nil {
			return err // do nothing of what is in ready
		}
		for _, effect := range ready.Effects {
			reply := world.perform(effect)
			if effect.Action != checkpoint.Prune {
				events = append(events, reply)
			}
		}
	}
	return nil
}

func Example() {
	disk := vfstest.NewMem() // vfs.NewOS(dir) in earnest
	m, records, err := journal.Open(disk, checkpoint.Config{Kinds: apportion.Kinds{"gpu"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	world := &toy{steps: make(map[string]int64), store: make(map[int64]int64)}
	gpu := func(n int64) apportion.Resources { return apportion.Resources{n} }
	for _, event := range []checkpoint.Event{
		checkpoint.ServerUp{Server: apportion.Server{ID: "s1", Capacity: gpu(2)}},
		checkpoint.ServerUp{Server: apportion.Server{ID: "s2", Capacity: gpu(2)}},
		checkpoint.Submit{Job: "lstm", Demand: gpu(1)},
		checkpoint.Adjust{Targets: map[string][]string{"lstm": {"s1", "s1"}}},
		checkpoint.Adjust{Targets: map[string][]string{"lstm": {"s1", "s2", "s2"}}},
	} {
		if err := drive(m, records, world, event); err != nil {
			fmt.Println(err)
			return
		}
	}
	job, _ := m.Job("lstm")
	fmt.Printf("%s on %v, newest checkpoint at step %d\n", job.Phase, job.Containers, job.Newest().Step)
	// Output:
	// create lstm on [s1 s1]
	// resume lstm at step 0
	// confirm lstm
	// save lstm after 100 steps
	// verify lstm
	// prune lstm
	// stop lstm
	// release lstm on [s1], keep [s1]
	// create lstm on [s1 s2 s2]
	// resume lstm at step 100
	// confirm lstm
	// running on [s1 s2 s2], newest checkpoint at step 100
}
