// This file checks what a master does for deciders other than Dorm: what they are told, refusals, the
// time of the next decision, and the trace of effects.

package master

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/internal/must"
)

// picky refuses jobs whose policy says so and gives the others a container each.
type picky struct{ decisions atomic.Int64 }

func (p *picky) Decide(_ context.Context, s *State) (*Verdict, error) {
	p.decisions.Add(1)
	v := &Verdict{Targets: map[string][]string{}, Refused: map[string]string{}, Again: 10 * time.Millisecond}
	for i := range s.Jobs {
		job := &s.Jobs[i]
		switch {
		case string(job.Policy) == `"no"`:
			v.Refused[job.Application.ID] = "it says no"
		case len(s.Servers) > 0 && len(job.Goal()) == 0:
			v.Targets[job.Application.ID] = []string{s.Servers[0].ID}
		}
	}
	return v, nil
}

// withDecider has the bench's master decide by something else.
func withDecider(t *testing.T, d Decider) *bench {
	t.Helper()
	b := newBench(t)
	b.stop()
	b.config.Decider = d
	b.start()
	b.register()
	return b
}

func TestRefusedJobIsCancelled(t *testing.T) {
	b := withDecider(t, &picky{})
	must.Do(t, b.call("/submit", Submission{app, json.RawMessage(`"no"`)}, &Nothing{}))
	v := b.await("is refused", ended)
	if v.Job.Ending != checkpoint.Cancelled || len(b.agent.did()) != 0 {
		t.Errorf("%+v, the agent did %v", v.Job, b.agent.did())
	}
}

// What was submitted for the decider is told to it after a restart, too.
func TestPolicyIsKept(t *testing.T) {
	b := withDecider(t, Dorm{1, 1})
	must.Do(t, b.call("/submit", Submission{app, json.RawMessage(`"no"`)}, &Nothing{}))
	b.await("runs", runs)
	b.stop()
	b.config.Decider = &picky{}
	b.start()
	b.register()
	if v := b.await("is refused", ended); v.Job.Ending != checkpoint.Cancelled {
		t.Errorf("%+v", v)
	}
}

// A decider that wants to be asked again soon is, although nothing has changed.
func TestAgain(t *testing.T) {
	d := &picky{}
	withDecider(t, d)
	for began := time.Now(); d.decisions.Load() < 20; time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%d decisions", d.decisions.Load())
		}
	}
}

// What a decider does not know is not shown as zero.
func TestPageWithoutUtilization(t *testing.T) {
	b := withDecider(t, &picky{})
	b.submit()
	b.await("runs", runs)
	status, text := b.page(strings.TrimPrefix(secret.Link("/", time.Now().Add(time.Hour)), "/"))
	if status != 200 || !strings.Contains(text, `"summary":"1 servers, 1 jobs."`) || !strings.Contains(text, `"share":0,"fair":0,`) {
		t.Errorf("%d:\n%s", status, text)
	}
}

func TestTrace(t *testing.T) {
	b := newBench(t)
	b.stop()
	var text bytes.Buffer
	b.config.Trace = &text
	b.start()
	b.register()
	b.submit()
	b.await("runs", runs)
	b.stop() // the text is the test's again
	var kinds []checkpoint.Action
	for lines := json.NewDecoder(&text); lines.More(); {
		var traced driver.Traced
		must.Do(t, lines.Decode(&traced))
		if traced.Effect.Job != "lr" || traced.Reply.Outcome != checkpoint.Done || traced.Replied.Before(traced.Issued) {
			t.Errorf("%+v", traced)
		}
		kinds = append(kinds, traced.Effect.Action)
	}
	must.Same(t, kinds, []checkpoint.Action{checkpoint.Create, checkpoint.Resume, checkpoint.Confirm})
}

// Runs come in the order of their numbers, without those that did no step.
func TestRuns(t *testing.T) {
	shared := t.TempDir()
	for attempt, text := range map[string]string{"2": `{"step": 1, "at": 1.5}`, "10": `{"step": 2}`, "11": ""} {
		dir := filepath.Join(shared, "lr", attempt)
		must.Do(t, os.MkdirAll(dir, 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, CurveFile), []byte(text), 0o600))
	}
	got, err := Runs(shared, "lr")
	if err != nil || len(got) != 2 || got[0].Attempt != 2 || got[1].Attempt != 10 {
		t.Fatalf("%+v, %v", got, err)
	}
	if at := got[0].Points[0].Time(); !at.Equal(time.UnixMilli(1500)) {
		t.Errorf("at %v", at)
	}
	must.Do(t, os.MkdirAll(filepath.Join(shared, "lr", "x"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(shared, "lr", "x", CurveFile), nil, 0o600))
	if _, err := Runs(shared, "lr"); err == nil || !strings.Contains(err.Error(), filepath.Join(shared, "lr", "x")) {
		t.Errorf("a folder that is no attempt: %v", err)
	}
	must.Do(t, os.Rename(filepath.Join(shared, "lr", "x"), filepath.Join(shared, "lr", "12")))
	long := filepath.Join(shared, "lr", "12", CurveFile)
	must.Do(t, os.WriteFile(long, bytes.Repeat([]byte("x"), bufio.MaxScanTokenSize+1), 0o600))
	if _, err := Runs(shared, "lr"); !errors.Is(err, bufio.ErrTooLong) || !strings.Contains(err.Error(), long) {
		t.Errorf("a line without an end: %v", err)
	}
}

// moody fails until it is told better.
type moody struct {
	picky
	well atomic.Bool
}

func (m *moody) Decide(ctx context.Context, s *State) (*Verdict, error) {
	if !m.well.Load() {
		return nil, errors.New("a bad mood")
	}
	return m.picky.Decide(ctx, s)
}

// A decision that fails ends nothing: the reason is shown, what runs goes on, and the next decision counts.
func TestDecisionFails(t *testing.T) {
	d := &moody{}
	d.well.Store(true)
	b := withDecider(t, d)
	b.submit()
	first := b.await("runs", runs)
	d.well.Store(false)
	limit := time.Now().Add(30 * time.Second)
	for explanation := ""; !strings.Contains(explanation, "a bad mood"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("it is explained by %q", explanation)
		}
		must.Do(t, b.call("/explain", Nothing{}, &explanation))
	}
	if v := b.await("runs on", runs); v.Job.Attempt != first.Job.Attempt {
		t.Errorf("%+v", v.Job)
	}
	d.well.Store(true)
	other := app
	other.ID = "next"
	must.Do(t, b.call("/submit", Submission{other, nil}, &Nothing{}))
	for list := (List{}); len(list.Jobs) < 2 || !runs(list.Jobs[1]); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("the next job does not run: %+v", list)
		}
		must.Do(t, b.call("/list", Nothing{}, &list))
	}
}
