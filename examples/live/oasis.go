// This file plays jobs with deadlines under OASiS and under FIFO, with real parameter servers, and
// compares what they earn with what the simulation of the same stream earns, [OASiS] §5.

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/live/oasis"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/placement/sim"
	simpolicies "github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/primaldual"
)

// slotCluster has workers on nodes and parameter servers on "ps" nodes. The names make workers come
// first: processes are numbered in the order of their servers' names.
var slotCluster = &primaldual.Cluster{
	Kinds: kinds, Slots: 12,
	WorkerServers: []apportion.Server{{ID: "node1", Capacity: apportion.Resources{2, 4}}, {ID: "node2", Capacity: apportion.Resources{2, 4}}},
	PSServers:     []apportion.Server{{ID: "ps1", Capacity: apportion.Resources{2, 4}}},
}

// urgent is a job with a deadline.
type urgent struct {
	name        string
	arrival     int // slot
	workerSlots int64
	most, fixed int64
	worth       primaldual.Sigmoid
}

// stream is a large job that can wait, and small ones that cannot.
var stream = []urgent{
	{"large", 1, 10, 2, 2, primaldual.Sigmoid{Gamma1: 40, Gamma2: 0.5, Gamma3: 7}},
	{"hopeless", 1, 7, 2, 2, primaldual.Sigmoid{Gamma1: 30, Gamma2: 4, Gamma3: 2}},
	{"soon", 2, 4, 2, 2, primaldual.Sigmoid{Gamma1: 90, Gamma2: 4, Gamma3: 2}},
	{"small", 4, 2, 2, 2, primaldual.Sigmoid{Gamma1: 50, Gamma2: 4, Gamma3: 2}},
	{"patient", 4, 6, 4, 2, primaldual.Sigmoid{Gamma1: 30, Gamma2: 0.5, Gamma3: 5}},
}

// A slot is 45 seconds by default, of which a start takes some on a busy machine.
const (
	// perWorkerSlot is how many steps a worker does by itself in a slot, beside its start.
	perWorkerSlot = 12
	// useful is the part of a slot that these steps take: the rest is for the processes to start. A job
	// that goes on from slot to slot does more than it says, by at most 1/useful.
	useful = 0.7
	// workersPerPS is how many workers a parameter server serves.
	workersPerPS = 2
)

// A container takes one CPU and two units of memory.
var slotDemand = apportion.Resources{1, 2}

// terms are what the job is submitted with.
func (u *urgent) terms() *oasis.Terms {
	return &oasis.Terms{Steps: u.workerSlots * perWorkerSlot, PerWorkerSlot: perWorkerSlot, Most: u.most, WorkersPerPS: workersPerPS, Worth: u.worth, Fixed: u.fixed}
}

// urgentJobs are the stream for the cluster: those of a slot arrive in the middle of the one before.
func urgentJobs(slot time.Duration) []harness.Job {
	var jobs []harness.Job
	for i := range stream {
		u, terms := &stream[i], stream[i].terms()
		at := max(0, time.Duration((float64(u.arrival)-1.5)*float64(slot)))
		cost := time.Duration(useful * float64(slot) / (perWorkerSlot * harness.Batch))
		jobs = append(jobs, harness.Job{Name: u.name, At: at, Framework: "mxnet", Args: []string{"--model", "network"}, Steps: terms.Steps, Seed: int64(i + 1), Cost: cost,
			Min: 1, Max: u.most + (u.most+workersPerPS-1)/workersPerPS, Weight: 1, Demand: slotDemand, Policy: terms})
	}
	return jobs
}

// urgentWorkload is the stream for the simulation: the jobs, and the workers that FIFO gives each.
func urgentWorkload() (jobs []primaldual.Job, workers []int64) {
	for i := range stream {
		u := &stream[i]
		jobs = append(jobs, u.terms().Job(u.name, slotDemand, u.arrival, 0))
		workers = append(workers, u.fixed)
	}
	return jobs, workers
}

// simulate plays the stream under a policy without processes.
func simulate(ctx context.Context, policy sim.Policy, slot time.Duration) (*sim.Result, error) {
	jobs, workers := urgentWorkload()
	scenario, err := sim.FromSlots(slotCluster, jobs, workers, slot)
	if err != nil {
		return nil, err
	}
	return sim.Run(ctx, scenario, policy)
}

// slotConfig is that of both policies. The prices are set from the jobs that will come.
func slotConfig(p *setting) (oasis.Config, error) {
	jobs, _ := urgentWorkload()
	bounds, err := primaldual.BoundsOf(slotCluster, jobs, nil)
	return oasis.Config{Cluster: slotCluster, Bounds: bounds, Slot: p.slot, Book: p.place.Join(bookFile)}, err
}

// bookFile is the book of a policy in its place.
const bookFile = "slots.json"

// oasisDecider makes the decider of a master that plans by prices.
func oasisDecider(p *setting) (master.Decider, error) {
	config, err := slotConfig(p)
	if err != nil {
		return nil, err
	}
	return oasis.New(config)
}

