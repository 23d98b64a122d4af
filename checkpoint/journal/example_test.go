// This file shows how a journal passes from one master to the next.

package journal_test

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/internal/vfstest"
)

// A master that dies leaves a journal. The next one does again what has no reply on record, and the old
// one, should it live after all, cannot do any harm.
func ExampleOpen() {
	disk := vfstest.NewMem()
	config := checkpoint.Config{Kinds: apportion.Kinds{"gpu"}}
	first, records, err := journal.Open(disk, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, event := range []checkpoint.Event{
		checkpoint.ServerUp{Server: apportion.Server{ID: "s1", Capacity: apportion.Resources{1}}},
		checkpoint.Submit{Job: "lstm", Demand: apportion.Resources{1}},
		checkpoint.Adjust{Targets: map[string][]string{"lstm": {"s1"}}},
	} {
		if err := first.Step(event); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := records.Append(first.Ready().Record); err != nil {
		fmt.Println(err)
		return
	}

	second, _, err := journal.Open(disk, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range second.Ready().Effects {
		fmt.Printf("master %d: %s %s on %v\n", e.Epoch, e.Action, e.Job, e.Servers)
	}
	if err := first.Step(checkpoint.Cancel{Job: "lstm"}); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("master %d: %v\n", first.Epoch(), records.Append(first.Ready().Record))
	// Output:
	// master 2: create lstm on [s1]
	// master 1: checkpoint: fenced off by a newer one
}
