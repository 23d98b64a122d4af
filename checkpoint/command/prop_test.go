//go:build linux

// This file compares the runner with a model of a few lines, over random orders of calls and restarts.

package command_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// model is what a caller may expect of the runs of one job.
type model struct {
	highest          int64
	started, stopped map[int64]bool
}

// call returns the error that a method has, nil for none.
func (m *model) call(method string, attempt int64) error {
	if attempt < m.highest {
		return checkpoint.ErrFenced
	}
	if method != "progress" && method != "save" {
		m.highest = attempt
	}
	switch {
	case method == "stop":
		m.stopped[attempt] = true
	case method == "resume" && m.stopped[attempt]:
		return command.ErrStopped
	case method == "resume":
		m.started[attempt] = true
	case method == "save" && m.stopped[attempt]:
		return command.ErrStopped
	case !m.started[attempt]:
		return command.ErrNotStarted
	case method == "save": // nobody answers
		return context.DeadlineExceeded
	}
	return nil
}

// alive returns how many processes there are of each run. Only Resume and Stop end those of older runs.
func (m *model) alive(before map[string]int, method string, containers int) map[string]int {
	now := map[string]int{}
	switch {
	case method == "progress" || method == "save":
		return before
	case method == "resume" && m.started[m.highest] && !m.stopped[m.highest]:
		now[fmt.Sprintf("run-%d", m.highest)] = containers
	case method == "resume" && m.stopped[m.highest]:
		return before
	}
	return now
}

func TestOrders(t *testing.T) {
	calls := 0
	rapid.Check(t, func(r *rapid.T) {
		work := must.Have(os.MkdirTemp("", "orders"))(t)
		defer os.RemoveAll(work)
		s := &site{work: work, dir: work}
		s.runner(t, nil, "sleep")
		defer func() { s.sweep(t); s.Close() }()
		containers := rapid.IntRange(1, 2).Draw(r, "containers")
		m := &model{started: map[int64]bool{}, stopped: map[int64]bool{}}
		alive := map[string]int{}
		for range rapid.IntRange(1, 8).Draw(r, "calls") {
			method := rapid.SampledFrom([]string{"resume", "resume", "stop", "progress", "save", "restart"}).Draw(r, "method")
			if method == "restart" {
				s.Close()
				s.runner(t, nil, "sleep")
				continue
			}
			run := s.run(rapid.Int64Range(1, 4).Draw(r, "attempt"))
			for len(run.Containers) < containers {
				run.Containers = append(run.Containers, "here")
			}
			want := m.call(method, run.Attempt)
			if want == nil {
				alive = m.alive(alive, method, containers)
			}
			must.Err(r, s.call(method, run), want, method, run.Attempt)
			got := map[string]int{}
			for attempt, pids := range s.processes(t) {
				got[attempt] = len(pids)
			}
			must.Equal(r, fmt.Sprint(got), fmt.Sprint(alive), "after", method, run.Attempt, "alive")
			calls++
		}
	})
	t.Logf("%d calls", calls)
}

func (s *site) call(method string, run runner.Run) error {
	ctx := context.Background()
	switch method {
	case "resume":
		return s.Resume(ctx, run)
	case "stop":
		return s.Stop(ctx, run)
	case "save":
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		_, err := s.Save(ctx, run)
		return err
	default:
		_, err := s.Progress(ctx, run)
		return err
	}
}
