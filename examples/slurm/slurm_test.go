// This file plays elastic jobs on a real Slurm cluster and asks their workers' own logs whether anything ran twice or was
// lost.

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/internal/external/externaltest"
)

// bench is a cluster with a controller.
type bench struct {
	*cluster
	*externaltest.Bench
}

func newBench(t testing.TB, nodes int) *bench {
	t.Helper()
	c := newCluster(t, nodes)
	return &bench{c, externaltest.New(t, c.Dir)}
}

// submit submits an elastic job as its user does, and returns its ID. A task takes a CPU.
func (b *bench) submit(name string, most, steps int, more ...string) string {
	b.Bench.Helper()
	script := fmt.Sprintf("exec %s train -steps %d -cost 1ms", b.Trainer, steps)
	return b.sbatch(name, script, "--hold", "--comment=apportion max="+strconv.Itoa(most)+" "+strings.Join(more, " "))
}

// sbatch submits a job whose tasks take a CPU each, also to a slurmctld that was killed a moment ago, and returns its ID.
func (b *bench) sbatch(name, script string, options ...string) string {
	b.Bench.Helper()
	options = append([]string{"--parsable", "--job-name=" + name, "--cpus-per-task=1", "--mem-per-cpu=500", "--chdir=" + b.Dir}, options...)
	var text string
	externaltest.Eventually(b.Bench, "the job is taken", 60*time.Second, func() (so bool) {
		var err error
		text, err = command(context.Background(), "#!/bin/sh\n"+script+"\n", "sbatch", options...)
		return err == nil
	})
	return name + "." + strings.TrimSpace(text)
}

// state is how Slurm says that a job stands.
func (b *bench) state(id string) string {
	b.Bench.Helper()
	text, err := command(context.Background(), "", "scontrol", "-o", "show", "job", id[strings.LastIndex(id, ".")+1:])
	if err != nil {
		b.Bench.Fatal(err)
	}
	return readRecord(text)["JobState"]
}

// Jobs come, share the cluster, finish, and are withdrawn.
func TestJobsAreShared(t *testing.T) {
	b := newBench(t, 3)
	first := b.submit("a", 24, 100000)
	b.Holds(map[string]int{first: 24})
	second := b.submit("b", 12, 100000, "weight=2")
	b.Holds(map[string]int{first: 12, second: 12})
	third := b.submit("c", 4, 20)
	externaltest.Eventually(b.Bench, "c has done its work, and is cancelled", 60*time.Second, func() bool { b.Report(); return b.state(third) == "CANCELLED" })
	b.Holds(map[string]int{first: 12, second: 12})
	if _, err := command(context.Background(), "", "scancel", first[2:]); err != nil {
		t.Fatal(err)
	}
	b.Holds(map[string]int{second: 12})
	b.Check()
}
