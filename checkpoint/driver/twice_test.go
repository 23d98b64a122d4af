// This file checks what a driver makes of two agents of one name.

package driver_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/internal/must"
)

// twin returns another agent that is called s1, with a memory of its own.
func (w *world) twin() *watched {
	twin := &watched{Server: &agenttest.Server{ID: "s1", Store: w.store, Lease: lease, Now: w.servers["s1"].Now}, w: w}
	twin.Forget() // which gives its memory another name than that of the first
	return twin
}

func (w *world) joinAs(id string, a driver.Agent) error {
	return join(w.d, apportion.Server{ID: id, Capacity: apportion.Resources{4}}, a)
}

// The second agent of a name is refused while the first answers, and its job runs on; when the first does not answer
// it is refused until the server is lost, by the next driver as well.
func TestSecondAgentOfOneName(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		before := w.runs("lr", "s1", "s2")
		twin := w.twin()
		must.Err(t, w.joinAs("s1", twin), driver.ErrTwice, "the second agent of a name")
		time.Sleep(10 * time.Second)
		if j := w.await("lr", on("s1", "s2")); j.Job.Attempt != before.Job.Attempt || len(w.servers["s1"].Alive("lr")) != 1 {
			t.Fatalf("the job was disturbed: %+v", j.Job)
		}
		w.servers["s1"].set(nil, errors.New("connection refused"))
		must.Err(t, w.joinAs("s1", twin), apportion.ErrConflict, "an agent with another memory")
		w.close()
		must.Do(t, w.start())
		must.Err(t, w.joinAs("s1", twin), apportion.ErrConflict, "an agent with another memory, of the next driver")
		must.Do(t, errors.Join(w.join("s2"), w.join("s3")))
		w.await("lr", on("s2")) // s1 is lost
		must.Do(t, w.joinAs("s1", twin))
	})
}

// An agent that was started again has the memory of the one before: it is let in, at the same address and at another.
func TestAgentStartedAgain(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		before := w.runs("lr", "s1")
		w.servers["s1"].Restart()
		must.Do(t, w.join("s1"))
		old := &watched{Server: w.servers["s1"].Server, w: w} // the address of the one before
		must.Do(t, w.joinAs("s1", old))
		old.set(nil, errors.New("connection refused"))
		old.Restart()
		must.Do(t, w.join("s1"))
		time.Sleep(10 * time.Second)
		if j := w.await("lr", on("s1")); j.Job.Attempt != before.Job.Attempt {
			t.Errorf("%+v", j.Job)
		}
	})
}

// At the address of a server an agent with another memory answers: the server is silent, its jobs wait for its loss, and
// nothing is ordered of the other.
func TestAnotherAtTheAddress(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1", "s2")
		began := time.Now()
		first := w.servers["s1"].Server
		twin := w.twin()
		w.servers["s1"].replace(twin.Server)
		w.await("lr", on("s2"))
		if took := time.Since(began); took < w.config.Grace {
			t.Errorf("the server was lost after %v", took)
		}
		if alive := slices.Concat(first.Alive("lr"), twin.Alive("lr")); len(alive) > 0 {
			t.Errorf("attempts %v live", alive)
		}
	})
}

// Where two agents of one name join at the same time one of them is let in.
func TestTwoJoinAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		g := gatedWorld(w)
		w.servers["s1"].set(nil, errors.New("connection refused"))
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		must.Have(w.d.Await(ctx, func(s *driver.State) bool { return len(s.Servers) == 2 }))(t)
		var errs [2]error
		join := func(i int) func() error {
			return func() error { errs[i] = w.joinAs("s1", w.twin()); return nil }
		}
		w.together(g, join(0), func() error {
			twin := w.twin()
			twin.Forget()
			errs[1] = w.joinAs("s1", twin)
			return nil
		})
		if errs[0] != nil || !errors.Is(errs[1], driver.ErrTwice) {
			t.Errorf("%v", errs)
		}
		w.close()
	})
}

// Every order names the memory that it is for, so that it reaches no other agent of the name.
func TestOrdersNameTheMemory(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		orders := 0
		w.servers["s1"].Meet = func(_ context.Context, o agent.Order) error {
			orders++
			must.Equal(t, o.Book, "s1 0", o.Effect.Action, "is for")
			return nil
		}
		w.open()
		w.runs("lr", "s1")
		w.close()
		if orders < 3 {
			t.Errorf("%d orders", orders)
		}
	})
}
