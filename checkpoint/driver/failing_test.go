// This file checks what becomes of a server that answers, and at which what it is told fails again and again.

package driver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/internal/must"
)

// fails has these actions fail on a server for as long as broken says so.
func (w *world) fails(server string, broken *atomic.Bool, actions ...checkpoint.Action) {
	broken.Store(true)
	w.servers[server].Meet = func(_ context.Context, o agent.Order) error {
		if broken.Load() && slices.Contains(actions, o.Effect.Action) {
			return errors.New("no disk")
		}
		return nil
	}
}

// cordoned waits until exactly these servers are cordoned, and returns for how long.
func (w *world) cordoned(servers ...string) time.Duration {
	w.t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	is := func(s *driver.State) bool {
		return len(s.Cordons) == len(servers) && !slices.ContainsFunc(servers, func(id string) bool { return s.Cordons[id] == "" })
	}
	if s, err := w.d.Await(ctx, is); err != nil {
		w.t.Fatalf("%v are cordoned, want %v", s.Cordons, servers)
	}
	return time.Since(began)
}

// tries asks for a new job on a server, and waits until nothing more is done for it.
func (w *world) tries(job, server string) driver.JobState {
	w.t.Helper()
	w.must(submit(job), adjust(job, server))
	return w.await(job, func(j *driver.JobState) bool { return in(checkpoint.Idle)(j) || in(checkpoint.Running)(j) })
}

// Nothing more is placed on a server where the starts of several jobs have failed. What is there stays, the reason is told,
// and it is tried again, after longer and longer, until something succeeds.
func TestFailingServerIsCordoned(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var broken atomic.Bool
		w.fails("s1", &broken, checkpoint.Resume)
		broken.Store(false)
		w.options.CordonAfter, w.options.CordonFor = 4, time.Minute
		w.open()
		healthy := w.runs("healthy", "s1", "s2")
		broken.Store(true)
		if j := w.tries("a", "s1"); j.Job.Phase != checkpoint.Idle {
			t.Fatalf("it runs: %+v", j.Job)
		}
		if s := w.d.State(); len(s.Cordons) > 0 {
			t.Errorf("%v are cordoned after three failures", s.Cordons)
		}
		w.must(submit("b"), adjust("b", "s1"))
		w.cordoned("s1")
		s := w.d.State()
		if why := s.Cordons["s1"]; !strings.Contains(why, "resume") || !strings.Contains(why, "no disk") {
			t.Errorf("the reason is %q", why)
		}
		must.Same(t, []bool{s.Servers[0].Cordoned, s.Servers[1].Cordoned}, []bool{true, false}, "s1 and s2 are cordoned")
		w.must(submit("c"))
		must.Err(t, w.d.Apply(t.Context(), adjust("c", "s1")), apportion.ErrConflict, "a target on it")
		if took := w.cordoned(); took < 58*time.Second || took > 62*time.Second {
			t.Errorf("it was cordoned for %v", took)
		}
		// Each time the next failure is enough, and it takes twice as long.
		for i, want := range []time.Duration{2, 4, 8, 16, 16} {
			w.must(submit(fmt.Sprint("d", i)), adjust(fmt.Sprint("d", i), "s1"))
			if took := w.cordoned("s1"); took > 2*time.Second {
				t.Errorf("it took %v, and more than one failure", took)
			}
			if took := w.cordoned(); took < want*time.Minute-2*time.Second || took > want*time.Minute+2*time.Second {
				t.Errorf("it was cordoned for %v, want %d minutes", took, want)
			}
		}
		broken.Store(false)
		if j := w.tries("e", "s1"); j.Job.Phase != checkpoint.Running {
			t.Errorf("%+v", j.Job)
		}
		// All is forgotten.
		broken.Store(true)
		w.tries("f", "s1")
		if s := w.d.State(); len(s.Cordons) > 0 {
			t.Errorf("%v are cordoned after three failures", s.Cordons)
		}
		if j := w.await("healthy", on("s1", "s2")); j.Job.Attempt != healthy.Job.Attempt {
			t.Errorf("it was disturbed: %+v", j.Job)
		}
		w.close()
	})
}

