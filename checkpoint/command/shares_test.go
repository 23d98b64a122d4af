//go:build linux

// This file runs a job on three servers, each of whose processes holds a shard of the model, through agents, driver and a
// store on the disk: each saves its own, and fetches what it needs.

package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/files"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
)

// parted is how many shards the model has, whatever the number of processes: rank r of n holds those that leave r when they
// are divided by n.
const parted = 6

func holds(shard, rank, ranks int) bool { return shard%ranks == rank }

// shard trains the shards of its rank: a step is one more in each. It steps when it is asked to save, so that all ranks have
// done as many then. It notes the shards that it has found in the checkpoint.
func shard() {
	rank, err := strconv.Atoi(os.Getenv(command.EnvRank))
	orExit(err)
	ranks, err := strconv.Atoi(os.Getenv(command.EnvContainers))
	orExit(err)
	step := 0
	if dir := os.Getenv(command.EnvRestoreDir); dir != "" {
		entries, err := os.ReadDir(dir)
		orExit(err)
		var found []string
		for _, e := range entries {
			found = append(found, e.Name())
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			orExit(err)
			if step, err = strconv.Atoi(string(text)); err != nil {
				orExit(err)
			}
		}
		orExit(os.WriteFile(own(fmt.Sprint("found-", rank)), []byte(strings.Join(found, " ")), 0o600))
	}
	report(step)
	for number := int64(1); ; time.Sleep(time.Millisecond) {
		if requested() < number {
			continue
		}
		number = requested()
		step++
		var names []string
		for s := range parted {
			if !holds(s, rank, ranks) {
				continue
			}
			names = append(names, fmt.Sprint("shard-", s))
			orExit(os.WriteFile(own(names[len(names)-1]), []byte(strconv.Itoa(step)), 0o600))
		}
		acknowledge(number, int64(step), names...)
		report(step)
		number++
	}
}

// mortal is an agent whose server a test can take away.
type mortal struct {
	driver.Agent
	dead atomic.Bool
	// dies takes the server away behind its next save, whose reply is lost.
	dies atomic.Bool
}

var errGone = errors.New("no route to host")

func (m *mortal) Do(ctx context.Context, o agent.Order) (checkpoint.Reply, error) {
	if m.dead.Load() {
		return checkpoint.Reply{}, errGone
	}
	reply, err := m.Agent.Do(ctx, o)
	if o.Effect.Action == checkpoint.Save && m.dies.Load() {
		m.dead.Store(true)
		return checkpoint.Reply{}, errGone
	}
	return reply, err
}

func (m *mortal) Status(ctx context.Context, q agent.Question) (agent.Status, error) {
	if m.dead.Load() {
		return agent.Status{}, errGone
	}
	return m.Agent.Status(ctx, q)
}

func disk(t *testing.T, dir string) vfs.FS {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o700))
	return must.Have(vfs.NewOS(dir))(t)
}

// shardedCluster is a driver with three servers, and the folder of all. Each has a store of its own on the same directory, as
// on machines.
type shardedCluster struct {
	d       *driver.Driver
	servers map[string]*mortal
	master  *store.Shards
	dir     string
}

func newShardedCluster(t *testing.T) shardedCluster {
	t.Helper()
	dir := t.TempDir()
	stored := func() *store.Shards {
		s := must.Have(files.New(disk(t, filepath.Join(dir, "store")), nil))(t)
		return store.NewShards(s)
	}
	m, j, err := journal.Open(disk(t, filepath.Join(dir, "journal")), checkpoint.Config{Kinds: apportion.Kinds{"slot"}})
	must.Do(t, err)
	master := stored()
	d := must.Have(driver.New(m, j, driver.Config{Store: master, Grace: time.Hour},
		&driver.Options{Sharded: func(string) bool { return true }, VerifyOnServers: true, Poll: 10 * time.Millisecond}))(t)
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	servers := map[string]*mortal{}
	for _, server := range []string{"a", "b", "c"} {
		a := must.Have(agent.New(agent.Config{Server: server, Disk: disk(t, filepath.Join(dir, "book", server)), Shared: filepath.Join(dir, "shared"),
			Restored: filepath.Join(dir, "restored", server), Store: stored(), Lease: 30 * time.Minute,
			Runner: func(string, json.RawMessage) (runner.Runner, error) {
				return command.New(command.Commands{Start: []string{program(t), "job:shard"}, Work: filepath.Join(dir, "work", server)},
					&command.Options{Node: server, Needs: func(run runner.Run, part string) bool {
						var s int
						_, err := fmt.Sscanf(part, "shard-%d", &s)
						return err == nil && holds(s, slices.Index(run.Containers, server), len(run.Containers))
					}})
			}}))(t)
		servers[server] = &mortal{Agent: a}
		t.Cleanup(func() {
			r, err := command.New(command.Commands{Start: []string{"/bin/true"}, Work: filepath.Join(dir, "work", server)}, nil)
			if err == nil {
				err = errors.Join(r.Stop(context.Background(), runner.Run{Job: "lr", Attempt: 1 << 60, Containers: []string{server}, Dir: dir}), r.Close())
			}
			if err := errors.Join(err, a.Close()); err != nil {
				t.Error(err)
			}
		})
		must.Do(t, d.Join(ctx, apportion.Server{ID: server, Capacity: apportion.Resources{1}}, servers[server]))
	}
	t.Cleanup(func() {
		end()
		must.Do(t, <-ended)
	})
	return shardedCluster{d, servers, master, dir}
}

