// This file implements SpeCon's container monitor, [Zheng] Algorithm 3.

package specon

import (
	"cmp"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/internal/monitor"
	"github.com/apportion/apportion/internal/check"
)

// Observation is what a worker reports of one job.
type Observation struct {
	// Job is the job's ID; not empty, unique in the call.
	Job string
	// Worker is the ID of the worker that it runs on; not empty.
	Worker string
	// Migrated says that the manager has decided on a host for this job before, even if that was to
	// stay: it is never monitored again, and the mark is not taken back. A job that is first seen
	// so is Converged, since only converged jobs are moved.
	Migrated bool
	// Missing says that there is nothing new: the fields below are not read.
	Missing bool
	// At is the time of the value, since the same origin as now. A reading that is not later than
	// the one before, or later than now, is dropped.
	At time.Duration
	// Value is E(t), the evaluation function; NaN and infinities say that the job diverged.
	Value float64
	// Better says which values are better; EitherWay where nobody knows.
	Better growth.Direction
	// Usage is the average usage since the reading before; the zero Usage: nobody measured it, and
	// a second counts as a second of the whole worker. A usage of 0 says that the job was idle.
	Usage growth.Usage

	track *growth.Track // of a new job, where the manager has it
}

// Request asks the manager for another host: SpeCon-Messenger(w_i, c_j).Request-Reallocation.
type Request struct {
	Job, Worker string
	// Gain is the gain of the newest interval.
	Gain float64
}

// Counts are the sizes of a worker's category sets: |PC|, |WC| and |CC|.
type Counts struct {
	Worker                           string
	Progressing, Watching, Converged int
}

// Report is the result of one step. A caller that hands the same Report to every step gives its
// memory back; what it holds is the caller's until then.
type Report struct {
	// Ran says whether the interval was over. Arrivals and exits are noted in any case.
	Ran bool
	// Next is the time of the next categorization.
	Next time.Duration
	// Changes lists the jobs that changed category, by ID; those that left first.
	Changes []growth.Change
	// Requests lists the jobs that ask for another host, by ID. A request is repeated at later
	// slow checks until the job is Migrated.
	Requests []Request
	// Workers holds the counts after the step, by worker: what Algorithm 4 scores. Only workers
	// with jobs are there.
	Workers []Counts
}

// Standing is what SpeCon knows of one job.
type Standing struct {
	Category growth.Category
	// Measured says whether growth is known yet, Silent that nothing was read of it for too long.
	Measured, Silent bool
	// Verdict is what the newest check that took a reading said. A job that it is unsure of stays in its
	// category, counts there in every score, and asks for nothing.
	Verdict growth.Verdict
	// Gain is the gain of the newest interval.
	Gain float64
}

// Monitor categorizes the jobs of one worker or of a whole cluster. It is a state machine without a
// clock; it is not safe for concurrent use. A [Manager] has one, and acts on what it says.
type Monitor struct {
	config  Config
	options Options
	roster  monitor.Roster[jobState]
	now     time.Duration
	next    time.Duration
	started bool
	workers map[string]int  // from a worker to its position in the report
	gone    []growth.Change // jobs that were taken out since the newest step
}

type jobState struct {
	track    *growth.Track
	category growth.Category // Outside until it is admitted
	worker   string
	migrated bool
	there    time.Duration // when it was first seen
	silent   bool
	verdict  growth.Verdict
	asks     bool // whether this check asks for another host
}

// NewMonitor returns a Monitor without jobs. Options may be nil. All faults of the input are returned
// at once, as apportion.Faults.
func NewMonitor(config Config, options *Options) (*Monitor, error) {
	var chosen Options
	if options != nil {
		chosen = *options
	}
	var faults apportion.Faults
	if chosen.check(&faults, config); len(faults) > 0 {
		return nil, faults
	}
	return &Monitor{config: config, options: chosen, workers: make(map[string]int)}, nil
}

func newJob() *jobState { return &jobState{verdict: growth.Unsure} }

