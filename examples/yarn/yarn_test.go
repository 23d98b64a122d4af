// This file plays elastic jobs on a real YARN cluster and asks their workers' own logs whether anything ran twice or was
// lost.

package yarn

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// bench is a cluster with a controller.
type bench struct {
	*cluster
	*managertest.Bench
}

// newBench starts a controller in a folder of its own on a cluster.
func newBench(t *testing.T, c *cluster) *bench {
	t.Helper()
	dir := filepath.Join(c.Dir, strings.ReplaceAll(t.Name(), "/", "-"))
	must.Do(t, os.MkdirAll(dir, 0o755))
	b := &bench{c, managertest.New(t, dir, confVariable+"="+filepath.Join(c.Dir, "conf-rm"), holderVariable+"="+c.holder())}
	t.Cleanup(func() {
		b.End()
		for _, a := range b.applications() {
			if !a.isOver() {
				b.withdraw(a.ID)
			}
		}
	})
	return b
}

// jobFile is the file of a job.
func (b *bench) jobFile(job string) string {
	return filepath.Join(b.Shared, "jobs", job+jobEnding)
}

// submit submits an elastic job as its user does. A container takes a GPU.
func (b *bench) submit(job string, most, steps int, more map[string]any) string {
	b.Bench.Helper()
	declared := map[string]any{"queue": "a", "max": most, "demand": map[string]any{memoryKind: 500, vcoreKind: 1, gpuKind: 1},
		"command": []string{b.Trainer, "train", "-steps", strconv.Itoa(steps), "-cost", "1ms"}}
	maps.Copy(declared, more)
	text, err := json.Marshal(declared)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.jobFile(job)), 0o755)
	}
	name := b.jobFile(job) + ".new"
	if err == nil {
		err = os.WriteFile(name, text, 0o644)
	}
	if err == nil {
		err = os.Rename(name, b.jobFile(job))
	}
	if err != nil {
		b.Bench.Fatal(err)
	}
	return job
}

// applications are all elastic ones.
func (b *bench) applications() []application {
	b.Bench.Helper()
	var list []application
	processes.Eventually(b.Bench, "the ResourceManager answers", 90*time.Second, func() (so bool) {
		var err error
		list, err = b.manager.applications(context.Background())
		return err == nil
	})
	return list
}

// state is how YARN says that the newest application of a job stands.
func (b *bench) state(job string) string {
	b.Bench.Helper()
	state := ""
	for _, a := range b.applications() {
		if a.Name == job {
			state = a.State
		}
	}
	return state
}

// withdraw kills an application, as its user does.
func (b *bench) withdraw(id string) {
	b.Bench.Helper()
	body := []byte("<appstate><state>KILLED</state></appstate>")
	processes.Eventually(b.Bench, id+" is killed", 90*time.Second, func() bool {
		_, err := b.manager.do(context.Background(), "PUT", "/ws/v1/cluster/apps/"+id+"/state?user.name="+b.manager.user, body)
		return err == nil
	})
}

// On one cluster, since its start takes long: jobs come, share it below ceilings and in partitions, finish, and are withdrawn;
// and everything dies.
func TestYARN(t *testing.T) {
	c := newCluster(t, 3)
	t.Run("share", c.share)
	t.Run("make way", c.makeWay)
	t.Run("refuse", c.refuse)
	t.Run("readme", c.readme)
	t.Run("queues", c.queues)
	t.Run("day", c.day)
	t.Run("hours", c.daily().Hours)
	t.Run("faults", c.faults)
}

// An elastic job that has all cores makes way for another application, and has them back when that is over.
func (c *cluster) makeWay(t *testing.T) {
	b := newBench(t, c)
	b.submit("a", 24, 100000, map[string]any{"queue": "b", "demand": map[string]any{memoryKind: 1024, vcoreKind: 2}})
	b.Holds(map[string]int{"a": 12})
	id, kill := c.rigid(t, "b")
	processes.Eventually(b.Bench, "the other application has its container", 90*time.Second, func() bool {
		b.Report()
		list, err := c.manager.tenants(t.Context())
		return err == nil && slices.ContainsFunc(list, func(one tenant) bool { return one.ID == id && one.Containers == 1 })
	})
	b.Holds(map[string]int{"a": 11})
	kill()
	b.Holds(map[string]int{"a": 12})
	b.Check()
}

