// This file checks what a driver does for its caller, and what it makes of agents, stores and journals that
// hang, refuse or die. Time is that of the test's bubble: an hour takes as long as its events.

package driver_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

// bubble runs a test in a world with two servers of four slots and one of one.
func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, newWorld(t, map[string]int64{"s1": 4, "s2": 4, "s3": 1}))
	})
}

// running runs a test in the world of bubble between the start and the end of its driver.
func running(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	bubble(t, func(t *testing.T, w *world) {
		w.open()
		test(t, w)
		w.close()
	})
}

func TestJobRunsMovesAndEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var traced []checkpoint.Action
		w.options.Trace = func(tr driver.Traced) {
			traced = append(traced, tr.Effect.Action)
			if tr.Reply.Outcome != checkpoint.Done || tr.Reply.ID != tr.Effect.ID || tr.Replied.Before(tr.Issued) {
				t.Errorf("%+v", tr)
			}
		}
		w.open()
		w.runs("lr", "s1", "s1", "s2")
		w.servers["s1"].Work(5)
		w.await("lr", func(j *driver.JobState) bool { return j.Progress.Step == 5 && j.Progress.Running })
		w.must(adjust("lr", "s2", "s3"))
		w.await("lr", on("s2", "s3"))
		must.Equal(t, w.servers["s1"].Containers("lr"), 0, "containers are left on s1")
		w.servers["s2"].Work(4)
		w.servers["s2"].Finish("lr")
		if j := w.await("lr", in(checkpoint.Ended)); j.Job.Ending != checkpoint.Completed || j.Progress.Step != 9 || !j.Progress.Done {
			t.Errorf("%+v", j)
		}
		w.must(checkpoint.Forget{Job: "lr"})
		if s := w.d.State(); len(s.Jobs) != 0 {
			t.Errorf("%+v", s.Jobs)
		}
		w.close()
		want := []checkpoint.Action{"create", "resume", "confirm", "save", "verify", "stop", "release", "create", "resume", "confirm", "stop", "release"}
		must.Same(t, traced, want)
	})
}

// A job that has moved is not missed where it was before.
func TestMovedJobIsNotMissed(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1", "s2")
		w.must(adjust("lr", "s2", "s3"))
		moved := w.await("lr", on("s2", "s3"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		s := w.d.State()
		if j, _ := s.Job("lr"); j.Job.Attempt != moved.Job.Attempt {
			t.Errorf("%+v", j.Job)
		}
	})
}

// The process of the first container leads: what another one says of the work's end is not the end.
func TestFirstContainerLeads(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1", "s2")
		w.servers["s2"].Work(100)
		w.servers["s2"].Finish("lr")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		s := w.d.State()
		if j, _ := s.Job("lr"); j.Job.Phase != checkpoint.Running || j.Progress.Step != 0 {
			t.Errorf("%+v", j)
		}
	})
}

// Processes that die, and attempts that an agent does not know any more, are resumed from the checkpoint.
func TestDeathsAreNoticed(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		first := w.runs("lr", "s1", "s2")
		w.servers["s1"].Work(7)
		w.must(checkpoint.Checkpoint{Job: "lr"})
		w.await("lr", func(j *driver.JobState) bool { return j.Job.Newest().Step == 7 && on("s1", "s2")(j) })
		w.servers["s2"].Kill("lr")
		again := func(before driver.JobState) driver.JobState {
			return w.await("lr", func(j *driver.JobState) bool { return j.Job.Attempt > before.Job.Attempt && on("s1", "s2")(j) })
		}
		second := again(first)
		wantReason(t, second, "exited")
		w.await("lr", func(j *driver.JobState) bool { return j.Progress.Step == 7 })
		s := w.servers["s1"]
		s.mu.Lock()
		s.lie = func(status agent.Status) agent.Status {
			status.Jobs = slices.DeleteFunc(status.Jobs, func(j agent.JobStatus) bool { return j.Attempt == second.Job.Attempt })
			return status
		}
		s.mu.Unlock()
		third := again(second)
		if !strings.Contains(third.Job.Reason.Text, "does not know of it") {
			t.Errorf("%+v", third.Job.Reason)
		}
	})
}

