//go:build linux

// This file plays jobs of three frameworks on two nodes of one CPU each, under the default scheduler, which
// never moves a job, and under SpeCon, [Zheng] §6.2, with checkpoints on a disk and in a bucket of S3.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/live/specon"
	"github.com/apportion/apportion/examples/nodeagent/node"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/growth"
)

// Nodes share CPUs by what this system has.
func init() {
	subcommands["specon"] = play("specon", filepath.Join("out", "specon"), 30*time.Minute, speconAndDS)
	policies["SpeCon"] = func(s *setting) (master.Decider, error) { return speconDecider(s, false) }
	policies["DS"] = func(s *setting) (master.Decider, error) { return speconDecider(s, true) }
}

// contest is the same stream of jobs under several schedulers.
// The first of plays is what the others are compared with.
type contest struct {
	stdout   io.Writer
	dir      cluster.Place
	jobs     []harness.Job
	interval time.Duration
	first    bool
	plays    []*show
}

// show is one play of it.
// All but name, policy and s3 are filled in by the play.
type show struct {
	name, policy string
	s3           bool
	record       *harness.Record
	took         []time.Duration // each job, from its arrival
	adjustments  []harness.Adjustment
}

// nodes are the two servers, which have a CPU each; as many jobs as fit share it.
var nodes = []apportion.Server{{ID: "left", Capacity: apportion.Resources{6, 6}}, {ID: "right", Capacity: apportion.Resources{6, 6}}}

// models are a long and a short job of each framework.
// The long one converges long before it ends.
var models = map[string][2]struct {
	option, value string
	steps         int64
}{
	"tensorflow": {{"--model", "vae", 12000}, {"--model", "cnn", 300}},
	"pytorch":    {{"--cell", "gru", 3600}, {"--cell", "lstm", 500}},
	"mxnet":      {{"--model", "network", 4000}, {"--model", "logistic", 800}},
}

// uneven are three long jobs of these frameworks in turn, and after each a short one of the next framework:
// the default scheduler puts one after the other on the nodes in turn, and soon one node has little to do.
// Placing in turn puts all long jobs on one node.
func uneven(scale float64, frameworks []string) []harness.Job {
	var jobs []harness.Job
	times := map[string]int64{} // that a model is among them
	for i := range 6 {
		framework := frameworks[(i/2+i%2)%len(frameworks)]
		model := models[framework][i%2]
		job := harness.Job{Name: model.value, At: time.Duration(i) * time.Second, Framework: framework, Args: []string{model.option, model.value},
			Steps: max(10, int64(scale*float64(model.steps))), Seed: model.steps, Min: 1, Max: 1, Weight: 1, Demand: apportion.Resources{1, 1}}
		if again := times[model.value]; again > 0 {
			job.Name = fmt.Sprintf("%s-%d", model.value, again+1)
			job.Seed += again
		}
		times[model.value]++
		jobs = append(jobs, job)
	}
	return jobs
}

// speconDecider makes the decider of a master: SpeCon with the classifier that noise does not mislead, or
// what leaves jobs where they are.
// The notes are in the place, where the next master finds them.
func speconDecider(s *setting, stay bool) (master.Decider, error) {
	if s.slot <= 0 {
		return nil, errors.New("SpeCon needs -slot, the time between two categorizations")
	}
	return specon.New(specon.Config{Interval: s.slot, Classifier: growth.Prospect{Alpha: 0.1}, Stay: stay, Notes: s.place.Join("specon.json"),
		Read: func(state *master.State) (map[string]specon.Reading, error) { return readings(s.place, state) },
		Now:  func() time.Duration { return time.Duration(time.Now().UnixNano()) }}) // since 1970, for all masters
}

// readings asks the jobs' curves and this machine's kernel.
// A job's CPU time is that of all its processes.
func readings(p cluster.Place, s *master.State) (map[string]specon.Reading, error) {
	used := map[string]time.Duration{}
	attempts := map[string]int64{}
	for i := range s.Jobs {
		attempts[s.Jobs[i].Job.Name] = s.Jobs[i].Job.Attempt
	}
	for _, process := range p.Processes() {
		if process.Attempt == attempts[process.Job] {
			t, _ := node.CPUTime(process.PID) // it may have ended
			used[process.Job] += t
		}
	}
	known := map[string]specon.Reading{}
	for job := range used {
		curve, err := master.Curve(p.Shared(), job)
		if err != nil {
			return nil, err
		}
		if len(curve) > 0 {
			first := &curve[0]
			known[job] = specon.Reading{Value: mean(curve[max(0, len(curve)-newest):]), First: first.Value, Age: time.Since(first.Time()), Used: used[job]}
		}
	}
	return known, nil
}

// points is not empty.
func mean(points []master.Point) float64 {
	sum := 0.0
	for _, p := range points {
		sum += p.Value
	}
	return sum / float64(len(points))
}

