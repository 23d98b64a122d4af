// This file implements SpeCon on real processes, [Zheng] §5.2: it watches how jobs converge, and moves
// converged ones to servers that have less to do.

// Package specon decides by SpeCon, or by the default scheduler that it is compared with, where jobs of one
// container run.
package specon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement"
)

// Reading is what is known of a job that runs.
type Reading struct {
	// Value is the newest of its evaluation function, First the first, which is of this Age; 0: it is new.
	Value, First float64
	Age          time.Duration
	// Used is the CPU time of the job's newest attempt.
	Used time.Duration
}

// Config says how a Decider works.
type Config struct {
	// Interval is the time between two categorizations.
	Interval time.Duration
	// Classifier tells which jobs still grow.
	Classifier growth.Classifier
	// Stay leaves every job where it was placed: the default scheduler.
	Stay bool
	// Read returns what is known of the jobs by name. A job that has not told anything is not there.
	Read func(*master.State) (map[string]Reading, error)
	// Now returns the time since an origin before the first step of any job.
	Now func() time.Duration
	// Notes is the path of the file that is kept.
	Notes string
}

// Decider is SpeCon as a [master.Decider]. The one of a new master watches all jobs from their beginning, but
// for those that were decided on: they stay where they are. A move is noted before it is begun, so a master
// that is killed in between leaves the job where it was; none is moved twice for the same reason. What was
// left of a plan to even things out is planned anew when the others have converged for the new one, too.
type Decider struct {
	config  Config
	monitor *specon.Monitor
	report  specon.Report
	marks   map[string]*mark
	tasks   []task     // of the decision under way
	plan    []transfer // to even the cluster out
	noted   notes      // what the file says
}

// mark is what is known of a job beyond the monitor.
type mark struct {
	category growth.Category
	// since is when the job was decided on or, before that, when it converged.
	since time.Duration
	// decided: a host was chosen for the job. rebalanced: it was moved to even things out.
	decided, rebalanced bool
	// attempt, at and used are those of the reading that was taken last, usage the average before it.
	attempt int64
	at      time.Duration
	used    time.Duration
	usage   float64
	opened  bool // a reading was taken
}

// task is a job that has a server.
type task struct {
	*master.JobState
	*mark
	name   string
	server int
}

// New goes on from the notes if there are any. Errors are theirs and those of [specon.NewMonitor].
func New(config Config) (*Decider, error) {
	monitor, err := specon.NewMonitor(specon.Config{Interval: config.Interval}, &specon.Options{Classifier: config.Classifier})
	if err != nil {
		return nil, err
	}
	d := &Decider{config: config, monitor: monitor, marks: map[string]*mark{}}
	return d, d.recall()
}

// Decide implements [master.Decider]. New jobs go where the fewest are. At most one job is moved at a time.
func (d *Decider) Decide(_ context.Context, s *master.State) (*master.Verdict, error) {
	v := &master.Verdict{Targets: map[string][]string{}, Waiting: map[string]string{}}
	if len(s.Jobs) == 0 || len(s.Servers) == 0 {
		v.Explanation = "There is no job or no server: nothing was decided.\n"
		return v, nil
	}
	if err := d.place(s, v); err != nil {
		return nil, err
	}
	defer func() { clear(d.tasks) }() // they hold the state, which is the master's
	now := d.config.Now()
	if err := d.watch(now, s); err != nil {
		return nil, err
	}
	why := "Jobs stay where they were placed."
	if !d.config.Stay {
		var err error
		if why, err = d.move(now, s, v); err != nil {
			return nil, err
		}
		if err := d.note(); err != nil {
			return nil, err
		}
		v.Again = max(time.Millisecond, d.report.Next-now)
	}
	v.Explanation = d.explain(s, why)
	return v, nil
}

// free is what the jobs with a server leave of each.
func (d *Decider) free(s *master.State) []apportion.Resources {
	var free []apportion.Resources
	for _, server := range s.Servers {
		free = append(free, server.Capacity.Clone())
	}
	for i := range d.tasks {
		for k, q := range d.tasks[i].Application.Demand {
			free[d.tasks[i].server][k] -= q
		}
	}
	return free
}