// fifoDecider makes that of one that does not plan.
func fifoDecider(p *setting) (master.Decider, error) {
	config, err := slotConfig(p)
	if err != nil {
		return nil, err
	}
	return oasis.NewFIFO(config)
}

// oasisAndFIFO plays the stream twice, simulated and live each time, and prints the four side by side.
func oasisAndFIFO(flags *flag.FlagSet) performance {
	slot := flags.Duration("slot", 45*time.Second, "length of a slot: enough for the processes to start in a part of it")
	out := flags.String("out", "out", "folder for the figures")
	return func(ctx context.Context, dir cluster.Place, stdout io.Writer) error {
		var all []*earned
		for _, policy := range []sim.Policy{&simpolicies.OASiS{}, &simpolicies.FIFO{}} {
			e := &earned{name: policy.Name(), setting: setting{cluster.Place(dir.Join(policy.Name())), *slot}}
			if err := e.play(ctx, stdout, policy); err != nil {
				return fmt.Errorf("%s: %w", policy.Name(), err)
			}
			all = append(all, e)
		}
		if err := printEarned(stdout, all); err != nil {
			return err
		}
		return chart.Publish(stdout, *out, drawEarned(all)...)
	}
}

// earned is what a policy made of the stream, simulated and live; slices by job.
type earned struct {
	name string
	setting
	simulated *sim.Result
	record    *harness.Record
	outcomes  []harness.Outcome
	// slot is the one in which a job ended, counted from its arrival; -1: it never ran.
	slots   []int
	utility []float64
	total   float64
}

func (e *earned) play(ctx context.Context, stdout io.Writer, policy sim.Policy) error {
	var err error
	if e.simulated, err = simulate(ctx, policy, e.setting.slot); err != nil {
		return err
	}
	if err := os.RemoveAll(string(e.place)); err != nil { // a play begins anew
		return err
	}
	fmt.Fprintf(stdout, "\n%s, slots of %v\n", e.name, e.setting.slot)
	stage := &harness.Stage{Place: e.place, Servers: append(append([]apportion.Server{}, slotCluster.WorkerServers...), slotCluster.PSServers...),
		Jobs: urgentJobs(e.setting.slot), Master: []string{"-policy", e.name, "-slot", e.setting.slot.String()}, Stdout: stdout}
	if e.record, err = stage.Run(ctx); err != nil {
		return err
	}
	if e.outcomes, err = report(ctx, stdout, e.record); err != nil {
		return err
	}
	return e.count()
}

func (e *earned) count() error {
	book, err := oasis.OpenBook(e.place.Join(bookFile))
	if err != nil {
		return err
	}
	for i := range stream {
		ending, at := e.record.Ending(stream[i].name)
		slots, utility := -1, 0.0
		if ending == checkpoint.Completed {
			slots = book.SlotAt(e.record.Began.Add(at), e.setting.slot) - book.Jobs[stream[i].name].Arrival
			utility = stream[i].worth.Value(slots)
		}
		e.slots, e.utility, e.total = append(e.slots, slots), append(e.utility, utility), e.total+utility
	}
	return nil
}

// printEarned prints the utility of each job under each policy, simulated and live.
func printEarned(w io.Writer, all []*earned) error {
	fmt.Fprintln(w, "\nUtility, and the slots from arrival to end")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "job\tarrives in slot\t")
	for _, e := range all {
		fmt.Fprintf(table, "%s simulated\t%s live\t", e.name, e.name)
	}
	fmt.Fprintln(table)
	for i := range stream {
		fmt.Fprintf(table, "%s\t%d\t", stream[i].name, stream[i].arrival)
		for _, e := range all {
			job, slots := &e.simulated.Jobs[i], -1
			if job.Completed {
				slots = int(job.Completion/e.setting.slot) - stream[i].arrival
			}
			fmt.Fprintf(table, "%s\t%s\t", shownUtility(job.Worth, slots), shownUtility(e.utility[i], e.slots[i]))
		}
		fmt.Fprintln(table)
	}
	fmt.Fprint(table, "all\t\t")
	for _, e := range all {
		fmt.Fprintf(table, "%.1f\t%.1f\t", e.simulated.Worth(), e.total)
	}
	fmt.Fprintln(table)
	return table.Flush()
}

// shownUtility is a utility and the slots after which it was earned.
func shownUtility(utility float64, slots int) string {
	if slots < 0 {
		return "refused"
	}
	return fmt.Sprintf("%.1f (%d)", utility, slots)
}

// drawEarned draws the containers over time under each policy, and the utilities.
func drawEarned(all []*earned) []*chart.Figure {
	var names []string
	for i := range stream {
		names = append(names, stream[i].name)
	}
	utility := chart.New("utility", "Utility earned", "", "utility")
	figures := []*chart.Figure{utility}
	for i, e := range all {
		utility.Bars(names, i, len(all), fmt.Sprintf("%s, together %.1f", e.name, e.total), e.utility)
		figures = append(figures, e.record.Containers("slots-"+e.name, "Workers and parameter servers under "+e.name))
	}
	return figures
}
