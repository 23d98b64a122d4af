// This file tests what the queues of YARN mean for decisions.

package yarn

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// deepTree is a tree of which one queue may have half of the cluster, and one of its leaves three tenths.
const deepTree = `{"queuePath":"root","queues":{"queue":[
	{"queuePath":"root.a","capacity":30.0,"capacities":{"queueCapacitiesByPartition":{"partitionName":"","absoluteCapacity":30.0,"absoluteMaxCapacity":50.0}},"queues":{"queue":[
		{"queuePath":"root.a.x","capacity":100.0,"capacities":{"queueCapacitiesByPartition":{"partitionName":"","absoluteCapacity":30.0,"absoluteMaxCapacity":29.999998}}},
		{"queuePath":"root.a.y","capacity":0.0,"capacities":{"queueCapacitiesByPartition":{"partitionName":"","absoluteCapacity":0.0,"absoluteMaxCapacity":50.0}}}]}},
	{"queuePath":"root.b","capacity":70.0,"capacities":{"queueCapacitiesByPartition":[{"partitionName":"","absoluteCapacity":70.0,"absoluteMaxCapacity":100.0},
		{"partitionName":"fast","absoluteCapacity":100.0,"absoluteMaxCapacity":100.0},{"partitionName":"gone","absoluteCapacity":100.0,"absoluteMaxCapacity":10.0}]},
		"queues":{"queue":{"queuePath":"root.b.y","capacity":100.0}}}]}}`

func TestGroups(t *testing.T) {
	root := treeOf(t, deepTree)
	total := map[string]apportion.Resources{"": {1000, 10, 0}, "fast": {500, 7, 8}}
	others := map[string]apportion.Resources{"root.a.x": {100, 1, 0}, "root.a.y": {0, 3, 0}}
	list := groups(&root, total, others, 3)
	want := []string{
		"root.a  30 [200 0 0] [400 1 0]",
		"root.a.x root.a 100 [200 2 0] [200 2 0]",
		"root.a.y root.a 0.01 [0 0 0] [500 2 0]",
		"root.b  70 [1200 14 8] []",
		"root.b.y root.b 100 [0 0 0] []",
	}
	for i, q := range list {
		if got := fmt.Sprint(q.ID, " ", q.Parent, " ", q.Weight, " ", q.Guarantee, " ", q.Ceiling); i >= len(want) || got != want[i] {
			t.Errorf("%s", got)
		}
	}
	must.Equal(t, len(list), len(want), "queues")
	must.Have(drf.NewTree(apportion.Resources{1500, 17, 8}, list))(t)
}

// A leaf is known by its path, and by its name if no other has that.
func TestLeaves(t *testing.T) {
	root := treeOf(t, deepTree)
	paths := leaves(&root)
	for name, want := range map[string]string{"x": "root.a.x", "root.a.x": "root.a.x", "root.b.y": "root.b.y", "y": "", "a": "", "root.a": "", "root": ""} {
		must.Equal(t, paths[name], want, name)
	}
	if paths := leaves(&queue{}); len(paths) != 0 {
		t.Errorf("%v", paths)
	}
}

// What queues may have never exceeds their parts, whatever the numbers, and children are within their parent's.
func TestGroupsWithinTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for range 200 {
		most := r.Float64() * 100
		root := treeOf(t, fmt.Sprintf(`{"queuePath":"root","queues":{"queue":{"queuePath":"root.q","capacity":1.0,"capacities":{"queueCapacitiesByPartition":
			{"partitionName":"","absoluteCapacity":%g,"absoluteMaxCapacity":%g}}}}}`, most*r.Float64(), most))
		total := apportion.Resources{r.Int64N(1 << 40), r.Int64N(1000)}
		used := apportion.Resources{r.Int64N(1 << 39), r.Int64N(500)}
		q := groups(&root, map[string]apportion.Resources{"": total}, map[string]apportion.Resources{"root.q": used}, 2)[0]
		for k := range total {
			exact := most / 100 * float64(total[k])
			if float64(q.Ceiling[k]) > exact*(1+2*roundOff) || q.Guarantee[k] > q.Ceiling[k] || q.Ceiling[k] < 0 || q.Ceiling[k] > 0 && float64(q.Ceiling[k]+used[k]) < exact-1 {
				t.Errorf("%g %% of %v less %v: %+v", most, total, used, q)
			}
		}
	}
}