// One job alone may be at fault itself, and what fails on all servers of a job is no fault of one. None counts by default.
func TestJobsAtFault(t *testing.T) {
	for name, c := range map[string]struct {
		after   int
		servers []string // where starts fail
		targets [][]string
	}{
		"one job":         {2, []string{"s1"}, [][]string{{"s1"}}},
		"all its servers": {2, []string{"s1", "s2"}, [][]string{{"s1", "s2"}, {"s1", "s2"}, {"s1", "s2"}}},
		"no limit":        {0, []string{"s1"}, [][]string{{"s1"}, {"s1"}, {"s1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				var broken atomic.Bool
				for _, id := range c.servers {
					w.fails(id, &broken, checkpoint.Create)
				}
				w.options.CordonAfter = c.after
				w.open()
				for i, target := range c.targets {
					job := fmt.Sprint("job", i)
					w.must(submit(job), adjust(job, target...))
					w.await(job, in(checkpoint.Idle))
				}
				if s := w.d.State(); len(s.Cordons) > 0 {
					t.Errorf("%v are cordoned", s.Cordons)
				}
				w.close()
			})
		})
	}
}

// That a job cannot be ended is the server's fault, whatever the job. It is tried until it is ended, as ever.
func TestCannotEnd(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var broken atomic.Bool
		w.options.CordonAfter, w.options.CordonFor = 3, time.Hour
		w.fails("s1", &broken, checkpoint.Stop)
		w.open()
		w.runs("stubborn", "s1")
		w.must(checkpoint.Cancel{Job: "stubborn"})
		w.cordoned("s1")
		if why := w.d.State().Cordons["s1"]; !strings.Contains(why, "stop") {
			t.Errorf("the reason is %q", why)
		}
		broken.Store(false)
		w.await("stubborn", in(checkpoint.Ended))
		w.close()
	})
}

// Where most servers fail it is something else: no more than half of them are cordoned.
func TestNotAllAreCordoned(t *testing.T) {
	for n, want := range []int{0, 0, 1, 1, 2} {
		slots := map[string]int64{}
		for i := range n {
			slots[fmt.Sprint("s", i)] = 4
		}
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, slots)
			var broken atomic.Bool
			w.options.CordonAfter, w.options.CordonFor = 3, time.Hour
			for id := range slots {
				w.fails(id, &broken, checkpoint.Create)
			}
			w.open()
			for i := range 3 * n {
				job := fmt.Sprint("job", i)
				w.must(submit(job))
				if err := w.d.Apply(t.Context(), adjust(job, fmt.Sprint("s", i%n))); err == nil {
					w.await(job, in(checkpoint.Idle))
				}
			}
			if s := w.d.State(); len(s.Cordons) != want {
				t.Errorf("%v of %d servers are cordoned, want %d", s.Cordons, n, want)
			}
			w.close()
		})
	}
}

// A server that does not answer is silent and no more. A cordon is on record, for the next driver as well.
func TestCordonIsOnRecord(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var broken atomic.Bool
		w.options.CordonAfter, w.options.CordonFor, w.options.Silence = 2, 10*time.Minute, time.Second
		w.fails("s1", &broken, checkpoint.Create)
		w.open()
		w.servers["s2"].set(nil, errors.New("no route to host"))
		w.must(submit("x"), submit("y"), adjust("x", "s2"), adjust("y", "s2"))
		w.quiet("s2")
		time.Sleep(5 * time.Second)
		if s := w.d.State(); len(s.Cordons) > 0 {
			t.Errorf("%v are cordoned, which do not answer", s.Cordons)
		}
		w.tries("a", "s1")
		w.must(submit("b"), adjust("b", "s1"))
		w.cordoned("s1")
		before := w.d.State().Cordons
		w.close()
		broken.Store(false)
		must.Do(t, errors.Join(w.start(), w.join("s1"), w.join("s3")))
		if s := w.d.State(); !cmp.Equal(s.Cordons, before) {
			t.Errorf("%v are cordoned, before %v", s.Cordons, before)
		}
		if took := w.cordoned(); took > 10*time.Minute || took < 9*time.Minute {
			t.Errorf("it was cordoned for another %v", took)
		}
		if j := w.tries("c", "s1"); j.Job.Phase != checkpoint.Running {
			t.Errorf("%+v", j.Job)
		}
		w.close()
	})
}