func (m *Monitor) check(now time.Duration, observations []Observation) error {
	var faults apportion.Faults
	monitor.CheckClock(&faults, m.now, now)
	for i := range observations {
		if observations[i].Worker == "" {
			faults.Add(check.Item("job", observations[i].Job, i), "Worker", apportion.ErrEmpty, "")
		}
	}
	return faults.Err()
}

// note notes what is observed of a job: its worker, its mark and its reading. The mark is never taken
// back, and a request that was not granted must be made anew.
func (s *jobState) note(o *Observation) {
	if s.track == nil {
		s.track = o.track
	}
	if s.track == nil {
		s.track = new(growth.Track)
	}
	s.worker, s.migrated, s.asks = o.Worker, s.migrated || o.Migrated, false
	if o.Missing {
		return
	}
	var usage []float64
	if share, measured := o.Usage.Share(); measured {
		usage = []float64{share}
	}
	s.track.Toward(o.Better)
	s.track.Offer(o.At, o.Value, usage)
}

// categorize takes the newest reading of one job, moves it between PC, WC and CC, lines 6-22, and
// notes whether it asks for another host. Where nothing was measured, nothing happens.
//
// As a chain, the default, a slow check goes one step down, and a request comes from those that were
// in CC before. Separate tests let one check go all the way and ask at once.
func (m *Monitor) categorize(id string, state *jobState, out *Report) {
	// The verdict compares the gain with alpha and with the gain before.
	outcome, verdict := state.track.Check(m.now, &growth.Test{Classifier: m.options.Classifier})
	cause := growth.CauseOf(verdict, outcome)
	if state.silent = state.track.Silent(m.now, state.there, m.options.Silence); state.silent {
		verdict, cause = growth.Slow, growth.FellSilent
	}
	if outcome != growth.Unusable || state.silent {
		state.verdict = verdict
	}
	from, to := state.category, state.category.After(verdict)
	if verdict == growth.Slow && m.options.Separate {
		to = growth.Converged
	}
	// §6.2.3 passes a job on when it enters CC, the listing at its next slow check there.
	entry := m.options.AtEntry || m.options.Separate
	state.asks = !state.silent && verdict == growth.Slow && to == growth.Converged && (from == growth.Converged || entry)
	if to != from {
		gain := state.track.Series().Gain(m.options.Normalization)
		out.Changes = append(out.Changes, growth.Change{Job: id, From: from, To: to, Growth: gain, Cause: cause})
		state.category = to
	}
}

// admit lists the new jobs, which are Progressing, and Converged where they are migrated.
func (m *Monitor) admit(out *Report) {
	for _, id := range m.roster.Arrived {
		state := m.roster.Get(id)
		state.category, state.there = growth.Progressing, m.now
		if state.migrated {
			state.category = growth.Converged
		}
		out.Changes = append(out.Changes, growth.Change{Job: id, From: growth.Outside, To: state.category, Cause: growth.Arrived})
	}
}

// take notes all observations, admits the new jobs and, if the interval is over, categorizes the
// others. The first reading of a new job is taken at once.
func (m *Monitor) take(observations []Observation, out *Report) {
	for i := range observations {
		m.roster.Members[m.roster.Where[i]].State.note(&observations[i])
	}
	if out.Ran {
		// Newcomers are categorized with all others: their first reading is taken here.
		m.admit(out)
		for i := range m.roster.Members {
			if state := m.roster.Members[i].State; !state.migrated {
				m.categorize(m.roster.Members[i].ID, state, out)
			}
		}
		return
	}
	m.admit(out)
	for _, id := range m.roster.Arrived {
		if state := m.roster.Get(id); !state.migrated {
			m.categorize(id, state, out)
		}
	}
}

// count counts the categories of every worker that has jobs, and sorts the workers by ID. Worker names
// are looked up, not compared, so the order of the jobs does not matter. O(n + w log w).
func (m *Monitor) count(out *Report) {
	clear(m.workers)
	for i := range m.roster.Members {
		state := m.roster.Members[i].State
		w, ok := m.workers[state.worker]
		if !ok {
			w = len(out.Workers)
			m.workers[state.worker] = w
			out.Workers = append(out.Workers, Counts{Worker: state.worker})
		}
		switch state.category {
		case growth.Progressing:
			out.Workers[w].Progressing++
		case growth.Watching:
			out.Workers[w].Watching++
		case growth.Converged:
			out.Workers[w].Converged++
		}
	}
	slices.SortFunc(out.Workers, func(a, b Counts) int { return cmp.Compare(a.Worker, b.Worker) })
	for w := range out.Workers {
		m.workers[out.Workers[w].Worker] = w
	}
}

