// This file counts the runs of a controller's jobs, for its metrics.

package controller

import (
	"cmp"
	"maps"
	"sync"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
)

// starts counts runs since the controller began. It is safe for concurrent use.
type starts struct {
	mu sync.Mutex
	// newest is the attempt of each job that was counted last.
	newest map[string]int64
	// all are those that were begun, and again, by cause, those of jobs that had run before.
	all   int64
	again map[string]int64
}

// newStarts counts what comes after these jobs.
func newStarts(jobs []checkpoint.Job) *starts {
	s := &starts{newest: map[string]int64{}, again: map[string]int64{}}
	for i := range jobs {
		s.newest[jobs[i].Name] = jobs[i].Attempt
	}
	return s
}

// moved is the cause of a run that a decision has asked for; all others are the constraints of [checkpoint.Job].Reason.
const moved = "moved"

// take counts the runs of a record.
func (s *starts) take(r checkpoint.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if j.Attempt <= s.newest[j.Name] {
			continue
		}
		s.newest[j.Name] = j.Attempt
		s.all++
		if j.Stopped > 0 {
			s.again[cmp.Or(j.Reason.Constraint, moved)]++
		}
	}
	for _, name := range r.Gone {
		delete(s.newest, name)
	}
}

// counts returns how many runs were begun, and how many of them again, by cause.
func (s *starts) counts() (all int64, again map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all, maps.Clone(s.again)
}

// counted is a journal whose records are counted.
type counted struct {
	driver.Journal
	starts *starts
}

// Append implements driver.Journal.
func (c counted) Append(r checkpoint.Record) error {
	err := c.Journal.Append(r)
	if err == nil {
		c.starts.take(r)
	}
	return err
}