// reaches waits until a job of a driver is as wanted, for a minute and a half.
func reaches(t *testing.T, d *driver.Driver, is func(j *checkpoint.Job) bool) checkpoint.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	s, err := d.Await(ctx, func(s *driver.State) bool { j, ok := s.Job("lr"); return ok && is(&j.Job) })
	j, _ := s.Job("lr")
	must.Do(t, err, j)
	return j.Job
}

// Three servers save a shard each; one dies between its part and the manifest; the two others go on from the checkpoint
// before, with what each of them needs.
func TestShardsOfServers(t *testing.T) {
	c := newShardedCluster(t)
	d, servers := c.d, c.servers
	apply := func(events ...checkpoint.Event) {
		t.Helper()
		must.Do(t, d.Apply(t.Context(), events...))
	}
	runsOn := func(servers ...string) func(*checkpoint.Job) bool {
		return func(j *checkpoint.Job) bool {
			return j.Phase == checkpoint.Running && j.Order == 0 && slices.Equal(j.Containers, servers)
		}
	}
	apply(checkpoint.Submit{Job: "lr", Demand: apportion.Resources{1}}, checkpoint.Adjust{Targets: map[string][]string{"lr": {"a", "b", "c"}}})
	reaches(t, d, runsOn("a", "b", "c"))
	apply(checkpoint.Checkpoint{Job: "lr"})
	saved := reaches(t, d, func(j *checkpoint.Job) bool { return j.Newest().Step == 1 && runsOn("a", "b", "c")(j) })
	confirmed := saved.Newest()
	servers["b"].dies.Store(true)
	apply(checkpoint.Checkpoint{Job: "lr"})
	reaches(t, d, func(j *checkpoint.Job) bool { return servers["b"].dead.Load() })
	if list, err := c.master.List(t.Context(), "lr"); err != nil || len(list) != 1 || list[0].Number != confirmed.Number || len(list[0].Parts) != parted {
		t.Errorf("visible: %+v, %v", list, err)
	}
	apply(checkpoint.ServerFenced{ID: "b"})
	resized := reaches(t, d, func(j *checkpoint.Job) bool { return j.Attempt > saved.Attempt && runsOn("a", "c")(j) })
	must.Equal(t, resized.Newest(), confirmed, "it goes on from")
	for rank, want := range []string{"shard-0 shard-2 shard-4", "shard-1 shard-3 shard-5"} {
		name := filepath.Join(c.dir, "shared", "lr", fmt.Sprint(resized.Attempt), fmt.Sprint("found-", rank))
		eventually(t, "rank begins", func() bool { text, err := os.ReadFile(name); return err == nil && len(text) > 0 })
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("rank %d begins from %q, want %q: %v", rank, text, want, err)
		}
	}
	apply(checkpoint.Checkpoint{Job: "lr"})
	again := reaches(t, d, func(j *checkpoint.Job) bool { return j.Newest() != confirmed && runsOn("a", "c")(j) })
	must.Equal(t, again.Newest().Step, confirmed.Step+1, again.Newest(), "behind", confirmed)
	apply(checkpoint.Cancel{Job: "lr"})
	reaches(t, d, func(j *checkpoint.Job) bool { return j.Phase == checkpoint.Ended })
}
