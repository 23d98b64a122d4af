//go:build unix

// This file measures what a look and a decision cost the controller on many nodes, with a ResourceManager that answers from memory.

package yarn

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/internal/must"
)

func BenchmarkSize(b *testing.B) {
	const job = `{"queue":"root.a","max":40,"demand":{"memory-mb":512,"vcores":2},"command":["sleep"]}`
	managertest.Size(b, kinds, func(b *testing.B, nodes int) daemon.Cluster {
		jobs, said := b.TempDir(), maps.Clone(words)
		for j := range nodes / 5 {
			must.Do(b, os.WriteFile(filepath.Join(jobs, fmt.Sprintf("lr%d.json", j)), []byte(job), 0o600))
		}
		var servers, apps []string
		for i, s := range must.Have(readJobs(jobs, kinds))(b) {
			id := fmt.Sprintf("application_1_%04d", i)
			apps = append(apps, fmt.Sprintf(`{"id":%q,"user":%q,"name":%q,"queue":"root.a","state":"RUNNING","applicationTags":"apportion-x,%s"}`, id, s.User, s.Job, s.Stamp))
			var held []string
			for n := range 10 {
				node := fmt.Sprintf("n%d", 5*i+n/2)
				if n%2 == 0 {
					servers = append(servers, fmt.Sprintf(`{"id":"%s:1","nodeHostName":%q,"rack":"/r","state":"RUNNING",%s,%s}`, node, node, total(8192, 8, 0), used(4096, 7, 0)))
				}
				held = append(held, fmt.Sprintf(`{"containerId":"c%d","assignedNodeId":"%s:1","priority":"1","allocatedResources":{"entry":[{"key":"memory-mb","value":"512"},{"key":"vcores","value":"2"}]}}`, n, node))
			}
			attempts := "/ws/v1/cluster/apps/" + id + "/appattempts"
			said[attempts] = `{"appAttempts":{"appAttempt":[{"id":1,"appAttemptId":"one"}]}}`
			said[attempts+"/one/containers"] = `{"container":[` + strings.Join(held, ",") + `]}`
		}
		said["/ws/v1/cluster/nodes"] = `{"nodes":{"node":[` + strings.Join(servers, ",") + `]}}`
		said["/ws/v1/cluster/apps"] = `{"apps":{"app":[` + strings.Join(apps, ",") + `]}}`
		y := answering(b, said)
		y.jobs = jobs
		return y
	})
}
