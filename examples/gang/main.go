// This program lets a gang of 16 GPUs start in a cluster that small jobs keep full, [Program §8] of package alloc.

// Gang answers: why does a large job start at all, and what does that cost?
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// The program is in run, which writes wherever it is told to; so its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gang:", err)
		os.Exit(1)
	}
}

// run plays the cluster with reservations and without.
func run(w io.Writer) error {
	none := int64(0)
	for _, c := range []struct {
		name    string
		options alloc.Options
		ends    bool // jobs say when they end
	}{
		{"as recommended", alloc.Options{}, false},
		{"with ends that are known", alloc.Options{}, true},
		{"without reservations", alloc.Options{Reservations: &none}, false},
	} {
		fmt.Fprintf(w, "%s:\n", c.name)
		if err := play(w, newCluster(c.options, c.ends)); err != nil {
			return err
		}
	}
	return nil
}

// cluster is 4 servers of 8 GPUs with jobs of one GPU, each of 16 hours: two end each hour, and two come.
type cluster struct {
	problem alloc.Problem
	started map[string]int // by job: the hour
	jobs    int
	ends    bool
}

const (
	length = 16 // hours that a job runs
	gang   = "gang"
)

func newCluster(options alloc.Options, ends bool) *cluster {
	c := &cluster{started: make(map[string]int), ends: ends}
	c.problem = alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: .1, Theta2: .1, Options: options}
	for _, id := range []string{"s1", "s2", "s3", "s4"} {
		c.problem.Servers = append(c.problem.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{8}})
	}
	return c
}

// submit adds a job of a number of GPUs, all or none.
func (c *cluster) submit(id string, gpus int64) {
	c.problem.Applications = append(c.problem.Applications, alloc.Application{ID: id, Weight: 1,
		Form: alloc.Form{Demand: apportion.Resources{1}, Min: gpus, Max: gpus}})
}

// hour ends the jobs that have run their time, lets two come, and says of the others how long they will run.
func (c *cluster) hour(hour int) {
	var left []alloc.Application
	for _, app := range c.problem.Applications {
		started, runs := c.started[app.ID]
		if runs && hour-started >= length {
			continue
		}
		if c.ends {
			ends := float64(length)
			if runs {
				ends = float64(length - (hour - started))
			}
			app.Ends = &ends
		}
		left = append(left, app)
	}
	c.problem.Applications = left
	for range 2 {
		c.jobs++
		c.submit(fmt.Sprint("job", c.jobs), 1)
	}
}

// play lets the gang come once the cluster is full, and says what becomes of it.
func play(w io.Writer, c *cluster) error {
	// A Decider carries what was let in past the gang, and what is reserved for it, from one decision to the next. Without one a
	// caller hands back Passed of Waiting, and Reservations.
	var decider alloc.Decider
	reserved := false
	for hour := range 60 {
		c.hour(hour)
		if hour == length {
			c.submit(gang, 16)
		}
		d, err := decider.Reallocate(context.Background(), &c.problem)
		if err != nil {
			return err
		}
		c.problem.Previous = d.Allocation
		for id := range d.Allocation {
			if _, runs := c.started[id]; !runs {
				c.started[id] = hour
			}
		}
		// What is reserved is told once, the first time.
		if !reserved && len(d.Reservations) > 0 {
			reserved = true
			fmt.Fprintf(w, "  %2d hours after it came: %s\n", hour-length, waits(d))
		}
		if d.Allocation.Containers(gang) > 0 {
			fmt.Fprintf(w, "  %2d hours after it came: it starts\n", hour-length)
			return nil
		}
	}
	fmt.Fprintf(w, "  %d hours after it came: it still waits\n", 60-length)
	return nil
}

// waits says why the gang waits.
func waits(d *alloc.Decision) string {
	for _, w := range d.Waiting {
		if w.ID == gang {
			return w.Reason.Text
		}
	}
	return "it does not wait"
}
