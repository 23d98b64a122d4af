// This file plays a master and an agent whose times of day differ.

package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// hosted is an agent, and the requests that were made of it, each of which takes a second of its clock.
type hosted struct {
	*agenttest.Server
	asked atomic.Int64
}

func newHosted() *hosted {
	h := &hosted{}
	h.Server = &agenttest.Server{ID: north.Name, Store: &storetest.MemStore{}, Lease: 10 * time.Second,
		Now: func() time.Duration { return time.Duration(h.asked.Load()) * time.Second }}
	return h
}

func (h *hosted) serve() *httptest.Server {
	mux := http.NewServeMux()
	HandleAgent(mux, secret.Credential(north).Gate(), h)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked.Add(1)
		mux.ServeHTTP(w, r)
	}))
}

// runs has a master start a job on the agent, and is nil if it still runs many leases later.
func (h *hosted) runs(base string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	machine, records, err := journal.Open(vfstest.NewMem(), checkpoint.Config{Kinds: apportion.Kinds{"slot"}})
	if err != nil {
		return err
	}
	d, err := driver.New(machine, records, driver.Config{Store: h.Store, Grace: time.Hour}, &driver.Options{Poll: time.Millisecond})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	client := secret.Client(base, north)
	// A connection that stays would keep the clock of a bubble from going on.
	client.HTTP = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if err := d.Join(ctx, apportion.Server{ID: north.Name, Capacity: apportion.Resources{1}}, &Remote{client}); err != nil {
		return err
	}
	err = d.Apply(ctx, checkpoint.Submit{Job: "lr", Demand: apportion.Resources{1}}, checkpoint.Adjust{Targets: map[string][]string{"lr": {north.Name}}})
	if err != nil {
		return err
	}
	state, err := d.Await(ctx, func(s *driver.State) bool { j, _ := s.Job("lr"); return j.Job.Phase == checkpoint.Running })
	for begun := h.asked.Load(); h.asked.Load() < begun+60 && ctx.Err() == nil; {
		time.Sleep(time.Millisecond)
	}
	first, _ := state.Job("lr")
	if alive := h.Alive("lr"); !slices.Equal(alive, []int64{first.Job.Attempt}) {
		err = errors.Join(err, ctx.Err(), fmt.Errorf("alive are attempts %v, want the first, %d", alive, first.Job.Attempt))
	}
	return err
}

// A master keeps its jobs whatever its time of day is, and whatever that of its agents: one of the two lives in a bubble of package
// synctest, where it is the year 2000, decades behind the other.
func TestTimesOfDay(t *testing.T) {
	t.Run("the master is behind", func(t *testing.T) {
		h := newHosted()
		server := h.serve()
		defer server.Close()
		synctest.Test(t, func(t *testing.T) {
			must.Do(t, h.runs(server.URL))
		})
	})
	t.Run("the master is ahead", func(t *testing.T) {
		h, at, ended := newHosted(), make(chan string), make(chan error)
		go func() { ended <- h.runs(<-at) }()
		synctest.Test(t, func(t *testing.T) {
			server := h.serve()
			defer server.Close()
			at <- server.URL
			must.Do(t, <-ended)
		})
	})
}
