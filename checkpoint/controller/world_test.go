// This file plays controllers in virtual time beside managers that are slow, out of date and wrong, and judges by what lives in the cluster.

package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/controller/controllertest"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// manner is how a manager is: after how long it starts and stops what it was asked for, how old what it shows may be, how often it fails
// without having done anything, or having done it, and whether it calls a server down that is well.
type manner struct {
	name         string
	start, stop  time.Duration
	stale        time.Duration
	fails, loses int // in a hundred calls
	lies         bool
}

var manners = []manner{
	{name: "as Kubernetes", start: 3 * time.Second, stop: 2 * time.Second, stale: 5 * time.Second, fails: 5, loses: 5},
	{name: "as Nomad", start: time.Second, stop: time.Second, fails: 2, lies: true},
	{name: "as Slurm", start: 8 * time.Second, stop: 4 * time.Second, stale: time.Second, fails: 10},
	{name: "as YARN", start: 2 * time.Second, stop: time.Second, stale: 2 * time.Second, loses: 10, lies: true},
}

// day is a controller, and another after it, beside a manager.
type day struct {
	*testing.T
	*controllertest.Cluster
	manner
	disk  *vfstest.Mem
	quiet atomic.Bool // nothing goes wrong any more

	mu     sync.Mutex
	rng    *rand.Rand
	now    *controller.Controller
	shown  *controller.View // what the manager has shown last
	at     time.Time
	ended  map[string]checkpoint.Ending
	config controller.Config
	stop   func() // ends the controller
}

func (d *day) draw(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}

func (d *day) upTo(limit time.Duration) time.Duration { return time.Duration(d.draw(int(limit) + 1)) }

var errAway = errors.New("the manager does not answer")

// call is a call of the manager, which does it at some time after its answer, and fails although it does it, or does nothing.
func (d *day) call(takes time.Duration, do func()) error {
	if !d.quiet.Load() && d.draw(100) < d.fails {
		return errAway
	}
	time.AfterFunc(d.upTo(takes), do)
	if !d.quiet.Load() && d.draw(100) < d.loses {
		return errAway
	}
	return nil
}

func (d *day) Start(_ context.Context, task managed.Task) error {
	return d.call(d.manner.start, func() { _ = d.Cluster.Start(context.Background(), task) })
}

func (d *day) Stop(_ context.Context, job string, attempt int64, server string) (left bool, err error) {
	return false, d.call(d.manner.stop, func() { _, _ = d.Cluster.Stop(context.Background(), job, attempt, server) })
}

// Look shows what was, for some time.
func (d *day) Look(ctx context.Context) (*controller.View, error) {
	if !d.quiet.Load() && d.draw(100) < d.fails {
		return nil, errAway
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shown == nil || time.Since(d.at) >= d.stale {
		shown, err := d.Cluster.Look(ctx)
		if err != nil {
			return nil, err
		}
		d.shown, d.at = shown, time.Now()
	}
	copied := *d.shown
	copied.Servers, copied.Jobs = slices.Clone(copied.Servers), slices.Clone(copied.Jobs)
	return &copied, nil
}

func (d *day) Ended(ctx context.Context, job string, how checkpoint.Ending, why string) error {
	d.mu.Lock()
	d.ended[job] = how
	d.mu.Unlock()
	return d.Cluster.Ended(ctx, job, how, why)
}

func (d *day) begin() {
	machine, records, err := journal.Open(d.disk, checkpoint.Config{Kinds: d.config.Problem.Kinds})
	if err != nil {
		d.Fatal(err)
	}
	config := d.config
	config.Machine, config.Journal = machine, records
	c := must.Have(controller.New(config))(d)
	d.mu.Lock()
	d.now = c
	d.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	d.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			d.Error(err)
		}
	}
}

// judge looks at all that lives: a job runs as one attempt, and no server has more than it has room for.
func (d *day) judge() {
	attempts, used := map[string]int64{}, map[string]int64{}
	d.Each("", func(c *managedtest.Container) {
		if !c.Alive() {
			return
		}
		used[c.Server]++
		if other := attempts[c.Job]; other != 0 && other != c.Attempt {
			d.Errorf("job %q runs as attempts %d and %d", c.Job, other, c.Attempt)
		}
		attempts[c.Job] = c.Attempt
	})
	for server, n := range used {
		if n > 4 {
			d.Errorf("server %q has room for 4 and runs %d", server, n)
		}
	}
}

// trains lets guards claim and trainers work; each job has done its work some time after it was seen running.
func (d *day) trains(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(500 * time.Millisecond)
		if err := d.Step(); err != nil {
			d.Error(err)
			return
		}
		d.judge()
		if d.draw(120) != 0 {
			continue
		}
		job := fmt.Sprintf("job-%d", d.draw(6))
		end := guard.End{}
		if !d.quiet.Load() && d.draw(3) == 0 {
			end.Code = 1
		}
		d.Each(job, func(c *managedtest.Container) {
			if c.Alive() {
				c.End(end)
			}
		})
	}
}

