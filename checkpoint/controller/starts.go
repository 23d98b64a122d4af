// This file remembers the runs of a controller's jobs: for its metrics, and for what a move costs.

package controller

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
)

// starts remembers runs since the controller began. It is safe for concurrent use.
type starts struct {
	mu   sync.Mutex
	jobs map[string]*runs
	// all are those that were begun, and again, by cause, those of jobs that had run before.
	all   int64
	again map[string]int64
	// lost are the steps that are done again, by cause as well; waited is how long jobs waited, by queue, and paused how long they did
	// not run between two runs.
	lost   map[string]int64
	waited map[string]*histogram
	paused histogram
	// queueOf returns the queue of a job.
	queueOf func(job string) string
}

// runs are those of one job.
type runs struct {
	// attempt is the newest that was counted, and phase how it stood last.
	attempt int64
	// furthest is the last step that it has told.
	furthest int64
	phase    checkpoint.Phase
	// since is when it was begun, and stopped when the one before was to stop; zero: none was.
	since, stopped time.Time
	// idle is since when it waits for containers; zero: it has some, or that is not known.
	idle time.Time
	// pause is how long the job did not run for its newest move: it was stopped, restored and started; 0: it was not moved.
	pause time.Duration
	// moves are when decisions have moved it, of the last hour.
	moves []time.Time
}

// newStarts counts what comes after these jobs.
func newStarts(jobs []checkpoint.Job) *starts {
	s := &starts{jobs: map[string]*runs{}, again: map[string]int64{}, lost: map[string]int64{}, waited: map[string]*histogram{}, paused: histogram{ends: slow},
		queueOf: func(string) string { return "" }}
	for i := range jobs {
		s.jobs[jobs[i].Name] = &runs{attempt: jobs[i].Attempt, phase: jobs[i].Phase}
	}
	return s
}

// moved is the cause of a run that a decision has asked for; all others are the constraints of [checkpoint.Job].Reason.
const moved = "moved"

// movesAge is how old a move is that no limit counts.
const movesAge = time.Hour

func (s *starts) take(r checkpoint.Record, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range r.Jobs {
		j := &r.Jobs[i]
		one := s.jobs[j.Name]
		if one == nil {
			one = &runs{}
			s.jobs[j.Name] = one
		}
		if j.Attempt > one.attempt {
			s.begins(one, j, now)
		} else if j.Phase != one.phase {
			s.becomes(one, j, now)
		}
		switch {
		case j.Phase == checkpoint.Ended:
			one.idle = time.Time{}
		case j.Phase == checkpoint.Idle && one.phase != checkpoint.Idle:
			one.idle = now
		}
		one.phase = j.Phase
	}
	for _, name := range r.Gone {
		delete(s.jobs, name)
	}
}

func (s *starts) begins(one *runs, j *checkpoint.Job, now time.Time) {
	one.attempt, one.since = j.Attempt, now
	s.all++
	if !one.idle.IsZero() {
		queue := s.queueOf(j.Name)
		if s.waited[queue] == nil {
			s.waited[queue] = &histogram{ends: slow}
		}
		s.waited[queue].observe(now.Sub(one.idle).Seconds())
		one.idle = time.Time{}
	}
	if j.Stopped > 0 {
		cause := cmp.Or(j.Reason.Constraint, moved)
		if cause == moved {
			one.moves = append(one.recent(now), now)
		}
		s.again[cause]++
		// A checkpoint of an unknown step is counted as if nothing was lost.
		if step := j.Newest().Step; step >= 0 {
			s.lost[cause] += max(0, one.furthest-step)
			one.furthest = step
		}
	}
}

// becomes notes that a run stands otherwise than before.
func (s *starts) becomes(one *runs, j *checkpoint.Job, now time.Time) {
	switch j.Phase {
	case checkpoint.Stopping:
		one.stopped = now
	case checkpoint.Running:
		if one.phase == checkpoint.Saving || one.phase == checkpoint.Verifying {
			return // it has run all the time
		}
		if !one.stopped.IsZero() {
			one.pause, one.stopped = now.Sub(one.stopped), time.Time{}
			s.paused.observe(one.pause.Seconds())
		}
	}
}

func (r *runs) recent(now time.Time) []time.Time {
	return slices.DeleteFunc(r.moves, func(t time.Time) bool { return now.Sub(t) >= movesAge })
}

// since returns since when a job waits or, if it does not, its newest run was begun; zero: not known.
func (s *starts) since(job string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.jobs[job]
	switch {
	case one == nil:
		return time.Time{}
	case !one.idle.IsZero():
		return one.idle
	}
	return one.since
}

// reach notes how far runs are. What a run has done since it was noted last is not counted where it is lost.
func (s *starts) reach(state *driver.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range state.Jobs {
		j := &state.Jobs[i]
		if one := s.jobs[j.Name]; one != nil && one.attempt == j.Attempt && j.Live() {
			one.furthest = max(one.furthest, state.Progress[j.Name].Step)
		}
	}
}

func (s *starts) tell(e exposition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.add("apportion_starts_total", "", float64(s.all))
	counts(e, "apportion_restarts_total", "cause", s.again)
	counts(e, "apportion_lost_steps_total", "cause", s.lost)
	for _, queue := range slices.Sorted(maps.Keys(s.waited)) {
		e.histogram("apportion_job_wait_seconds", s.waited[queue], "queue", queue)
	}
	e.histogram("apportion_job_pause_seconds", &s.paused)
}
