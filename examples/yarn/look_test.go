// This file tests what is read of a cluster, with the words of a ResourceManager.

package yarn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// The words are those of a ResourceManager 3.4.1, shortened: single elements stand without brackets, some numbers with
// quotes.
var words = map[string]string{
	"/ws/v1/cluster/nodes": `{"nodes":{"node":[
		{"id":"n1:45454","nodeHostName":"n1","rack":"/r1","state":"RUNNING","nodeLabels":["fast"],` + total(8192, 8, 4) + `,` + used(1536, 4, 2) + `},
		{"id":"n2:45454","nodeHostName":"n2","rack":"/r1","state":"DECOMMISSIONING",` + total(8192, 8, 4) + `,` + used(0, 0, 0) + `},
		{"id":"n3:45454","nodeHostName":"n3","rack":"/r2","state":"UNHEALTHY","healthReport":"disks are full",` + total(8192, 8, 4) + `,` + used(0, 0, 0) + `},
		{"id":"n4:45454","nodeHostName":"n4","rack":"/r2","state":"LOST"}]}}`,
	"/ws/v1/cluster/apps": `{"apps":{"app":[
		{"id":"application_1_0009","user":"anna","name":"lr","queue":"root.a","state":"FAILED","applicationTags":"apportion-x,t5"},
		{"id":"application_1_0010","user":"anna","name":"lr","queue":"root.a","state":"RUNNING","applicationTags":"apportion-x,t5"}]}}`,
	"/ws/v1/cluster/apps/application_1_0010/appattempts": `{"appAttempts":{"appAttempt":[{"id":1,"appAttemptId":"appattempt_1_0010_000001"},
		{"id":2,"appAttemptId":"appattempt_1_0010_000002"}]}}`,
	"/ws/v1/cluster/apps/application_1_0010/appattempts/appattempt_1_0010_000002/containers": `{"container":{"containerId":"c1",
		"assignedNodeId":"n1:45454","priority":"1","allocatedResources":{"entry":[{"key":"memory-mb","value":"512"},{"key":"vcores","value":"1"},{"key":"yarn.io/gpu","value":"1"}]}}}`,
	"/ws/v1/cluster/scheduler": `{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queuePath":"root","queues":{"queue":[
		{"queuePath":"root.a","capacity":60.0,"capacities":{"queueCapacitiesByPartition":[{"partitionName":"","absoluteCapacity":60.0,"absoluteMaxCapacity":100.0},
			{"partitionName":"fast","absoluteCapacity":60.0,"absoluteMaxCapacity":75.0}]}},
		{"queuePath":"root.b","capacity":40.0,"capacities":{"queueCapacitiesByPartition":{"partitionName":"","absoluteCapacity":40.0,"absoluteMaxCapacity":50.0}},"queues":{"queue":{
			"queuePath":"root.b.only","capacity":100.0,"capacities":{"queueCapacitiesByPartition":{"partitionName":"","absoluteCapacity":40.0,"absoluteMaxCapacity":50.0}}}}}]}}}}`,
	"/conf?yarn.scheduler.minimum-allocation-mb":     `{"property":{"key":"yarn.scheduler.minimum-allocation-mb","value":"128","isFinal":false}}`,
	"/conf?yarn.scheduler.minimum-allocation-vcores": `{"property":{"key":"yarn.scheduler.minimum-allocation-vcores","value":"1"}}`,
}

func total(amounts ...int) string { return `"totalResource":` + information(amounts) }
func used(amounts ...int) string  { return `"usedResource":` + information(amounts) }

func information(amounts []int) string {
	var list []string
	for k, amount := range amounts {
		list = append(list, fmt.Sprintf(`{"attributes":{},"name":%q,"units":"","value":%d}`, kinds[k], amount))
	}
	return `{"memory":0,"resourceInformations":{"resourceInformation":[` + strings.Join(list, ",") + `]}}`
}

// onWords is a cluster whose ResourceManager has these words, behind one that does not answer.
func onWords(t *testing.T) *yarn {
	t.Helper()
	return answering(t, words)
}