// A queue's jobs have together what the queue may have, and the reason names it.
func TestQueueInDecisions(t *testing.T) {
	old := words["/ws/v1/cluster/scheduler"]
	defer func() { words["/ws/v1/cluster/scheduler"] = old }()
	// Of the one node that is up, which is in the partition fast, queue a may have three quarters: three GPUs.
	y := onWords(t)
	y.jobs = t.TempDir()
	for _, job := range []string{"one", "two"} {
		must.Do(t, os.WriteFile(filepath.Join(y.jobs, job+".json"), []byte(strings.Replace(goodJob, `"min":0`, `"min":2`, 1)), 0o600))
	}
	view, err := y.Look(t.Context())
	if err != nil || len(view.Queues) != 3 || view.Jobs[0].Application.Queue != "root.a" {
		t.Fatalf("%+v, %v", view, err)
	}
	// The application of job lr has an unmanaged master, whose own container would be another's; there is none.
	if q := view.Queues[0]; fmt.Sprint(q.Ceiling) != "[14336 14 7]" || fmt.Sprint(q.Guarantee) != "[9830 8 4]" {
		t.Errorf("%+v", q)
	}
	p := &alloc.Problem{Kinds: y.kinds, Theta1: 1, Theta2: 1, Queues: view.Queues}
	p.Queues[0].Ceiling, p.Queues[0].Guarantee = drf.Ceiling{8192, 8, 3}, nil
	for i := range view.Servers {
		if view.Servers[i].Down == "" {
			p.Servers = append(p.Servers, view.Servers[i].Server)
		}
	}
	p.Servers[0].Capacity = apportion.Resources{8192, 8, 4}
	for i := range view.Jobs {
		p.Applications = append(p.Applications, view.Jobs[i].Application)
	}
	d := must.Have(alloc.Reallocate(t.Context(), p, nil))(t)
	must.Equal(t, d.Allocation.Containers("one")+d.Allocation.Containers("two"), 3, d.Allocation)
	if len(d.Waiting) != 1 || !strings.Contains(d.Waiting[0].Reason.Text, "root.a") {
		t.Errorf("%+v", d.Waiting)
	}
}

// Without a CapacityScheduler there are no groups, and jobs are decided on all the same.
func TestNoQueues(t *testing.T) {
	old := words["/ws/v1/cluster/scheduler"]
	defer func() { words["/ws/v1/cluster/scheduler"] = old }()
	words["/ws/v1/cluster/scheduler"] = `{"scheduler":{"schedulerInfo":{"type":"fifoScheduler","capacity":1.0}}}`
	y := onWords(t)
	y.jobs = t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(y.jobs, "lr.json"), []byte(goodJob), 0o600))
	view, err := y.Look(t.Context())
	if err != nil || len(view.Queues) != 0 || len(view.Jobs) != 1 || view.Jobs[0].Application.Queue != "" {
		t.Errorf("%+v, %v", view, err)
	}
}

// What applications that are not this controller's have in a queue is not left for its jobs.
func TestOthersInQueues(t *testing.T) {
	const path = "/ws/v1/cluster/apps"
	old := words[path]
	defer func() { words[path] = old }()
	words[path] = strings.TrimSuffix(old, "]}}") + `,{"id":"application_1_0077","user":"bob","name":"etl","queue":"only","state":"RUNNING","applicationTags":"",
		"resourceInfo":{"resourceUsagesByPartition":{"used":` + information([]int{1000, 2, 1}) + `}}}]}}`
	y := onWords(t)
	y.instance = "apportion-x"
	view := must.Have(y.Look(t.Context()))(t)
	for _, q := range view.Queues {
		want := map[string]string{"root.a": "[14336 14 7]", "root.b": "[3096 2 1]", "root.b.only": "[3096 2 1]"}[q.ID]
		must.Equal(t, fmt.Sprint(q.Ceiling), want, q.ID)
	}
}

// What the master of a job has for itself is not the job's.
func TestMastersOwnContainers(t *testing.T) {
	path := "/ws/v1/cluster/apps/application_1_0010/appattempts/appattempt_1_0010_000002/containers"
	old := words[path]
	defer func() { words[path] = old }()
	words[path] = `{"container":[` + strings.TrimSuffix(strings.TrimPrefix(old, `{"container":`), "}") + `,
		{"containerId":"c0","assignedNodeId":"n1:45454","priority":"0","allocatedResources":{"entry":[{"key":"memory-mb","value":"1024"},{"key":"vcores","value":"1"}]}}]}`
	y := onWords(t)
	running := must.Have(y.Running(t.Context()))(t)
	must.Equal(t, running["lr"]["n1:45454"], 1)
	view := must.Have(y.Look(t.Context()))(t)
	i := slices.IndexFunc(view.Servers, func(s controller.Server) bool { return s.ID == "n1:45454" })
	// Others have 1024 MiB and three cores there, in queue a as well as by the node's word.
	if s := view.Servers[i]; !s.Capacity.Equal(apportion.Resources{8192 - 1024, 8 - 3, 4 - 1}) {
		t.Errorf("%+v", s)
	}
	if q := view.Queues[0]; q.Ceiling[0] != 14336-1024 || q.Ceiling[1] != 14-1 || q.Guarantee[0] != 9830-1024 {
		t.Errorf("%+v", q)
	}
}
