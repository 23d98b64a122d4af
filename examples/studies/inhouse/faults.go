//go:build linux

// This file plays a campaign of faults on a cluster of processes: they are killed and stopped, disks are full or freeze, one
// at a time and in pairs, and what the workers have written tells whether a job ran twice or lost anything.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// Faults need signals and mounts, which this system has.
func init() { subcommands["faults"] = command.Of("inhouse faults", faults) }

// The same seed draws the same faults, at times that depend on the machine.
func faults(flags *flag.FlagSet) command.Body {
	dir := cluster.Flag(flags, home)
	count := flags.Int("count", 100, "how many faults")
	seed := flags.Uint64("seed", 1, "which, and when")
	disks := flags.Bool("disks", os.Geteuid() == 0, "whether disks are filled and frozen, which only root may")
	return func(ctx context.Context, stdout, _ io.Writer) error {
		if err := os.RemoveAll(string(*dir)); err != nil {
			return err
		}
		c := &campaign{place: *dir, stdout: stdout, random: rand.New(rand.NewPCG(*seed, 0)), done: map[string]int{}}
		return c.run(ctx, *count, *disks)
	}
}

// campaign is a play of faults.
type campaign struct {
	place   cluster.Place
	live    *cluster.Cluster
	stdout  io.Writer
	random  *rand.Rand
	disks   []*disk
	samples []cluster.Sample
	done    map[string]int // how many faults of each kind
}

// faulty are the servers of a campaign, endless its jobs: there is room for all but one of their containers.
var (
	faulty  = []apportion.Server{{ID: "n", Capacity: apportion.Resources{2, 2}}, {ID: "s", Capacity: apportion.Resources{2, 2}}, {ID: "w", Capacity: apportion.Resources{1, 1}}}
	endless = []string{"one", "two"}
)

// calm is how long the cluster may take to come to rest after the last fault.
const calm = 2 * time.Minute

// run plays so many faults, and checks the logs of all workers.
func (c *campaign) run(ctx context.Context, count int, disks bool) (err error) {
	if disks {
		defer func() { err = errors.Join(err, c.unmount()) }()
		if err := c.mount(); err != nil {
			return err
		}
	}
	programs := cluster.Programs(c.place, faulty, []string{"-save-every", "300ms", "-grace", "2500ms", "-patience", "2s"}, []string{"-lease", "1s"})
	if c.live, err = cluster.Start(c.place, programs); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.live.Stop()) }()
	if err := c.live.Await(ctx, faulty); err != nil {
		return err
	}
	if err := c.submit(ctx); err != nil {
		return err
	}
	if err := c.rest(ctx); err != nil {
		return err
	}
	// A fault and what it brought need not be over when the next one comes.
	for played := 0; played < count; {
		played += c.round(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.sample(ctx)
	}
	if err := c.rest(ctx); err != nil {
		return fmt.Errorf("%w\nmaster: %s", err, c.live.Log("master"))
	}
	// The judge is what the workers have written, not what any master believes.
	if err := c.place.CheckWorkers(c.samples); err != nil {
		return err
	}
	for _, job := range endless {
		if err := c.place.Twice(job); err != nil {
			return err
		}
	}
	c.report()
	return nil
}

func (c *campaign) submit(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	for _, job := range endless {
		argv := []string{program, "train", "-steps", strconv.Itoa(1 << 30), "-cost", "200us"}
		app := alloc.Application{ID: job, Weight: 1, Form: alloc.Form{Min: 1, Max: 3, Demand: apportion.Resources{1, 1}}, Start: argv, Resume: argv}
		if err := c.place.Call(ctx, "/submit", app, &master.Nothing{}); err != nil {
			return err
		}
	}
	return nil
}

// round plays one fault or two, and returns how many.
func (c *campaign) round(ctx context.Context) int {
	n := 1 + c.random.IntN(2)
	var heal []func()
	for range n {
		heal = append(heal, c.fault())
		c.pause(ctx, 200)
	}
	// As a rule it is over before anybody gives up, and sometimes long after.
	c.pause(ctx, 800)
	if c.random.IntN(6) == 0 {
		select {
		case <-ctx.Done():
		case <-time.After(3 * time.Second): // longer than the grace
		}
		c.pause(ctx, 1500)
	}
	for _, h := range heal {
		h()
	}
	c.pause(ctx, 300)
	return n
}

