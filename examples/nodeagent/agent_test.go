//go:build linux

// This file checks the agent with a writer that only notes what it is told.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/nodeagent/train"
	"github.com/apportion/apportion/growth"
)

// noted is a writer that notes its calls.
type noted struct {
	calls []string
	fails error
}

func (n *noted) name() string { return "noted" }
func (n *noted) add(id string, _ int) error {
	n.calls = append(n.calls, "add "+id)
	return nil
}

func (n *noted) limit(id string, share float64) error {
	n.calls = append(n.calls, fmt.Sprintf("limit %s %.2f", id, share))
	return n.fails
}

func (n *noted) remove(id string) error {
	n.calls = append(n.calls, "remove "+id)
	return nil
}

func (n *noted) close() error { return nil }

// newAgent returns an agent that calls every job slow at once.
func newAgent(t *testing.T, w writer) *agent {
	t.Helper()
	cpu, err := lastCPU()
	if err != nil {
		t.Fatal(err)
	}
	flowcon, err := growth.NewFlowCon(growth.FlowConConfig{Interval: 20 * time.Millisecond, Alpha: 1e9, Kinds: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &agent{log: io.Discard, cpu: cpu, writer: w, flowcon: flowcon}
}

func TestAgentLimitsTheConvergedJob(t *testing.T) {
	w := &noted{}
	jobs := []job{
		{"old", 0, train.Job{Epochs: 1200, Hidden: 32, Rate: 0.01, Seed: 1}},
		{"new", 600 * time.Millisecond, train.Job{Epochs: 50, Hidden: 32, Rate: 0.01, Seed: 2}},
	}
	times, err := newAgent(t, w).run(t.Context(), jobs)
	if err != nil || len(times) != 2 || times[0] <= 0 || times[1] <= 0 {
		t.Fatalf("times %v, %v", times, err)
	}
	calls := strings.Join(w.calls, ", ")
	// Alone, old has the CPU; when new arrives, a quarter; FlowCon's first limit of new is 1.
	want := "add old, limit old 1.00, add new, limit old 0.25, limit new 1.00"
	if !strings.HasPrefix(calls, want) {
		t.Errorf("calls %s, want them to begin with %s", calls, want)
	}
	if !strings.Contains(calls, "remove old") || !strings.Contains(calls, "remove new") {
		t.Errorf("calls %s, want both removed", calls)
	}
}

func TestAgentFails(t *testing.T) {
	good := job{"a", 0, train.Job{Epochs: 100000, Hidden: 32, Rate: 0.01}}
	own := errors.New("own")
	if _, err := newAgent(t, &noted{fails: own}).run(t.Context(), []job{good}); !errors.Is(err, own) {
		t.Errorf("writer's error: %v", err)
	}
	bad := job{"b", 0, train.Job{}}
	if _, err := newAgent(t, &noted{}).run(t.Context(), []job{bad, good}); err == nil || !strings.Contains(err.Error(), "b: ") {
		t.Errorf("job that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newAgent(t, &noted{}).run(ctx, []job{good}); err == nil {
		t.Error("no error when cancelled")
	}
}

func TestReadSkipsOtherLines(t *testing.T) {
	p := &process{}
	if _, ok := p.newest(); ok {
		t.Error("a loss before the first line")
	}
	if err := p.read(strings.NewReader("starting\n1 0.5\nx y\n2 NaN\n3 0.25 extra\n4 is warm\n\n")); err != nil {
		t.Fatal(err)
	}
	if loss, ok := p.newest(); !ok || loss != 0.25 || p.values != 3 {
		t.Errorf("loss %v after %d values, want 0.25 after 3", loss, p.values)
	}
}
