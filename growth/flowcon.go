// This file implements FlowCon on one worker: lists, interval and listener, [Zheng] Algorithm 1,
// lines 1-17, and Algorithm 2.

package growth

import (
	"math"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Reading is what a container monitor knows of one container.
type Reading struct {
	// ID names the container; not empty, unique on the worker. A job that starts anew needs a new id:
	// under the old one its readings continue the old run.
	ID string
	// Missing says that there is nothing new: the container runs, the other fields are ignored.
	Missing bool
	// At is the time of the value, since the same origin as now. A reading that is not later than
	// the one before is dropped, so the newest known reading may be given again and again.
	At time.Duration
	// Value is E(t), the evaluation function; NaN and infinities say that the job diverged.
	Value float64
	// Usage holds for each kind the average usage since the reading before, as a share of the
	// worker. It is read, not kept.
	Usage []float64
}

// Trigger says why a step ran Algorithm 1.
type Trigger uint8

// The triggers.
const (
	// NotDue: the set of containers is the same and the interval is not over. Nothing was done.
	NotDue Trigger = iota
	// Due: the interval is over.
	Due
	// Listener: containers arrived or left.
	Listener
)

// String returns "not-due", "due" or "listener".
func (t Trigger) String() string { return name(t, "not-due", "due", "listener") }

// Decision is the result of one step. A caller that hands the same Decision to every step gives its
// memory back; what it holds is the caller's until then.
type Decision struct {
	Trigger Trigger
	// Interval is itval after the step, Next the time of the next run: call Step then, or earlier
	// when the set of containers has changed.
	Interval, Next time.Duration
	// Moves lists the containers that changed lists, by id; those that left first.
	Moves []Move
	// Limits lists the limits that changed, by container and kind. Limits that are not listed
	// stay as they are.
	Limits []Limit
}

// FlowCon decides the limits of the containers on one worker. It is a state machine without a
// clock; it is not safe for concurrent use.
type FlowCon struct {
	config   FlowConConfig
	options  FlowConOptions
	roster   roster[flowState]
	interval time.Duration
	now      time.Duration
	next     time.Duration
	started  bool
	sums     []float64 // of the growth efficiencies, by kind
}

// flowState is what FlowCon knows of one container.
type flowState struct {
	series   Series
	category Category
	outcome  Outcome   // of the reading of this run; Unusable where there was none
	growth   []float64 // growth efficiency by kind, (4.2); valid where series.Measured
	limits   []float64 // by kind; 0 before the first
}

// NewFlowCon returns a FlowCon for a worker without containers. Options may be nil. All faults of
// the input are returned at once, as apportion.Faults.
func NewFlowCon(config FlowConConfig, options *FlowConOptions) (*FlowCon, error) {
	var chosen FlowConOptions
	if options != nil {
		chosen = *options
	}
	if chosen.Beta == 0 {
		chosen.Beta = DefaultBeta
	}
	if err := checkFlowCon(config, chosen); err != nil {
		return nil, err
	}
	if chosen.Classifier == nil {
		chosen.Classifier = Threshold{Alpha: config.Alpha, Normalization: chosen.Normalization}
	}
	return &FlowCon{config: config, options: chosen, interval: config.Interval, sums: make([]float64, config.Kinds)}, nil
}

// Step compares the containers that now run on the worker, each with its newest reading, with those
// of the step before (Algorithm 2), and runs Algorithm 1 if the set changed or the interval is
// over; otherwise it leaves the readings alone. now starts at 0 or later and must not go back. The
// result is written to out.
//
// An error (a repeated id, a wrong number of usages, a clock that goes back) leaves the state as
// it was. Step takes O(n) and allocates nothing while the set of containers stays the same; a
// change costs O(n log n).
func (f *FlowCon) Step(now time.Duration, readings []Reading, out *Decision) error {
	if err := f.check(now, readings); err != nil {
		return err
	}
	id := func(i int) string { return readings[i].ID }
	if err := f.roster.match(len(readings), id, f.newState); err != nil {
		return err
	}
	trigger := f.trigger(now)
	f.now, f.started = now, true
	out.Trigger, out.Moves, out.Limits = trigger, out.Moves[:0], out.Limits[:0]
	if trigger != NotDue {
		f.report(out)
		f.classify(readings, out)
		f.schedule(trigger)
		f.limit(out)
	}
	out.Interval, out.Next = f.interval, f.next
	return nil
}

func (f *FlowCon) check(now time.Duration, readings []Reading) error {
	var faults apportion.Faults
	checkClock(&faults, f.now, now)
	for i := range readings {
		r := &readings[i]
		if !r.Missing && len(r.Usage) != f.config.Kinds {
			faults.Add(check.Item("container", r.ID, i), "Usage", apportion.ErrLength,
				strconv.Itoa(len(r.Usage))+" usages for "+strconv.Itoa(f.config.Kinds)+" kinds")
		}
	}
	return faults.Err()
}

func (f *FlowCon) newState() *flowState {
	numbers := make([]float64, 2*f.config.Kinds)
	return &flowState{
		category: Progressing,
		growth:   numbers[:f.config.Kinds:f.config.Kinds],
		limits:   numbers[f.config.Kinds:],
	}
}

func (f *FlowCon) trigger(now time.Duration) Trigger {
	switch {
	case len(f.roster.arrived) > 0 || len(f.roster.left) > 0:
		return Listener
	case !f.started || now >= f.next:
		return Due
	default:
		return NotDue
	}
}

// report lists who left and who arrived, Algorithm 2, lines 6-7 and 11-15.
func (f *FlowCon) report(out *Decision) {
	for _, m := range f.roster.left {
		out.Moves = append(out.Moves, Move{ID: m.id, From: m.state.category, To: Outside, Reason: Left})
	}
	for _, id := range f.roster.arrived {
		out.Moves = append(out.Moves, Move{ID: id, From: Outside, To: Progressing, Reason: Arrived})
	}
}

// classify measures growth and moves containers between the lists, Algorithm 1, lines 2-13.
func (f *FlowCon) classify(readings []Reading, out *Decision) {
	for i := range readings {
		f.roster.members[f.roster.where[i]].state.add(&readings[i], &f.options)
	}
	for i := range f.roster.members {
		m := &f.roster.members[i]
		verdict := judge(f.options.Classifier, &m.state.series, m.state.outcome)
		if to := m.state.category.After(verdict); to != m.state.category {
			out.Moves = append(out.Moves, Move{ID: m.id, From: m.state.category, To: to,
				Growth: m.state.growth[f.options.Steering], Reason: reasonFor(verdict, m.state.outcome)})
			m.state.category = to
		}
	}
}

// add adds the reading to the series and computes the growth efficiency of every kind. A reading
// with any usage that is negative or not finite is dropped as a whole.
func (s *flowState) add(r *Reading, options *FlowConOptions) {
	s.outcome = Unusable
	if r.Missing || s.series.tooSoon(r.At, options.MinInterval) {
		return
	}
	for _, usage := range r.Usage {
		if !usable(usage) {
			return
		}
	}
	s.outcome = s.series.Add(r.At, r.Value, r.Usage[options.Steering])
	if s.outcome == Late || !s.series.Measured() {
		return
	}
	progress := s.series.Progress(options.Normalization)
	for k, usage := range r.Usage {
		s.growth[k] = Efficiency(progress, usage)
	}
}

// schedule sets the next run: the listener starts from the initial interval (Algorithm 2, lines 8
// and 16), a run that was due and finds only converged containers doubles it, once (Algorithm 1,
// line 17).
func (f *FlowCon) schedule(trigger Trigger) {
	switch {
	case trigger == Listener:
		f.interval = f.config.Interval
	case f.allConverged():
		f.interval = plus(f.interval, f.interval)
		if f.options.MaxInterval > 0 {
			f.interval = min(f.interval, f.options.MaxInterval)
		}
	}
	f.next = plus(f.now, f.interval)
}

// plus returns a + b for durations that are not negative, at most the longest duration.
func plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// allConverged reports whether there are containers and all are in CL.
func (f *FlowCon) allConverged() bool {
	for i := range f.roster.members {
		if f.roster.members[i].state.category != Converged {
			return false
		}
	}
	return len(f.roster.members) > 0
}

// Status is what FlowCon or SpeCon knows of one container.
type Status struct {
	Category Category
	// Measured says whether growth is known yet.
	Measured bool
	// Growth is the growth efficiency by kind (FlowCon) or the gain of the newest interval (SpeCon).
	Growth []float64
	// Limits holds FlowCon's limits by kind, as shares of the worker; nil for SpeCon.
	Limits []float64
}

// Status returns what is known of a container, and false where there is no such container. The
// slices are copies.
func (f *FlowCon) Status(id string) (Status, bool) {
	state := f.roster.get(id)
	if state == nil {
		return Status{}, false
	}
	return Status{
		Category: state.category,
		Measured: state.series.Measured(),
		Growth:   append([]float64(nil), state.growth...),
		Limits:   append([]float64(nil), state.limits...),
	}, true
}