// Each play begins with an empty place.
func speconAndDS(flags *flag.FlagSet) performance {
	c := &contest{}
	scale := flags.Float64("scale", 1, "length of the jobs")
	frameworks := flags.String("frameworks", "tensorflow,pytorch,mxnet", "those of the long jobs, in turn; each short one is of the next")
	flags.DurationVar(&c.interval, "interval", 3*time.Second, "time between two categorizations")
	flags.BoolVar(&c.first, "first", false, "the nodes go before all other processes of the machine, where there are control groups")
	stores := flags.String("stores", "file,s3", "where SpeCon keeps checkpoints, one play each: file, s3")
	out := flags.String("out", "out", "folder for the figures")
	return func(ctx context.Context, dir cluster.Place, stdout io.Writer) error {
		c.dir, c.stdout = dir, stdout
		for framework := range strings.SplitSeq(*frameworks, ",") {
			if _, ok := models[framework]; !ok {
				return command.Misused("-frameworks: what is %q?", framework)
			}
		}
		c.jobs = uneven(*scale, strings.Split(*frameworks, ","))
		c.plays = []*show{{name: "DS", policy: "DS"}}
		for store := range strings.SplitSeq(*stores, ",") {
			if store != "file" && store != "s3" {
				return command.Misused("-stores: what is %q?", store)
			}
			c.plays = append(c.plays, &show{name: "SpeCon, " + store, policy: "SpeCon", s3: store == "s3"})
		}
		if err := os.RemoveAll(string(c.dir)); err != nil {
			return err
		}
		for i, s := range c.plays {
			if err := c.play(ctx, i, s); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		if err := c.table(); err != nil {
			return err
		}
		return chart.Publish(stdout, *out, c.figures()...)
	}
}

// play plays the jobs once. Work that is lost is an error, see report.
// The server of the bucket lives as long as the play.
func (c *contest) play(ctx context.Context, number int, s *show) (err error) {
	fmt.Fprintf(c.stdout, "\n%s\n", s.name)
	if s.s3 {
		stop, err := serveS3()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	by, stop, err := c.groups()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	stage := &harness.Stage{Place: cluster.Place(c.dir.Join("play-" + strconv.Itoa(number))), Servers: nodes, Jobs: c.jobs,
		Master: []string{"-policy", s.policy, "-slot", c.interval.String()}, Stdout: c.stdout,
		By: func(server string) []string { return by[server] }, Each: c.tell(ctx)}
	if s.record, err = stage.Run(ctx); err != nil {
		return err
	}
	if s.took, err = s.record.Took(); err != nil {
		return err
	}
	if s.adjustments, err = s.record.Adjustments(); err != nil {
		return err
	}
	if s.policy == "DS" { // nobody was moved, so these curves are the undisturbed ones
		return nil
	}
	if _, err := report(ctx, c.stdout, s.record); err != nil || !s.s3 {
		return err
	}
	if left, err := os.ReadDir(stage.Place.Join("store")); err == nil && len(left) > 0 {
		return errors.New("checkpoints are on the disk, not in the bucket")
	}
	return nil
}

// tell says what the decider does and why, whenever that changes: the last line of its explanation.
// The decider explains itself by HTTP, like everything else of a master.
func (c *contest) tell(ctx context.Context) func(*cluster.Play, *cluster.Sample) error {
	said := ""
	return func(p *cluster.Play, _ *cluster.Sample) error {
		var text string
		err := cluster.Patiently(ctx, func(ctx context.Context) error {
			return p.Cluster.Place.Call(ctx, "/explain", master.Nothing{}, &text)
		})
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if why := lines[len(lines)-1]; why != said {
			p.Say("%s", why)
			said = why
		}
		return err
	}
}

// groups returns for each node what its agent and all its jobs run by: on one CPU, the last one or the one
// before. With first each node is a control group, and this program and the master are another.
// A node without a group of its own shares its CPU with whatever else runs there.
func (c *contest) groups() (by map[string][]string, stop func() error, err error) {
	last, err := node.LastCPU()
	if err != nil {
		return nil, nil, err
	}
	by = map[string][]string{}
	for i, server := range nodes {
		by[server.ID] = []string{"taskset", "-c", strconv.Itoa(max(0, last-1+i))}
	}
	var groups []*node.Group
	stop = func() (err error) {
		for _, g := range groups {
			err = errors.Join(err, g.Close())
		}
		return err
	}
	if !c.first {
		return by, stop, nil
	}
	for _, name := range []string{"", nodes[0].ID, nodes[1].ID} {
		group, err := node.NewGroup("node-"+name, true)
		if err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		groups = append(groups, group)
		if name != "" {
			by[name] = append([]string{"sh", "-c", `echo $$ >"$0" && exec "$@"`, group.Procs}, by[name]...)
		} else if err := group.Join(); err != nil {
			return nil, nil, errors.Join(err, stop())
		}
	}
	return by, stop, nil
}
