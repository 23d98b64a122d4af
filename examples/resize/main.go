// This program resizes a running job, and its master dies in the middle of it, [Dorm §III-C2].

// Resize answers: how does a running job get other containers without losing its work?
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "resize:", err)
		os.Exit(1)
	}
}

// run starts a job on two GPUs and gives it three. The journal lies in a folder for the time being.
func run(w io.Writer) error {
	dir, err := os.MkdirTemp("", "resize")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The cluster outlives the masters, as servers do.
	c := &cluster{out: w, saved: map[int64]int64{}}
	gpus := func(n int64) apportion.Resources { return apportion.Resources{n} }
	// The first master lives on.
	err = c.master(dir, -1,
		// What the master learns and what it is asked for are events, of which the journal keeps a record.
		checkpoint.ServerUp{Server: apportion.Server{ID: "north", Capacity: gpus(2)}},
		checkpoint.ServerUp{Server: apportion.Server{ID: "south", Capacity: gpus(2)}},
		// A job is known from here on, and has no containers yet.
		checkpoint.Submit{Job: "bert", Demand: gpus(1)},
		// A target lists a server for each container.
		checkpoint.Adjust{Targets: map[string][]string{"bert": {"north", "north"}}},
	)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "\nand now three; the master dies after four effects:")
	// The change is several effects: save, stop, create, resume. The master dies between two of them.
	err = c.master(dir, 4, checkpoint.Adjust{Targets: map[string][]string{"bert": {"north", "south", "south"}}})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "\nthe next master reads the journal and goes on:")
	return c.master(dir, -1)
}

// cluster is the world of the job: how many steps it has done, and what was saved under which number.
// Only perform changes it: the machine never learns how a container is made.
type cluster struct {
	out   io.Writer
	steps int64
	saved map[int64]int64
}

// master opens the journal, steps the machine through events and all that follows from them, and dies
// after that many effects; -1: it does not.
// It is the loop that every scheduler around the machine has; package checkpoint/driver has it with retries
// and real agents.
func (c *cluster) master(dir string, dies int, events ...checkpoint.Event) error {
	disk, err := vfs.NewOS(dir)
	if err != nil {
		return err
	}
	// Open reads what the master before has recorded, and fences it off: only one can go on.
	// Events since the last record are lost with a master that dies, and asked again.
	machine, records, err := journal.Open(disk, checkpoint.Config{Kinds: apportion.Kinds{"gpu"}})
	if err != nil {
		return err
	}
	// A master that dies leaves the file as it is: every record is whole or ends the journal.
	defer records.Close()
	for {
		// What is to be done must be durable before it is done.
		// Ready hands over what has come since the last time, once.
		ready := machine.Ready()
		if err := records.Append(ready.Record); err != nil {
			return err
		}
		for _, effect := range ready.Effects {
			if dies == 0 {
				return nil // killed: what it would have done is on record
			}
			dies--
			// The reply is an event like any other.
			if reply := c.perform(effect); effect.Action != checkpoint.Prune { // which needs no reply
				events = append(events, reply)
			}
		}
		// Nothing is left to do and nobody has answered: the machine is at rest.
		if len(events) == 0 {
			break
		}
		// The machine computes and does nothing; Ready above says what is to be done.
		if err := machine.Step(events[0]); err != nil {
			return err
		}
		events = events[1:]
	}
	job, _ := machine.Job("bert")
	fmt.Fprintf(c.out, "%s on %v\n", job.Phase, job.Containers)
	return nil
}

// perform does an effect. A real one asks the agents of the servers, and takes its time.
// An effect that was performed before may come again after a restart, and must then do no harm: here it is
// counted anew.
func (c *cluster) perform(e checkpoint.Effect) checkpoint.Reply {
	reply := checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done}
	text := string(e.Action)
	switch e.Action {
	case checkpoint.Save:
		c.steps += 100
		// A save says how far the job was, which is what resuming goes back to.
		c.saved[e.Checkpoint], reply.Step = c.steps, c.steps
		text += fmt.Sprintf(" after %d steps", c.steps)
	case checkpoint.Create:
		text += fmt.Sprintf(" on %v", e.Containers)
	case checkpoint.Resume:
		c.steps = c.saved[e.Checkpoint]
		text += fmt.Sprintf(" at step %d", c.steps)
	}
	fmt.Fprintln(c.out, " ", text)
	return reply
}
