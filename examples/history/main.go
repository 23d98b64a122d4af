// This program plays a cluster of which one team was alone for a week, with and without a history of use, [Kay88].

// History answers: does a team that had the cluster for a week make room for one that comes?
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(1)
	}
}

// Two teams share 8 GPUs by equal weights, and 3 are guaranteed to each. All jobs have one GPU and run for two hours.
const (
	gpus       = 8
	jobHours   = 2
	guaranteed = 3
	halfLife   = 24 // hours, after which use counts half
	alone      = 7  // days in which vision is alone
	together   = 4  // days after speech has come
)

// run plays both weeks and prints who had how many GPUs.
func run(w io.Writer) error {
	fmt.Fprintf(w, "GPUs of %d in the mean of a day, and what each team has used as a part of the cluster\n", gpus)
	for _, remembers := range []bool{false, true} {
		fmt.Fprintf(w, "\nwith history: %v\n", remembers)
		c, err := newCluster()
		if err != nil {
			return err
		}
		for day := range alone + together {
			if err := c.day(w, day, remembers); err != nil {
				return err
			}
		}
	}
	return nil
}

// cluster is what a scheduler keeps from decision to decision.
type cluster struct {
	problem *alloc.Problem
	history *drf.History
	hour    int
	born    int            // jobs that were submitted
	ends    map[string]int // hour at which a job that runs will end
}

func newCluster() (*cluster, error) {
	// Intervals are told in the unit of the half-life, here hours.
	history, err := drf.NewHistory(1, halfLife)
	if err != nil {
		return nil, err
	}
	return &cluster{history: history, ends: make(map[string]int), problem: &alloc.Problem{
		Kinds:   apportion.Kinds{"gpu"},
		Servers: []apportion.Server{{ID: "n1", Capacity: apportion.Resources{gpus}}},
		Queues: []drf.Queue{
			{ID: "speech", Weight: 1, Guarantee: apportion.Resources{guaranteed}},
			{ID: "vision", Weight: 1, Guarantee: apportion.Resources{guaranteed}},
		},
	}}, nil
}

// day plays the 24 hours of a day and prints a line.
func (c *cluster) day(w io.Writer, day int, remembers bool) error {
	sums := make(map[string]int64)
	for range 24 {
		decision, err := c.decide(day >= alone, remembers)
		if err != nil {
			return err
		}
		// An hour goes by in which queues use what they have.
		used := make(map[string]apportion.Resources)
		for _, queue := range decision.Queues {
			used[queue.ID] = queue.Used
			sums[queue.ID] += queue.Used[0]
		}
		if err := c.history.Advance(1, used); err != nil {
			return err
		}
		c.hour++
	}
	if day < alone-1 {
		return nil
	}
	usage, err := c.history.Charge(c.problem.Queues, apportion.Resources{gpus})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "day %2d  speech %.1f (%.2f)  vision %.1f (%.2f)\n", day+1,
		float64(sums["speech"])/24, usage[0].Usage, float64(sums["vision"])/24, usage[1].Usage)
	return err
}

// decide ends the jobs whose time has come, submits so many that each team always has some waiting, and decides.
func (c *cluster) decide(both, remembers bool) (*alloc.Decision, error) {
	p, waiting, left := c.problem, map[string]int{"speech": gpus, "vision": gpus}, []alloc.Application(nil)
	for _, app := range p.Applications {
		end, runs := c.ends[app.ID]
		if runs && end <= c.hour {
			delete(c.ends, app.ID)
			delete(p.Previous, app.ID)
			continue
		}
		if left = append(left, app); !runs {
			waiting[app.Queue]--
		}
	}
	p.Applications = left
	for _, queue := range []string{"speech", "vision"} {
		for ; waiting[queue] > 0 && (both || queue == "vision"); waiting[queue]-- {
			c.born++
			p.Applications = append(p.Applications, alloc.Application{ID: fmt.Sprintf("%s-%04d", queue, c.born), Queue: queue,
				Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 1}})
		}
	}
	if remembers {
		charged, err := c.history.Charge(p.Queues, apportion.Resources{gpus})
		if err != nil {
			return nil, err
		}
		p.Queues = charged
	}
	decision, err := alloc.Reallocate(context.Background(), p, nil)
	if err != nil {
		return nil, err
	}
	for id := range decision.Allocation {
		if _, runs := c.ends[id]; !runs {
			c.ends[id] = c.hour + jobHours
		}
	}
	p.Previous = decision.Allocation
	return decision, nil
}