// An agent that tells of an earlier attempt does not know of the one that runs.
func TestStatusOfEarlierAttempt(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		first := w.runs("lr", "s1")
		s := w.servers["s1"]
		s.mu.Lock()
		s.lie = func(status agent.Status) agent.Status {
			for i := range status.Jobs {
				if status.Jobs[i].Attempt == first.Job.Attempt {
					status.Jobs[i].Attempt--
				}
			}
			return status
		}
		s.mu.Unlock()
		j := w.await("lr", func(j *driver.JobState) bool { return j.Job.Attempt > first.Job.Attempt && on("s1")(j) })
		wantReason(t, j, "exited")
	})
}

// A server that is silent for longer than the grace is lost, and its job goes on elsewhere. It may come back.
func TestSilentServer(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1", "s2")
		began := time.Now()
		w.servers["s1"].set(nil, errors.New("connection refused"))
		w.await("lr", on("s2"))
		if took := time.Since(began); took < w.config.Grace || took > w.config.Grace+5*time.Second {
			t.Errorf("the server was given up after %v", took)
		}
		if s := w.d.State(); len(s.Servers) != 2 {
			t.Errorf("%+v", s.Servers)
		}
		w.servers["s1"].Forget()
		w.servers["s1"].set(nil, nil)
		must.Do(t, w.join("s1"))
		w.must(adjust("lr", "s1", "s1"))
		w.await("lr", on("s1", "s1"))
	})
}

// A server that is lost is not spoken to any more, also when it could answer again: a word would renew the lease
// of jobs that run elsewhere.
func TestLostServerIsNotAsked(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1", "s2")
		lost := w.servers["s1"]
		lost.set(nil, errors.New("connection refused"))
		w.await("lr", on("s2"))
		lost.set(nil, nil)
		synctest.Wait()
		before := lost.asked
		time.Sleep(time.Minute)
		synctest.Wait()
		if lost.asked != before || w.d.Agent("s1") != nil {
			t.Errorf("it was asked %d times", lost.asked-before)
		}
	})
}

// A server whose agent never joins a new driver is lost, too, after the grace and not before.
func TestServerThatDoesNotJoin(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1", "s2")
		w.close()
		time.Sleep(time.Hour)
		must.Do(t, w.start())
		began := time.Now()
		must.Do(t, w.join("s2"))
		w.await("lr", on("s2"))
		if took := time.Since(began); took < w.config.Grace || took > w.config.Grace+5*time.Second {
			t.Errorf("the server was given up after %v", took)
		}
	})
}

// Effects for a server whose agent has not joined yet wait for it: that is no failure.
func TestEffectsWaitForAgents(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1")
		w.close()
		w.machine.Retries = -1 // one failure would be the end
		must.Do(t, w.start())
		w.must(adjust("lr", "s2"))
		time.Sleep(lease / 2)
		for id := range w.servers {
			must.Do(t, w.join(id))
		}
		if j := w.await("lr", on("s2")); j.Job.Reason.Constraint != "" {
			t.Errorf("%+v", j.Job.Reason)
		}
	})
}

// An agent that hangs in one order holds up that job only, and the order fails when its time is over.
func TestHungOrder(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		release := make(chan struct{})
		w.servers["s1"].Meet = func(_ context.Context, o agent.Order) error {
			if o.Effect.Job == "stuck" && o.Effect.Action == checkpoint.Resume {
				<-release // whatever the context says
			}
			return nil
		}
		w.open()
		w.must(submit("stuck"), adjust("stuck", "s1"))
		w.await("stuck", in(checkpoint.Resuming))
		began := time.Now()
		w.runs("free", "s1", "s2")
		if took := time.Since(began); took > time.Second {
			t.Errorf("the other job waited for %v", took)
		}
		j := w.await("stuck", in(checkpoint.Idle))
		wantReason(t, j, "resume")
		if !strings.Contains(j.Job.Reason.Text, "deadline exceeded") {
			t.Errorf("%+v", j.Job.Reason)
		}
		w.end()
		began = time.Now()
		if err := over(t, w.ended); err != nil || time.Since(began) > 0 {
			t.Errorf("the driver ended with %v after %v", err, time.Since(began))
		}
		close(release)
	})
}

