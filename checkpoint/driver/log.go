// This file tells a log what becomes of jobs and servers: a line for what a record changes, when it is durable.

package driver

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

// logger remembers what was said last of each job and server. It belongs to the loop.
type logger struct {
	log   *slog.Logger
	jobs  map[string]jobSaid
	hosts map[string]checkpoint.Host
}

type jobSaid struct {
	attempt, saved int64
	phase          checkpoint.Phase
	// stopped is when its newest run was to stop; zero: it was not.
	stopped time.Time
}

// newLogger says nothing of what is there already.
func newLogger(log *slog.Logger, jobs []checkpoint.Job, hosts []checkpoint.Host) *logger {
	l := &logger{log: log, jobs: map[string]jobSaid{}, hosts: map[string]checkpoint.Host{}}
	for i := range jobs {
		l.jobs[jobs[i].Name] = jobSaid{attempt: jobs[i].Attempt, saved: jobs[i].Newest().Number, phase: jobs[i].Phase}
	}
	for _, h := range hosts {
		l.hosts[h.ID] = h
	}
	return l
}

// say says what a record changes. O(changes).
func (l *logger) say(r checkpoint.Record, now time.Time) {
	for i := range r.Servers {
		l.server(&r.Servers[i])
	}
	for _, id := range r.Lost {
		l.log.Warn("server is lost", "server", id)
		delete(l.hosts, id)
	}
	for i := range r.Jobs {
		l.job(&r.Jobs[i], now)
	}
	for _, name := range r.Gone {
		l.log.Debug("job is forgotten", "job", name)
		delete(l.jobs, name)
	}
}

// job says what has become of a job.
func (l *logger) job(j *checkpoint.Job, now time.Time) {
	said, known := l.jobs[j.Name]
	if !known {
		l.log.Info("job is submitted", "job", j.Name)
	}
	if newest := j.Newest(); newest.Number > said.saved {
		l.log.Debug("job is saved", "job", j.Name, "attempt", j.Attempt, "checkpoint", newest.Number, "step", newest.Step)
	}
	switch {
	case j.Attempt > said.attempt:
		l.starts(j)
	case j.Phase == said.phase:
	case j.Phase == checkpoint.Stopping:
		said.stopped = now
		l.log.Info("job stops", "job", j.Name, "attempt", j.Attempt, "saved", j.Newest().Step, "why", j.Reason.Text)
	case j.Phase == checkpoint.Running && said.phase != checkpoint.Saving && said.phase != checkpoint.Verifying: // else it has run all the time
		paused := time.Duration(0)
		if !said.stopped.IsZero() {
			paused, said.stopped = now.Sub(said.stopped), time.Time{}
		}
		l.log.Info("job runs", "job", j.Name, "attempt", j.Attempt, "paused", paused)
	case j.Phase == checkpoint.Ended:
		l.log.Info("job has ended", "job", j.Name, "as", string(j.Ending), "why", j.Reason.Text)
	}
	said.attempt, said.saved, said.phase = j.Attempt, j.Newest().Number, j.Phase
	l.jobs[j.Name] = said
}

// starts says that a run begins: of a new job, of one that is moved, or, which is a warning, of one that something has happened to.
func (l *logger) starts(j *checkpoint.Job) {
	cause, level := "submitted", slog.LevelInfo
	if j.Stopped > 0 {
		if cause = cmp.Or(j.Reason.Constraint, "moved"); cause != "moved" {
			level = slog.LevelWarn
		}
	}
	l.log.Log(context.Background(), level, "job starts", "job", j.Name, "attempt", j.Attempt, "on", placesText(j.Target), "step", j.Newest().Step, "cause", cause, "why", j.Reason.Text)
}

// placesText is a list of containers, ascending by server, as text, as "n1:4 n2:1".
func placesText(containers []string) string {
	var places []string
	for i := 0; i < len(containers); {
		n := 1
		for i+n < len(containers) && containers[i+n] == containers[i] {
			n++
		}
		places = append(places, containers[i]+":"+strconv.Itoa(n))
		i += n
	}
	return strings.Join(places, " ")
}

func (l *logger) server(h *checkpoint.Host) {
	said, known := l.hosts[h.ID]
	switch {
	case !known:
		l.log.Info("server joins", "server", h.ID)
	case h.Silent && !said.Silent:
		l.log.Warn("server is silent", "server", h.ID)
	case !h.Silent && said.Silent:
		l.log.Info("server answers again", "server", h.ID)
	}
	if h.Draining != said.Draining {
		l.log.Info("server is drained", "server", h.ID, "over", said.Draining)
	}
	if h.Cordoned && !said.Cordoned {
		l.log.Warn("server is cordoned", "server", h.ID, "why", h.Detail)
	}
	l.hosts[h.ID] = *h
}

// failed says that an effect has not come about: it is tried again.
func (l *logger) failed(e checkpoint.Effect, r checkpoint.Reply) {
	if r.Outcome != checkpoint.Done {
		l.log.Warn("effect has failed", "job", e.Job, "attempt", e.Attempt, "effect", string(e.Action), "outcome", string(r.Outcome), "on", placesText(slices.Sorted(slices.Values(e.Servers))), "fault", r.Detail)
	}
}

func (l *logger) ended(epoch int64, err error) {
	if err != nil {
		l.log.Error("leads no more", "epoch", epoch, "fault", err)
		return
	}
	l.log.Info("leads no more", "epoch", epoch)
}