// faults goes wrong once.
func (d *day) fault() {
	server := fmt.Sprintf("n%d", 1+d.draw(3))
	switch d.draw(5) {
	case 0:
		d.stop()
		time.Sleep(d.upTo(15 * time.Second))
		d.begin()
	case 1: // guards of a server are heard by nobody
		d.deaf(server, true)
		time.AfterFunc(d.upTo(30*time.Second), func() { d.deaf(server, false) })
	case 2: // its machine has less for others
		d.change(server, func(s *controller.Server) { s.Draining = !s.Draining })
	case 3: // its manager's agent is gone, or is said to be
		if d.lies {
			d.change(server, func(s *controller.Server) { s.Down = "no heartbeat" })
		} else {
			d.SetDown(server, true)
		}
		time.AfterFunc(d.upTo(40*time.Second), func() {
			d.SetDown(server, false)
			d.change(server, func(s *controller.Server) { s.Down = "" })
		})
	case 4:
		d.Change(func(*controller.View) error { return errAway })
		time.AfterFunc(d.upTo(10*time.Second), func() { d.Change(func(*controller.View) error { return nil }) })
	}
}

func (d *day) deaf(server string, deaf bool) {
	d.Each("", func(c *managedtest.Container) {
		if c.Server == server {
			c.Deaf = deaf
		}
	})
}

func (d *day) change(server string, how func(*controller.Server)) {
	d.Change(func(v *controller.View) error {
		v.Servers = slices.Clone(v.Servers)
		for i := range v.Servers {
			if v.Servers[i].ID == server {
				how(&v.Servers[i])
			}
		}
		return nil
	})
}

func TestDays(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for _, m := range manners {
		for seed := uint64(1); seed <= seeds; seed++ {
			t.Run(fmt.Sprint(m.name, " ", seed), func(t *testing.T) {
				shared, dir := managedtest.Shared(t), t.TempDir()
				synctest.Test(t, func(t *testing.T) { playDay(t, m, seed, shared, dir) })
			})
		}
	}
}

// playDay plays six jobs on three servers: faults come for ten minutes, and then every job has to end well within an hour.
func playDay(t *testing.T, m manner, seed uint64, shared, dir string) {
	d := &day{T: t, manner: m, disk: vfstest.NewMem(), rng: rand.New(rand.NewPCG(seed, 0)), ended: map[string]checkpoint.Ending{}}
	view := controller.View{}
	for _, id := range []string{"n1", "n2", "n3"} {
		view.Servers = append(view.Servers, controller.Server{Server: apportion.Server{ID: id, Capacity: apportion.Resources{4}}})
	}
	for i := range 6 {
		view.Jobs = append(view.Jobs, controller.Job{Spec: json.RawMessage(`1`), MaxDeaths: -1,
			Application: alloc.Application{ID: fmt.Sprintf("job-%d", i), Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 4}}})
	}
	d.Cluster = controllertest.New(managedtest.New(func() *guard.Desk {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.now.Desk()
	}, nil), view)
	d.config = controller.Config{Cluster: d, Store: &storetest.MemStore{}, Dir: dir, Shared: shared, Secret: wire.NewSecret(),
		Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1}, Lease: 10 * time.Second, Options: &driver.Options{Poll: time.Second}}
	d.begin()
	ctx, cancel := context.WithCancel(t.Context())
	var under sync.WaitGroup
	under.Go(func() { d.trains(ctx) })
	for until := time.Now().Add(10 * time.Minute); time.Now().Before(until); time.Sleep(d.upTo(30 * time.Second)) {
		d.fault()
	}
	time.Sleep(time.Minute)
	d.quiet.Store(true)
	for _, server := range []string{"n1", "n2", "n3"} {
		d.change(server, func(s *controller.Server) { s.Draining, s.Down = false, "" })
	}
	for until := time.Now().Add(time.Hour); len(d.shownJobs()) > 0 && time.Now().Before(until); time.Sleep(10 * time.Second) {
	}
	for _, job := range d.shownJobs() {
		state := d.now.State()
		j, _ := state.Job(job)
		t.Errorf("job %q has not ended: %s, attempt %d on %v: %+v", job, j.Job.Phase, j.Job.Attempt, j.Job.Containers, j.Job.Reason)
	}
	must.Equal(t, len(d.ended), 6, "of six jobs these have ended", d.ended)
	for job, how := range d.ended {
		must.Equal(t, how, checkpoint.Completed, "job", job, "has ended")
	}
	d.stop()
	cancel()
	under.Wait()
}

func (d *day) shownJobs() (jobs []string) {
	d.Change(func(v *controller.View) error {
		for _, j := range v.Jobs {
			jobs = append(jobs, j.Application.ID)
		}
		return nil
	})
	return jobs
}