// place finds the jobs' servers, and one for each job that has none.
func (d *Decider) place(s *master.State, v *master.Verdict) error {
	d.tasks = d.tasks[:0]
	var homeless []*master.JobState
	known := map[string]*mark{}
	for i := range s.Jobs {
		job := &s.Jobs[i]
		name := job.Application.ID
		if known[name] = d.marks[name]; known[name] == nil {
			known[name] = &mark{}
		}
		server := -1
		if goal := job.Goal(); len(goal) > 0 {
			server = slices.IndexFunc(s.Servers, func(s apportion.Server) bool { return s.ID == goal[0] })
		}
		if server < 0 {
			homeless = append(homeless, job)
			continue
		}
		d.tasks = append(d.tasks, task{job, known[name], name, server})
	}
	d.marks = known // those of ended jobs go
	bins := make([]placement.Bin, len(s.Servers))
	for w, free := range d.free(s) {
		bins[w].Free = free
	}
	for i := range d.tasks {
		bins[d.tasks[i].server].Containers++
	}
	packer, err := placement.NewPacker(placement.FewestFirst, s.Kinds, bins)
	if err != nil {
		return err
	}
	for _, job := range homeless {
		name := job.Application.ID
		placed, ok := packer.Place(job.Application.Demand, 1, nil)
		if !ok {
			v.Waiting[name] = "no server has room"
			continue
		}
		v.Targets[name] = []string{s.Servers[placed[0].Server].ID}
	}
	return nil
}

// watch hands all readings to the container monitor, [Zheng] Algorithm 3.
func (d *Decider) watch(now time.Duration, s *master.State) error {
	readings, err := d.config.Read(s)
	if err != nil {
		return err
	}
	observations := make([]specon.Observation, len(d.tasks))
	fresh := make([]bool, len(d.tasks))
	for i := range d.tasks {
		t := &d.tasks[i]
		_, known := d.monitor.Standing(t.name)
		fresh[i] = !known
		observations[i] = t.observe(now, readings, s.Servers[t.server].ID)
	}
	if err := d.monitor.Step(now, observations, &d.report); err != nil {
		return err
	}
	for i := range d.tasks {
		t := &d.tasks[i]
		if !observations[i].Missing && (d.report.Ran || fresh[i]) { // the monitor has taken it
			t.at, t.used, t.opened = now, readings[t.name].Used, true
		}
		status, _ := d.monitor.Standing(t.name)
		if status.Category == growth.Converged && t.category != growth.Converged {
			t.since = now
		}
		t.category = status.Category
	}
	return nil
}

// observe is what the monitor is told of a task. The first value that it is told is the job's first, at its time:
// what a job gains before anyone looks may be the most that it ever gains.
func (t *task) observe(now time.Duration, readings map[string]Reading, server string) specon.Observation {
	o := specon.Observation{Job: t.name, Worker: server, Migrated: t.decided, Missing: true}
	r, ok := readings[t.name]
	if !ok || t.Job.Phase != checkpoint.Running || now <= t.at {
		return o
	}
	if t.attempt != t.Job.Attempt {
		t.attempt, t.used = t.Job.Attempt, 0
	}
	o.Missing = false
	if !t.opened {
		o.At, o.Value = max(0, now-r.Age), r.First
		return o
	}
	t.usage = max(0, float64(r.Used-t.used)/float64(now-t.at))
	o.At, o.Value, o.Usage = now, r.Value, growth.Used(t.usage)
	return o
}

// move asks for at most one move, unless one is under way, and says why.
func (d *Decider) move(now time.Duration, s *master.State, v *master.Verdict) (why string, err error) {
	for i := range d.tasks {
		if t := &d.tasks[i]; !t.settled() {
			return fmt.Sprintf("%s is on its way to %s: nobody else is moved.", t.name, s.Servers[t.server].ID), nil
		}
	}
	for _, request := range d.report.Requests {
		at := slices.IndexFunc(d.tasks, func(t task) bool { return t.name == request.Job })
		host, err := d.choose(at, s)
		if err != nil {
			return "", err
		}
		t := &d.tasks[at]
		if host.Decided {
			t.decided, t.since = true, now
		}
		if host.Worker != t.server {
			return d.send(t, host.Worker, host.Reason.String(), s, v), nil
		}
	}
	return d.rebalance(now, s, v)
}

