// This file implements SpeCon's container monitor, [Zheng] Algorithm 3.

package growth

import (
	"cmp"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// SpeConConfig is what a SpeCon needs to be told.
type SpeConConfig struct {
	// Interval is the categorization interval t_m - t_(m-1); positive. The thesis uses 20 s to 30 s.
	Interval time.Duration
	// Alpha is the gain per interval below which a container is slow, see [Decline]; positive. The
	// thesis uses 0.01 to 0.1. A Classifier in the options replaces it; then it may be 0.
	Alpha float64
}

// SpeConOptions are the choices; nil means all defaults.
type SpeConOptions struct {
	// Normalization makes the evaluation functions of different jobs comparable.
	Normalization Normalization
	// Separate takes lines 7, 10 and 13 as three tests one after another, as they are indented,
	// so that one small gain carries a container from PC through WC to CC and asks for another
	// host. Otherwise they are a chain: one step down at each check.
	Separate bool
	// AtEntry asks for another host already at the check that moves a container to CC, as the
	// example of §6.2.3 tells; otherwise at the next slow check, as the listing has it.
	AtEntry bool
	// Classifier replaces the tests of lines 6, 17 and 19; nil means Decline{Alpha, Normalization}.
	Classifier Classifier
}

// Observation is what a worker reports of one container.
type Observation struct {
	// ID names the container; not empty, unique in the call.
	ID string
	// Worker names the worker that it runs on; not empty.
	Worker string
	// Migrated says that the manager has decided on a host for this container before, even if
	// that was to stay: it is never monitored again, and the mark is not taken back. A container
	// that is first seen so is Converged, since only converged containers are moved.
	Migrated bool
	// Missing says that there is nothing new: the fields below are ignored.
	Missing bool
	// At and Value are as in [Series.Add].
	At    time.Duration
	Value float64
	// Usage is the average usage since the reading before; 0 means that it is not measured and
	// counts as 1. Only classifiers that measure a run by its work use it.
	Usage float64
}

// Request asks the manager for another host: SpeCon-Messenger(w_i, c_j).Request-Reallocation.
type Request struct {
	ID, Worker string
	// Gain is the gain of the newest interval.
	Gain float64
}

// Counts are the sizes of a worker's category sets.
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
	// Moves lists the containers that changed category, by id; those that left first.
	Moves []Move
	// Requests lists the containers that ask for another host, by id. A request is repeated at
	// later checks until the container is Migrated.
	Requests []Request
	// Workers holds the counts after the step, by worker: what Algorithm 4 scores. Only workers
	// with containers are there.
	Workers []Counts
}

// SpeCon categorizes the containers of one worker or of a whole cluster. It is a state machine
// without a clock; it is not safe for concurrent use.
type SpeCon struct {
	config  SpeConConfig
	options SpeConOptions
	roster  roster[speState]
	now     time.Duration
	next    time.Duration
	started bool
	workers map[string]int // from a worker to its position in the report
}

// speState is what SpeCon knows of one container.
type speState struct {
	series   Series
	category Category // Outside until it is admitted
	worker   string
	migrated bool
	outcome  Outcome // of the reading of this step; Unusable where there was none
	asks     bool    // whether this check asks for another host
}