// request lists who asks for another host, lines 15-16: only where more than one other job of the
// worker would profit.
func (m *Monitor) request(out *Report) {
	for i := range m.roster.Members {
		id, state := m.roster.Members[i].ID, m.roster.Members[i].State
		counts := out.Workers[m.workers[state.worker]]
		if state.asks && counts.Progressing+counts.Watching > 1 {
			gain := state.track.Series().Gain(m.options.Normalization)
			out.Requests = append(out.Requests, Request{Job: id, Worker: state.worker, Gain: gain})
		}
	}
}

// remove takes a job out; the next step reports that it has left.
func (m *Monitor) remove(id string) {
	if state, ok := m.roster.Remove(id); ok {
		m.gone = append(m.gone, growth.Change{Job: id, From: state.category, To: growth.Outside, Cause: growth.Left})
	}
}

// restore puts the monitor of a manager back to how it was after a step at now.
func (m *Monitor) restore(now, next time.Duration, jobs []*Job, gone []growth.Change) {
	// A job that no step has seen arrives at the next one.
	known := slices.DeleteFunc(slices.Clone(jobs), func(j *Job) bool { return j.Category == growth.Outside })
	id := func(i int) string { return known[i].ID }
	if err := m.roster.Match(len(known), id, newJob); err != nil {
		panic(err) // IDs are not empty and unique: the manager has checked them
	}
	for i, j := range known {
		*m.roster.Members[m.roster.Where[i]].State = jobState{track: &j.Readings, category: j.Category, worker: j.Worker, migrated: j.Decided, there: j.There, verdict: growth.Unsure}
	}
	m.now, m.next, m.started, m.gone = now, next, true, slices.Clone(gone)
}

// Step takes all jobs that now run, each with its newest reading. At the first call and whenever the
// interval is over it measures and categorizes those that are not migrated, each by its newest
// reading; in between readings are noted. now must not go back. The result is written to out.
//
// An error (an empty or repeated ID, an empty worker, a clock that goes back) leaves the state as
// it was. Step takes O(n + w log w) for w workers and allocates nothing while the jobs and the
// workers stay the same; a change costs O(n log n).
func (m *Monitor) Step(now time.Duration, observations []Observation, out *Report) error {
	if err := m.check(now, observations); err != nil {
		return err
	}
	id := func(i int) string { return observations[i].Job }
	if err := m.roster.Match(len(observations), id, newJob); err != nil {
		return err
	}
	// A late call checks once; the intervals that were missed are not made up for.
	out.Ran = !m.started || now >= m.next
	out.Changes, out.Requests, out.Workers = out.Changes[:0], out.Requests[:0], out.Workers[:0]
	m.now, m.started = now, true
	if out.Ran {
		m.next = monitor.Plus(now, m.config.Interval)
	}
	out.Next = m.next
	out.Changes = append(out.Changes, m.gone...)
	// What was removed between two steps and what this step misses have left alike.
	for _, left := range m.roster.Left {
		out.Changes = append(out.Changes, growth.Change{Job: left.ID, From: left.State.category, To: growth.Outside, Cause: growth.Left})
	}
	slices.SortStableFunc(out.Changes, func(a, b growth.Change) int { return cmp.Compare(a.Job, b.Job) })
	m.gone = m.gone[:0]
	m.take(observations, out)
	m.count(out)
	m.request(out)
	return nil
}

// Standing returns what is known of a job, and false where there is no such job.
func (m *Monitor) Standing(id string) (Standing, bool) {
	state := m.roster.Get(id)
	if state == nil {
		return Standing{}, false
	}
	series := state.track.Series()
	return Standing{Category: state.category, Measured: series.Measured(), Silent: state.silent, Verdict: state.verdict, Gain: series.Gain(m.options.Normalization)}, true
}
