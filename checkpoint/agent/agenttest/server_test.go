// This file tests what a Server does beyond its promises: the processes that tests move, the way to it, and
// what its saves hold.

package agenttest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// running returns a Server without a lease on which attempt 1 of the suite's job runs.
func running(t *testing.T) (*Server, *Subject) {
	t.Helper()
	server := &Server{ID: "here", Store: &storetest.MemStore{}}
	s := &Subject{Agent: server, Server: "here", Store: server.Store, Alive: server.Alive, Starts: server.Starts, Containers: server.Containers}
	must.Do(t, s.start(t.Context(), 1))
	return server, s
}

// told returns the progress that the server tells of the suite's job.
func told(t *testing.T, s *Server) runner.Progress {
	t.Helper()
	status := must.Have(s.Status(t.Context(), agent.Question{Epoch: 1}))(t)
	must.Equal(t, len(status.Jobs), 1, status)
	return status.Jobs[0].Progress
}

// The steps that a process has done are saved with it, and the next attempt goes on from them.
func TestStepsSurvive(t *testing.T) {
	server, s := running(t)
	server.Work(7)
	reply, err := s.do(t.Context(), numbered(9, of(checkpoint.Save, 1)))
	if err != nil || reply.Step != 7 {
		t.Fatalf("%+v, %v", reply, err)
	}
	server.Work(5)
	// The number is taken: the checkpoint of before stays, and its step is told.
	if reply, err = s.do(t.Context(), numbered(9, of(checkpoint.Save, 1))); err != nil || reply.Outcome != checkpoint.Done || reply.Step != 7 {
		t.Errorf("saved again: %+v, %v", reply, err)
	}
	if p := told(t, server); p.Step != 12 {
		t.Errorf("%+v, want step 12", p)
	}
	err = s.all(t.Context(), of(checkpoint.Stop, 1), of(checkpoint.Create, 2), numbered(9, of(checkpoint.Resume, 2)))
	if p := told(t, server); err != nil || p.Step != 7 || !p.Running {
		t.Errorf("resumed: %+v, %v", p, err)
	}
}

// Processes that have ended do no more steps, do not end twice, and tell how they ended.
func TestEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*Server)
		want runner.Progress
	}{
		"finish":           {func(s *Server) { s.Finish(job) }, runner.Progress{Step: 3, Done: true}},
		"kill":             {func(s *Server) { s.Kill(job) }, runner.Progress{Step: 3, Failed: "signal: killed"}},
		"kill, finish":     {func(s *Server) { s.Kill(job); s.Finish(job) }, runner.Progress{Step: 3, Failed: "signal: killed"}},
		"finish, kill":     {func(s *Server) { s.Finish(job); s.Kill(job) }, runner.Progress{Step: 3, Done: true}},
		"the other's kill": {func(s *Server) { s.Kill(other) }, runner.Progress{Step: 5, Running: true}},
	} {
		t.Run(name, func(t *testing.T) {
			server, _ := running(t)
			server.Work(3)
			test.end(server)
			server.Work(2)
			must.Equal(t, cmp.Diff(test.want, told(t, server)), "")
		})
	}
}

// What needs living processes fails without them, which is no refusal: nobody else has taken over.
func TestNeedsProcesses(t *testing.T) {
	server, s := running(t)
	server.Kill(job)
	for _, e := range []checkpoint.Effect{numbered(9, of(checkpoint.Save, 1)), of(checkpoint.Confirm, 1), of(checkpoint.Prune, 1)} {
		must.Do(t, s.expect(t.Context(), checkpoint.Failed, e))
	}
	must.Fail(server.Store.Open(t.Context(), job, 9))(t, store.ErrNotFound, "a dead process has saved")
}

// An order that is lost on the way has changed nothing, and its error is that of the way.
func TestMeet(t *testing.T) {
	server, s := running(t)
	lost := errors.New("lost")
	var met []string
	server.Meet = func(_ context.Context, o agent.Order) error {
		met = append(met, fmt.Sprint(o.Effect.Action, " ", o.Effect.Attempt))
		if o.Effect.Action == checkpoint.Stop {
			return lost
		}
		return nil
	}
	must.Fail(s.do(t.Context(), of(checkpoint.Stop, 1)))(t, lost)
	must.Do(t, errors.Join(s.alive(1), s.all(t.Context(), of(checkpoint.Confirm, 1))))
	must.Equal(t, cmp.Diff([]string{"stop 1", "confirm 1"}, met), "")
}

// Stamps of one server mean nothing to another, so a master that mixes them up renews no lease.
func TestStampsAreOwn(t *testing.T) {
	now := time.Hour
	clock := func() time.Duration { return now }
	one := &Server{ID: "one", Store: &storetest.MemStore{}, Lease: lease, Now: clock}
	two := &Server{ID: "two", Store: &storetest.MemStore{}, Lease: lease, Now: clock}
	status := must.Have(two.Status(t.Context(), agent.Question{Epoch: 1}))(t)
	s := &Subject{Agent: one, Server: "one", Alive: one.Alive}
	s.heard = status.Clock
	must.Err(t, s.start(t.Context(), 1), must.ErrAny, "a stamp of another server has renewed the lease")
	must.Do(t, errors.Join(s.greet(t.Context()), s.start(t.Context(), 2)), "with a stamp of its own")
}

// The lease is over at its very length and not a moment before, and takes containers along.
func TestLeaseToTheMoment(t *testing.T) {
	var now time.Duration
	server := &Server{ID: "here", Store: &storetest.MemStore{}, Lease: lease, Now: func() time.Duration { return now }}
	s := &Subject{Agent: server, Server: "here", Alive: server.Alive}
	now = time.Second
	must.Do(t, errors.Join(s.greet(t.Context()), s.start(t.Context(), 1)))
	now += lease - 1
	must.Do(t, s.alive(1))
	now++
	if err := s.alive(); err != nil || server.Containers(job) != 0 {
		t.Errorf("%v, and %d containers", err, server.Containers(job))
	}
}