// NewSpeCon returns a SpeCon without containers. Options may be nil. All faults of the input are
// returned at once, as apportion.Faults.
func NewSpeCon(config SpeConConfig, options *SpeConOptions) (*SpeCon, error) {
	var chosen SpeConOptions
	if options != nil {
		chosen = *options
	}
	var faults apportion.Faults
	checkInterval(&faults, config.Interval)
	if chosen.Classifier == nil {
		checkAlpha(&faults, config.Alpha)
		chosen.Classifier = Decline{Alpha: config.Alpha, Normalization: chosen.Normalization}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &SpeCon{config: config, options: chosen, workers: make(map[string]int)}, nil
}

// Step takes all containers that now run, each with its newest reading. At the first call and
// whenever the interval is over it measures and categorizes those that are not migrated; a reading
// given between is used only if its container is new. now must not go back. The result is written
// to out.
//
// An error (an empty or repeated id, an empty worker, a clock that goes back) leaves the state as
// it was. Step takes O(n + w log w) for w workers and allocates nothing while the containers and
// the workers stay the same; a change costs O(n log n).
func (s *SpeCon) Step(now time.Duration, observations []Observation, out *Report) error {
	if err := s.check(now, observations); err != nil {
		return err
	}
	id := func(i int) string { return observations[i].ID }
	if err := s.roster.match(len(observations), id, func() *speState { return new(speState) }); err != nil {
		return err
	}
	out.Ran = !s.started || now >= s.next
	out.Moves, out.Requests, out.Workers = out.Moves[:0], out.Requests[:0], out.Workers[:0]
	s.now, s.started = now, true
	if out.Ran {
		s.next = plus(now, s.config.Interval)
	}
	out.Next = s.next
	for _, m := range s.roster.left {
		out.Moves = append(out.Moves, Move{ID: m.id, From: m.state.category, To: Outside, Reason: Left})
	}
	s.take(observations, out)
	s.count(out)
	s.request(out)
	return nil
}

func (s *SpeCon) check(now time.Duration, observations []Observation) error {
	var faults apportion.Faults
	checkClock(&faults, s.now, now)
	for i := range observations {
		if observations[i].Worker == "" {
			faults.Add(check.Item("container", observations[i].ID, i), "Worker", apportion.ErrEmpty, "")
		}
	}
	return faults.Err()
}

// take admits the new containers and, if the interval is over, categorizes the others.
func (s *SpeCon) take(observations []Observation, out *Report) {
	for i := range observations {
		o := &observations[i]
		state := s.roster.members[s.roster.where[i]].state
		state.worker, state.migrated, state.asks = o.Worker, state.migrated || o.Migrated, false
		state.outcome = Unusable
		if !o.Missing && !state.migrated && (out.Ran || state.category == Outside) {
			usage := o.Usage
			if usage == 0 {
				usage = 1
			}
			state.outcome = state.series.Add(o.At, o.Value, usage)
		}
	}
	for _, id := range s.roster.arrived {
		state := s.roster.get(id)
		state.category = Progressing
		if state.migrated {
			state.category = Converged
		}
		out.Moves = append(out.Moves, Move{ID: id, From: Outside, To: state.category, Reason: Arrived})
	}
	for i := range s.roster.members {
		s.categorize(&s.roster.members[i], out)
	}
}

// categorize moves one container between PC, WC and CC, lines 6-22, and notes whether it asks for
// another host. Where nothing was measured, nothing happens.
func (s *SpeCon) categorize(m *member[speState], out *Report) {
	state := m.state
	verdict := judge(s.options.Classifier, &state.series, state.outcome)
	from, to := state.category, state.category.After(verdict)
	if verdict == Slow && s.options.Separate {
		to = Converged
	}
	state.asks = verdict == Slow && to == Converged && (from == Converged || s.options.AtEntry || s.options.Separate)
	if to != from {
		out.Moves = append(out.Moves, Move{ID: m.id, From: from, To: to,
			Growth: state.series.Gain(s.options.Normalization), Reason: reasonFor(verdict, state.outcome)})
		state.category = to
	}
}

// count counts the categories of every worker.
func (s *SpeCon) count(out *Report) {
	clear(s.workers)
	for i := range s.roster.members {
		state := s.roster.members[i].state
		w, ok := s.workers[state.worker]
		if !ok {
			w = len(out.Workers)
			s.workers[state.worker] = w
			out.Workers = append(out.Workers, Counts{Worker: state.worker})
		}
		switch state.category {
		case Progressing:
			out.Workers[w].Progressing++
		case Watching:
			out.Workers[w].Watching++
		case Converged:
			out.Workers[w].Converged++
		}
	}
	slices.SortFunc(out.Workers, func(a, b Counts) int { return cmp.Compare(a.Worker, b.Worker) })
	for w := range out.Workers {
		s.workers[out.Workers[w].Worker] = w
	}
}

// request lists who asks for another host, lines 15-16: only where more than one other container
// of the worker would profit.
func (s *SpeCon) request(out *Report) {
	for i := range s.roster.members {
		m := &s.roster.members[i]
		counts := out.Workers[s.workers[m.state.worker]]
		if m.state.asks && counts.Progressing+counts.Watching > 1 {
			gain := m.state.series.Gain(s.options.Normalization)
			out.Requests = append(out.Requests, Request{ID: m.id, Worker: m.state.worker, Gain: gain})
		}
	}
}

// Status returns what is known of a container, and false where there is no such container.
func (s *SpeCon) Status(id string) (Status, bool) {
	state := s.roster.get(id)
	if state == nil {
		return Status{}, false
	}
	return Status{
		Category: state.category,
		Measured: state.series.Measured(),
		Growth:   []float64{state.series.Gain(s.options.Normalization)},
	}, true
}