// An agent that hangs in questions is lost after the grace, whatever it does with contexts, and neither that
// nor the end of the driver waits for it.
func TestHungQuestion(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.open()
		w.runs("lr", "s1", "s2")
		release := make(chan struct{})
		w.servers["s1"].set(release, nil)
		w.await("lr", on("s2"))
		must.Err(t, w.join("s1"), context.DeadlineExceeded, "joined")
		w.servers["s2"].set(release, nil)
		time.Sleep(time.Second)
		began := time.Now()
		w.close()
		if took := time.Since(began); took > 0 {
			t.Errorf("the end took %v", took)
		}
		close(release)
	})
}

// What an agent refuses or cannot do leads where the machine's table says.
func TestFailingOrders(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		fail := checkpoint.Create
		w.servers["s3"].Meet = func(_ context.Context, o agent.Order) error {
			if o.Effect.Action == fail {
				return errors.New("told to")
			}
			return nil
		}
		w.open()
		w.must(submit("lr"), adjust("lr", "s3"))
		j := w.await("lr", in(checkpoint.Idle))
		wantReason(t, j, "create")
		if want := `server "s3": told to`; j.Job.Reason.Text != want {
			t.Errorf("%q, want %q", j.Job.Reason.Text, want)
		}
		fail = checkpoint.Save
		w.must(adjust("lr", "s3"))
		w.await("lr", on("s3"))
		w.must(adjust("lr", "s1"))
		wantReason(t, w.await("lr", func(j *driver.JobState) bool { return on("s3")(j) && j.Job.Reason.Constraint != "" }), "save")
		w.close()
	})
}

// An effect on several servers is as bad as on the worst of them.
func TestWorstReplyCounts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.servers["s2"].Meet = func(_ context.Context, o agent.Order) error {
			if o.Effect.Action == checkpoint.Confirm && o.Effect.Attempt < 8 {
				return errors.New("told to")
			}
			return nil
		}
		w.machine.Retries = -1
		w.open()
		w.must(submit("lr"), adjust("lr", "s1", "s2"))
		wantReason(t, w.await("lr", in(checkpoint.Idle)), "confirm")
		w.close()
	})
}

// A newer master has spoken to an agent: this one ends, whether it hears so from an order, from a question or
// from an agent that is to join.
func TestFenced(t *testing.T) {
	overtake := func(s *watched) {
		e := checkpoint.Effect{Epoch: 9, Action: checkpoint.Stop, Job: "x", Attempt: 1}
		must.Have(s.Server.Do(context.Background(), agent.Order{Effect: e}))(t)
	}
	for name, meet := range map[string]func(w *world){
		"order": func(w *world) {
			w.servers["s1"].Meet = func(context.Context, agent.Order) error { return checkpoint.ErrFenced }
			w.must(submit("lr"), adjust("lr", "s1"))
		},
		"reply": func(w *world) {
			w.servers["s1"].Meet = func(_ context.Context, o agent.Order) error {
				if o.Effect.Epoch < 9 {
					w.servers["s1"].Meet = nil
					overtake(w.servers["s1"])
				}
				return nil
			}
			w.must(submit("lr"), adjust("lr", "s1"))
		},
		"question": func(w *world) { overtake(w.servers["s1"]) },
		"join": func(w *world) {
			s := &watched{Server: &agenttest.Server{ID: "s9", Store: w.store}, w: w}
			overtake(s)
			must.Err(t, join(w.d, apportion.Server{ID: "s9", Capacity: slot}, s), checkpoint.ErrFenced, "joined")
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.open()
				meet(w)
				must.Err(t, over(t, w.ended), checkpoint.ErrFenced, "the driver ended with")
				must.Err(t, w.d.Apply(t.Context(), submit("late")), driver.ErrEnded, "applied after the end")
				w.end()
			})
		})
	}
}

// A second driver on the journal: the first one ends when it has something to write down.
func TestTwoDrivers(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1")
		first, ended, end := w.d, w.ended, w.end
		w.open()
		must.Err(t, first.Apply(t.Context(), submit("late")), must.ErrAny, "a driver that was replaced has taken a job")
		must.Err(t, over(t, ended), checkpoint.ErrFenced, "the first driver ended with")
		end()
		w.must(submit("late"))
	})
}

// A driver that has nothing to write down finds out as well, and renews no lease any more.
func TestReplacedWithoutAWord(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1")
		_, j, err := journal.Open(w.mem, w.machine)
		must.Do(t, errors.Join(err, j.Close()))
		began := time.Now()
		must.Err(t, over(t, w.ended), checkpoint.ErrFenced, "the driver ended with")
		if took := time.Since(began); took > driver.DefaultPoll {
			t.Errorf("after %v", took)
		}
		w.end()
		w.open()
	})
}

