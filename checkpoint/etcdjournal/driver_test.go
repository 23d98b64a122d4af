// This file lets drivers on different machines take a job over from each other.

package etcdjournal

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// drive runs a driver at a machine until the context ends, and sends what it ended with.
func drive(ctx context.Context, t *testing.T, at *machine, prefix string, agents []*agenttest.Server) (*driver.Driver, <-chan error) {
	t.Helper()
	ms := open(t, at, prefix)
	d := must.Have(driver.New(ms.m, ms.j, driver.Config{Store: agents[0].Store, Grace: time.Minute}, nil))(t)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	for _, a := range agents {
		must.Do(t, d.Join(ctx, apportion.Server{ID: a.ID, Capacity: apportion.Resources{4}}, a))
	}
	return d, ended
}

func awaitRun(t *testing.T, d *driver.Driver, job string, on ...string) checkpoint.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := d.Await(ctx, func(s *driver.State) bool {
		j, ok := s.Job(job)
		return ok && j.Job.Phase == checkpoint.Running && slices.Equal(j.Job.Containers, on)
	})
	j, _ := s.Job(job)
	must.Do(t, err, j)
	return j.Job
}

// A job is moved by three masters on three machines: the first is cut off, the second gives up. It runs once at every moment,
// goes on from what was saved, and its attempts ascend.
func testDrivers(t *testing.T, c *cluster, prefix string) {
	memory := &storetest.MemStore{}
	agents := []*agenttest.Server{{ID: "s1", Store: memory}, {ID: "s2", Store: memory}}
	once := func() {
		t.Helper()
		if alive := slices.Concat(agents[0].Alive("lr"), agents[1].Alive("lr")); len(alive) != 1 {
			t.Fatalf("attempts %v run", alive)
		}
	}
	first := c.machine()
	d, ended := drive(t.Context(), t, first, prefix, agents)
	must.Do(t, d.Apply(t.Context(), checkpoint.Submit{Job: "lr", Demand: apportion.Resources{1}},
		checkpoint.Adjust{Targets: map[string][]string{"lr": {"s1"}}}))
	before := awaitRun(t, d, "lr", "s1")
	agents[0].Work(100)
	first.cut()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d, ended2 := drive(ctx, t, c.machine(), prefix, agents)
	once()
	must.Do(t, d.Apply(ctx, checkpoint.Adjust{Targets: map[string][]string{"lr": {"s2"}}}))
	moved := awaitRun(t, d, "lr", "s2")
	once()
	if moved.Attempt <= before.Attempt || moved.Newest().Step != 100 {
		t.Errorf("attempt %d after %d, from %+v", moved.Attempt, before.Attempt, moved.Newest())
	}
	// The first hears of it from the servers, or from etcd when that answers again.
	first.restore()
	if err := <-ended; !errors.Is(err, checkpoint.ErrFenced) && !errors.Is(err, ErrNoAnswer) {
		t.Errorf("the first ended with %v", err)
	}
	stop()
	must.Do(t, <-ended2, "the second ended with")
	began := time.Now()
	d, _ = drive(t.Context(), t, c.machine(), prefix, agents)
	t.Logf("the third leads after %v", time.Since(began))
	if j := awaitRun(t, d, "lr", "s2"); j.Attempt != moved.Attempt {
		t.Errorf("attempt %d of the third, want %d", j.Attempt, moved.Attempt)
	}
	once()
}
