// This file lets everything die, hang and come back on a real Slurm cluster, while jobs run on it.

package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

var (
	faults = flag.Int("faults", 10, "how many faults TestFaults lets happen, one after the other")
	seed   = flag.Uint64("seed", 1, "which faults TestFaults lets happen")
)

// fault is something that goes wrong.
type fault struct {
	name string
	do   func(b *bench, r *rand.Rand)
}

// nodes are those of the cluster in TestFaults.
var nodes = []string{"n1", "n2", "n3"}

// wait waits for a time that is drawn.
func wait(r *rand.Rand, from, to time.Duration) {
	time.Sleep(from + time.Duration(r.Int64N(int64(to-from))))
}

var happen = []fault{
	{"a worker is killed", func(b *bench, r *rand.Rand) {
		if pids := b.processes("inhouse"); len(pids) > 0 {
			_ = syscall.Kill(pids[r.IntN(len(pids))], syscall.SIGKILL) // it may have ended
		}
	}},
	{"a slurmd is killed for a while", func(b *bench, r *rand.Rand) {
		node := nodes[r.IntN(len(nodes))]
		b.kill(node)
		wait(r, time.Second, 20*time.Second)
		b.startNode(node)
	}},
	{"slurmctld is killed for a while", func(b *bench, r *rand.Rand) {
		b.kill("slurmctld")
		wait(r, 100*time.Millisecond, 8*time.Second)
		b.startController()
	}},
	{"the controller is killed", func(b *bench, r *rand.Rand) {
		b.end()
		wait(r, 0, 8*time.Second)
		b.begin()
	}},
	{"the controller is stopped for a while", func(b *bench, r *rand.Rand) {
		_ = b.controller.Process.Signal(syscall.SIGSTOP)
		wait(r, time.Second, 8*time.Second)
		_ = b.controller.Process.Signal(syscall.SIGCONT)
	}},
	{"a node is drained", func(b *bench, r *rand.Rand) {
		node := nodes[r.IntN(len(nodes))]
		b.slurm("scontrol", "update", "NodeName="+node, "State=DRAIN", "Reason=test")
		wait(r, time.Second, 6*time.Second)
		b.slurm("scontrol", "update", "NodeName="+node, "State=RESUME")
	}},
	{"a job is cancelled by its user, and another submitted", func(b *bench, r *rand.Rand) {
		if ids := b.held(); len(ids) > 0 {
			id := ids[r.IntN(len(ids))]
			b.slurm("scancel", id[strings.LastIndex(id, ".")+1:])
		}
		b.more(r)
	}},
	{"a guard is killed", func(b *bench, r *rand.Rand) {
		if pids := b.processes("apportion-guard"); len(pids) > 0 {
			_ = syscall.Kill(pids[r.IntN(len(pids))], syscall.SIGKILL)
		}
	}},
}

// slurm runs one of Slurm's commands until its daemons take it.
func (b *bench) slurm(name string, args ...string) string {
	b.Helper()
	var text string
	b.eventually(name+" is taken", 60*time.Second, func() (so bool) {
		var err error
		text, err = command(context.Background(), "", name, args...)
		return err == nil
	})
	return text
}

// processes are those of the cluster whose command begins with a program of this name.
func (b *bench) processes(program string) []int {
	var found []int
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		if strings.HasPrefix(string(line), filepath.Join(b.dir, program)+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(folder))
			found = append(found, pid)
		}
	}
	return found
}

// held are the elastic jobs that have not ended.
func (b *bench) held() []string {
	b.Helper()
	var ids []string
	for _, r := range readRecords(b.slurm("scontrol", "-o", "show", "job")) {
		if strings.HasPrefix(r["Comment"], mark) && r["JobState"] == "PENDING" {
			ids = append(ids, idOf(r))
		}
	}
	return ids
}

// more submits another job.
func (b *bench) more(r *rand.Rand) {
	b.submitted++
	b.submit(fmt.Sprintf("job-%d", b.submitted), 1+r.IntN(10), 1000+r.IntN(2000))
}

// resting are the phases of a job that nothing is to be changed of: one that runs is saved now and then.
var resting = []checkpoint.Phase{checkpoint.Running, checkpoint.Saving, checkpoint.Verifying, checkpoint.Ended}

// rests waits until every elastic job runs, or has ended.
func (b *bench) rests() {
	b.Helper()
	last := ""
	b.eventually("all jobs run or have ended", 120*time.Second, func() bool {
		r := b.report()
		if r == nil {
			return false
		}
		last = ""
		known := map[string]bool{}
		for _, j := range r.Jobs {
			known[j.Job.Name] = true
			if !slices.Contains(resting, j.Job.Phase) || j.Job.Order != 0 {
				last += fmt.Sprintf("%s is %s: %s\n", j.Job.Name, j.Job.Phase, j.Why)
			}
		}
		for _, id := range b.held() {
			if !known[id] {
				last += id + " is not known\n"
			}
		}
		if last != "" {
			b.rest = last
		}
		return last == ""
	})
}

// Nothing runs twice and nothing confirmed is lost, whatever dies and comes back, and every job ends.
func TestFaults(t *testing.T) {
	b := newBench(t, len(nodes))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(b.rest)
		}
	})
	r := rand.New(rand.NewPCG(*seed, 0))
	for range 4 {
		b.more(r)
	}
	b.rests()
	for i := range *faults {
		for len(b.held()) < 4 {
			b.more(r)
		}
		b.rests()
		one := happen[(i+r.IntN(2)*r.IntN(len(happen)))%len(happen)]
		began := time.Now()
		t.Logf("%3d %s", i, one.name)
		one.do(b, r)
		b.rests()
		t.Logf("    all is well after %.1f s", time.Since(began).Seconds())
		b.check()
		if t.Failed() {
			return
		}
	}
	b.eventually("every job ends", 240*time.Second, func() bool { b.report(); return len(b.held()) == 0 })
	b.check()
}
