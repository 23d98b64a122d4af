// This file implements SpeCon on real processes, [Zheng] §5.2: it tells package growth/specon how the
// jobs stand, and the master where they are to run.

// Package specon decides by SpeCon, or by the default scheduler that it is compared with, where jobs of one
// container run.
package specon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement"
)

// Reading is what is known of a job that runs.
type Reading struct {
	// Value is the newest of its evaluation function, First the first, which is of this Age.
	Value, First float64
	Age          time.Duration
	// Used is the CPU time of the job's newest attempt.
	Used time.Duration
}

// Config says how a Decider works.
// All are required.
type Config struct {
	// Interval is the time between two categorizations.
	Interval time.Duration
	// Classifier tells which jobs still grow.
	Classifier growth.Classifier
	// Stay leaves every job where it was placed: the default scheduler.
	Stay bool
	// Read returns what is known of the jobs by name. A job that has not told anything is not there.
	Read func(*master.State) (map[string]Reading, error)
	// Now returns the time since an origin before the first step of any job, the same for all masters.
	Now func() time.Duration
	// Notes is the path of the file that is kept.
	Notes string
}

// Decider is SpeCon as a [master.Decider]. The one of a new master goes on where the one before last noted
// anything. A move is noted before it is begun, so a master that is killed in between leaves the job where it
// was; none is moved twice for the same reason.
type Decider struct {
	config  Config
	manager *specon.Manager // nil before the first decision
	servers []string        // those that the manager knows
	jobs    map[string]*meter
	now     time.Duration
	noted   *specon.State // what the file says; nil: there is none
}

// meter reads the CPU time of one job.
type meter struct {
	growth.Counter
	attempt int64
	opened  bool // a check has taken the first reading
}

// settings are those of the manager.
// One move at a time lets the next one see what the last one did.
func (c *Config) settings(kinds apportion.Kinds) (specon.ManagerConfig, *specon.ManagerOptions) {
	return specon.ManagerConfig{Config: specon.Config{Interval: c.Interval}, Kinds: kinds}, &specon.ManagerOptions{
		Options: specon.Options{Classifier: c.Classifier}, Place: placement.FewestFirst, Stay: c.Stay, OneAtATime: true}
}

// New goes on from the notes if there are any. Errors are theirs and those of [specon.NewManager].
func New(config Config) (*Decider, error) {
	d := &Decider{config: config, jobs: map[string]*meter{}}
	_, err := specon.NewManager(config.settings(nil))
	return d, errors.Join(err, d.recall())
}

// server returns the server that a job is to run on; empty: none that is there.
// A job of this policy has one container at most.
func server(job *master.JobState, s *master.State) string {
	goal := job.Goal()
	if len(goal) > 0 && slices.ContainsFunc(s.Servers, func(s apportion.Server) bool { return s.ID == goal[0] }) {
		return goal[0]
	}
	return ""
}

// settled reports whether a job runs where it is to run.
// Saving and verifying do not disturb a job.
func settled(j *checkpoint.Job) bool {
	running := j.Phase == checkpoint.Running || j.Phase == checkpoint.Saving || j.Phase == checkpoint.Verifying
	return running && j.Order == 0 && slices.Equal(j.Containers, j.Target)
}

// tellServers tells the manager which servers are there.
// A server that is told again keeps its jobs.
func (d *Decider) tellServers(s *master.State) error {
	var errs []error
	var present []string
	for _, server := range s.Servers {
		present = append(present, server.ID)
		errs = append(errs, d.manager.Step(specon.Event{Kind: specon.WorkerUp, Worker: server.ID, Capacity: server.Capacity}))
	}
	for _, id := range d.servers {
		if !slices.Contains(present, id) {
			errs = append(errs, d.manager.Step(specon.Event{Kind: specon.WorkerDown, Worker: id}))
		}
	}
	d.servers = present
	return errors.Join(errs...)
}

// tellJobs tells the manager which jobs are there, and where each runs.
// Exits come first, so that their room counts.
func (d *Decider) tellJobs(s *master.State) error {
	var errs []error
	step := func(e specon.Event) { errs = append(errs, d.manager.Step(e)) }
	present := map[string]bool{}
	for i := range s.Jobs {
		present[s.Jobs[i].Application.ID] = true
	}
	for id := range d.jobs {
		if !present[id] {
			step(specon.Event{Kind: specon.Exit, Job: id})
			delete(d.jobs, id)
		}
	}
	for i := range s.Jobs {
		job, on := &s.Jobs[i], server(&s.Jobs[i], s)
		e := specon.Event{Kind: specon.Runs, Job: job.Application.ID, Worker: on, Demand: job.Application.Demand}
		if d.jobs[e.Job] == nil {
			d.jobs[e.Job], e.Kind = &meter{}, specon.Arrival
		}
		if e.Kind == specon.Arrival || on != "" {
			step(e)
		}
		if !settled(&job.Job) {
			step(specon.Event{Kind: specon.Pauses, Job: e.Job})
		}
	}
	return errors.Join(errs...)
}

// event is what the manager is told of a job that has a reading. The first value that it is told is the
// job's first, at its time: what a job gains before anyone looks may be the most that it ever gains.
func (m *meter) event(now time.Duration, job *master.JobState, r Reading) specon.Event {
	if m.attempt != job.Job.Attempt {
		m.attempt = job.Job.Attempt
		m.Restart()
	}
	usage := m.Usage(now, r.Used)
	e := specon.Event{Kind: specon.Reading, Job: job.Application.ID, At: now, Value: r.Value, Usage: usage}
	if !m.opened {
		e.At, e.Value = max(0, now-r.Age), r.First
	}
	return e
}

