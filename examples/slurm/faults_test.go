// This file lets everything die, hang and come back on a real Slurm cluster, while jobs run on it.

package slurm

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/checkpointtest/processes"
	"github.com/apportion/apportion/examples/managertest"
)

// nodes are those of the cluster in TestFaults.
var nodes = []string{"n1", "n2", "n3"}

// own are the faults of a Slurm cluster.
func (b *bench) own() []managertest.Fault {
	return []managertest.Fault{
		{Name: "a slurmd is killed for a while", Of: "slurmd", Do: func(r *rand.Rand) {
			node := nodes[r.IntN(len(nodes))]
			b.Kill(node)
			managertest.Wait(r, time.Second, 20*time.Second)
			b.startNode(node)
		}},
		{Name: "slurmctld is killed for a while", Of: "slurmctld", Do: func(r *rand.Rand) {
			b.Kill("slurmctld")
			managertest.Wait(r, 100*time.Millisecond, 8*time.Second)
			b.startController()
		}},
		{Name: "a node is drained", Of: "drain", Do: func(r *rand.Rand) {
			node := nodes[r.IntN(len(nodes))]
			b.slurm("scontrol", "update", "NodeName="+node, "State=DRAIN", "Reason=test")
			managertest.Wait(r, time.Second, 6*time.Second)
			b.resume(node)
		}},
		{Name: "a job is cancelled by its user, and another submitted", Of: "job", Do: func(r *rand.Rand) {
			if ids := b.held(); len(ids) > 0 {
				id := ids[r.IntN(len(ids))]
				b.slurm("scancel", numberOf(id))
			}
			b.more(r)
		}},
	}
}

// resume ends the drain of a node. slurmctld that was killed meanwhile may have forgotten the drain, and refuses then.
func (b *bench) resume(name string) {
	b.Bench.Helper()
	processes.Eventually(b.Bench, name+" is not drained any more", 60*time.Second, func() bool {
		_, _ = command(context.Background(), "", "scontrol", "update", "NodeName="+name, "State=RESUME") // what became of it is looked at
		list, err := ask[node](context.Background(), "sinfo", "nodes")
		at := slices.IndexFunc(list, func(n node) bool { return n.Name == name })
		return err == nil && !slices.Contains(list[at].Flags, "DRAIN")
	})
}

// slurm runs one of Slurm's commands until its daemons take it.
func (b *bench) slurm(name string, args ...string) string {
	b.Bench.Helper()
	var text string
	processes.Eventually(b.Bench, name+" is taken", 60*time.Second, func() (so bool) {
		var err error
		text, err = command(context.Background(), "", name, args...)
		return err == nil
	})
	return text
}

// held are the elastic jobs that have not ended.
func (b *bench) held() []string {
	b.Bench.Helper()
	var ids []string
	processes.Eventually(b.Bench, "squeue answers", 60*time.Second, func() bool {
		jobs, err := ask[job](context.Background(), "squeue", "jobs")
		ids = nil
		for i := range jobs {
			if words, ours := jobs[i].words(); ours && endingOf(words) == "" && isAlive(jobs[i].State) {
				ids = append(ids, jobs[i].id())
			}
		}
		return err == nil
	})
	return ids
}

// more submits another job.
func (b *bench) more(r *rand.Rand) {
	name, most, steps := b.Another(r)
	b.submit(name, most, steps)
}

// Nothing runs twice and nothing confirmed is lost, whatever dies and comes back, and every job ends.
func TestFaults(t *testing.T) {
	b := newBench(t, len(nodes))
	b.Play(append(b.own(), b.Seconds()...), 6, 2, b.held, b.more)
}
