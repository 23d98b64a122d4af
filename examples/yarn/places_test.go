// This file tests on the real cluster whose containers may be where: of masters of users' own, below ceilings of queues, and
// in partitions.

package yarn

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// replaceMaster kills the one master of a user's own. What runs goes on, and the next one does what is decided then.
func (b *bench) replaceMaster() {
	b.Bench.Helper()
	before := b.masters()
	must.Equal(b.Bench, len(before), 1, "masters", before)
	must.Do(b.Bench, syscall.Kill(before[0], syscall.SIGKILL))
	processes.Eventually(b.Bench, "another master has taken its place", 90*time.Second, func() bool {
		after := b.masters()
		return len(after) == 1 && after[0] != before[0]
	})
}

// belowCeiling has two jobs in a queue that may have a quarter of the cluster, and only one of them fits: the reason names
// the queue.
func (b *bench) belowCeiling(mine string) {
	b.Bench.Helper()
	first := b.submit("first", 12, 100000, map[string]any{"queue": "small", "min": 3})
	b.Holds(map[string]int{mine: 9, first: 3})
	second := b.submit("second", 12, 100000, map[string]any{"queue": "small", "min": 2})
	processes.Eventually(b.Bench, "the page names the queue", 60*time.Second, func() bool {
		r := b.Report()
		return r != nil && slices.ContainsFunc(r.Jobs, func(j controller.JobReport) bool {
			return j.Job.Name == second && strings.Contains(j.Why, "root.small")
		})
	})
	b.remove(first)
	b.remove(second)
}

// inPartitions makes a partition of the third node: a job that asks for it gets that node alone, and others leave it.
func (b *bench) inPartitions(mine string) {
	b.Bench.Helper()
	b.post("add-node-labels", "<nodeLabelsInfo><nodeLabelInfo><name>fast</name><exclusivity>true</exclusivity></nodeLabelInfo></nodeLabelsInfo>")
	third := b.nodeID(2)
	b.post("nodes/"+third+"/replace-labels?labels=fast", "")
	fast := b.submit("fast", 12, 100000, map[string]any{"label": "fast"})
	b.Holds(map[string]int{mine: 8, fast: 4})
	var r *controller.Report
	processes.Eventually(b.Bench, "the controller answers", 30*time.Second, func() bool { r = b.Report(); return r != nil })
	for _, j := range r.Jobs {
		for _, server := range j.Job.Containers {
			must.Equal(b.Bench, server == third, j.Job.Name == fast, j.Job.Name, "has a container on", server)
		}
	}
	b.remove(fast)
	b.post("nodes/"+third+"/replace-labels?labels=", "")
}

// post posts something to the ResourceManager.
func (b *bench) post(path, body string) []byte {
	b.Bench.Helper()
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	text := must.Have(b.manager.do(b.Bench.Context(), "POST", "/ws/v1/cluster/"+path+mark+"user.name=root", []byte(body)))(b.Bench)
	return text
}

// remove removes the file of a job.
func (b *bench) remove(job string) {
	b.Bench.Helper()
	must.Do(b.Bench, os.Remove(b.jobFile(job)))
}

// masters are the processes of the masters that follow.
func (b *bench) masters() []int { return b.javas(".example.ElasticMaster") }

// stateOf is how YARN says that an application stands.
func (b *bench) stateOf(id string) string {
	for _, a := range b.applications() {
		if a.ID == id {
			return a.State
		}
	}
	return ""
}

// manage submits an application whose master is the example, and returns its ID. Its containers outlive the master.
func (b *bench) manage() string {
	b.Bench.Helper()
	var made struct {
		ID string `json:"application-id"`
	}
	must.Do(b.Bench, json.Unmarshal(b.post("apps/new-application", ""), &made))
	master := append(b.java(rmName, "com.github.apportion.yarn.example.ElasticMaster"), filepath.Join(b.Shared, "masters"))
	name := filepath.Join(b.Shared, "master.sh")
	must.Do(b.Bench, os.WriteFile(name, []byte("exec "+managed.Quote(master...)+"\n"), 0o644))
	b.post("apps", `<application-submission-context><application-id>`+made.ID+`</application-id><application-name>mine</application-name>
		<application-type>`+applicationType+`</application-type><queue>b</queue><max-app-attempts>3</max-app-attempts>
		<keep-containers-across-application-attempts>true</keep-containers-across-application-attempts>
		<am-container-spec><commands><command>exec /bin/sh `+name+` 1&gt;&lt;LOG_DIR&gt;/stdout 2&gt;&lt;LOG_DIR&gt;/stderr</command></commands></am-container-spec>
		<resource><memory>512</memory><vCores>1</vCores></resource></application-submission-context>`)
	return made.ID
}
