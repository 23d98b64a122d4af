// This file checks what an agent throws away, and that nothing which comes late begins a job that is forgotten.

package agent_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/internal/flock"
	"github.com/apportion/apportion/internal/must"
)

// status asks the agent, and tells it what to forget.
func (b *bench) status(forget ...agent.Ended) agent.Status {
	b.t.Helper()
	s := must.Have(b.agent.Status(b.t.Context(), agent.Question{Epoch: 1 << 40, Heard: b.heard, Forget: forget}))(b.t)
	return s
}

// ended is the one job that has ended, of an attempt.
func ended(attempt int64) []agent.Ended { return []agent.Ended{{Job: "lr", Attempt: attempt}} }

func TestForget(t *testing.T) {
	b := newBench(t)
	b.config.Discard = true
	b.restart()
	b.must(checkpoint.Create, 3, 0)
	b.must(checkpoint.Resume, 3, 0)
	if s := b.status(agent.Ended{Job: "lr", Attempt: 3}); len(s.Ended) != 0 || len(s.Jobs) != 1 {
		t.Fatalf("%+v: a job that runs is forgotten, or said to have ended", s)
	}
	b.must(checkpoint.Stop, 3, 0)
	folder := filepath.Join(b.config.Shared, "lr")
	must.Have(os.Stat(folder))(t)
	if s := b.status(agent.Ended{Job: "lr", Attempt: 2}); !slices.Equal(s.Ended, ended(3)) {
		t.Fatalf("%+v, want attempt 3, which is another than the one to forget", s.Ended)
	}
	if s := b.status(ended(3)...); len(s.Ended) != 0 {
		t.Fatalf("%+v is not forgotten", s.Ended)
	}
	for n := 0; ; n++ {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if n > 2000 {
			t.Fatal("what the job has written stays")
		}
		time.Sleep(time.Millisecond)
	}
	late := func() {
		t.Helper()
		for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume, checkpoint.Save} {
			if r := b.do(checkpoint.Effect{Action: action, Attempt: 3}); r.Outcome != checkpoint.Failed {
				t.Errorf("%s of a job that is forgotten: %+v", action, r)
			}
		}
	}
	late()
	// A Stop is done whatever comes, and makes the attempt durable with the page that it leaves.
	b.must(checkpoint.Stop, 1, 0)
	b.restart()
	late()
	b.must(checkpoint.Create, 4, 0)
	b.must(checkpoint.Resume, 4, 0)
	if s := b.status(ended(3)...); len(s.Jobs) != 1 {
		t.Errorf("%+v: the next job of this name is not there", s)
	}
}

// Without Discard what a job has written is its user's.
func TestForgetKeepsOutput(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 3, 0)
	b.must(checkpoint.Resume, 3, 0)
	b.must(checkpoint.Stop, 3, 0)
	b.status(ended(3)...)
	time.Sleep(20 * time.Millisecond)
	must.Have(os.Stat(filepath.Join(b.config.Shared, "lr", "3")))(t)
}

// One answer does not grow with all that ever ran.
func TestEndedIsBounded(t *testing.T) {
	b := newBench(t)
	for i := range 103 {
		for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Stop} {
			e := checkpoint.Effect{Action: action, Attempt: int64(i + 1), Job: fmt.Sprintf("j%03d", i), Epoch: 1}
			if r, err := b.agent.Do(t.Context(), agent.Order{Effect: e, Heard: b.heard}); err != nil || r.Outcome != checkpoint.Done {
				t.Fatalf("%+v, %v", r, err)
			}
		}
	}
	s := b.status()
	must.Equal(t, len(s.Ended), 100, "have ended")
	if s := b.status(s.Ended...); len(s.Ended) != 3 {
		t.Errorf("%d are left", len(s.Ended))
	}
}

// A server has one copy of a job's checkpoint, however often that is resumed.
func TestOneCopy(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.must(checkpoint.Save, 1, 7)
	folder := filepath.Join(b.config.Restored, "lr")
	must.Do(t, os.MkdirAll(filepath.Join(folder, ".loading-1"), 0o700))
	for attempt := int64(2); attempt < 6; attempt++ {
		b.must(checkpoint.Stop, attempt-1, 0)
		b.must(checkpoint.Create, attempt, 0)
		b.must(checkpoint.Resume, attempt, 7)
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) != 1 || entries[0].Name() != fmt.Sprint(attempt) {
			t.Fatalf("attempt %d: %v, %v", attempt, entries, err)
		}
	}
}

// Servers that share a folder fetch for one run side by side: what one is at is not thrown away by another, or the run would begin from
// an empty copy.
func TestFetchesOfOthersStay(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.must(checkpoint.Save, 1, 7)
	b.must(checkpoint.Stop, 1, 0)
	under := filepath.Join(b.config.Restored, "lr", ".loading-2")
	must.Do(t, os.MkdirAll(under, 0o700))
	part := filepath.Join(under, "model")
	must.Do(t, os.WriteFile(part, []byte("half"), 0o600))
	lock := must.Have(os.Open(under))(t)
	defer lock.Close()
	if held, err := flock.Try(lock); !held {
		t.Skip(err)
	}
	b.must(checkpoint.Create, 2, 0)
	b.must(checkpoint.Resume, 2, 7)
	must.Have(os.Stat(part))(t, "what another server fetches is gone")
}
