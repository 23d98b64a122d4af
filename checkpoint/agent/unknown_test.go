// This file checks that what is wrong with one job is told of that job: the others of its server neither end nor wait.

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

func (b *bench) start(attempt int64, jobs ...string) {
	b.t.Helper()
	for _, job := range jobs {
		for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume} {
			e := checkpoint.Effect{Action: action, Job: job, Epoch: 1, Attempt: attempt, Containers: []string{"here"}}
			reply := must.Have(b.agent.Do(b.t.Context(), agent.Order{Effect: e, Heard: b.heard}))(b.t)
			must.Equal(b.t, reply.Outcome, checkpoint.Done, action, job)
		}
	}
}

// look asks for the status of all jobs and renews the lease.
func (b *bench) look() map[string]agent.JobStatus {
	b.t.Helper()
	s := must.Have(b.agent.Status(b.t.Context(), agent.Question{Epoch: 1, Heard: b.heard}))(b.t, "one job takes the answer of all along")
	b.heard = s.Clock
	jobs := map[string]agent.JobStatus{}
	for _, j := range s.Jobs {
		jobs[j.Job] = j
	}
	return jobs
}

// oneBad checks that of three jobs one is not known for the length of a lease and has failed then, and that the two others run all
// the time.
func (b *bench) oneBad(reason string) {
	b.t.Helper()
	for half := range 5 {
		jobs := b.look()
		for _, good := range []string{"good1", "good2"} {
			if j := jobs[good]; !j.Progress.Running || j.Unknown != "" || j.Progress.Failed != "" {
				b.t.Errorf("after %d halves of a lease: %s is %+v", half, good, j)
			}
		}
		bad := jobs["bad"]
		unknown, failed := bad.Unknown, bad.Progress.Failed
		if half >= 2 {
			unknown, failed = failed, unknown
		}
		if !strings.Contains(unknown, reason) || failed != "" || bad.Progress.Running {
			b.t.Errorf("after %d halves of a lease: bad is %+v", half, bad)
		}
		b.elapse(0.5)
	}
}

// unreadable is a runner whose jobs cannot be looked at.
type unreadable struct {
	runner.Runner
	err error
}

func (u *unreadable) Progress(ctx context.Context, run runner.Run) (runner.Progress, error) {
	if u.err != nil {
		return runner.Progress{}, u.err
	}
	return u.Runner.Progress(ctx, run)
}

func TestOneJobThatCannotBeLookedAt(t *testing.T) {
	b := newBench(t)
	bad := &unreadable{Runner: b.fake}
	b.config.Runner = func(job string, _ json.RawMessage) (runner.Runner, error) {
		if job == "bad" {
			return bad, nil
		}
		return b.fake, nil
	}
	b.restart()
	b.start(1, "bad", "good1", "good2")
	bad.err = errors.New("rank-0.json: input/output error")
	b.oneBad("input/output error")
	// What was a moment's fault is forgotten.
	bad.err = nil
	if j := b.look()["bad"]; !j.Progress.Running || j.Unknown != "" {
		t.Errorf("readable again: %+v", j)
	}
	bad.err = errors.New("again")
	if j := b.look()["bad"]; j.Unknown != "again" || j.Progress.Failed != "" {
		t.Errorf("a second fault: %+v", j)
	}
	// A new attempt has a lease of its own.
	b.elapse(0.9)
	b.look()
	b.elapse(0.9)
	b.start(2, "bad")
	if j := b.look()["bad"]; j.Attempt != 2 || j.Unknown != "again" || j.Progress.Failed != "" {
		t.Errorf("a second attempt: %+v", j)
	}
	// A question that ends says nothing of any job.
	ended, end := context.WithCancel(t.Context())
	end()
	must.Fail(b.agent.Status(ended, agent.Question{Epoch: 1}))(t, context.Canceled, "a question that has ended")
}

func TestOneRunnerThatCannotBeMade(t *testing.T) {
	b := newBench(t)
	b.start(1, "bad", "good1", "good2")
	b.config.Runner = func(job string, _ json.RawMessage) (runner.Runner, error) {
		if job == "bad" {
			return nil, errors.New("a spec of another version")
		}
		return b.fake, nil
	}
	b.restart()
	b.oneBad("another version")
}

// A real job writes a byte over the record of its process: its neighbours run on, and it can be stopped.
func TestOneRecordThatIsSpoilt(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("package command needs Linux")
	}
	p := &processes{bench: newBench(t), work: t.TempDir()}
	p.config.Runner = func(string, json.RawMessage) (runner.Runner, error) {
		argv := []string{"sleep", "600"}
		return command.New(command.Commands{Start: argv, Resume: argv, Work: p.work}, &command.Options{Node: "here"})
	}
	p.restart()
	t.Cleanup(func() { p.end(t) })
	p.start(1, "bad", "good1", "good2")
	records := must.Have(filepath.Glob(filepath.Join(p.work, "bad", "run-1", "rank-0.json")))(t)
	must.Equal(t, len(records), 1, records)
	must.Do(t, os.WriteFile(records[0], []byte("x"), 0o600))
	p.oneBad("rank-0.json")
	stop := checkpoint.Effect{Action: checkpoint.Stop, Job: "bad", Epoch: 1, Attempt: 1, Containers: []string{"here"}}
	if reply, err := p.agent.Do(t.Context(), agent.Order{Effect: stop}); err != nil || reply.Outcome != checkpoint.Done {
		t.Errorf("it cannot be stopped: %+v, %v", reply, err)
	}
	if alive := p.alive("bad"); len(alive) > 0 {
		t.Errorf("attempts %v are alive", alive)
	}
}

// A run that has failed before it was seen to run is not confirmed, and the reason is told.
func TestFailedIsNotConfirmed(t *testing.T) {
	b := newBench(t)
	b.start(3, "lr")
	b.fake.set(func() { clear(b.fake.alive); b.fake.died = "exit status 3" })
	e := checkpoint.Effect{Action: checkpoint.Confirm, Job: "lr", Epoch: 1, Attempt: 3}
	reply, err := b.agent.Do(t.Context(), agent.Order{Effect: e, Heard: b.heard})
	if err != nil || reply.Outcome != checkpoint.Failed || reply.Detail != "exit status 3" {
		t.Errorf("%+v, %v", reply, err)
	}
}
