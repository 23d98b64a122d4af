// This file says what the status page shows, and answers what is asked there.

package master

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/page"
)

func now() float64 { return float64(time.Now().UnixMilli()) / 1000 }

// shown is what the page shows: servers, jobs with their containers and loss curves, and utilization and shares where the decider knows
// them.
// It reads the curve of every job from disk, so that the page is for people and not for a monitor.
func (m *Master) shown() page.State {
	l, verdict := m.list(0, math.MaxInt), m.last()
	s := page.State{Clock: now(), Head: page.Head{Title: "In-house scheduler", Summary: l.summary(), Notes: m.limits(), Kinds: m.config.Protocol.Kinds, Rate: 1, Wall: true}}
	for i := range l.Servers {
		s.Servers = append(s.Servers, page.Server{ID: l.Servers[i].ID, Rack: page.RackOf(l.Servers[i].Labels), Capacity: l.Servers[i].Capacity})
	}
	for i := range l.Jobs {
		s.Jobs = append(s.Jobs, m.jobOf(&l.Jobs[i]))
	}
	s.Decided(verdict.Problem, verdict.Decision)
	s.Foreseen(m.forecasts.Newest())
	return s
}

func (m *Master) jobOf(v *View) page.Job {
	one := page.Job{ID: v.Job.Name, State: string(v.Job.Phase), On: bridge.Counts(v.Job.Containers), Demand: v.Job.Demand, Share: v.Share.Actual, Fair: v.Share.Theoretical,
		Why: v.Waiting, Step: v.Progress.Step, Saved: v.Checkpoint.Step, Attempt: v.Job.Attempt}
	if v.Job.Ending != "" {
		one.State = string(v.Job.Ending)
	}
	if r := v.Job.Reason; r.Constraint != "" {
		one.Why = r.Constraint + ": " + r.Text
	}
	// What a job has written is the job's: what cannot be read is told in its own cell.
	curve, err := Curve(m.config.Shared, v.Job.Name)
	switch {
	case err != nil:
		one.Loss = "the losses cannot be read: " + err.Error()
	case len(curve) > 0:
		last := curve[len(curve)-1]
		one.Curve, one.Loss = polyline(curve, last.Step), fmt.Sprintf("%.3f", last.Value)
	}
	return one
}

func (l *List) summary() string {
	text := fmt.Sprintf("%d servers, %d jobs", len(l.Servers), len(l.Jobs))
	if l.Bound != 0 {
		text += fmt.Sprintf("; utilization %.3g, at most %.3g is possible", l.Utilization, l.Bound)
	}
	return text + "."
}

// limits are how long jobs are waited for and remembered.
func (m *Master) limits() []string {
	saves, stall, retain := "never", "never", "for ever"
	if limit := cmp.Or(m.config.Protocol.SaveLimit, checkpoint.DefaultSaveLimit); limit > 0 {
		saves = fmt.Sprintf("after %v, or ten times its longest save", limit)
	}
	if after := cmp.Or(m.config.StallAfter, driver.DefaultStallAfter); after > 0 {
		stall = fmt.Sprintf("after %v", after)
	}
	if m.config.Retain > 0 {
		retain = fmt.Sprintf("for %v", m.config.Retain)
	}
	return []string{"A job that is to change and answers no save is stopped without: " + saves + ".",
		"A job that gets on and tells no step is begun again: " + stall + ".", "A job that has ended is remembered " + retain + "."}
}

func (m *Master) decided(v *Verdict, took time.Duration, fault string) {
	d := page.NewDecision(now(), took, v.Problem, v.Decision, fault)
	if v.Decision == nil {
		for job, servers := range v.Targets {
			d.Changes = append(d.Changes, page.Change{Job: job, To: page.PlacesText(bridge.Counts(servers))})
		}
	}
	if len(d.Changes) > 0 || fault != "" {
		m.board.Decided(d)
	}
}

// foreseen is what forecasts are about.
func (m *Master) foreseen() (*alloc.Problem, *alloc.Decision, time.Time) {
	v := m.last()
	return v.Problem, v.Decision, time.Now()
}

// ask answers a question of the page, where the decider knows a problem; else it says all that was said of the last decision.
func (m *Master) ask(ctx context.Context, q page.Question) (string, error) {
	v := m.last()
	if v.Decision == nil {
		return v.Explanation, nil
	}
	return m.forecasts.Newest().Answer(ctx, v.Problem, v.Decision, q)
}
