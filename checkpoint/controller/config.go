// This file declares what a controller works with.

package controller

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/check"
)

// Decide takes a decision; alloc.Decider.Reallocate is one. It is called from one goroutine at a time, and must return soon after
// its context has ended. The problem is shared with those who look at it and must not be changed.
type Decide func(ctx context.Context, p *alloc.Problem) (*alloc.Decision, error)

// Config says what a controller works with. Those without a default are required.
type Config struct {
	// Cluster is the cluster manager.
	Cluster Cluster
	// Machine and Journal are as journal.Open returns them. Journal belongs to the controller from New on. If it is a Leader,
	// guards are answered only while its master leads, and the controller ends soon after it does not.
	Machine *checkpoint.Machine
	Journal driver.Journal
	// Store keeps the checkpoints.
	Store store.Store
	// Secret is that of the masters, and Authorities by what guards believe their server, see managed.Config. Guards are let in by the
	// Secret, and links to the page are signed with it.
	Secret      wire.Secret
	Authorities string
	// Dir is the folder with the memory of the agents, and Shared the one that all servers see, see managed.Config.
	Dir, Shared string
	// Problem has the Kinds of the machine, the thresholds and the options of every decision; the rest is filled in.
	Problem alloc.Problem
	// Lease is how long a run goes on without a controller; 0: DefaultLease. A controller that is replaced must be back
	// within it.
	Lease time.Duration
	// Look is the pause between two looks at the cluster; 0: DefaultLook.
	Look time.Duration
	// Idle is the longest pause between two looks while nothing changes; 0: a Look. Where a look costs the manager something it may
	// be some seconds.
	Idle time.Duration
	// Missing is how long a job may be missing in the cluster before it counts as withdrawn; 0: DefaultMissing.
	Missing time.Duration
	// Settle is the pause after a decision, in which changes are gathered; 0: DefaultSettle. Every decision may stop and
	// start jobs, so several arrivals at a time are better decided together.
	Settle time.Duration
	// Reserve is what elastic jobs leave free on each server, and when: of what holds at a time the most; nil: nothing.
	Reserve []Reserve
	// Standing is the priority of View.Waiting among the jobs; nil: above all of them. Those that run shrink for it in any case.
	Standing *int64
	// Hold is how long room is kept for work that waits before its manager must have begun it; 0: DefaultHold, below 0: none is kept.
	Hold time.Duration
	// MinRun is how long a run is at least before a decision ends it for others' sake or its own; 0: any time. The part of it that
	// earlier moves have paused jobs for, in the mean, is alloc's Options.RestartCost, and that of its own last move a job's RestartCost;
	// without a MinRun a restart costs nothing.
	// JobMoves and Moves are how often in an hour decisions may move one job, and all together; 0: any number. Where no job waits those of
	// a job are apart by the hour's part that JobMoves leaves for each. Nothing of this holds up work that waits, drains, and what cannot stay.
	MinRun          time.Duration
	JobMoves, Moves int
	// Decide takes the decisions; nil: an alloc.Decider's, with a second for each.
	Decide Decide
	// MaxDeaths is how many runs of a job may die by themselves without a step further than all before, until the job ends as
	// failed; 0: DefaultMaxDeaths, -1: any number.
	MaxDeaths int
	// Options are those of the driver; nil: its defaults. Spec is overwritten.
	Options *driver.Options
	// Report is told what goes wrong and is tried again; it is called from several goroutines. Nil: nobody is.
	Report func(error)
	// Log is told of each decision and what it changes, and, unless Options have another, what a driver tells its log: METRICS.md lists
	// lines and attributes. Nil: nobody is.
	Log *slog.Logger
}

// What zeros of a Config stand for.
const (
	// DefaultLease bounds two things at once: how long a controller may be away before runs end, and how long the jobs of a
	// server that has died wait until nothing can live there any more.
	DefaultLease = 30 * time.Second
	// A manager answers a look in milliseconds, and jobs train for hours: once a second costs little and delays nobody.
	DefaultLook   = time.Second
	DefaultSettle = time.Second
	// DefaultMissing is long against what a manager takes to read its own records.
	DefaultMissing = 30 * time.Second
	// DefaultHold is long against what a manager takes to begin what has room, and a save before it.
	DefaultHold = 10 * time.Minute
	// DefaultMaxDeaths is what Kubernetes allows a Job by default.
	DefaultMaxDeaths = 6
)

// Validate returns the faults of a Config as [apportion.Faults].
func (c *Config) Validate() error {
	// All faults are gathered and told at once, so that whoever sets a controller up sees them together.
	var faults apportion.Faults
	item := apportion.Item{ID: "config"}
	check.Required(&faults, item, map[string]bool{
		"Cluster": c.Cluster == nil, "Machine": c.Machine == nil, "Journal": c.Journal == nil, "Store": c.Store == nil,
		"Dir": c.Dir == "", "Shared": c.Shared == "", "Secret": c.Secret == wire.Secret{}, "Problem.Kinds": len(c.Problem.Kinds) == 0,
	})
	for i := range c.Reserve {
		c.Reserve[i].check(&faults, item, len(c.Problem.Kinds))
	}
	check.NotNegative(&faults, item, map[string]time.Duration{"Lease": c.Lease, "Look": c.Look, "Idle": c.Idle, "Missing": c.Missing, "Settle": c.Settle, "MinRun": c.MinRun})
	check.NotNegative(&faults, item, map[string]int{"JobMoves": c.JobMoves, "Moves": c.Moves})
	return faults.Err()
}

// filled returns a copy with the defaults in place of zeros. Required fields stay as they are: Advisor and Plan leave
// most of them empty.
func (c Config) filled() Config {
	c.Lease = cmp.Or(c.Lease, DefaultLease)
	c.Look = cmp.Or(c.Look, DefaultLook)
	c.Idle = max(c.Idle, c.Look)
	c.Missing = cmp.Or(c.Missing, DefaultMissing)
	c.Settle = cmp.Or(c.Settle, DefaultSettle)
	c.Hold = cmp.Or(c.Hold, DefaultHold)
	c.MaxDeaths = cmp.Or(c.MaxDeaths, DefaultMaxDeaths)
	if c.Decide == nil {
		// One Decider for all decisions: what it has learnt from one makes the next faster. A second is long for a search
		// and short for a cluster that waits; what was found by then counts.
		var d alloc.Decider
		c.Decide = func(ctx context.Context, p *alloc.Problem) (*alloc.Decision, error) {
			limited, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return d.Reallocate(limited, p)
		}
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Report == nil {
		c.Report = func(error) {}
	}
	return c
}
