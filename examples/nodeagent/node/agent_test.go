//go:build linux

// This file checks the agent with a writer that only notes what it is told.

package node

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/nodeagent/train"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/internal/must"
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

func (n *noted) Name() string { return "noted" }
func (n *noted) add(p *Process) error {
	n.note("add " + p.Name)
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

func (n *noted) Close() error { return nil }

// scripted is a runner of jobs that print one loss and end when they are told to.
type scripted struct {
	ends map[string]chan struct{}
}

func (s scripted) start(ctx context.Context, j *Job) (*Process, error) {
	wait := func() error {
		select {
		case <-s.ends[j.Name]:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &Process{Job: j, pid: os.Getpid(), output: io.NopCloser(strings.NewReader("1 0.5\n")), wait: wait}, nil
}

// TestMain lets the test program be a training process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "train" {
		if err := train.Command(os.Stdout, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func training(t *testing.T, name string, job train.Job) Job {
	t.Helper()
	program := must.Have(os.Executable())(t)
	return Job{Name: name, Argv: append([]string{program, "train"}, job.Arguments()...), Read: train.ReadLine}
}

// newAgent returns an agent that calls every job slow at once.
func newAgent(t *testing.T, r Runner, w Writer) *Agent {
	t.Helper()
	flowcon := must.Have(flowcon.New(flowcon.Config{Interval: 20 * time.Millisecond, Alpha: 1e9, Kinds: 1}, nil))(t)
	return &Agent{Log: io.Discard, Runner: r, Writer: w, FlowCon: flowcon}
}

// Jobs end when the writer has been told what is wanted, so that no step depends on their speed.
func TestAgentLimitsTheConvergedJob(t *testing.T) {
	jobs := []Job{{Name: "old", Read: train.ReadLine}, {Name: "new", Start: 2 * time.Second, Read: train.ReadLine}}
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
	times, err := newAgent(t, r, w).Run(t.Context(), jobs)
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
	good := training(t, "a", train.Job{Epochs: 100000, Hidden: 32, Rate: 0.01})
	own := errors.New("own")
	must.Fail(newAgent(t, r, &noted{fails: own}).Run(t.Context(), []Job{good}))(t, own, "writer's error")
	bad := training(t, "b", train.Job{})
	if _, err := newAgent(t, r, &noted{}).Run(t.Context(), []Job{bad, good}); err == nil || !strings.Contains(err.Error(), "b: ") {
		t.Errorf("job that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(newAgent(t, r, &noted{}).Run(ctx, []Job{good}))(t, must.ErrAny, "no error when cancelled")
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
	p := &Process{Job: &Job{Read: train.ReadLine}, output: output, wait: func() error { <-ended; return nil }}
	finished := make(chan error, 1)
	go func() { finished <- p.finish() }()
	select {
	case err := <-finished:
		must.Err(t, err, bufio.ErrTooLong)
	case <-time.After(time.Minute):
		t.Error("still waiting after a minute")
	}
}

func TestReadSkipsOtherLines(t *testing.T) {
	p := &Process{Job: &Job{Read: train.ReadLine}}
	if _, _, ok := p.newest(); ok {
		t.Error("a loss before the first line")
	}
	must.Do(t, p.read(strings.NewReader("starting\n1 0.5\nx y\n2 NaN\n3 0.25 extra\n4 is warm\n\n")))
	if loss, first, ok := p.newest(); !ok || loss != 0.25 || p.values != 3 || first.value != 0.5 {
		t.Errorf("loss %v after %d values, the first %v; want 0.25 after 3, the first 0.5", loss, p.values, first.value)
	}
}

// The first reading is the job's first value, at its own time, however late it is taken; then the newest one.
func TestReadings(t *testing.T) {
	origin := time.Now().Add(-time.Minute)
	p := &Process{Job: &Job{Name: "a", Read: train.ReadLine}, pid: os.Getpid()}
	p.Better = growth.SmallerIsBetter
	if r := p.reading(time.Minute, origin); !r.Missing {
		t.Errorf("a reading before the first line: %+v", r)
	}
	must.Do(t, p.read(strings.NewReader("1 8\n2 4\n3 2\n")))
	for _, want := range []float64{8, 2} {
		r := p.reading(time.Hour, origin)
		first := want == 8
		if r.Missing || r.Value != want || r.Better != growth.SmallerIsBetter || (r.At < time.Hour) != first || (r.Usage == nil) != first {
			t.Errorf("reading %+v, want value %v, and a usage but for the first", r, want)
		}
		p.opened = true
	}
}

// Samples tell the CPU time and the limit of each job.
func TestSamples(t *testing.T) {
	a := newAgent(t, local{lastOf(t)}, &noted{})
	a.Every = 5 * time.Millisecond
	must.Have(a.Run(t.Context(), []Job{training(t, "a", train.Job{Epochs: 300, Hidden: 64, Rate: 0.01})}))(t)
	if len(a.Samples) == 0 {
		t.Fatal("no samples")
	}
	var before Sample
	for _, s := range a.Samples {
		if s.Job != "a" || s.At < before.At || s.Used < before.Used || s.Limit != 1 {
			t.Errorf("sample %+v after %+v", s, before)
		}
		before = s
	}
}

// A sample between two checks is a reading of a job that FlowCon knows, and of no other.
func TestNote(t *testing.T) {
	decider := must.Have(flowcon.New(flowcon.Config{Interval: time.Hour, Alpha: 0.05, Kinds: 1}, &flowcon.Options{Normalization: growth.Raw}))(t)
	a := &Agent{FlowCon: decider, origin: time.Now().Add(-time.Minute)}
	p := &Process{Job: &Job{Name: "a", Read: train.ReadLine}, pid: os.Getpid()}
	must.Do(t, p.read(strings.NewReader("1 8\n2 4\n")))
	var decision flowcon.Decision
	must.Do(t, decider.Step(0, []flowcon.Reading{{Job: "a", At: 0, Value: 8}}, &decision))
	step := func(now time.Duration) float64 {
		must.Do(t, decider.Step(now, []flowcon.Reading{{Job: "a", Missing: true}}, &decision))
		standing, _ := decider.Standing("a")
		return standing.Growth[0]
	}
	a.note(p, time.Minute) // not opened: the first value is the check's
	must.Equal(t, step(time.Hour), 0, "growth", "without a reading")
	p.opened = true
	a.note(p, 90*time.Minute)
	if got := step(2 * time.Hour); !(got > 0) {
		t.Errorf("growth %v after a reading between two checks", got)
	}
}

// What starts in a group is in it, and the group goes when it has ended.
func TestGroup(t *testing.T) {
	g, err := NewGroup("test", true)
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `echo $$ >"$0" && exec sleep 600`, g.Procs)
	must.Do(t, cmd.Start())
	eventually(t, "joins", func() bool { return content(t, g.Procs) == fmt.Sprint(cmd.Process.Pid) })
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed
	must.Do(t, g.Join())
	must.Equal(t, content(t, g.Procs), fmt.Sprint(os.Getpid()), "processes", os.Getpid())
	must.Do(t, g.Close())
	must.Fail(os.Stat(g.Procs))(t, os.ErrNotExist, "the group is still there")
}
