// This file plays elastic jobs on a real Nomad cluster and asks their workers' own logs whether anything ran twice or was
// lost.

package nomad

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// bench is a cluster with a controller.
type bench struct {
	*cluster
	*managertest.Bench
}

func newBench(t testing.TB, nodes ...string) *bench {
	t.Helper()
	c := newCluster(t, nodes...)
	return &bench{c, managertest.New(t, c.Dir, "NOMAD_ADDR="+c.address("http"))}
}

// submit registers an elastic job as its user does.
func (b *bench) submit(id string, most, steps int, more map[string]string) {
	b.Bench.Helper()
	meta := map[string]string{metaPrefix + "max": strconv.Itoa(most)}
	for key, text := range more {
		meta[metaPrefix+key] = text
	}
	b.register(b.job(id, []string{b.Trainer, "train", "-steps", strconv.Itoa(steps), "-cost", "1ms"}, meta))
}

// as submits a job whose containers run as a user, or changes the most that it can use.
func (b *bench) as(user, id string, most int) {
	b.Bench.Helper()
	locks := filepath.Join(b.cluster.Dir, "locks-"+id)
	if err := errors.Join(os.MkdirAll(locks, 0o700), os.Chmod(locks, 0o777)); err != nil {
		b.Bench.Fatal(err)
	}
	j := b.job(id, []string{b.Trainer, "train", "-steps", "100000", "-cost", "1ms", "-locks", locks}, map[string]string{metaPrefix + "max": strconv.Itoa(most)})
	j.TaskGroups[0].Tasks[0].User = user
	b.register(j)
}

// job is a job without containers, each of which would take an eighth of a node.
func (b *bench) job(id string, argv []string, meta map[string]string) *api.Job {
	return &api.Job{ID: &id, Name: &id, Type: ptr(api.JobTypeService), Datacenters: []string{"dc1"}, Meta: meta,
		TaskGroups: []*api.TaskGroup{{Name: &id, Count: ptr(0), Tasks: []*api.Task{{Name: "train", Driver: "raw_exec",
			Config:    map[string]any{"command": argv[0], "args": argv[1:]},
			LogConfig: api.DefaultLogConfig(),
			Resources: &api.Resources{CPU: ptr(1000), MemoryMB: ptr(500)}}}, EphemeralDisk: &api.EphemeralDisk{SizeMB: ptr(300)}}}}
}

// register registers a job, also at a server that was killed a moment ago and takes nothing yet.
func (b *bench) register(j *api.Job) {
	b.Bench.Helper()
	processes.Eventually(b.Bench, "the job is taken", 30*time.Second, func() bool { _, _, err := b.client.Jobs().Register(j, nil); return err == nil })
}

func ptr[T any](v T) *T { return &v }

// Jobs come, share the cluster, finish, and are withdrawn.
func TestJobsAreShared(t *testing.T) {
	b := newBench(t, nodes...)
	b.Share(b.Verbs(), func(id string) {
		processes.Eventually(b.Bench, id+" has done its work, and is stopped", 60*time.Second, func() bool {
			b.Report()
			j, _, err := b.client.Jobs().Info(id, nil)
			return err == nil && *j.Stop
		})
	})
}

// An elastic job that has the whole cluster makes way for a plain job, and has it back when that is over.
func TestMakesWay(t *testing.T) {
	b := newBench(t, nodes[:2]...)
	b.submit("a", 16, 1000000, nil)
	b.Holds(map[string]int{"a": 16})
	b.others(3, func() { b.Holds(map[string]int{"a": 13}) })
	b.Holds(map[string]int{"a": 16})
	b.Check()
}

// others submits a plain job with so many containers, has something done while it runs, and waits until it is over.
func (b *bench) others(n int, meanwhile func()) {
	b.Bench.Helper()
	plain := b.job("plain", []string{"/bin/sleep", "20"}, nil)
	plain.Type, plain.TaskGroups[0].Count = ptr(api.JobTypeBatch), &n
	b.register(plain)
	are := func(status string) func() bool {
		return func() bool {
			b.Report()
			list, _, err := b.client.Jobs().Allocations("plain", false, nil)
			is := 0
			for _, a := range list {
				if a.ClientStatus == status {
					is++
				}
			}
			return err == nil && is == n
		}
	}
	processes.Eventually(b.Bench, "the plain job runs", 60*time.Second, are(api.AllocClientStatusRunning))
	meanwhile()
	processes.Eventually(b.Bench, "the plain job is over", 60*time.Second, are(api.AllocClientStatusComplete))
}

// A plain job of the usual priority takes room by Nomad's own preemption, also from a controller that makes way for none.
func TestPreempted(t *testing.T) {
	b := newBench(t, nodes[:2]...)
	b.preempt()
	b.Set("-waiting-hold", "-1s")
	b.submit("a", 16, 1000000, nil)
	b.Holds(map[string]int{"a": 16})
	b.Saved("a")
	b.others(3, func() {
		b.Holds(map[string]int{"a": 13})
		list, _, err := b.client.Jobs().Allocations(childOf("a"), true, nil)
		if err != nil || !slices.ContainsFunc(list, func(a *api.AllocationListStub) bool { return a.PreemptedByAllocation != "" }) {
			t.Errorf("%d allocations, of which Nomad has preempted none: %v", len(list), err)
		}
	})
	b.Holds(map[string]int{"a": 16})
	b.Check()
}
