// This file tests what is the controller's own on a cluster that only answers: jobs, allocations, and who registered them.

package nomad

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// answers is a Nomad server that has one node, keeps what is registered, and places nothing.
type answers struct {
	jobs        map[string]*api.Job
	order       []string // in which jobs were registered first
	allocations []*api.AllocationListStub
	evaluations []*api.Evaluation
	stopped     []string
	queued      map[string]int // containers of the first group of jobs, by their IDs
	asked       int            // how many requests there were
	events      chan string    // lines of the event stream; nil: there is none
	nodes       int            // beside n1
	mu          sync.Mutex
	between     func() // is called once, after the first of the lists of allocations and of jobs
}

// stream sends events until there are no more.
func (s *answers) stream(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	events := s.events
	s.mu.Unlock()
	if events == nil {
		http.Error(w, "event stream is off", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusOK)
	for {
		w.(http.Flusher).Flush()
		select {
		case line, more := <-events:
			if !more {
				return
			}
			_, _ = w.Write([]byte(line + "\n")) // the client may be gone
		case <-r.Context().Done():
			return
		}
	}
}

// ServeHTTP implements http.Handler.
func (s *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/event/stream" {
		s.stream(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	reply := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	id, _ := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/v1/job/"))
	if r.URL.Path == "/v1/allocations" || r.URL.Path == "/v1/jobs" && r.Method == http.MethodGet {
		defer func(between func()) {
			if s.between = nil; between != nil {
				between()
			}
		}(s.between)
	}
	switch {
	case r.URL.Path == "/v1/nodes":
		var list []*api.NodeListStub
		for i := range 1 + s.nodes {
			list = append(list, &api.NodeListStub{ID: fmt.Sprint(i + 1), Name: fmt.Sprint("n", i+1), Status: api.NodeStatusReady, SchedulingEligibility: api.NodeSchedulingEligible,
				NodeResources: &api.NodeResources{Cpu: api.NodeCpuResources{CpuShares: 8000}, Memory: api.NodeMemoryResources{MemoryMB: 16000}}})
		}
		reply(list)
	case strings.HasPrefix(r.URL.Path, "/v1/node/"):
		id := strings.TrimPrefix(r.URL.Path, "/v1/node/")
		reply(&api.Node{ID: id, Name: "n" + id})
	case r.URL.Path == "/v1/allocations":
		reply(s.allocations)
	case r.URL.Path == "/v1/jobs" && r.Method == http.MethodGet:
		var list []*api.JobListStub
		for i, id := range s.order {
			if j := s.jobs[id]; j != nil {
				list = append(list, &api.JobListStub{ID: id, Meta: j.Meta, CreateIndex: uint64(i), JobModifyIndex: *j.JobModifyIndex, Priority: value(j.Priority),
					JobSummary: &api.JobSummary{Summary: map[string]api.TaskGroupSummary{value(j.TaskGroups[0].Name): {Queued: s.queued[id]}}}})
			}
		}
		reply(list)
	case r.URL.Path == "/v1/jobs":
		var request struct{ Job *api.Job }
		_ = json.NewDecoder(r.Body).Decode(&request)
		s.register(request.Job)
		reply(map[string]any{})
	case r.Method == http.MethodDelete:
		s.stopped = append(s.stopped, id)
		delete(s.jobs, id)
		reply(map[string]any{})
	case strings.HasSuffix(id, "/allocations"):
		list := slices.Clone(s.allocations)
		reply(slices.DeleteFunc(list, func(a *api.AllocationListStub) bool { return a.JobID+"/allocations" != id }))
	case strings.HasSuffix(id, "/evaluations"):
		reply(s.evaluations)
	case s.jobs[id] != nil:
		reply(s.jobs[id])
	default:
		http.Error(w, "job not found", http.StatusNotFound)
	}
}

// register takes a job as it is, whatever was there before.
func (s *answers) register(j *api.Job) {
	if s.jobs[*j.ID] == nil {
		s.order = append(s.order, *j.ID)
	}
	j.JobModifyIndex = ptr(uint64(len(s.order)))
	s.jobs[*j.ID] = j
}

// runs adds an allocation that runs on the node.
func (s *answers) runs(job, group string, cpu, memory int64) { s.runsOn(1, job, group, cpu, memory) }

func (s *answers) runsOn(node int, job, group string, cpu, memory int64) {
	s.allocations = append(s.allocations, &api.AllocationListStub{JobID: job, TaskGroup: group, NodeID: fmt.Sprint(node), NodeName: fmt.Sprint("n", node),
		ClientStatus: api.AllocClientStatusRunning, DesiredStatus: api.AllocDesiredStatusRun,
		AllocatedResources: &api.AllocatedResources{Tasks: map[string]*api.AllocatedTaskResources{
			"t": {Cpu: api.AllocatedCpuResources{CpuShares: cpu}, Memory: api.AllocatedMemoryResources{MemoryMB: memory}}}}})
}

// onAnswers is a cluster with such a server.
func onAnswers(t testing.TB, list ...*api.Job) (*nomad, *answers) {
	t.Helper()
	s := &answers{jobs: map[string]*api.Job{}}
	for _, j := range list {
		s.register(j)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client := must.Have(api.NewClient(&api.Config{Address: server.URL}))(t)
	return newNomad(client, 4, daemon.Guarded{Program: "/bin/guard", Every: time.Second}), s
}

// named is a job like another, with another ID and without what makes it elastic.
func named(id string) *api.Job {
	j := declared()
	j.ID, j.Name, j.Meta = ptr(id), ptr(id), nil
	return j
}

// start starts a run of lr with two containers on the node.
func start(t *testing.T, n *nomad, attempt int64) error {
	t.Helper()
	spec := must.Have(json.Marshal(declared()))(t)
	return n.Start(t.Context(), managed.Task{Epoch: 4, Spec: spec,
		Run: runner.Run{Job: "lr", Attempt: attempt, Containers: []string{"n1", "n1"}, Dir: "/shared/runs/lr/3"}})
}

// look is what a look at the cluster sees: what its one server has left for elastic jobs, and these.
func look(t *testing.T, n *nomad) (capacity apportion.Resources, jobs []string, rejected map[string]string) {
	t.Helper()
	view, err := n.Look(t.Context())
	if err != nil || len(view.Servers) != 1 {
		t.Fatalf("%+v, %v", view, err)
	}
	for i := range view.Jobs {
		jobs = append(jobs, view.Jobs[i].Application.ID)
	}
	return view.Servers[0].Capacity, jobs, view.Rejected
}

// A job of somebody else whose name ends as that of a child takes room as every other, and is neither changed nor stopped.
func TestForeignChild(t *testing.T) {
	foreign := named("lr/run")
	n, s := onAnswers(t, declared(), foreign, named("web/run"))
	s.runs("lr/run", "web", 1000, 3000)
	s.runs("web/run", "web", 500, 1000)
	capacity, jobs, rejected := look(t, n)
	if !capacity.Equal(apportion.Resources{6500, 12000, 0}) {
		t.Errorf("%v are left beside 1500 and 4000 of others", capacity)
	}
	if len(jobs) != 0 || !strings.Contains(rejected["lr"], `"lr/run" is somebody else's`) {
		t.Errorf("%v, rejected: %v", jobs, rejected)
	}
	if running, err := n.Running(t.Context()); err != nil || len(running) != 0 {
		t.Errorf("%v runs, %v", running, err)
	}
	if err := start(t, n, 3); err == nil || !strings.Contains(err.Error(), "somebody else's") {
		t.Errorf("a start in the place of another job: %v", err)
	}
	// Nothing of the controller's is there, so that it has ended.
	if left, err := n.Stop(t.Context(), "lr", 3, "n1"); left || err != nil {
		t.Errorf("something is left: %t, %v", left, err)
	}
	if err := n.Forget(t.Context(), "lr"); err != nil {
		t.Error(err)
	}
	if s.jobs["lr/run"] != foreign || len(s.stopped) != 0 {
		t.Errorf("the job of somebody else is %+v, stopped: %v", s.jobs["lr/run"], s.stopped)
	}
	// When it has gone, lr is as any other.
	delete(s.jobs, "lr/run")
	if _, jobs, rejected := look(t, n); !slices.Equal(jobs, []string{"lr"}) || len(rejected) != 0 {
		t.Errorf("%v, rejected: %v", jobs, rejected)
	}
}

// What a child has is for elastic jobs to share, and a plan that nobody carries out sees it without a look before.
func TestOwnChild(t *testing.T) {
	n, s := onAnswers(t, declared())
	must.Do(t, start(t, n, 3))
	s.runs("lr/run", "a3-n1", 2000, 4000)
	s.runs("lr/run", "a3-n1", 2000, 4000)
	running, err := n.Running(t.Context())
	if err != nil || len(running) != 1 || running["lr"]["n1"] != 2 {
		t.Errorf("%v runs, %v", running, err)
	}
	capacity, jobs, rejected := look(t, n)
	if !capacity.Equal(apportion.Resources{8000, 16000, 0}) || !slices.Equal(jobs, []string{"lr"}) || len(rejected) != 0 {
		t.Errorf("%v for %v, rejected: %v", capacity, jobs, rejected)
	}
	// The same attempt changes nothing, and what has been stopped is not started again.
	for _, left := range []bool{true, false} {
		if got, err := n.Stop(t.Context(), "lr", 3, "n1"); got != left || err != nil {
			t.Errorf("something is left: %t, %v, want %t", got, err, left)
		}
		s.allocations = nil
		n.child("lr").looked = time.Time{}
	}
	must.Do(t, start(t, n, 3))
	if g := s.jobs["lr/run"].TaskGroups; len(g) != 1 || *g[0].Count != 0 {
		t.Errorf("after a stop: %+v", g)
	}
	// It has ended: the child says so, and what is left of it is in the way of no other of its name.
	if err := n.Ended(t.Context(), "lr", checkpoint.GivenUp, "six have died"); err != nil || !slices.Equal(s.stopped, []string{"lr"}) {
		t.Errorf("stopped: %v, %v", s.stopped, err)
	}
	if err := errors.Join(n.Forget(t.Context(), "lr"), n.Forget(t.Context(), "lr")); err != nil || len(s.stopped) != 1 {
		t.Errorf("stopped: %v, %v", s.stopped, err)
	}
	if child := s.jobs["lr/run"]; child.Meta[metaEnded] != "failed: six have died" || *child.TaskGroups[0].Count != 0 {
		t.Errorf("%v, %+v", child.Meta, child.TaskGroups[0])
	}
	// An attempt of that name is stopped as well.
	if err := start(t, n, 1); err != nil || s.jobs["lr/run"].Meta[metaEnded] != "" || *s.jobs["lr/run"].TaskGroups[0].Count == 0 {
		t.Errorf("another of its name: %v, %v", s.jobs["lr/run"].Meta, err)
	}
	if _, err := n.Stop(t.Context(), "lr", 1, "n1"); err != nil || *s.jobs["lr/run"].TaskGroups[0].Count != 0 {
		t.Errorf("another of its name is not stopped: %+v, %v", s.jobs["lr/run"].TaskGroups[0], err)
	}
}

// A child that is registered and placed while the cluster is looked at is never somebody else's.
func TestChildComesDuringLook(t *testing.T) {
	n, s := onAnswers(t, declared())
	s.between = func() {
		child := named("lr/run")
		child.Meta = map[string]string{metaEpoch: "4"}
		s.register(child)
		s.runs("lr/run", "a1-n1", 2000, 4000)
	}
	if capacity, _, rejected := look(t, n); !capacity.Equal(apportion.Resources{8000, 16000, 0}) || len(rejected) != 0 || s.between != nil {
		t.Errorf("%v are left, rejected: %v", capacity, rejected)
	}
}

// An elastic job may have such a name itself.
func TestElasticJobCalledRun(t *testing.T) {
	j := declared()
	j.ID, j.Name = ptr("train/run"), ptr("train/run")
	n, _ := onAnswers(t, named("train"), j)
	if _, jobs, rejected := look(t, n); !slices.Equal(jobs, []string{"train/run"}) || len(rejected) != 0 {
		t.Errorf("%v, rejected: %v", jobs, rejected)
	}
}

// Only the groups of children belong to attempts.
// A group that Nomad has placed in part, having found no room for the rest, is in trouble, and one that it may yet place is not.
func TestPlacedInPart(t *testing.T) {
	n, s := onAnswers(t, declared())
	for _, c := range []struct {
		placed  int
		failed  string
		refused bool
	}{{0, "", false}, {0, groupOf(3, "n1"), true}, {1, "", false}, {1, groupOf(2, "n1"), false}, {1, groupOf(3, "n1"), true}, {2, groupOf(3, "n1"), false}} {
		s.allocations, s.evaluations, n.child("lr").looked = nil, []*api.Evaluation{{ID: "0123456789", FailedTGAllocs: map[string]*api.AllocationMetric{
			c.failed: {DimensionExhausted: map[string]int{"cpu": 1}}}}}, time.Time{}
		for range c.placed {
			s.runs(childOf("lr"), groupOf(3, "n1"), 1, 1)
		}
		why, refused, err := n.Trouble(t.Context(), "lr", 3, managed.Part{Server: "n1", Count: 2})
		if refused != c.refused || strings.Contains(why, "[cpu]") != c.refused || err != nil {
			t.Errorf("%+v: %q, %v, %v", c, why, refused, err)
		}
	}
}

func TestAttemptOf(t *testing.T) {
	for group, want := range map[string]int64{"a3-n1": 3, "a12-n-1": 12, groupOf(7, "x"): 7, "web": 0, "": 0, "api": 0, "a-n1": 0, "ax-3": 0} {
		if got := attemptOf(group); got != want {
			t.Errorf("%q: %d, want %d", group, got, want)
		}
	}
}

// Containers of others that Nomad has queued wait, each by itself, those of the highest priority first; of elastic jobs none do. A job
// is read once.
func TestWaiting(t *testing.T) {
	web, urgent := named("web"), named("urgent")
	urgent.Priority = ptr(80)
	urgent.Constraints = []*api.Constraint{{LTarget: "${node.class}", RTarget: "big", Operand: "="}}
	urgent.TaskGroups[0].Tasks = append(urgent.TaskGroups[0].Tasks, &api.Task{Name: "beside", Resources: &api.Resources{CPU: ptr(7), MemoryMB: ptr(3)}})
	n, s := onAnswers(t, web, urgent, declared())
	s.queued = map[string]int{"web": 2, "urgent": 1, "lr": 5}
	demand := demandOf(web.TaskGroups[0])
	more := apportion.Resources{demand[0] + 7, demand[1] + 3, demand[2]}
	for range 2 {
		s.asked = 0
		view, err := n.Look(t.Context())
		var got []string
		for _, w := range view.Waiting {
			got = append(got, fmt.Sprint(w.ID, w.Demand, len(w.Requires)))
		}
		group := value(web.TaskGroups[0].Name)
		of := func(j *api.Job) int { list, _ := requirementsOf(j); return len(list) }
		want := []string{fmt.Sprint("urgent.", group, "[0]", more, of(urgent)), fmt.Sprint("web.", group, "[0]", demand, of(web)), fmt.Sprint("web.", group, "[1]", demand, of(web))}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	if s.asked != 3 {
		t.Errorf("a look at what has not changed took %d requests", s.asked)
	}
	s.queued = nil
	if view, err := n.Look(t.Context()); err != nil || len(view.Waiting) != 0 || len(n.others) != 0 {
		t.Errorf("%+v, %v, %d", view, err, len(n.others))
	}
}

// A look at a cluster in which nothing has changed asks Nomad for nothing, as long as there are events; one event has the lists read
// again, and so has the end of the stream. The first look makes one request for each node and job, many at a time.
func TestIdleLooks(t *testing.T) {
	list := []*api.Job{declared()}
	for i := range 40 {
		j := declared()
		j.ID = ptr(fmt.Sprint("job", i))
		list = append(list, j)
	}
	n, s := onAnswers(t, list...)
	events := make(chan string)
	s.events, s.nodes = events, 19
	looks := func(times int) int {
		s.mu.Lock()
		s.asked = 0
		s.mu.Unlock()
		for range times {
			if view, err := n.Look(t.Context()); err != nil || len(view.Servers) != 20 || len(view.Jobs) != 41 {
				t.Fatalf("%+v, %v", view, err)
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.asked
	}
	if asked := looks(1); asked != 3+41+20 {
		t.Errorf("the first look took %d requests", asked)
	}
	if asked := looks(60); asked != 0 {
		t.Errorf("a minute of looks took %d requests", asked)
	}
	eventually := func(what string, so func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	events <- "{}" // a heartbeat
	events <- `{"Index":7,"Events":[{"Topic":"Job","Type":"JobRegistered","Key":"web"}]}`
	eventually("an event changes nothing", func() bool { return looks(1) == 3 })
	if asked := looks(60); asked != 0 {
		t.Errorf("after an event a minute of looks took %d requests", asked)
	}
	s.mu.Lock()
	s.events = nil
	s.mu.Unlock()
	close(events)
	eventually("the end of the events changes nothing", func() bool { return looks(5) == 15 })
}
