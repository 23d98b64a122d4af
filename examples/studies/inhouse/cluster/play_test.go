// This file tests what a play tells and notes of jobs, and that it submits a job once whatever its master does.

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/checkpoint/workerlog"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
)

// A line is worth printing for a job that runs, waits or has ended, and says why a running one has not got what was asked for.
func TestShown(t *testing.T) {
	running := checkpoint.Job{Phase: checkpoint.Running, Containers: []string{"n1", "n2"}}
	refused := running
	refused.Reason = apportion.Reason{Constraint: "save", Text: "attempt 3: the disk is full"}
	for want, job := range map[string]checkpoint.Job{
		"runs on n1 n2":                          running,
		"runs on n1 n2 (save: the disk is full)": refused,
		string(checkpoint.Completed):             {Phase: checkpoint.Ended, Ending: checkpoint.Completed},
		string(checkpoint.Idle):                  {Phase: checkpoint.Idle},
		string(checkpoint.Waiting):               {Phase: checkpoint.Waiting},
		"":                                       {Phase: checkpoint.Saving, Containers: []string{"n1"}},
	} {
		must.Equal(t, shown(&master.View{Job: job}), want, job, "is shown as")
	}
}

func TestIsDuplicate(t *testing.T) {
	twice := fmt.Sprintf("job %q %v", "a", apportion.ErrDuplicate)
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errors.New(twice), false}, {&wire.StatusError{Status: 422, Text: twice}, true},
		{fmt.Errorf("submit: %w", &wire.StatusError{Status: 422, Text: twice}), true},
		{&wire.StatusError{Status: 500, Text: twice}, false}, {&wire.StatusError{Status: 422, Text: "job \"a\" is out of range"}, false},
	} {
		must.Equal(t, isDuplicate(test.err), test.want, test.err)
	}
}

// A step counts as confirmed from the first time that it was shown, and no earlier step after it counts at all.
func TestConfirmed(t *testing.T) {
	at := time.Unix(100, 0)
	sample := func(after int, steps map[string]int64) Sample {
		s := Sample{Seen: at.Add(time.Duration(after) * time.Second)}
		for _, name := range []string{"a", "b"} {
			if step, there := steps[name]; there {
				s.List.Jobs = append(s.List.Jobs, master.View{Job: checkpoint.Job{Name: name}, Checkpoint: checkpoint.Confirmed{Number: step / 10, Step: step}})
			}
		}
		return s
	}
	got := confirmed([]Sample{
		sample(0, map[string]int64{"a": 5}), // number 0: nothing is confirmed yet
		sample(1, map[string]int64{"a": 10}), sample(2, map[string]int64{"a": 10, "b": 20}), sample(3, map[string]int64{"a": 30, "b": 10}),
	})
	second := func(n int) int64 { return at.Add(time.Duration(n) * time.Second).UnixNano() }
	want := []workerlog.Confirmed{{Job: "a", Step: 10, At: second(1)}, {Job: "b", Step: 20, At: second(2)}, {Job: "a", Step: 30, At: second(3)}}
	must.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "confirmed", got, want)
}

// stand is a master that answers /submit and /list by functions.
func stand(t *testing.T, submit func(master.Submission) error, list func() master.List) Place {
	t.Helper()
	p := Place(t.TempDir())
	secret := must.Have(p.Secret())(t)
	mux := http.NewServeMux()
	wire.Handle(mux, "/submit", secret.Gate(), func(_ context.Context, s master.Submission) (master.Nothing, error) {
		return master.Nothing{}, submit(s)
	}, wire.User)
	wire.Handle(mux, "/list", secret.Gate(), func(context.Context, master.Nothing) (master.List, error) { return list(), nil }, wire.User)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	must.Do(t, p.publish(server.URL))
	return p
}

// Jobs are submitted in their order and one after the other, and the play is over when all of them have ended. A master that had taken a
// job and died before it could say so calls it a duplicate, which is as good as taken.
func TestPlay(t *testing.T) {
	var mu sync.Mutex
	var taken []string
	var looks atomic.Int64
	p := stand(t, func(s master.Submission) error {
		mu.Lock()
		defer mu.Unlock()
		taken = append(taken, s.ID)
		if s.ID == "second" {
			return fmt.Errorf("job %q %w", s.ID, apportion.ErrDuplicate)
		}
		return nil
	}, func() master.List {
		mu.Lock()
		defer mu.Unlock()
		var l master.List
		n := looks.Add(1)
		for _, name := range taken {
			job := checkpoint.Job{Name: name, Phase: checkpoint.Running, Containers: []string{"n1"}}
			if n > 3 && len(taken) == 2 {
				job = checkpoint.Job{Name: name, Phase: checkpoint.Ended, Ending: checkpoint.Completed}
			}
			if n > 3 && n < 6 && len(taken) == 2 && name == "first" {
				job.Containers = []string{"n1"} // which are still being stopped: it has not ended before they are gone
			}
			l.Jobs = append(l.Jobs, master.View{Job: job})
		}
		return l
	})
	var out bytes.Buffer
	each := 0
	play := &Play{Cluster: &Cluster{Place: p}, Stdout: &out, Each: func(*Sample) error { each++; return nil }, Arrivals: []Arrival{
		{At: 30 * time.Millisecond, Job: submission("first")}, {At: 80 * time.Millisecond, Job: submission("second")},
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must.Do(t, play.Run(ctx))
	if fmt.Sprint(taken) != "[first second]" || each != len(play.Samples) || each < 6 {
		t.Errorf("taken %v, %d samples, %d calls of Each", taken, len(play.Samples), each)
	}
	// What has not changed is said once.
	must.Equal(t, strings.Count(out.String(), "runs on n1"), 2, "lines say that a job runs, one for each", &out)
	for _, line := range []string{"submitted first", "submitted second", string(checkpoint.Completed)} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in\n%s", line, &out)
		}
	}
}

// A play ends with its context and says how far it came, and with what Each says.
func TestPlayEnds(t *testing.T) {
	p := stand(t, func(master.Submission) error { return nil }, func() master.List {
		return master.List{Jobs: []master.View{{Job: checkpoint.Job{Name: "first", Phase: checkpoint.Running}}}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	play := &Play{Cluster: &Cluster{Place: p}, Stdout: new(bytes.Buffer), Arrivals: []Arrival{{Job: submission("first")}},
		Each: func(*Sample) error { cancel(); return nil }}
	if err := play.Run(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "0 of 1") {
		t.Errorf("cancelled: %v", err)
	}
	enough := errors.New("enough")
	play.Each = func(*Sample) error { return enough }
	must.Err(t, play.Run(t.Context()), enough)
}

func submission(id string) master.Submission {
	return master.Submission{Application: alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Min: 1, Max: 1, Demand: apportion.Resources{1}}}}
}
