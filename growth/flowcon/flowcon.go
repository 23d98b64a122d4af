// This file implements FlowCon on one worker: lists, interval and listener, [Zheng] Algorithm 1,
// lines 1-17, and Algorithm 2.

package flowcon

import (
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/internal/monitor"
	"github.com/apportion/apportion/internal/check"
)

// Reading is what is known of one job on the worker.
type Reading struct {
	// Job is the job's ID; not empty, unique on the worker. A job that starts anew needs a new ID:
	// under the old one its readings continue the old run.
	Job string
	// Missing says that there is nothing new: the job runs, the other fields are not read.
	Missing bool
	// At is the time of the value, since the same origin as now. A reading that is not later than
	// the one before is dropped, so the newest known reading may be given again and again; so is
	// one that is later than now.
	At time.Duration
	// Value is E(t), the evaluation function; NaN and infinities say that the job diverged.
	Value float64
	// Better says which values are better; EitherWay where nobody knows.
	Better growth.Direction
	// Usage holds for each kind the average usage since the reading before, as a share of the
	// worker; nil: nobody measured it, and a second counts as a second of the whole worker. A
	// usage of 0 says that the job was idle. It is read, not kept.
	Usage []float64
}

// Trigger says why a step ran Algorithm 1.
type Trigger string

// The triggers.
const (
	// NotDue: the set of jobs is the same and the interval is not over. Readings were noted.
	NotDue Trigger = "not-due"
	// Due: the interval is over.
	Due Trigger = "due"
	// Listener: jobs arrived or left.
	Listener Trigger = "listener"
)

// Decision is the result of one step. A caller that hands the same Decision to every step gives its
// memory back; what it holds is the caller's until then.
type Decision struct {
	Trigger Trigger
	// Interval is itval after the step, Next the time of the next run: call Step then, or earlier
	// when the set of jobs has changed.
	Interval, Next time.Duration
	// Changes lists the jobs that changed lists, by ID; those that left first.
	Changes []growth.Change
	// Limits lists the limits that changed, by job and kind. Limits that are not listed stay as
	// they are.
	Limits []Limit
}

// Standing is what FlowCon knows of one job.
type Standing struct {
	Category growth.Category
	// Measured says whether growth is known yet, Silent that nothing was read of it for too long.
	Measured, Silent bool
	// Verdict is what the newest run that took a reading said; a job that it is unsure of stays in its list.
	Verdict growth.Verdict
	// Growth is the growth efficiency by kind.
	Growth []float64
	// Limits holds the limits by kind, as shares of the worker; 0 before the first.
	Limits []float64
}

// Executor decides the limits of the jobs on one worker. It is a state machine without a clock; it
// is not safe for concurrent use.
type Executor struct {
	config   Config
	options  Options
	test     growth.Test
	roster   monitor.Roster[jobState]
	interval time.Duration
	now      time.Duration
	last     time.Duration // of the newest run
	next     time.Duration
	started  bool
	sums     []float64 // of the growth efficiencies, by kind
}

// New returns an Executor for a worker without jobs. Options may be nil. All faults of the input
// are returned at once, as apportion.Faults.
func New(config Config, options *Options) (*Executor, error) {
	chosen := config.complete(options)
	if err := config.check(&chosen); err != nil {
		return nil, err
	}
	return &Executor{
		config: config, options: chosen, interval: config.Interval, sums: make([]float64, config.Kinds),
		test: growth.Test{Classifier: chosen.Classifier, Least: chosen.MinInterval},
	}, nil
}

// checkUsage adds to faults a reading with usages of a wrong number of kinds.
func (e *Executor) checkUsage(faults *apportion.Faults, r *Reading, i int) {
	if !r.Missing && r.Usage != nil && len(r.Usage) != e.config.Kinds {
		faults.Add(check.Item("job", r.Job, i), "Usage", apportion.ErrLength,
			strconv.Itoa(len(r.Usage))+" usages for "+strconv.Itoa(e.config.Kinds)+" kinds")
	}
}

func (e *Executor) check(now time.Duration, readings []Reading) error {
	var faults apportion.Faults
	monitor.CheckClock(&faults, e.now, now)
	for i := range readings {
		e.checkUsage(&faults, &readings[i], i)
	}
	return faults.Err()
}