// settled reports whether a job runs where it is to run.
func (t *task) settled() bool {
	running := t.Job.Phase == checkpoint.Running || t.Job.Phase == checkpoint.Saving || t.Job.Phase == checkpoint.Verifying
	return running && t.Job.Order == 0 && slices.Equal(t.Job.Containers, t.Job.Target)
}

// send notes a move.
func (d *Decider) send(t *task, server int, reason string, s *master.State, v *master.Verdict) string {
	v.Targets[t.name] = []string{s.Servers[server].ID}
	return fmt.Sprintf("%s moves from %s to %s: %s.", t.name, s.Servers[t.server].ID, s.Servers[server].ID, reason)
}

// choose decides on a request, [Zheng] Algorithm 4.
func (d *Decider) choose(at int, s *master.State) (placement.Host, error) {
	workers := make([]placement.Worker, len(s.Servers))
	for w, free := range d.free(s) {
		workers[w] = placement.Worker{ID: s.Servers[w].ID, Free: free}
	}
	for i := range d.tasks {
		t := &d.tasks[i]
		w := &workers[t.server]
		w.Usage += t.usage
		switch t.category {
		case growth.Progressing:
			w.Counts.Progressing++
		case growth.Watching:
			w.Counts.Watching++
		case growth.Converged:
			w.Counts.Converged++
		}
	}
	t := &d.tasks[at]
	return placement.ChooseHost(placement.HostRequest{Kinds: s.Kinds, Workers: workers, Current: t.server, Demand: t.Application.Demand}, nil)
}

// transfer is what is left of a plan that evens the cluster out.
type transfer struct{ job, server string }

// rebalance evens out a cluster whose jobs have all converged, [Zheng] Algorithm 5 and §6.2.3: one transfer of
// the plan after the other. The rest of the plan is kept: planned anew, a server that was idle before the
// first transfer is idle no more, and gets fewer.
func (d *Decider) rebalance(now time.Duration, s *master.State, v *master.Verdict) (string, error) {
	request := placement.RebalanceRequest{Now: now, Kinds: s.Kinds, Free: d.free(s)}
	for i := range d.tasks {
		t := &d.tasks[i]
		request.Containers = append(request.Containers, placement.Active{ID: t.name, Worker: t.server, Demand: t.Application.Demand,
			Migrated: t.category == growth.Converged, Since: t.since, Rebalanced: t.rebalanced})
	}
	plan, err := placement.Rebalance(request, nil)
	if err != nil {
		return "", err
	}
	if !plan.Ready {
		d.plan = nil
	} else if len(d.plan) == 0 {
		for _, next := range plan.Transfers {
			d.plan = append(d.plan, transfer{d.tasks[next.Container].name, s.Servers[next.To].ID})
		}
	}
	for len(d.plan) > 0 {
		next := d.plan[0]
		d.plan = d.plan[1:]
		from := slices.IndexFunc(d.tasks, func(t task) bool { return t.name == next.job })
		to := slices.IndexFunc(s.Servers, func(s apportion.Server) bool { return s.ID == next.server })
		if from < 0 || to < 0 || !d.tasks[from].Application.Demand.FitsIn(request.Free[to]) {
			continue // the job has ended, or the server is gone or full
		}
		t := &d.tasks[from]
		t.decided, t.rebalanced, t.since = true, true, now
		return d.send(t, to, "all jobs grow slowly, and the cluster is uneven", s, v), nil
	}
	return "No job is to be moved.", nil
}

// explain says how the jobs stand, and why one is moved or none.
func (d *Decider) explain(s *master.State, why string) string {
	var text strings.Builder
	for i := range d.tasks {
		t := &d.tasks[i]
		status, _ := d.monitor.Standing(t.name)
		fmt.Fprintf(&text, "%-10s %-8s %-11s uses %.2f of a CPU", t.name, s.Servers[t.server].ID, t.category, t.usage)
		if status.Measured {
			fmt.Fprintf(&text, ", gained %.3g at the last check", status.Gain)
		}
		if t.decided {
			text.WriteString(", was decided on")
		}
		text.WriteByte('\n')
	}
	return text.String() + why + "\n"
}
