// This file implements a cluster manager in memory for the tests, whose containers have guards that claim at the desk.

package managed_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/runner"
)

// container is a container with its guard and its trainer.
type container struct {
	guard.Claim
	dir   string
	deaf  bool // nobody answers its claims
	until time.Time
	asked int64
}

func (c *container) alive() bool { return c.State.Started && c.State.Ended == nil }

// end ends the trainer.
func (c *container) end(e guard.End) {
	if c.State.Ended == nil {
		c.State.Ended, c.State.Progress.Running, c.State.Progress.Failed = &e, false, e.String()
	}
}

// cluster is a manager in memory. Guards claim once in a round, when step is called.
type cluster struct {
	t    *testing.T
	desk func() *guard.Desk
	now  func() time.Time

	mu         sync.Mutex
	containers []*container
	asked      map[string]int64 // by job, the highest attempt that was asked for or stopped
	starts     map[string]int   // by job and attempt
	// lost are servers that the manager calls down: it cannot end anything there.
	lost map[string]bool
	// full says that containers are accepted and never started.
	full bool
	// late says that containers but the first are started and their guards have yet to claim.
	late    bool
	trouble string
}

func newCluster(t *testing.T, now func() time.Time) *cluster {
	return &cluster{t: t, now: now, asked: map[string]int64{}, starts: map[string]int{}, lost: map[string]bool{}}
}

func runOf(job string, attempt int64) string { return fmt.Sprint(job, "/", attempt) }

func (c *cluster) Start(_ context.Context, task managed.Task) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if task.Attempt <= c.asked[task.Job] {
		return nil
	}
	c.asked[task.Job] = task.Attempt
	for _, part := range task.Servers() {
		for rank := part.First; rank < part.First+part.Count; rank++ {
			if c.full {
				continue
			}
			id := guard.ID{Job: task.Job, Attempt: task.Attempt, Server: part.Server, Rank: rank}
			c.containers = append(c.containers, &container{dir: task.Dir, deaf: c.late && rank > 0,
				Claim: guard.Claim{ID: id, Epoch: task.Epoch, Life: fmt.Sprint(len(c.containers)), Clock: agent.Stamp{Boot: "b", At: time.Second}}})
		}
	}
	c.starts[runOf(task.Job, task.Attempt)]++
	return nil
}

func (c *cluster) Stop(_ context.Context, job string, attempt int64, server string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[job] = max(c.asked[job], attempt)
	for _, one := range c.containers {
		if one.Job == job && one.Attempt <= attempt && one.Server == server && !c.lost[server] {
			one.end(guard.End{Code: -1, Signal: "terminated", Why: guard.Asked})
		}
	}
	return nil
}

func (c *cluster) Trouble(context.Context, string, int64, string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trouble, nil
}

// step has every guard claim once, and do what follows from the answer.
func (c *cluster) step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.containers {
		if one.alive() && c.now().After(one.until) {
			one.end(guard.End{Code: -1, Signal: "killed", Why: guard.LeaseOver})
		}
		if one.deaf {
			continue
		}
		grant, err := c.desk().Answer(one.Claim)
		switch {
		case err != nil || one.State.Ended != nil:
		case grant.Fenced != "":
			one.end(guard.End{Code: -1, Signal: "killed", Why: guard.Fenced})
		default:
			one.until, one.State.Started, one.State.Progress.Running = c.now().Add(grant.Length), true, true
			one.save(c.t, grant.Save)
		}
	}
}

// save writes a checkpoint, if that is asked for.
func (c *container) save(t *testing.T, number int64) {
	if number <= c.asked {
		return
	}
	c.asked = number
	name, step := fmt.Sprint("state-", number), int64(7)
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte("learnt"), 0o600); err != nil {
		t.Error(err)
	}
	c.State.Checkpoint = &command.Acknowledgement{Request: number, Step: &step, Files: []string{name}}
}

// live returns the attempts of a job that live on a server, ascending.
func (c *cluster) live(job, server string) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []int64
	for _, one := range c.containers {
		if one.Job == job && one.Server == server && one.alive() {
			list = append(list, one.Attempt)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// each calls do with the containers of a job; "": of all.
func (c *cluster) each(job string, do func(*container)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.containers {
		if job == "" || one.Job == job {
			do(one)
		}
	}
}

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var errDown = errors.New("it is down")

// taskOf is a run for the tests of single calls.
func taskOf(job string, attempt int64, dir string, servers ...string) runner.Run {
	return runner.Run{Job: job, Attempt: attempt, Containers: servers, Dir: dir}
}
