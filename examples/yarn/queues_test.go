// This file tests what becomes of queues.

package yarn

import (
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// treeOf reads queues as the ResourceManager writes them.
func treeOf(t *testing.T, text string) queue {
	t.Helper()
	var q queue
	must.Do(t, json.Unmarshal([]byte(text), &q))
	return q
}

const tree = `{"queuePath":"root","capacity":100.0,"queues":{"queue":[
	{"queuePath":"root.a","capacity":50.0,"queues":{"queue":[{"queuePath":"root.a.x","capacity":30.0},{"queuePath":"root.a.y","capacity":70.0}]}},
	{"queuePath":"root.b","capacity":50.0,"queues":{"queue":{"queuePath":"root.b.only","capacity":100.0}}}]}}`

func TestCapacities(t *testing.T) {
	root := treeOf(t, tree)
	for name, test := range map[string]struct {
		parts map[string]float64
		want  map[string]int64
	}{
		"nobody":    {map[string]float64{}, map[string]int64{}},
		"all alike": {map[string]float64{"root.a.x": 0.25, "root.a.y": 0.25, "root.b.only": 0.5}, map[string]int64{"root.a": 5000, "root.b": 5000, "root.a.x": 5000, "root.a.y": 5000, "root.b.only": 10000}},
		"one alone": {map[string]float64{"root.a.x": 0.01}, map[string]int64{"root.a": 9900, "root.b": 100, "root.a.x": 9900, "root.a.y": 100}},
		"thirds": {map[string]float64{"root.a.x": 0.1, "root.b.only": 0.2}, map[string]int64{"root.a": 3366, "root.b": 6634, "root.a.x": 9900, "root.a.y": 100,
			"root.b.only": 10000}},
	} {
		got := map[string]int64{}
		capacities(&root, test.parts, got)
		if !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	// Whatever they deserve, siblings have all of their parent, and each its least.
	r := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		parts := map[string]float64{"root.a.x": r.Float64(), "root.a.y": r.Float64() * float64(r.IntN(2)), "root.b.only": r.Float64()}
		got := map[string]int64{}
		capacities(&root, parts, got)
		if got["root.a"]+got["root.b"] != whole || got["root.a.x"]+got["root.a.y"] != whole || min(got["root.a"], got["root.b"], got["root.a.y"]) < leastPart {
			t.Errorf("%v makes %v", parts, got)
		}
		if (parts["root.a.x"] > parts["root.a.y"]+0.01) != (got["root.a.x"] > got["root.a.y"]) && parts["root.a.x"]-parts["root.a.y"] > 0.01 {
			t.Errorf("%v makes %v", parts, got)
		}
	}
}

func TestRigid(t *testing.T) {
	one := func(text string) *tenant {
		var a tenant
		must.Do(t, json.Unmarshal([]byte(text), &a))
		return &a
	}
	usage := func(usedAmounts, pending []int) string {
		return `{"resourceInfo":{"resourceUsagesByPartition":[{"used":` + information(usedAmounts) + `,"pending":` + information(pending) + `}]},"runningContainers":`
	}
	for name, test := range map[string]struct {
		text   string
		demand apportion.Resources
		most   int64
		wants  bool
	}{
		"runs":    {usage([]int{4096, 4, 2}, []int{0, 0, 0}) + `4}`, apportion.Resources{1024, 1, 1}, 4, true},
		"grows":   {usage([]int{2048, 2, 0}, []int{6144, 6, 0}) + `2}`, apportion.Resources{1024, 1, 0}, 8, true},
		"waits":   {usage([]int{0, 0, 0}, []int{1024, 1, 0}) + `0}`, apportion.Resources{1024, 1, 0}, 1, true},
		"nothing": {`{"runningContainers":0}`, apportion.Resources{0, 0, 0}, 1, false},
	} {
		a, wants := rigid(one(test.text), kinds)
		if !a.Demand.Equal(test.demand) || a.Max != test.most || wants != test.wants {
			t.Errorf("%s: %+v, %v", name, a, wants)
		}
	}
}

// What is set is what is printed, in one request; and without -apply nothing is.
func TestShareQueues(t *testing.T) {
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := words[r.URL.Path]
		switch {
		case r.Method == http.MethodPut:
			read, _ := io.ReadAll(r.Body)
			body += r.URL.Path + " " + string(read)
		case strings.HasSuffix(r.URL.Path, "/scheduler"):
			text = `{"scheduler":{"schedulerInfo":` + tree + `}}`
		case strings.HasSuffix(r.URL.Path, "/apps") && r.URL.Query().Get("states") != "":
			text = `{"apps":{"app":[{"id":"application_1_1","queue":"root.b.only","applicationType":"MAPREDUCE","runningContainers":2,
				"resourceInfo":{"resourceUsagesByPartition":[{"used":` + information([]int{4096, 2, 0}) + `,"pending":` + information([]int{0, 0, 0}) + `}]}},
				{"id":"application_1_10","queue":"root.a.x","applicationType":"APPORTION","runningContainers":1,
				"resourceInfo":{"resourceUsagesByPartition":[{"used":` + information([]int{2048, 1, 1}) + `,"pending":` + information([]int{0, 0, 0}) + `}]}}]}}`
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	y := newYARN(conf{"yarn.resource-types": gpuKind}, guarded())
	y.manager = newManager([]string{server.URL})
	// Elastic jobs have 512 MiB, a core and a GPU of the one node that is up, as the ResourceManager says of containers.
	servers, total, err := y.leftServers(t.Context())
	if err != nil || len(servers) != 1 || !servers[0].Capacity.Equal(apportion.Resources{7680, 7, 3}) || !total.Equal(apportion.Resources{8192, 8, 4}) {
		t.Errorf("%v of %v, %v", servers, total, err)
	}
	var text strings.Builder
	if err := y.shareQueues(t.Context(), 0.2, false, &text); err != nil || body != "" {
		t.Fatalf("%v: %s", err, body)
	}
	// One node is up: the elastic job has a quarter of its GPUs, the other application half of its memory.
	for _, want := range []string{"application_1_1", "queue root.a: 50.00 % -> 33.66 %", "queue root.b: 50.00 % -> 66.34 %", "queue root.b.only: 100.00 % -> 100.00 %"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q:\n%s", want, text.String())
		}
	}
	must.Do(t, y.shareQueues(t.Context(), 0.2, true, io.Discard))
	if !strings.Contains(body, "/ws/v1/cluster/scheduler-conf <sched-conf><update-queue><queue-name>root.a</queue-name><params><entry><key>capacity</key><value>33.66</value></entry></params></update-queue>") ||
		strings.Count(body, "<update-queue>") != 5 {
		t.Error(body)
	}
}