func (d *Decider) tellReadings(s *master.State) error {
	readings, err := d.config.Read(s)
	if err != nil {
		return err
	}
	for i := range s.Jobs {
		job := &s.Jobs[i]
		if r, ok := readings[job.Application.ID]; ok && job.Job.Phase == checkpoint.Running {
			if err := d.manager.Step(d.jobs[job.Application.ID].event(d.now, job, r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Decide implements [master.Decider]. New jobs go where the fewest are. At most one job is moved at a time.
// It is called at every change and when the next check is due.
func (d *Decider) Decide(_ context.Context, s *master.State) (*master.Verdict, error) {
	v := &master.Verdict{Targets: map[string][]string{}, Waiting: map[string]string{}}
	if len(s.Jobs) == 0 || len(s.Servers) == 0 {
		v.Explanation = "There is no job or no server: nothing was decided.\n"
		return v, nil
	}
	if err := d.start(s.Kinds); err != nil {
		return nil, err
	}
	d.now = max(d.now, d.config.Now()) // a clock may be set back
	for _, tell := range []func(*master.State) error{d.tellServers, d.tellJobs, d.tellReadings} {
		if err := tell(s); err != nil {
			return nil, err
		}
	}
	decision, err := d.manager.Tick(d.now)
	if err != nil {
		return nil, err
	}
	d.open()
	if err := d.note(); err != nil {
		return nil, err
	}
	for i := range s.Jobs {
		id := s.Jobs[i].Application.ID
		if job, _ := d.manager.Job(id); job.Worker != "" && job.Worker != server(&s.Jobs[i], s) {
			v.Targets[id] = []string{job.Worker}
		}
	}
	for _, w := range decision.Waiting {
		v.Waiting[w.Job] = w.Reason.Text
	}
	if !d.config.Stay {
		v.Again = max(time.Millisecond, decision.Next-d.now)
	}
	v.Explanation = d.explain(s, &decision)
	return v, nil
}

// open notes whose first reading a check has taken.
func (d *Decider) open() {
	for id, m := range d.jobs {
		job, _ := d.manager.Job(id)
		m.opened = m.opened || job.Readings.Series().Newest() != growth.Unusable
	}
}

// why says who is moved and why, or why nobody is.
// It is the last line of the explanation.
func (d *Decider) why(decision *specon.Decision) string {
	switch {
	case d.config.Stay:
		return "Jobs stay where they were placed."
	case len(decision.Moves) > 0:
		m := decision.Moves[0]
		return fmt.Sprintf("%s moves from %s to %s: %v.", m.Job, m.From, m.To, m.Why)
	case len(decision.OnTheirWay) > 0:
		job, _ := d.manager.Job(decision.OnTheirWay[0])
		return fmt.Sprintf("%s is on its way to %s: nobody else is moved.", job.ID, job.Worker)
	default:
		return "No job is to be moved."
	}
}

// explain says how the jobs stand, and why one is moved or none.
// Jobs come in the order of submission.
func (d *Decider) explain(s *master.State, decision *specon.Decision) string {
	var text strings.Builder
	for i := range s.Jobs {
		job, _ := d.manager.Job(s.Jobs[i].Application.ID)
		if job.Worker == "" {
			continue
		}
		usage, _ := job.Current.Share()
		fmt.Fprintf(&text, "%-10s %-8s %-11s uses %.2f of a CPU", job.ID, job.Worker, job.Category, usage)
		if series := job.Readings.Series(); series.Measured() {
			fmt.Fprintf(&text, ", gained %.3g at the last check", series.Gain(growth.FirstValue))
		}
		if job.Decided {
			text.WriteString(", was decided on")
		}
		text.WriteByte('\n')
	}
	return text.String() + d.why(decision) + "\n"
}

// recall reads the notes of the master before, if there was one.
func (d *Decider) recall() error {
	var noted specon.State
	if err := harness.ReadNotes(d.config.Notes, &noted); err != nil {
		return err
	}
	if noted.Ticked {
		d.noted = &noted
	}
	return nil
}

// start makes the manager, from the notes where there are any.
// It waits for the first decision, since the kinds are not known before.
func (d *Decider) start(kinds apportion.Kinds) (err error) {
	if d.manager != nil {
		return nil
	}
	config, options := d.config.settings(kinds)
	if d.noted == nil {
		d.manager, err = specon.NewManager(config, options)
		return err
	}
	if d.manager, err = specon.Restore(config, options, *d.noted); err != nil {
		return err
	}
	d.now = d.noted.Now
	for _, w := range d.noted.Workers {
		d.servers = append(d.servers, w.ID)
	}
	for _, j := range d.noted.Jobs {
		d.jobs[j.ID] = &meter{opened: j.Readings.Series().Newest() != growth.Unusable}
	}
	return nil
}

// sameMarks reports whether two states have decided the same: who has a mark, and what is left of a plan.
func sameMarks(a, b *specon.State) bool {
	marks := func(s *specon.State) (list []specon.Transfer) {
		for i := range s.Jobs {
			if j := &s.Jobs[i]; j.Rebalanced {
				list = append(list, specon.Transfer{Job: j.ID, To: "rebalanced"})
			} else if j.Decided {
				list = append(list, specon.Transfer{Job: j.ID, To: "decided"})
			}
		}
		return append(list, s.Plan...)
	}
	return slices.Equal(marks(a), marks(b))
}

// note writes the state down when a decision has changed it, before anybody acts on it.
func (d *Decider) note() error {
	state := d.manager.State()
	if d.config.Stay || d.noted == nil && sameMarks(&specon.State{}, &state) || d.noted != nil && sameMarks(d.noted, &state) {
		return nil
	}
	d.noted = &state
	return harness.WriteNotes(d.config.Notes, &state)
}
