// This file lets everything die, hang and come back on a real Slurm cluster, while jobs run on it.

package slurm

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// nodes are those of the cluster in TestFaults.
var nodes = []string{"n1", "n2", "n3"}

// Verbs implements managertest.Player: what a test does to a Slurm cluster.
func (b *bench) Verbs() *managertest.Cluster {
	return &managertest.Cluster{
		Nodes: nodes,
		Daemons: []managertest.Daemon{{Sort: "slurmd", Names: nodes, Least: time.Second, Most: 20 * time.Second},
			{Sort: slurmctld, Names: []string{slurmctld}, Least: 100 * time.Millisecond, Most: 8 * time.Second}},
		Kill: b.Kill, Start: b.startDaemon,
		Drain: func(node string, on bool) {
			if on {
				b.slurm("scontrol", "update", "NodeName="+node, "State=DRAIN", "Reason=test")
			} else {
				b.resume(node)
			}
		},
		Submit: b.submit, Cancel: func(id string) { b.slurm("scancel", numberOf(id)) }, Jobs: b.held,
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

// Nothing runs twice and nothing confirmed is lost, whatever dies and comes back, and every job ends.
func TestFaults(t *testing.T) {
	b := newBench(t, len(nodes))
	b.Play(b.Verbs(), 6, 2)
}
