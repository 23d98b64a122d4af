// This file implements Fleet: the agents of the servers of a cluster manager.

package managed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/check"
)

// Config says what a Fleet works with. Every field but Authorities, Clock, Poll and Report is required.
type Config struct {
	// Manager starts and ends containers.
	Manager Manager
	// Store keeps the checkpoints.
	Store store.Store
	// Dir is the folder with the memory of the agents, one folder for each server. Nobody else writes there.
	Dir string
	// Shared is the folder, by its absolute path, into which jobs write and from which they are restored. All servers and
	// this program see it.
	Shared string
	// Secret is that of the masters: the guards of each run get a credential of their own by it. They are let in by its gate.
	Secret wire.Secret
	// Authorities is the path, on all servers, of the file by which guards believe the master's server; "": those of their machines.
	Authorities string
	// Epoch is that of the master, as its machine says.
	Epoch int64
	// Lease is how long a run goes on without a master; Slack how much longer it may take until nothing of it lives: what
	// clocks drift apart in a lease, and what it takes to kill.
	Lease, Slack time.Duration
	// Window is how long a server may not be up before its guards get no answer any more, at least several times the Poll
	// of the driver.
	Window time.Duration
	// Clock tells the time, without jumps; nil: time.Now.
	Clock func() time.Time
	// Poll is how often guards are looked at while something is waited for; 0: 20 ms.
	Poll time.Duration
	// Report is told of what goes wrong beside an effect; nil: nobody is.
	Report func(error)
}

const defaultPoll = 20 * time.Millisecond

// Validate returns the faults of a Config as [apportion.Faults].
func (c *Config) Validate() error {
	var faults apportion.Faults
	item := apportion.Item{ID: "config"}
	check.Required(&faults, item, map[string]bool{
		"Manager": c.Manager == nil, "Store": c.Store == nil, "Dir": c.Dir == "", "Shared": c.Shared == "",
		"Secret": c.Secret == wire.Secret{}, "Epoch": c.Epoch == 0, "Lease": c.Lease == 0, "Slack": c.Slack == 0, "Window": c.Window == 0,
	})
	check.NotNegative(&faults, item, map[string]int64{"Epoch": c.Epoch, "Lease": int64(c.Lease), "Slack": int64(c.Slack), "Window": int64(c.Window), "Poll": int64(c.Poll)})
	if c.Shared != "" && !filepath.IsAbs(c.Shared) {
		faults.Add(item, "Shared", apportion.ErrRange, "not an absolute path")
	}
	return faults.Err()
}

// Fleet makes the agents of the servers of one cluster. It is safe for concurrent use.
type Fleet struct {
	config Config
	desk   *guard.Desk

	mu   sync.Mutex
	runs map[runKey]*run
}

// NewFleet returns the fleet of a master. Jobs are those of its machine: runs of theirs that a master before this one has
// started are vouched for from now on, so that they go on.
func NewFleet(config Config, jobs []checkpoint.Job) (*Fleet, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config.Poll = cmp.Or(config.Poll, defaultPoll)
	if config.Report == nil {
		config.Report = func(error) {}
	}
	f := &Fleet{config: config, desk: guard.NewDesk(config.Epoch, config.Lease, config.Slack, config.Clock), runs: map[runKey]*run{}}
	f.desk.RequireReach(config.Window)
	for i := range jobs {
		j := &jobs[i]
		// What is being stopped must not be vouched for again, and nothing else may run that is not the newest attempt.
		switch {
		case !j.Live() || j.Phase == checkpoint.Stopping || j.Broken:
			f.desk.Fence(j.Name, j.Attempt)
		// All of it has been seen running: what a manager starts of it now, it would start from an old checkpoint.
		case j.Phase == checkpoint.Running || j.Phase == checkpoint.Saving || j.Phase == checkpoint.Verifying:
			f.desk.AdmitStarted(j.Name, j.Attempt)
		default:
			f.desk.Admit(j.Name, j.Attempt)
		}
	}
	return f, nil
}

// Desk knows of the guards' claims.
func (f *Fleet) Desk() *guard.Desk { return f.desk }

// Handler answers the guards, see [guard.Desk.Handler].
func (f *Fleet) Handler() http.Handler { return f.desk.Handler(f.config.Secret.Gate()) }

// Forget forgets a job, of which nothing may live any more, see [guard.Desk.Forget]. Another job may have its name then.
func (f *Fleet) Forget(job string) error {
	f.desk.Forget(job)
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.runs, func(k runKey, _ *run) bool { return k.job == job })
	return os.RemoveAll(f.asked(job))
}

// Grace is the least Grace that a driver of this fleet may have: after that nothing lives on a server that was not up.
func (f *Fleet) Grace() time.Duration { return f.config.Window + f.config.Lease + f.config.Slack }

// Agent is the agent of one server. It implements driver.Agent.
type Agent struct {
	*agent.Agent
	fleet  *Fleet
	server string
	up     func() error
}

// Agent returns the agent of a server. up says whether the server is up, by the manager's word: an error says that it is
// not, or that nobody knows; it must not wait for anybody.
func (f *Fleet) Agent(server string, up func() error) (*Agent, error) {
	// A name of a server may have a slash, or be "..": its folder is named by the rule of stores.
	dir := filepath.Join(f.config.Dir, string(store.FolderOf(server)))
	err := os.MkdirAll(dir, 0o700)
	var disk *vfs.OS
	if err == nil {
		disk, err = vfs.NewOS(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("managed: the memory of server %q: %w", server, err)
	}
	inner, err := agent.New(agent.Config{
		Server: server, Disk: disk, Store: f.config.Store, Shared: filepath.Join(f.config.Shared, runsFolder),
		Restored: filepath.Join(f.config.Shared, restoredFolder),
		// Agent and master are one process, so the agent's own lease has nothing to do: the guards have theirs.
		Lease: time.Hour,
		Runner: func(_ string, spec json.RawMessage) (runner.Runner, error) {
			return &processes{f, server, spec}, nil
		},
		Fetch: f.fetch,
	})
	if err != nil {
		return nil, err
	}
	return &Agent{inner, f, server, up}, nil
}

// Status says how the jobs stand. A server that is not up gives no answer, and its guards get none after the Window.
func (a *Agent) Status(ctx context.Context, q agent.Question) (agent.Status, error) {
	if err := a.up(); err != nil {
		return agent.Status{}, fmt.Errorf("managed: server %q is not up: %w", a.server, err)
	}
	s, err := a.Agent.Status(ctx, q)
	if err == nil {
		a.fleet.desk.Reached(a.server)
	}
	return s, err
}