// What ends while a driver waits for servers is not begun when it goes on.
func TestEndsBeforeItMayBegin(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.open()
		w.must(submit("lr"))
		w.close()
		var begun atomic.Int64
		w.servers["s1"].Meet = func(_ context.Context, o agent.Order) error {
			if o.Effect.Action == checkpoint.Create {
				begun.Add(1)
			}
			return nil
		}
		must.Do(t, w.start())
		must.Do(t, errors.Join(w.join("s1"), w.join("s2")))
		w.must(adjust("lr", "s1"))
		w.await("lr", in(checkpoint.Creating))
		w.must(checkpoint.Cancel{Job: "lr"})
		time.Sleep(2 * w.config.Grace)
		if n := begun.Load(); n > 0 {
			t.Errorf("%d orders to begin what was cancelled", n)
		}
		w.close()
	})
}

// hungJournal takes records until it hangs.
type hungJournal struct {
	driver.Journal
	hangs   atomic.Bool
	release chan struct{}
	closed  atomic.Bool
}

func (h *hungJournal) Close() error {
	h.closed.Store(true)
	return h.Journal.Close()
}

func (h *hungJournal) Append(r checkpoint.Record) error {
	if h.hangs.Load() {
		<-h.release
	}
	return h.Journal.Append(r)
}

// A journal that hangs is given up: the driver ends, and nothing of the record is carried out.
func TestHungJournal(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		release := make(chan struct{})
		var hung *hungJournal
		w.wrap = func(j driver.Journal) driver.Journal {
			hung = &hungJournal{Journal: j, release: release}
			return hung
		}
		w.options.AppendLimit = 7 * time.Second
		w.open()
		w.must(submit("lr"))
		hung.hangs.Store(true)
		began := time.Now()
		must.Err(t, w.d.Apply(t.Context(), adjust("lr", "s1")), driver.ErrEnded, "applied")
		if err := over(t, w.ended); !errors.Is(err, driver.ErrHung) || time.Since(began) != w.options.AppendLimit {
			t.Errorf("the driver ended with %v after %v", err, time.Since(began))
		}
		w.end()
		must.Equal(t, w.servers["s1"].Containers("lr"), 0, "containers were created")
		if hung.closed.Load() {
			t.Error("the journal was closed in the middle of a call")
		}
		close(release)
	})
}

// hungStore reads no checkpoint to its end.
type hungStore struct {
	store.Store
	release chan struct{}
}

func (h *hungStore) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	<-h.release
	return h.Store.Open(ctx, job, number)
}

// A store that hangs fails the job's save; the job runs on as it was, and others are not held up.
func TestHungStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		release := make(chan struct{})
		w.config.Store = &hungStore{w.store, release}
		w.open()
		first := w.runs("lr", "s1")
		w.must(adjust("lr", "s2"))
		w.await("lr", in(checkpoint.Verifying))
		w.runs("other", "s1", "s2")
		j := w.await("lr", func(j *driver.JobState) bool { return on("s1")(j) && j.Job.Reason.Constraint != "" })
		wantReason(t, j, "verify")
		must.Equal(t, j.Job.Attempt, first.Job.Attempt, "attempt", "runs", "did before")
		w.close()
		close(release)
	})
}

// Jobs are saved every so often, from when they began to run, and old checkpoints are deleted.
func TestSavesNowAndThen(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.options.SaveEvery = time.Minute
		w.open()
		w.runs("lr", "s1")
		began := time.Now()
		for n := range 5 {
			w.servers["s1"].Work(10)
			step := int64(10 * (n + 1))
			j := w.await("lr", func(j *driver.JobState) bool { return j.Job.Newest().Step == step })
			if n == 0 && (time.Since(began) < time.Minute || time.Since(began) > 2*time.Minute) {
				t.Errorf("saved after %v", time.Since(began))
			}
			if len(j.Job.Checkpoints) > 2 {
				t.Errorf("%+v", j.Job.Checkpoints)
			}
		}
		synctest.Wait()
		list := must.Have(w.store.List(t.Context(), "lr"))(t)
		must.Equal(t, len(list), 2, "checkpoints are in the store")
		w.close()
	})
}

