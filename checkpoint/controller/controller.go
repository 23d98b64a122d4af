// This file declares Controller, what its loops share, and how it is made.

package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/page"
)

// Controller runs the elastic jobs of one cluster. Its methods are safe for concurrent use.
type Controller struct {
	config Config
	fleet  *managed.Fleet
	driver *driver.Driver
	starts *starts
	// forecasts say when jobs begin that wait.
	forecasts *page.Forecasts
	board     *page.Board
	meters    *meters

	// These five belong to the goroutine of follow and need no lock. found is what the newest look has found, waits is what waits beside the jobs, missing is since when jobs are missing in the cluster,
	// agents are those of all servers that were ever up: one that comes back finds what it remembers of its runs; and
	// deadlines are those that were told of the drains under way, by server.
	found     View
	waits     waits
	missing   map[string]time.Time
	agents    map[string]*managed.Agent
	deadlines map[string]time.Time

	// mu guards what follows: follow writes the look, decideAll reads it and writes the decision, the driver asks for specs
	// and, by way of its agents, for servers that are up, and requests by HTTP read everything.
	mu sync.Mutex
	// seen is the newest look at the cluster, which nobody changes once it is here, seenAt when that was, and servers an index of it,
	// by ID.
	seen    *View
	seenAt  time.Time
	servers map[string]*Server
	// specs are what jobs run, by ID, as the newest look that had them has said: one that is missing for a moment, or
	// cannot be understood any more, may have to be started again meanwhile.
	specs map[string]json.RawMessage
	// queues are those of the jobs of the newest look, by ID.
	queues map[string]string
	// last is the newest decision, or the fault in its place.
	last Taken
}

// Taken is a decision that was taken, and on what.
type Taken struct {
	// At is when the decision was begun, and Took how long it took, without its being carried out.
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
	c := &Controller{config: config.filled(), meters: newMeters(), agents: map[string]*managed.Agent{}, missing: map[string]time.Time{}, deadlines: map[string]time.Time{}, servers: map[string]*Server{}, specs: map[string]json.RawMessage{}}
	c.starts = newStarts(config.Machine.Jobs())
	c.starts.queueOf = c.queueOf
	c.forecasts = &page.Forecasts{Last: c.decided, QueueOf: c.queueOf, Before: config.Machine.Jobs(), Pause: c.config.Settle}
	c.board = page.New(page.Config{Secret: config.Secret, Source: c.shown, Ask: c.ask})
	// The caller's options are copied: Spec is ours, and theirs stays as it was.
	var options driver.Options
	if config.Options != nil {
		options = *config.Options
	}
	options.Spec = c.spec
	told := options.Recorded
	options.Recorded = func(r checkpoint.Record) {
		now := time.Now()
		c.starts.take(r, now)
		c.forecasts.Take(r, now)
		if told != nil {
			told(r)
		}
	}
	options.Log = cmp.Or(options.Log, c.config.Log)
	// How long a server may be out of reach follows from both rhythms: it must outlast a few failed questions, however
	// seldom the driver asks, and must not be a large part of what runs can live without a controller.
	// The driver fills its own zero later, so the default is looked up here as well.
	poll := cmp.Or(options.Poll, driver.DefaultPoll)
	window := max(windowPolls*poll, c.config.Lease/windowParts)
	var err error
	// The fleet stands between the driver and the manager. It is told of the machine's jobs, since guards of runs that
	// an earlier controller has started claim from the first moment on.
	c.fleet, err = managed.NewFleet(managed.Config{Manager: config.Cluster, Store: config.Store, Dir: config.Dir, Shared: config.Shared,
		Secret: config.Secret, Authorities: config.Authorities,
		Epoch: config.Machine.Epoch(), Lease: c.config.Lease, Slack: c.config.Lease/10 + slack, Window: window,
		Report: c.config.Report}, config.Machine.Jobs())
	if err != nil {
		return nil, err
	}
	if leader, is := config.Journal.(Leader); is {
		c.fleet.Desk().RequireLead(leader.Leads)
	}
	// The driver may take a server for lost only when no run can live there any more, which the fleet knows: a lease, what
	// clocks drift apart, and what it takes to kill.
	c.driver, err = driver.New(config.Machine, config.Journal, driver.Config{Store: config.Store, Grace: c.fleet.Grace()}, &options)
	return c, err
}

// slack is what it takes to kill, beside what clocks drift apart, which is taken to be a tenth of the lease at most: a
// machine that is busy is late by this, at most.
const slack = 2 * time.Second

// A server counts as not reached when this many questions of the driver have failed, and a part of the lease is over.
const (
	windowPolls = 10
	windowParts = 5
)

// State is what the driver knows of jobs and servers, and Await waits until something is so, see [driver.Driver.Await].
func (c *Controller) State() driver.State { return c.driver.State() }

// Await returns the first State of which is says true. The error is the context's, or driver.ErrEnded.
func (c *Controller) Await(ctx context.Context, is func(*driver.State) bool) (driver.State, error) {
	return c.driver.Await(ctx, is)
}

// Desk knows of the guards' claims.
func (c *Controller) Desk() *guard.Desk { return c.fleet.Desk() }

// View returns the newest look at the cluster; nil before the first. It is shared: whoever asks must not change it. Jobs that
// could not be understood are in Rejected by then, whatever the manager had said of them.
func (c *Controller) View() *View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// Last returns the newest decision. What it points at is shared, and nobody changes it.
func (c *Controller) Last() Taken {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// spec returns what a job runs, for the agents; nil: no look has had the job yet. The driver calls it from several goroutines.
func (c *Controller) spec(job string) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.specs[job]
}

// queueOf returns the queue of a job by the newest look; "": it is in none.
func (c *Controller) queueOf(job string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queues[job]
}

// up says why a server is not up by the newest look; nil: it is. The agent of a server that is not up gives the driver no
// answer, which is all that the protocol has to know.
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
