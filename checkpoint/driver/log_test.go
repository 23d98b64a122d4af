// This file tests the lines of a driver's log.

package driver

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// Each start, stop and end has a line, saves do not end a run, and what was there before is not told.
func TestLog(t *testing.T) {
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	host := func(id string, change func(*checkpoint.Host)) checkpoint.Host {
		h := checkpoint.Host{Server: apportion.Server{ID: id}}
		if change != nil {
			change(&h)
		}
		return h
	}
	l := newLogger(log, []checkpoint.Job{{Name: "old", Phase: checkpoint.Running, Attempt: 3}}, []checkpoint.Host{host("n1", nil)})
	at := time.Unix(0, 0)
	take := func(after time.Duration, phase checkpoint.Phase, attempt, stopped int64, why string) {
		at = at.Add(after)
		l.say(checkpoint.Record{Jobs: []checkpoint.Job{{Name: "a", Phase: phase, Attempt: attempt, Stopped: stopped, Target: []string{"n1", "n1", "n2"},
			Reason: apportion.Reason{Constraint: why, Text: why}}}}, at)
	}
	l.say(checkpoint.Record{Jobs: []checkpoint.Job{{Name: "old", Phase: checkpoint.Running, Attempt: 3}}, Servers: []checkpoint.Host{host("n1", nil), host("n2", nil)}}, at)
	take(0, checkpoint.Idle, 0, 0, "")
	take(0, checkpoint.Confirming, 1, 0, "")
	take(time.Second, checkpoint.Running, 1, 0, "")
	take(time.Minute, checkpoint.Saving, 1, 0, "")
	take(time.Minute, checkpoint.Running, 1, 0, "")
	take(time.Second, checkpoint.Stopping, 1, 0, "")
	take(2*time.Second, checkpoint.Confirming, 5, 1, "")
	take(3*time.Second, checkpoint.Running, 5, 1, "")
	take(time.Minute, checkpoint.Confirming, 9, 5, "exited")
	take(time.Second, checkpoint.Running, 9, 5, "")
	l.say(checkpoint.Record{Jobs: []checkpoint.Job{{Name: "a", Phase: checkpoint.Ended, Attempt: 9, Stopped: 9, Ending: checkpoint.Completed, Checkpoints: []checkpoint.Confirmed{{Number: 4, Step: 70}}}}}, at)
	l.say(checkpoint.Record{Servers: []checkpoint.Host{host("n1", func(h *checkpoint.Host) { h.Silent = true }), host("n2", func(h *checkpoint.Host) { h.Draining = true })}}, at)
	l.say(checkpoint.Record{Servers: []checkpoint.Host{host("n1", func(h *checkpoint.Host) { h.Cordoned, h.Detail = true, "its disk" }), host("n2", nil)}, Lost: []string{"n2"}, Gone: []string{"a"}}, at)
	l.failed(checkpoint.Effect{Job: "a", Action: checkpoint.Create, Attempt: 9, Servers: []string{"n1"}}, checkpoint.Reply{Outcome: checkpoint.Failed, Detail: "no room"})
	l.failed(checkpoint.Effect{Job: "a", Action: checkpoint.Stop}, checkpoint.Reply{Outcome: checkpoint.Done})
	l.ended(7, nil)
	l.ended(7, errors.New("fenced"))
	want := `level=INFO msg="server joins" server=n2
level=INFO msg="job is submitted" job=a
level=INFO msg="job starts" job=a attempt=1 on="n1:2 n2:1" step=0 cause=submitted why=""
level=INFO msg="job runs" job=a attempt=1 paused=0s
level=INFO msg="job stops" job=a attempt=1 saved=0 why=""
level=INFO msg="job starts" job=a attempt=5 on="n1:2 n2:1" step=0 cause=moved why=""
level=INFO msg="job runs" job=a attempt=5 paused=5s
level=WARN msg="job starts" job=a attempt=9 on="n1:2 n2:1" step=0 cause=exited why=exited
level=INFO msg="job runs" job=a attempt=9 paused=0s
level=DEBUG msg="job is saved" job=a attempt=9 checkpoint=4 step=70
level=INFO msg="job has ended" job=a as=completed why=""
level=WARN msg="server is silent" server=n1
level=INFO msg="server is drained" server=n2 over=false
level=INFO msg="server answers again" server=n1
level=WARN msg="server is cordoned" server=n1 why="its disk"
level=INFO msg="server is drained" server=n2 over=true
level=WARN msg="server is lost" server=n2
level=DEBUG msg="job is forgotten" job=a
level=WARN msg="effect has failed" job=a attempt=9 effect=create outcome=failed on=n1:1 fault="no room"
level=INFO msg="leads no more" epoch=7
level=ERROR msg="leads no more" epoch=7 fault=fenced
`
	must.Equal(t, cmp.Diff(want, text.String()), "")
	if len(l.jobs) != 1 || len(l.hosts) != 1 {
		t.Errorf("what is gone is remembered: %v, %v", l.jobs, l.hosts)
	}
}