// Joining again writes nothing unless something is new, and a new agent takes the place of the one before.
func TestJoinAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var j driver.Journal
		w.wrap = func(inner driver.Journal) driver.Journal { j = inner; return inner }
		w.open()
		w.runs("lr", "s1")
		synctest.Wait()
		before := j.Bytes()
		if err := w.join("s1"); err != nil || j.Bytes() != before {
			t.Errorf("joining again wrote %d bytes, %v", j.Bytes()-before, err)
		}
		w.slots["s1"] = 2
		if err := w.join("s1"); err != nil || j.Bytes() == before {
			t.Errorf("a new capacity wrote %d bytes, %v", j.Bytes()-before, err)
		}
		old := w.servers["s1"]
		w.servers["s1"] = &watched{Server: old.Server, w: w}
		must.Do(t, w.join("s1"))
		old.set(nil, checkpoint.ErrFenced) // would end the driver
		w.must(adjust("lr", "s2"))
		w.await("lr", on("s2"))
		if err := w.d.Join(t.Context(), apportion.Server{ID: "bad"}, w.servers["s1"]); !errors.Is(err, apportion.ErrLength) {
			t.Errorf("a server without capacity: %v", err)
		}
		w.close()
	})
}

// The events of one Apply count up to the first that is refused.
func TestApplyStopsAtFault(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		err := w.d.Apply(t.Context(), submit("a"), submit("a"), submit("b"))
		var field *apportion.FieldError
		if !errors.Is(err, apportion.ErrDuplicate) || !errors.As(err, &field) {
			t.Errorf("%v", err)
		}
		s := w.d.State()
		if len(s.Jobs) != 1 || s.Jobs[0].Name != "a" {
			t.Errorf("%+v", s.Jobs)
		}
	})
}

// A state is the caller's own, says when there is a newer one, and survives JSON.
func TestState(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1", "s1")
		synctest.Wait()
		s := w.d.State()
		select {
		case <-s.Changed():
			t.Error("changed before anything has happened")
		default:
		}
		s.Jobs[0].Containers[0], s.Servers[0].Capacity[0] = "elsewhere", 77
		if again := w.d.State(); again.Jobs[0].Containers[0] != "s1" || again.Servers[0].Capacity[0] != 4 {
			t.Errorf("a state is shared: %+v", again)
		}
		w.must(submit("another"))
		select {
		case <-s.Changed():
		default:
			t.Error("not changed")
		}
		s = w.d.State()
		text, err := json.Marshal(s)
		var again driver.State
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if diff := cmp.Diff(s, again, cmpopts.IgnoreUnexported(driver.State{})); diff != "" || err != nil {
			t.Errorf("%v: %s", err, diff)
		}
	})
}

func TestAwaitEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.open()
		never := func(*driver.State) bool { return false }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if s, err := w.d.Await(ctx, never); !errors.Is(err, context.DeadlineExceeded) || len(s.Servers) != 3 {
			t.Errorf("%+v, %v", s, err)
		}
		w.close()
		must.Fail(w.d.Await(t.Context(), never))(t, driver.ErrEnded)
	})
}

// The journal is written anew when it has grown, and not at every record of a large one.
func TestCompaction(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var compactions atomic.Int64
		w.wrap = func(j driver.Journal) driver.Journal { return &counted{j, &compactions} }
		w.open()
		w.runs("lr", "s1")
		if n := compactions.Load(); n > 0 {
			t.Errorf("%d compactions of a short journal", n)
		}
		w.close()
		w.options.CompactBytes = 4000
		w.open()
		for range 30 {
			w.must(adjust("lr", "s2"))
			w.await("lr", on("s2"))
			w.must(adjust("lr", "s1"))
			w.await("lr", on("s1"))
		}
		if n := compactions.Load(); n < 5 || n > 60 {
			t.Errorf("%d compactions", n)
		}
		before := compactions.Load()
		w.options.CompactBytes = 1
		w.close()
		w.open()
		for range 20 {
			w.must(checkpoint.Checkpoint{Job: "lr"})
			w.await("lr", on("s1"))
		}
		if n := compactions.Load() - before; n < 2 || n > 40 {
			t.Errorf("%d compactions of a journal whose snapshot is larger than the limit", n)
		}
		w.close()
	})
}

// counted counts how often a journal is compacted.
type counted struct {
	driver.Journal
	compactions *atomic.Int64
}