// The first job has a master of its user's own in a container, all others are held.
func (c *cluster) share(t *testing.T) {
	b := newBench(t, c)
	id := b.manage()
	first := b.submit("a", 12, 100000, map[string]any{"application": id, "queue": "b"})
	b.Holds(map[string]int{first: 12})
	second := b.submit("b", 6, 100000, map[string]any{"weight": 2, "queue": "b"})
	b.Holds(map[string]int{first: 6, second: 6})
	b.killHolder() // the next one has the masters of all jobs, or none makes room
	third := b.submit("c", 4, 20, nil)
	processes.Eventually(b.Bench, "c has done its work, and so says YARN", 90*time.Second, func() bool { b.Report(); return b.state(third) == "FINISHED" })
	b.Holds(map[string]int{first: 6, second: 6})
	b.replaceMaster()
	for _, a := range b.applications() {
		if a.Name == second {
			b.withdraw(a.ID)
		}
	}
	b.Holds(map[string]int{first: 12})
	b.belowCeiling(first)
	b.inPartitions(first)
	b.remove(first)
	processes.Eventually(b.Bench, "the master of a has ended as it was told", 60*time.Second, func() bool { b.Report(); return b.stateOf(id) == "FINISHED" })
	processes.Eventually(b.Bench, "nothing is left of its orders", 60*time.Second, func() bool {
		_, err := os.Stat(filepath.Join(b.Shared, "masters", id))
		return os.IsNotExist(err)
	})
	for _, job := range []string{second, third} {
		processes.Eventually(b.Bench, "the file of "+job+" is put aside", 30*time.Second, func() bool {
			found, _ := filepath.Glob(filepath.Join(b.Shared, "jobs", over, job+".*"))
			return len(found) == 1
		})
	}
	b.Check()
}

// A queue lets in whom its access control list names, and YARN's word on anybody else is what the page says. The job of
// one who may not submit holds up nobody.
func (c *cluster) refuse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("files of other users need root")
	}
	b := newBench(t, c)
	nobody := b.submit("stranger", 2, 100, map[string]any{"queue": "closed"})
	lost := b.submit("lost", 2, 100, map[string]any{"queue": "nowhere"})
	must.Do(t, os.Chown(b.jobFile(nobody), 65534, 65534))
	let := b.submit("let-in", 2, 100000, map[string]any{"queue": "closed"})
	b.Holds(map[string]int{let: 2})
	processes.Eventually(b.Bench, "the page says why two have no application", 60*time.Second, func() bool {
		r := b.Report()
		return r != nil && strings.Contains(r.Rejected[nobody], "nobody") && strings.Contains(r.Rejected[lost], "nowhere")
	})
	// Nobody but root may read what tells jobs and controller apart, and there is no socket by which the holder is told anything.
	for name, mode := range map[string]os.FileMode{"master": 0o700, "master/cluster/instance": 0o600} {
		if info, err := os.Stat(filepath.Join(b.Shared, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if found := b.sockets(); len(found) > 0 {
		t.Errorf("sockets %v", found)
	}
	b.Check()
}

// sockets are the files in the cluster's folder that are sockets.
func (b *bench) sockets() []string {
	var found []string
	err := filepath.WalkDir(b.cluster.Dir, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type()&os.ModeSocket != 0 {
			found = append(found, name)
		}
		return nil // what has just been removed is no socket
	})
	if err != nil {
		b.Bench.Error(err)
	}
	return found
}

// rigid submits an application of one container that sleeps to a queue, and returns its ID and what ends it.
func (c *cluster) rigid(t *testing.T, queue string) (id string, kill func()) {
	t.Helper()
	ctx := t.Context()
	var made struct {
		ID string `json:"application-id"`
	}
	text, err := c.manager.do(ctx, "POST", "/ws/v1/cluster/apps/new-application?user.name=root", []byte{})
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	body := `<application-submission-context><application-id>` + made.ID + `</application-id><application-name>rigid</application-name><queue>` + queue + `</queue>
		<am-container-spec><commands><command>sleep 600</command></commands></am-container-spec>
		<resource><memory>4096</memory><vCores>2</vCores></resource></application-submission-context>`
	must.Have(c.manager.do(ctx, "POST", "/ws/v1/cluster/apps?user.name=root", []byte(body)))(t)
	return made.ID, func() {
		t.Helper()
		must.Have(c.manager.do(ctx, "PUT", "/ws/v1/cluster/apps/"+made.ID+"/state?user.name=root", []byte("<appstate><state>KILLED</state></appstate>")))(t)
	}
}

// An application that nobody can resize has the queue that it deserves, by Dorm's shares.
func (c *cluster) queues(t *testing.T) {
	ctx := t.Context()
	id, kill := c.rigid(t, "b")
	processes.Eventually(t, "the application has its container", 90*time.Second, func() bool {
		list, err := c.manager.tenants(ctx)
		return err == nil && len(list) == 1 && list[0].Containers == 1
	})
	y := newYARN(conf{"yarn.resource-types": gpuKind}, guarded())
	y.manager = c.manager
	var told strings.Builder
	must.Do(t, y.shareQueues(ctx, 0.2, true, &told))
	root := must.Have(c.manager.queues(ctx))(t)
	for _, q := range root.Queues.Queue {
		if want := map[string]float64{"root.a": 1, "root.b": 97, "root.closed": 1, "root.small": 1}[q.Path]; math.Abs(q.Capacity-want) > 0.01 {
			t.Errorf("queue %s has %g, want %g:\n%s", q.Path, q.Capacity, want, told.String())
		}
	}
	if !strings.Contains(told.String(), id) {
		t.Errorf("it does not say why:\n%s", told.String())
	}
	kill()
	c.resetQueues(t)
}

// resetQueues gives the other tests the queues as they were.
func (c *cluster) resetQueues(t *testing.T) {
	t.Helper()
	must.Do(t, c.manager.set(t.Context(), map[string]int64{"root.a": 5000, "root.b": 4000, "root.closed": 500, "root.small": 500}))
}