// note notes a reading for the next run.
func (s *jobState) note(r *Reading) {
	if !r.Missing {
		s.track.Toward(r.Better)
		s.track.Offer(r.At, r.Value, r.Usage)
	}
}

// Note gives a reading between two steps, so that the next run has the average usage of all of them.
// It decides nothing. A reading of a job that the newest step did not name is not noted, which is no
// error: the step that names it opens its series.
func (e *Executor) Note(reading Reading) error {
	var faults apportion.Faults
	e.checkUsage(&faults, &reading, 0)
	if state := e.roster.Get(reading.Job); len(faults) == 0 && state != nil {
		state.note(&reading)
	}
	return faults.Err()
}

func (e *Executor) newState() *jobState {
	numbers := make([]float64, 2*e.config.Kinds)
	s := &jobState{
		category: growth.Progressing, verdict: growth.Unsure,
		growth: numbers[:e.config.Kinds:e.config.Kinds],
		limits: numbers[e.config.Kinds:],
	}
	s.track.Steer(e.options.Steering)
	return s
}

// trigger returns why Algorithm 1 runs now, if it does.
func (e *Executor) trigger(now time.Duration) Trigger {
	switch {
	case len(e.roster.Arrived) > 0 || len(e.roster.Left) > 0:
		return Listener
	case !e.started || now >= e.next:
		return Due
	default:
		return NotDue
	}
}

// report lists who left and who arrived, Algorithm 2, lines 6-7 and 11-15.
func (e *Executor) report(out *Decision) {
	for _, m := range e.roster.Left {
		out.Changes = append(out.Changes, growth.Change{Job: m.ID, From: m.State.category, To: growth.Outside, Cause: growth.Left})
	}
	for _, id := range e.roster.Arrived {
		out.Changes = append(out.Changes, growth.Change{Job: id, From: growth.Outside, To: growth.Progressing, Cause: growth.Arrived})
	}
}

// measure takes the newest reading of a job and computes its growth efficiency of every kind, where
// the reading closed an interval; a reading that was dropped changes neither.
func (e *Executor) measure(s *jobState) (growth.Outcome, growth.Verdict) {
	outcome, verdict := s.track.Check(e.now, &e.test)
	switch outcome {
	case growth.Measured, growth.Repeated, growth.Diverged:
		progress := e.progress(s)
		for k := range s.growth {
			s.growth[k] = growth.Efficiency(progress, s.track.Usage(k))
		}
	}
	return outcome, verdict
}

// progress returns P of (4.1) for the newest interval, or what a classifier that rates growth
// expects: by unit of work, which the usage of the steering kind turns into time.
func (e *Executor) progress(s *jobState) float64 {
	series := s.track.Series()
	rater, ok := e.options.Classifier.(growth.Rater)
	if !ok || series.Newest() == growth.Diverged {
		return series.Progress(e.options.Normalization)
	}
	share, measured := s.track.Usage(e.options.Steering).Share()
	if !measured {
		share = 1
	}
	return rater.Rate(series, e.options.Normalization) * max(share, growth.UsageFloor)
}

// countsAsZero reports whether the options take growth for 0 because nothing was measured: never yet, or not since
// the newest run. A reading that MinInterval leaves for the next run is no missing one.
func (e *Executor) countsAsZero(s *jobState, outcome growth.Outcome) bool {
	if !s.track.Series().Measured() {
		return e.options.UnmeasuredIsZero
	}
	at, _ := s.track.Newest()
	return e.options.MissingIsZero && outcome == growth.Unusable && at <= e.last
}

// classify measures growth and moves jobs between the lists, Algorithm 1, lines 2-13.
func (e *Executor) classify(out *Decision) {
	for i := range e.roster.Members {
		id, state := e.roster.Members[i].ID, e.roster.Members[i].State
		outcome, verdict := e.measure(state)
		cause := growth.CauseOf(verdict, outcome)
		if state.silent = state.track.Silent(e.now, state.there, e.options.Silence); state.silent {
			// What it showed last is no reason to keep others from growing.
			verdict, cause = growth.Slow, growth.FellSilent
			clear(state.growth)
		}
		if state.nothing = !state.silent && e.countsAsZero(state, outcome); state.nothing {
			verdict, cause = growth.Slow, growth.GrowsSlowly
			clear(state.growth)
		}
		if outcome != growth.Unusable || state.silent || state.nothing {
			state.verdict = verdict
		}
		if to := state.category.After(verdict); to != state.category {
			out.Changes = append(out.Changes, growth.Change{Job: id, From: state.category, To: to,
				Growth: state.growth[e.options.Steering], Cause: cause})
			state.category = to
		}
	}
}