func (c *counted) Compact(r checkpoint.Record) error {
	c.compactions.Add(1)
	return c.Journal.Compact(r)
}

func TestConfig(t *testing.T) {
	m, err := checkpoint.New(checkpoint.Config{Kinds: apportion.Kinds{"slot"}}, 1)
	must.Do(t, err)
	options := driver.Options{Poll: -1, SaveEvery: -1, CompactBytes: -1, AppendLimit: -1}
	_, err = driver.New(m, nil, driver.Config{}, &options)
	var faults apportion.Faults
	if !errors.As(err, &faults) || len(faults) != 6 {
		t.Errorf("%v", err)
	}
}

// What agents are told of a job is what the caller says it runs.
func TestSpec(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.options.Spec = func(job string) json.RawMessage { return json.RawMessage(`"` + job + `"`) }
		told := ""
		w.servers["s1"].Meet = func(_ context.Context, o agent.Order) error {
			if len(o.Spec) > 0 {
				told += string(o.Effect.Action) + string(o.Spec)
			}
			return nil
		}
		w.open()
		w.runs("lr", "s1")
		must.Equal(t, told, `resume"lr"`, "agents were told")
		w.close()
	})
}

// When Run has ended, nothing goes on that it has begun: not even what the caller's own functions hold up.
func TestRunEndsLast(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		began := make(chan struct{})
		var returned atomic.Bool
		w.options.Spec = func(string) json.RawMessage {
			close(began)
			time.Sleep(time.Second)
			returned.Store(true)
			return nil
		}
		w.open()
		w.must(submit("lr"), adjust("lr", "s1"))
		take(t, "the agent is asked", began)
		w.close()
		if !returned.Load() {
			t.Error("Run has ended before what it had begun")
		}
	})
}

// The lease of an agent in memory is renewed as long as its answers arrive.
func TestLeaseIsRenewed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.servers["s1"]
		w.open()
		j := w.runs("lr", "s1")
		time.Sleep(10 * time.Minute)
		must.Same(t, s.Alive("lr"), []int64{j.Job.Attempt}, "attempts", "are alive")
		w.close()
		time.Sleep(9 * time.Second)
		must.Equal(t, len(s.Alive("lr")), 1, "ended before the lease was over")
		time.Sleep(2 * time.Second)
		if alive := s.Alive("lr"); len(alive) != 0 {
			t.Errorf("attempts %v live without a master", alive)
		}
		w.open()
		w.await("lr", func(now *driver.JobState) bool { return now.Job.Attempt > j.Job.Attempt && on("s1")(now) })
		w.close()
	})
}

// timed is an agent that notes how long it is given for each kind of order.
type timed struct {
	*watched
	mu    sync.Mutex
	given map[checkpoint.Action]time.Duration
}

func (a *timed) Do(ctx context.Context, o agent.Order) (checkpoint.Reply, error) {
	if until, ok := ctx.Deadline(); ok {
		a.mu.Lock()
		a.given[o.Effect.Action] = time.Until(until)
		a.mu.Unlock()
	}
	return a.watched.Do(ctx, o)
}

// TestPatience: a call ends nine tenths of the way to the machine's time-out, so that its reason comes first.
func TestPatience(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.machine.Timeouts = checkpoint.Timeouts{Create: 100 * time.Second, Resume: 200 * time.Second, Confirm: 300 * time.Second,
			Save: 400 * time.Second, Stop: 500 * time.Second}
		must.Do(t, w.start())
		a := &timed{watched: w.servers["s1"], given: map[checkpoint.Action]time.Duration{}}
		must.Do(t, join(w.d, apportion.Server{ID: "s1", Capacity: apportion.Resources{4}}, a))
		w.runs("lr", "s1")
		w.must(adjust("lr"))
		w.await("lr", func(j *driver.JobState) bool { return j.Job.Phase == checkpoint.Idle })
		w.close()
		want := map[checkpoint.Action]time.Duration{checkpoint.Create: 90 * time.Second, checkpoint.Resume: 180 * time.Second,
			checkpoint.Confirm: 270 * time.Second, checkpoint.Save: 360 * time.Second, checkpoint.Stop: 450 * time.Second}
		for action, patience := range want {
			must.Equal(t, a.given[action], patience, action, "is given")
		}
	})
}
