//go:build linux

// This file checks the agent with a writer that only notes what it is told.

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/nodeagent/train"
	"github.com/apportion/apportion/growth"
)

// noted is a writer that notes its calls.
type noted struct {
	calls []string
	after func(call string) // called after each, if set
	fails error
}

func (n *noted) note(call string) {
	n.calls = append(n.calls, call)
	if n.after != nil {
		n.after(call)
	}
}

func (n *noted) name() string { return "noted" }
func (n *noted) add(p *process) error {
	n.note("add " + p.name)
	return nil
}

func (n *noted) limit(id string, share float64) error {
	n.note(fmt.Sprintf("limit %s %.2f", id, share))
	return n.fails
}

func (n *noted) remove(id string) error {
	n.note("remove " + id)
	return nil
}

func (n *noted) close() error { return nil }

// scripted is a runner of jobs that print one loss and end when they are told to.
type scripted struct {
	ends map[string]chan struct{}
}

func (s scripted) start(ctx context.Context, j job) (*process, error) {
	wait := func() error {
		select {
		case <-s.ends[j.name]:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &process{job: j, pid: os.Getpid(), output: io.NopCloser(strings.NewReader("1 0.5\n")), wait: wait}, nil
}

// newAgent returns an agent that calls every job slow at once.
func newAgent(t *testing.T, r runner, w writer) *agent {
	t.Helper()
	flowcon, err := growth.NewFlowCon(growth.FlowConConfig{Interval: 20 * time.Millisecond, Alpha: 1e9, Kinds: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &agent{log: io.Discard, runner: r, writer: w, flowcon: flowcon}
}

// Jobs end when the writer has been told what is wanted, so that no step depends on their speed.
func TestAgentLimitsTheConvergedJob(t *testing.T) {
	jobs := []job{{name: "old"}, {name: "new", start: 2 * time.Second}}
	r := scripted{map[string]chan struct{}{"old": make(chan struct{}), "new": make(chan struct{})}}
	w := &noted{}
	ends := map[string]func(){ // by the call after which a job ends
		"limit new":  sync.OnceFunc(func() { close(r.ends["new"]) }),
		"remove new": sync.OnceFunc(func() { close(r.ends["old"]) }),
	}
	w.after = func(call string) {
		for begin, end := range ends {
			if strings.HasPrefix(call, begin) {
				end()
			}
		}
	}
	times, err := newAgent(t, r, w).run(t.Context(), jobs)
	if err != nil || len(times) != 2 || times[0] <= 0 || times[1] <= 0 {
		t.Fatalf("times %v, %v", times, err)
	}
	calls := strings.Join(w.calls, ", ")
	// Alone, old has the CPU; when new arrives, a quarter; FlowCon's first limit of new is 1.
	want := "add old, limit old 1.00, add new, limit old 0.25, limit new 1.00"
	if !strings.HasPrefix(calls, want) {
		t.Errorf("calls %s, want them to begin with %s", calls, want)
	}
	if !strings.HasSuffix(calls, "remove old") || !strings.Contains(calls, "remove new") {
		t.Errorf("calls %s, want both removed", calls)
	}
}

func TestAgentFails(t *testing.T) {
	r := local{lastOf(t)}
	good := job{"a", 0, train.Job{Epochs: 100000, Hidden: 32, Rate: 0.01}}
	own := errors.New("own")
	if _, err := newAgent(t, r, &noted{fails: own}).run(t.Context(), []job{good}); !errors.Is(err, own) {
		t.Errorf("writer's error: %v", err)
	}
	bad := job{"b", 0, train.Job{}}
	if _, err := newAgent(t, r, &noted{}).run(t.Context(), []job{bad, good}); err == nil || !strings.Contains(err.Error(), "b: ") {
		t.Errorf("job that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newAgent(t, r, &noted{}).run(ctx, []job{good}); err == nil {
		t.Error("no error when cancelled")
	}
}

// A job whose output cannot be read is an error, and is not left waiting for its reader.
func TestFinishOfUnreadableOutput(t *testing.T) {
	output, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return
			}
		}
	}()
	p := &process{output: output, wait: func() error { <-ended; return nil }}
	finished := make(chan error, 1)
	go func() { finished <- p.finish() }()
	select {
	case err := <-finished:
		if !errors.Is(err, bufio.ErrTooLong) {
			t.Errorf("error %v, want %v", err, bufio.ErrTooLong)
		}
	case <-time.After(time.Minute):
		t.Error("still waiting after a minute")
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
