// This file tests the monitor that edits capacities inside a real ResourceManager, by what a real apportion serve says.

package yarn

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// The queue of the only application gets what the least of the others leaves. While nobody answers on the socket capacities stay.
func TestEditor(t *testing.T) {
	// The path of a socket is short, and its folder is there before the cluster.
	folder := must.Have(os.MkdirTemp("", "editor"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s")
	c := newClusterWith(t, 1, map[string]string{"yarn.resourcemanager.scheduler.monitor.enable": "true",
		"yarn.resourcemanager.scheduler.monitor.policies": "com.github.apportion.yarn.editor.CapacityEditor",
		"apportion.editor.socket":                         socket, "apportion.editor.interval-ms": "1000"})
	capacities := func(want map[string]float64) func() bool {
		return func() bool {
			root, err := c.manager.queues(t.Context())
			for _, q := range root.Queues.Queue {
				if math.Abs(q.Capacity-want[q.Path]) > 0.01 {
					return false
				}
			}
			return err == nil && len(root.Queues.Queue) == len(want)
		}
	}
	before := map[string]float64{"root.a": 50, "root.b": 40, "root.closed": 5, "root.small": 5}
	id, kill := c.rigid(t)
	processes.Eventually(t, "the application runs", 120*time.Second, func() bool {
		list, err := c.manager.tenants(t.Context())
		return err == nil && len(list) == 1 && list[0].ID == id && list[0].Containers == 1
	})
	time.Sleep(3 * time.Second) // some intervals
	if !capacities(before)() {
		t.Error("capacities have changed, and nobody was asked")
	}
	c.Start("serve", processes.Build(t, c.Dir, "apportion", managertest.Path(t, "examples"), "./apportion"), "serve", "-listen", "unix:"+socket)
	processes.Eventually(t, "its queue has what it deserves", 60*time.Second, capacities(map[string]float64{"root.a": 1, "root.b": 97, "root.closed": 1, "root.small": 1}))
	kill()
}