// answering is one whose ResourceManager has other words.
func answering(t testing.TB, words map[string]string) *yarn {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if path == "/conf" {
			path += "?" + r.URL.Query().Get("name")
		}
		text, known := words[path]
		if !known {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	y := newYARN(conf{"yarn.resource-types": gpuKind}, guarded())
	y.manager = newManager([]string{"http://127.0.0.1:1", server.URL})
	return y
}

// What applications hold is asked for side by side: each answer here waits for the other's question.
func TestHoldings(t *testing.T) {
	both := sync.WaitGroup{}
	both.Add(2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, id, _ := strings.Cut(r.URL.Path, "/apps/"); strings.HasSuffix(id, "/appattempts") {
			both.Done()
			both.Wait()
			_, _ = fmt.Fprintf(w, `{"appAttempts":{"appAttempt":{"appAttemptId":%q}}}`, id[:1])
			return
		}
		_, _ = fmt.Fprintf(w, `{"container":{"containerId":%q}}`, r.URL.Path)
	}))
	t.Cleanup(server.Close)
	y := newYARN(conf{}, guarded())
	y.manager = newManager([]string{server.URL})
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	all := must.Have(y.holdings(ctx, []application{{ID: "1", State: "RUNNING"}, {ID: "2", State: "KILLED"}, {ID: "3", State: "ACCEPTED"}}))(t)
	must.Equal(t, len(all), 2)
	for _, one := range all {
		if len(one.containers) != 1 || !strings.Contains(one.containers[0].ID, "/apps/"+one.ID+"/appattempts/"+one.ID+"/") {
			t.Errorf("%+v", one)
		}
	}
}

// What other applications ask for and do not have waits, container by container, and of elastic ones nothing does.
func TestWaiting(t *testing.T) {
	y := onWords(t)
	request := func(where string, n int) string {
		return `{"numContainers":` + fmt.Sprint(n) + `,"resourceName":"` + where + `","nodeLabelExpression":"","capability":` + information([]int{1024, 2, 1}) + `}`
	}
	defer func(before string) { words["/ws/v1/cluster/apps"] = before }(words["/ws/v1/cluster/apps"])
	words["/ws/v1/cluster/apps"] = `{"apps":{"app":[{"id":"application_1_0001","state":"RUNNING","applicationType":"SPARK","resourceRequests":[` + request("*", 2) + "," + request("/rack", 2) + "," + request("n1", 1) + `]},
		{"id":"application_1_0002","state":"ACCEPTED","applicationType":"MAPREDUCE","resourceRequests":` + request("*", 1) + `},
		{"id":"application_1_0003","state":"RUNNING","applicationType":"APPORTION","resourceRequests":` + request("*", 7) + `},
		{"id":"application_1_0004","state":"RUNNING","applicationType":"SPARK"}]}}`
	list, err := y.waiting(t.Context())
	var got []string
	for _, w := range list {
		got = append(got, fmt.Sprint(w.ID, w.Demand, w.Requires))
	}
	text := fmt.Sprint(apportion.Resources{1024, 2, 1}, []apportion.Requirement{{Key: partition, Op: apportion.In, Values: []string{""}}})
	if want := fmt.Sprint([]string{"application_1_0001.0[0]" + text, "application_1_0001.0[1]" + text, "application_1_0002.0[0]" + text}); err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}

