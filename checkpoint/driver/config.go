// This file declares what a driver works with: agents, a journal, a store, and how patient it is.

package driver

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/check"
)

// Agent is what a driver speaks to on one server: agent.Agent, a fake of a test, or a client of an agent
// on another machine. It keeps the promises of [checkpoint.Effect]; package agenttest tests them.
type Agent interface {
	// Do carries out an effect on the server. An error says that it is not known how it went, or, if it
	// wraps checkpoint.ErrFenced, that a newer master has taken over.
	Do(ctx context.Context, order agent.Order) (checkpoint.Reply, error)
	// Status says how the jobs stand. An error that wraps checkpoint.ErrFenced says that a newer master
	// has taken over.
	Status(ctx context.Context, q agent.Question) (agent.Status, error)
}

// Journal keeps the records of a machine; journal.Journal is one. It belongs to the driver from New on.
//
// Its methods are called from one goroutine at a time, that of Run, and all but Bytes are given AppendLimit.
//
// Where it has a method Leads() error as well, which writes nothing, a driver asks at each tick, and ends by ErrFenced, or where no answer comes.
type Journal interface {
	// Append makes a record durable. After an error the journal takes nothing more.
	Append(checkpoint.Record) error
	// Bytes is the size of the journal; Compact replaces it by one that begins with a snapshot.
	Bytes() int64
	Compact(snapshot checkpoint.Record) error
	// Close closes the journal. What was appended is durable already.
	Close() error
}

// Config says what a driver works with. Both fields are required.
type Config struct {
	// Store keeps the checkpoints.
	Store store.Store
	// Grace is how long a server may give no answer before it counts as lost: longer than the lease of
	// its agent, by what the clocks may drift apart meanwhile and what ending the jobs takes.
	Grace time.Duration
}

// Options are settings that have defaults; nil stands for all of them.
type Options struct {
	// Spec returns what a job runs, for the agents. It is called from several goroutines. Nil: agents
	// are told nothing.
	Spec func(job string) json.RawMessage
	// Poll is how often each agent is asked, and time is told to the machine; 0: DefaultPoll.
	Poll time.Duration
	// Silence is how long a server may give no answer before nothing is started there any more; 0: half of the Grace.
	Silence time.Duration
	// SaveEvery is how often a running job is saved; 0: only when it is adjusted.
	SaveEvery time.Duration
	// StallAfter is how long a running job that was seen to get on may report no new one before its processes are ended and another
	// attempt goes on from the newest checkpoint, or three times as long as it has ever taken from one report to the next, where
	// that is more; 0: DefaultStallAfter, below 0: for ever.
	StallAfter time.Duration
	// CordonAfter is how many effects of one kind in a row must fail at a server that answers, those of several jobs or such
	// as end one, until nothing more is placed there for CordonFor, see checkpoint.Cordon; 0: none are too many. Then it is
	// tried again: if the next one fails as well, it is for twice as long, up to sixteen times. Of all servers at most half
	// are cordoned so. What fails on all of several servers counts for none of them, and saves are not counted.
	CordonAfter int
	// CordonFor is how long a server is cordoned at first; 0: a minute.
	CordonFor time.Duration
	// Retain is how long a job that has ended is remembered. Then its checkpoints are deleted and it is forgotten, by its
	// servers as well; 0: for ever, and whoever forgets it deletes its checkpoints.
	Retain time.Duration
	// VerifyOnServers says that the servers of a job read what it has saved, each a share at the same time, and not the master:
	// it reads a checkpoint only where one of them could not. What a server alone can see must not be a store then.
	VerifyOnServers bool
	// Sharded says of which jobs each server saves what is there, all at the same time; store.NewShards makes the store for
	// that. The master joins the shares when all servers have told of the same step. Of other jobs the server of rank 0 saves
	// all. With VerifyOnServers the master reads nothing of it. It is called from several goroutines. Nil: of none.
	Sharded func(job string) bool
	// AcceptLoss is the name of a journal of which records were lost for good, as ErrBehind tells it; empty: none were. The driver then
	// leaves all servers alone for the grace, by which time what they run has ended, and goes on from the records that are left and from
	// the checkpoints in the store, see [checkpoint.Machine.AcceptLoss]. A loss that was accepted before changes nothing; another journal ends Run.
	AcceptLoss string
	// CompactBytes is the size from which on the journal is written anew; 0: 4 MiB.
	CompactBytes int64
	// AppendLimit is how long the journal may take for a record; 0: 30 s.
	AppendLimit time.Duration
	// Recorded is told of every record that is durable, before anything is done by it; it must not change it. Nil: nobody is.
	Recorded func(checkpoint.Record)
	// Trace is told of every effect that was replied to, from one goroutine; nil: nobody is.
	Trace func(Traced)
	// Log is told of each start, stop and end of a job, of what becomes of servers, of effects that fail, and of the leader, see
	// controller/METRICS.md; nil: nobody is.
	Log *slog.Logger
}

// What zero stands for in Options.
const (
	DefaultPoll         = 100 * time.Millisecond
	DefaultStallAfter   = 10 * time.Minute
	defaultCordonFor    = time.Minute
	defaultCompactBytes = 4 << 20
	defaultAppendLimit  = 30 * time.Second
)

// Traced is an effect, when it was begun, and what came of it when.
type Traced struct {
	Effect  checkpoint.Effect `json:"effect"`
	Issued  time.Time         `json:"issued"`
	Replied time.Time         `json:"replied"`
	Reply   checkpoint.Reply  `json:"reply"`
}

// check returns the faults of a Config and its Options, all at once.
func (c *Config) check(o *Options) error {
	var faults apportion.Faults
	// There is one driver, so the item has a name and no index.
	item := apportion.Item{ID: "driver"}
	if c.Store == nil {
		faults.Add(item, "Store", apportion.ErrEmpty, "")
	}
	if _, ok := c.Store.(store.Sharded); o.Sharded != nil && !ok {
		faults.Add(item, "Sharded", apportion.ErrConflict, "the store takes whole checkpoints only")
	}
	if c.Grace <= 0 {
		faults.Add(item, "Grace", apportion.ErrRange, c.Grace.String())
	}
	check.NotNegative(&faults, item, map[string]int64{
		"Poll": int64(o.Poll), "Silence": int64(o.Silence),
		"SaveEvery": int64(o.SaveEvery), "Retain": int64(o.Retain),
		"CordonAfter": int64(o.CordonAfter), "CordonFor": int64(o.CordonFor),
		"CompactBytes": o.CompactBytes, "AppendLimit": int64(o.AppendLimit),
	})
	return faults.Err()
}

// setDefaults comes after check, so that a negative value is a fault and never a default.
func (o *Options) setDefaults() {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Poll = cmp.Or(o.Poll, DefaultPoll)
	o.StallAfter = cmp.Or(o.StallAfter, DefaultStallAfter)
	o.CordonFor = cmp.Or(o.CordonFor, defaultCordonFor)
	o.CompactBytes = cmp.Or(o.CompactBytes, defaultCompactBytes)
	o.AppendLimit = cmp.Or(o.AppendLimit, defaultAppendLimit)
	if o.Sharded == nil {
		o.Sharded = func(string) bool { return false }
	}
	if o.Spec == nil {
		o.Spec = func(string) json.RawMessage { return nil }
	}
}
