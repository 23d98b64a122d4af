// This file holds the history of what users have asked and seen, which has to be linearizable, job by job.

package main

import (
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/world/linear"
)

type history map[string][]linear.Call

// called notes what became of an event that a user has asked for.
func (w *world) called(e checkpoint.Event, begin time.Duration, err error) {
	c := linear.Call{Kind: linear.Touch, Begin: begin, End: time.Since(w.began), Unknown: err != nil}
	switch e := e.(type) {
	case checkpoint.Submit:
		c.Kind = linear.Submit
		w.history[e.Job] = append(w.history[e.Job], c)
	case checkpoint.Cancel:
		w.history[e.Job] = append(w.history[e.Job], c)
	case checkpoint.Checkpoint:
		w.history[e.Job] = append(w.history[e.Job], c)
	case checkpoint.Adjust:
		for job := range e.Targets {
			w.history[job] = append(w.history[job], c)
		}
	}
}

// list is a user that looks at all jobs. What a master says counts if no other had begun by then: one that was replaced and does not know it
// says what was.
func (w *world) list(m *master) {
	begin := time.Since(w.began)
	state := m.d.State()
	if !w.newest(m) {
		return
	}
	for name := range w.truth.jobs {
		found := linear.Absent | linear.Gone
		if j, known := state.Job(name); known {
			found = linear.Live
			if j.Job.Phase == checkpoint.Ended {
				found = linear.Ended
			}
		}
		w.history[name] = append(w.history[name], linear.Call{Kind: linear.Read, Found: found, Begin: begin, End: time.Since(w.began)})
	}
}

// judgeHistory judges all histories, unless records were lost: they are what nobody promises anything about then.
func (w *world) judgeHistory() {
	var names []string
	for name := range w.history {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w.summary.Calls += len(w.history[name])
		if w.summary.Faults["records lost"] == 0 && !linear.Check(w.history[name]) {
			w.violated("what users saw of job %q has no order: %+v", name, w.history[name])
		}
	}
}