// Capacity is what others leave; what elastic jobs have is theirs to share.
func TestLook(t *testing.T) {
	y := onWords(t)
	y.jobs = t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(y.jobs, "lr.json"), []byte(goodJob), 0o600))
	view, err := y.Look(t.Context())
	if err != nil || len(view.Servers) != 4 || len(view.Jobs) != 1 || len(view.Rejected) != 0 {
		t.Fatalf("%+v, %v", view, err)
	}
	if a := view.Jobs[0].Application; !a.Demand.Equal(apportion.Resources{512, 2, 1}) {
		t.Errorf("%+v", a)
	}
	for i, want := range []struct {
		capacity apportion.Resources
		down     string
		draining bool
	}{
		{apportion.Resources{8192 - 1024, 8 - 3, 4 - 1}, "", false},
		{apportion.Resources{8192, 8, 4}, "", true},
		{apportion.Resources{8192, 8, 4}, "YARN calls it UNHEALTHY disks are full", false},
		{apportion.Resources{0, 0, 0}, "YARN calls it LOST", false},
	} {
		s := view.Servers[i]
		if !s.Capacity.Equal(want.capacity) || s.Down != want.down || s.Draining != want.draining {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
	if s := view.Servers[0]; s.Labels["host"] != "n1" || s.Labels["rack"] != "/r1" || s.Labels[partition] != "fast" {
		t.Errorf("%v", s.Labels)
	}
	if got, err := y.Running(t.Context()); err != nil || got["lr"]["n1:45454"] != 1 || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// became says what a look makes of job lr, whose file has this text, when YARN has the one application that is made of the job.
func became(t *testing.T, text string, application func(s *submission) string) string {
	t.Helper()
	y := onWords(t)
	y.jobs, y.instance = t.TempDir(), "apportion-x"
	file := filepath.Join(y.jobs, "lr.json")
	must.Do(t, errors.Join(os.Mkdir(filepath.Join(y.jobs, over), 0o700), os.WriteFile(file, []byte(text), 0o600)))
	list := must.Have(readJobs(y.jobs, kinds))(t)
	old := words["/ws/v1/cluster/apps"]
	defer func() { words["/ws/v1/cluster/apps"] = old }()
	words["/ws/v1/cluster/apps"] = `{"apps":{"app":` + application(&list[0]) + `}}`
	view := must.Have(y.Look(t.Context()))(t)
	_, gone := os.Stat(file)
	switch {
	case len(view.Jobs) == 1 && view.Jobs[0].Application.ID == "lr":
		// The application may have been moved to another queue than its file says.
		return "job of " + view.Jobs[0].Application.Queue
	case len(view.Withdrawn) == 1 && view.Withdrawn[0] == "lr":
		return "withdrawn"
	case len(view.Rejected) == 1:
		return view.Rejected["lr"]
	case gone != nil:
		return "aside"
	}
	return "nothing"
}

// A job that was killed by its user is withdrawn, and one whose application has ended is put aside.
func TestKnownApplications(t *testing.T) {
	for state, want := range map[string]string{"RUNNING": "job of root.a", "ACCEPTED": "job of root.a", "FAILED": "job of root.a", "KILLED": "withdrawn", "FINISHED": "aside"} {
		got := became(t, goodJob, func(s *submission) string {
			return `{"id":"application_1_0001","name":"lr","queue":"root.a","user":"` + s.User + `","state":"` + state + `","applicationTags":"` + s.Stamp + `,apportion-x"}`
		})
		must.Equal(t, got, want, state)
	}
}

func TestNewestOf(t *testing.T) {
	apps := []application{{ID: "application_1_9999", Name: "lr", Tags: "apportion-x,t5"}, {ID: "application_1_10000", Name: "lr", Tags: "t5,apportion-x"},
		{ID: "application_1_10001", Name: "lr", Tags: "t6,apportion-x"}, {ID: "application_1_10002", Name: "other", Tags: "t5"}}
	if a := newestOf(apps, &submission{Job: "lr", Stamp: "t5"}); a == nil || a.ID != "application_1_10000" {
		t.Errorf("%+v", a)
	}
	if a := newestOf(apps, &submission{Job: "lr", Stamp: "t7"}); a != nil {
		t.Errorf("%+v", a)
	}
	// Another user has given it name and tags.
	if a := newestOf(apps, &submission{Job: "lr", User: "alice", Stamp: "t5"}); a != nil {
		t.Errorf("%+v", a)
	}
	named := declared{Application: "application_1_10002"}
	if a := newestOf(apps, &submission{Job: "lr", Stamp: "t5", declared: named}); a == nil || a.ID != "application_1_10002" {
		t.Errorf("%+v", a)
	}
	must.Equal(t, stampOf(&application{Tags: "apportion-t1x,team"}), "")
}

// What cannot be seen says nothing: a look is right as a whole, or not at all.
func TestLookFails(t *testing.T) {
	for path := range words {
		if strings.Contains(path, "appattempts") {
			continue // an application may end between two questions
		}
		y := onWords(t)
		y.jobs = t.TempDir()
		old := words[path]
		words[path] = `{"nodes":3,"apps":3,"property":3,"scheduler":3}`
		if view, err := y.Look(t.Context()); err == nil {
			t.Errorf("without %s: %+v", path, view)
		}
		words[path] = old
	}
	y := onWords(t)
	y.jobs = filepath.Join(t.TempDir(), "not mounted")
	if view, err := y.Look(t.Context()); err == nil {
		t.Errorf("without jobs: %+v", view)
	}
}
