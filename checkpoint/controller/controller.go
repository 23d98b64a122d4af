// This file implements Controller: the loops around a cluster, [Dorm] §III.

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed"
)

// Controller runs the elastic jobs of one cluster. Its methods are safe for concurrent use.
type Controller struct {
	config Config
	fleet  *managed.Fleet
	driver *driver.Driver

	// missing is since when jobs are missing in the cluster; the goroutine of follow alone touches it.
	missing map[string]time.Time

	mu sync.Mutex
	// seen is the newest look at the cluster; servers and specs are indexes of it.
	seen    *View
	servers map[string]*Server
	specs   map[string]json.RawMessage
	agents  map[string]*managed.Agent
	last    Taken
}

// Taken is a decision that was taken, and on what.
type Taken struct {
	// At is when, and Took how long it took.
	At   time.Time     `json:"at"`
	Took time.Duration `json:"took"`
	// Problem and Decision are nil before the first. Fault is why none could be taken; what was decided before counts on.
	Problem  *alloc.Problem  `json:"problem,omitempty"`
	Decision *alloc.Decision `json:"decision,omitempty"`
	Fault    string          `json:"fault,omitempty"`
}

// New returns the controller of a cluster. Faults of the Config come back as [apportion.Faults].
func New(config Config) (*Controller, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	c := &Controller{config: config.filled(), agents: map[string]*managed.Agent{}, missing: map[string]time.Time{}, servers: map[string]*Server{}, specs: map[string]json.RawMessage{}}
	var options driver.Options
	if config.Options != nil {
		options = *config.Options
	}
	options.Spec = c.spec
	poll := options.Poll
	if poll == 0 {
		poll = driver.DefaultPoll
	}
	window := max(windowPolls*poll, c.config.Lease/windowParts)
	var err error
	c.fleet, err = managed.NewFleet(managed.Config{Manager: config.Cluster, Store: config.Store, Dir: config.Dir, Shared: config.Shared,
		Epoch: config.Machine.Epoch(), Lease: c.config.Lease, Slack: c.config.Lease/10 + slack, Window: window,
		Report: c.config.Report}, config.Machine.Jobs())
	if err != nil {
		return nil, err
	}
	c.driver, err = driver.New(config.Machine, config.Journal, driver.Config{Store: config.Store, Grace: c.fleet.Grace()}, &options)
	return c, err
}

// slack is what it takes to kill, beside what clocks drift apart: a machine that is busy is late by this, at most.
const slack = 2 * time.Second

// A server counts as not reached when this many questions of the driver have failed, and a part of the lease is over.
const (
	windowPolls = 10
	windowParts = 5
)

// Run runs the controller until the context ends, and returns nil then; otherwise why the driver has ended. Jobs run on
// until their leases are over.
func (c *Controller) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var under sync.WaitGroup
	under.Go(func() { c.follow(ctx) })
	under.Go(func() { c.decideAll(ctx) })
	err := c.driver.Run(ctx)
	stop()
	under.Wait()
	return err
}

// State is what the driver knows of jobs and servers, and Await waits until something is so, see [driver.Driver.Await].
func (c *Controller) State() driver.State { return c.driver.State() }

// Await returns the first State of which is says true.
func (c *Controller) Await(ctx context.Context, is func(*driver.State) bool) (driver.State, error) {
	return c.driver.Await(ctx, is)
}

// Desk is what answers the guards; Handler puts it behind a URL.
func (c *Controller) Desk() *guard.Desk { return c.fleet.Desk() }

// View returns the newest look at the cluster; nil before the first.
func (c *Controller) View() *View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// Last returns the newest decision.
func (c *Controller) Last() Taken {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// spec returns what a job runs, for the agents.
func (c *Controller) spec(job string) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.specs[job]
}

// up says whether a server is up by the newest look.
func (c *Controller) up(server string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.servers[server]
	switch {
	case s == nil:
		return errors.New("it is not in the cluster any more")
	case s.Down != "":
		return errors.New(s.Down)
	}
	return nil
}
