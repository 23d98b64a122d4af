// This file lets everything die, hang and come back on a real YARN cluster, while jobs run on it.

package yarn

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// killHolder kills the process that holds the applications.
func (c *cluster) killHolder() {
	for _, pid := range c.javas(".yarn.Holder") {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// javas are the processes of the cluster's that run Java with these words in their command.
func (c *cluster) javas(words ...string) []int {
	var found []int
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, _ := os.ReadFile(name)
		text := string(line)
		lacks := func(word string) bool { return !strings.Contains(text, word) }
		if !strings.HasPrefix(text, "java\x00") || lacks(c.Dir+"/") || slices.ContainsFunc(words, lacks) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(name, "/")[2]); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// refresh has the ResourceManager read the list of nodes that are to go: those that run jobs have some seconds.
func (c *cluster) refresh(excluded string) {
	c.Helper()
	c.Write("excluded", excluded, 0o644)
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
		if len(c.javas(".NodeManager", "conf-"+nmName(i)+"/")) == 0 {
			c.start(nmName(i))
		}
		return c.running() == nodes
	})
}

// faultNodes is how many nodes there are.
const faultNodes = 3

// Verbs implements managertest.Player: what a test does to a YARN cluster. A job has at most four containers, since YARN is slow to start them, and half the steps.
func (b *bench) Verbs() *managertest.Cluster {
	var nodes []string
	for i := range faultNodes {
		nodes = append(nodes, nmName(i))
	}
	return &managertest.Cluster{
		Nodes: nodes,
		Daemons: []managertest.Daemon{{Sort: nodeSort, Names: nodes, Least: time.Second, Most: 20 * time.Second},
			{Sort: "ResourceManager", Names: []string{rmName}, Least: 100 * time.Millisecond, Most: 8 * time.Second}},
		Kill:  b.Kill,
		Start: func(name string) { b.start(name); b.ready(faultNodes) },
		Submit: func(name string, most, steps, _ int) string {
			return b.submit(name, 1+most/3, steps/2, nil)
		},
		Cancel: func(job string) {
			for _, a := range b.applications() {
				if a.Name == job && !a.isOver() {
					b.withdraw(a.ID)
				}
			}
		},
		Jobs: b.held,
	}
}

// nodeSort is the sort of daemons that are killed, and decommissioned, one at a time.
const nodeSort = "NodeManager"

// held are the jobs that have not ended.
func (b *bench) held() []string {
	b.Bench.Helper()
	files := must.Have(filepath.Glob(filepath.Join(b.Shared, "jobs", "*"+jobEnding)))(b.Bench)
	for i, name := range files {
		files[i] = strings.TrimSuffix(filepath.Base(name), jobEnding)
	}
	return files
}

// Nothing runs twice and nothing confirmed is lost, whatever dies and comes back, and every job ends.
func (c *cluster) faults(t *testing.T) {
	b := newBench(t, c)
	b.Play(b.Verbs(), 3, 4,
		managertest.Fault{Name: "the holder is killed", Of: "holder", Do: func(*rand.Rand) { b.killHolder() }},
		managertest.Fault{Name: "a node is decommissioned and comes back", Of: nodeSort, Do: func(r *rand.Rand) { b.drain(r, r.IntN(faultNodes), faultNodes) }})
}