func (e *Executor) allConverged() bool {
	for i := range e.roster.Members {
		if e.roster.Members[i].State.category != growth.Converged {
			return false
		}
	}
	return len(e.roster.Members) > 0
}

// schedule sets the next run: the listener starts from the initial interval (Algorithm 2, lines 8
// and 16), a run that was due and finds only converged jobs doubles it, once (Algorithm 1, line
// 17), and one that finds a job growing again goes back to the initial interval.
func (e *Executor) schedule(trigger Trigger) {
	if trigger == Due && e.allConverged() {
		e.interval = monitor.Plus(e.interval, e.interval)
		if e.options.MaxInterval > 0 {
			e.interval = min(e.interval, e.options.MaxInterval)
		}
	} else {
		e.interval = e.config.Interval
	}
	e.last, e.next = e.now, monitor.Plus(e.now, e.interval)
}

// bound returns the lower bound of a limit with n jobs on the worker, line 22.
func (e *Executor) bound(n int) float64 {
	if e.options.BoundOneMore {
		return 1 / float64(n+1)
	}
	return 1 / (e.options.Beta * float64(max(n, 1)))
}

// round returns what the limits of this run have in common.
func (e *Executor) round() round {
	r := round{
		free:   e.allConverged(),
		bound:  e.bound(len(e.roster.Members)),
		sums:   e.sums,
		option: e.options.BoundConvergedOnly,
	}
	_, r.rated = e.options.Classifier.(growth.Rater)
	clear(r.sums)
	for i := range e.roster.Members {
		state := e.roster.Members[i].State
		if !state.measured() {
			r.waiting = true
			continue
		}
		for k, growth := range state.growth {
			r.sums[k] += growth
		}
	}
	return r
}

// limit sets the limits and lists those that changed, Algorithm 1, lines 14-26.
func (e *Executor) limit(out *Decision) {
	now := e.round()
	for i := range e.roster.Members {
		id, state := e.roster.Members[i].ID, e.roster.Members[i].State
		for k, was := range state.limits {
			value, rule := now.limit(state, k)
			if rule == Kept || value == was {
				continue
			}
			state.limits[k] = value
			out.Limits = append(out.Limits, Limit{Job: id, Kind: k, Value: value, Was: was, Rule: rule})
		}
	}
}

// Step compares the jobs that now run on the worker, each with its newest reading, with those of the
// step before (Algorithm 2), and runs Algorithm 1 if the set changed or the interval is over;
// otherwise it notes the readings for the next run. now starts at 0 or later and must not go back.
// The result is written to out.
//
// An error (a repeated ID, a wrong number of usages, a clock that goes back) leaves the state as
// it was. Step takes O(n) and allocates nothing while the set of jobs stays the same; a change costs
// O(n log n).
func (e *Executor) Step(now time.Duration, readings []Reading, out *Decision) error {
	if err := e.check(now, readings); err != nil {
		return err
	}
	id := func(i int) string { return readings[i].Job }
	if err := e.roster.Match(len(readings), id, e.newState); err != nil {
		return err
	}
	trigger := e.trigger(now)
	e.now, e.started = now, true
	for _, id := range e.roster.Arrived {
		e.roster.Get(id).there = now
	}
	for i := range readings {
		e.roster.Members[e.roster.Where[i]].State.note(&readings[i])
	}
	out.Trigger, out.Changes, out.Limits = trigger, out.Changes[:0], out.Limits[:0]
	if trigger != NotDue {
		e.report(out)
		e.classify(out)
		e.schedule(trigger)
		e.limit(out)
	}
	out.Interval, out.Next = e.interval, e.next
	return nil
}

// Standing returns what is known of a job, and false where there is no such job. The slices are
// copies.
func (e *Executor) Standing(id string) (Standing, bool) {
	state := e.roster.Get(id)
	if state == nil {
		return Standing{}, false
	}
	return Standing{
		Category: state.category,
		Measured: state.track.Series().Measured(),
		Silent:   state.silent,
		Verdict:  state.verdict,
		Growth:   append([]float64(nil), state.growth...),
		Limits:   append([]float64(nil), state.limits...),
	}, true
}
