// This file lets everything die, hang and come back on a real YARN cluster, while jobs run on it.

package yarn

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/checkpointtest/processes"
	"github.com/apportion/apportion/examples/managertest"
)

// kill kills a daemon. What it has started lives on.
func (c *cluster) kill(name string) {
	c.Helper()
	d := c.daemon(name)
	if err := d.Process.Kill(); err != nil {
		c.Error(err)
	}
	<-d.ended
}

// killHolder kills the process that holds the applications.
func (c *cluster) killHolder() {
	for _, pid := range c.javas("yarn.Holder") {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// javas are the processes of the cluster's that run a class of this name.
func (c *cluster) javas(class string) []int {
	var found []int
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		text, _ := os.ReadFile(name)
		var pid int
		if strings.HasPrefix(string(text), "java\x00") && strings.Contains(string(text), c.dir+"/") && strings.Contains(string(text), "."+class) {
			if _, err := fmt.Sscanf(name, "/proc/%d/cmdline", &pid); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found
}

// refresh has the ResourceManager read the list of nodes that are to go: those that run jobs have some seconds.
func (c *cluster) refresh(excluded string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, "excluded"), []byte(excluded), 0o644); err != nil {
		c.Fatal(err)
	}
	argv := append(c.java(rmName, "org.apache.hadoop.yarn.client.cli.RMAdminCLI"), "-refreshNodes", "-g", "20", "-server")
	processes.Eventually(c, "the list of nodes is read", 180*time.Second, func() bool {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			c.Logf("%v: %.300s", err, out)
		}
		return err == nil
	})
}

// drain decommissions a node for a while. Its NodeManager ends when that is done.
func (c *cluster) drain(r *rand.Rand, i, nodes int) {
	c.Helper()
	c.refresh(nmName(i))
	managertest.Wait(r, time.Second, 30*time.Second)
	c.refresh("")
	// A NodeManager that was told to go may take half a minute to end; one that was not goes on.
	processes.Eventually(c, "the node that was decommissioned runs again", 180*time.Second, func() bool {
		select {
		case <-c.daemon(nmName(i)).ended:
			c.start(nmName(i))
		default:
		}
		return c.running() == nodes
	})
}

// faultNodes is how many nodes there are.
const faultNodes = 3

// own are the faults of a YARN cluster.
func (b *bench) own() []managertest.Fault {
	return []managertest.Fault{
		{Name: "a NodeManager is killed for a while", Of: "node", Do: func(r *rand.Rand) {
			name := nmName(r.IntN(faultNodes))
			b.kill(name)
			managertest.Wait(r, time.Second, 20*time.Second)
			b.start(name)
			b.ready(faultNodes)
		}},
		{Name: "the ResourceManager is killed for a while", Of: rmName, Do: func(r *rand.Rand) {
			b.kill(rmName)
			managertest.Wait(r, 100*time.Millisecond, 8*time.Second)
			b.start(rmName)
			b.ready(faultNodes)
		}},
		{Name: "the holder is killed", Of: "holder", Do: func(*rand.Rand) { b.killHolder() }},
		{Name: "a node is decommissioned and comes back", Of: "node", Do: func(r *rand.Rand) { b.drain(r, r.IntN(faultNodes), faultNodes) }},
		{Name: "an application is killed by its user, and another job submitted", Of: "job", Do: func(r *rand.Rand) {
			if ids := b.held(); len(ids) > 0 {
				job := ids[r.IntN(len(ids))]
				for _, a := range b.applications() {
					if a.Name == job && !a.isOver() {
						b.withdraw(a.ID)
					}
				}
			}
			b.more(r)
		}},
	}
}

// held are the jobs that have not ended.
func (b *bench) held() []string {
	b.Bench.Helper()
	files, err := filepath.Glob(filepath.Join(b.Shared, "jobs", "*"+jobEnding))
	if err != nil {
		b.Bench.Fatal(err)
	}
	for i, name := range files {
		files[i] = strings.TrimSuffix(filepath.Base(name), jobEnding)
	}
	return files
}

// more submits another job, of at most four containers, since YARN is slow to start them, and of half the steps.
func (b *bench) more(r *rand.Rand) {
	name, most, steps := b.Another(r)
	b.submit(name, 1+most/3, steps/2, nil)
}

// Nothing runs twice and nothing confirmed is lost, whatever dies and comes back, and every job ends.
func (c *cluster) faults(t *testing.T) {
	b := newBench(t, c)
	b.Play(append(b.own(), b.Seconds()...), 3, 4, b.held, b.more)
}