// pause waits for less than so many milliseconds.
func (c *campaign) pause(ctx context.Context, most int) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(c.random.IntN(most)) * time.Millisecond):
	}
}

// fault lets something go wrong, and returns what makes an end of it.
func (c *campaign) fault() (heal func()) {
	if n := c.random.IntN(10); n < 3 && len(c.disks) > 0 {
		d := c.disks[c.random.IntN(len(c.disks))]
		if d.freezes && c.random.IntN(2) == 0 {
			c.done["frozen: "+d.what]++
			return d.freeze()
		}
		c.done["full: "+d.what]++
		return d.fill()
	}
	stop, kind := c.random.IntN(2) == 0, "killed: "
	if stop {
		kind = "stopped: "
	}
	// The three beyond the programs are shares of workers and guards.
	if n := c.random.IntN(2 + len(faulty) + 3); n < 1+len(faulty) {
		name := "master"
		if n > 0 {
			name = faulty[n-1].ID
			kind += "an agent"
		} else {
			kind += "the master"
		}
		c.done[kind]++
		if !stop {
			c.live.KillProgram(name)
			return func() {}
		}
		c.live.Signal(name, syscall.SIGSTOP)
		return func() { c.live.Signal(name, syscall.SIGCONT) }
	}
	return c.disturb(stop, kind)
}

// disturb kills or stops a process of a job, or one that guards it.
// A process that is stopped long enough loses its lease, and must be dead before it goes on.
func (c *campaign) disturb(stop bool, kind string) (heal func()) {
	all := c.place.Processes()
	if len(all) == 0 { // all are on their way: so is a server's agent
		c.done["killed: an agent"]++
		c.live.KillProgram(faulty[0].ID)
		return func() {}
	}
	p := all[c.random.IntN(len(all))]
	if p.Guard {
		kind += "a guard"
	} else {
		kind += "a worker"
	}
	c.done[kind]++
	if !stop {
		p.Kill()
		return func() {}
	}
	_ = syscall.Kill(p.PID, syscall.SIGSTOP) // it may have ended by itself
	return func() { _ = syscall.Kill(p.PID, syscall.SIGCONT) }
}

// sample notes what the master says is confirmed, if one answers.
func (c *campaign) sample(ctx context.Context) (l master.List, ok bool) {
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if c.place.Call(limited, "/list", master.Nothing{}, &l) != nil {
		return l, false
	}
	c.samples = append(c.samples, cluster.Sample{Seen: time.Now(), List: l})
	return l, true
}

// rest waits until all jobs run and have done steps since the last fault, and have been saved.
// Saved means a checkpoint that is newer than the first that was seen here.
func (c *campaign) rest(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, calm)
	defer cancel()
	before := map[string]int64{}
	for {
		l, ok := c.sample(ctx)
		resting := 0
		for _, v := range l.Jobs {
			if _, known := before[v.Job.Name]; !known {
				before[v.Job.Name] = v.Checkpoint.Number
			}
			if v.Job.Phase == checkpoint.Running && v.Checkpoint.Number > before[v.Job.Name] {
				resting++
			}
		}
		if ok && resting == len(endless) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d jobs run and are saved after the last fault: %+v", resting, len(endless), l.Jobs)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *campaign) report() {
	sum := 0
	for _, what := range slices.Sorted(maps.Keys(c.done)) {
		fmt.Fprintf(c.stdout, "%5d  %s\n", c.done[what], what)
		sum += c.done[what]
	}
	fmt.Fprintf(c.stdout, "%5d  faults; by the workers' own logs no job ran twice, and nothing that was confirmed was lost\n", sum)
	var steps []string
	for _, v := range c.samples[len(c.samples)-1].List.Jobs {
		steps = append(steps, fmt.Sprintf("%s: attempt %d, step %d", v.Job.Name, v.Job.Attempt, v.Progress.Step))
	}
	fmt.Fprintln(c.stdout, strings.Join(steps, "; "))
}
