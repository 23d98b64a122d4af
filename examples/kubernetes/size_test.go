// This file measures the controller on many nodes: how long it takes from an event to the pods, what it asks of the API server
// for that, and how much memory it needs. The pods are no processes.

package kubernetes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// crowd is a cluster of many nodes of eight GPUs. Others use three of each; elastic jobs that want more than there is have the
// rest.
type crowd struct {
	*bench
	nodes, jobs int
}

// Sizes of a crowd.
const (
	gpus, gpusOfOthers = 8, 3
	nodesPerJob        = 5
	mostOfJob          = 40
)

// newCrowd starts a cluster and its jobs, and waits until they run.
func newCrowd(t testing.TB, nodes int) *crowd {
	t.Helper()
	var list []*corev1.Node
	for i := range nodes {
		list = append(list, kubetest.NewNode(fmt.Sprintf("n%04d", i), kubetest.List("cpu", "64", "memory", "512Gi", "nvidia.com/gpu", strconv.Itoa(gpus), "pods", "110")))
	}
	c := &crowd{newBenchOf(t, newTrainers, list), nodes, nodes / nodesPerJob}
	// The leases of guards that claim seldom are long. A decision is as unfair, and moves as much, as by default.
	c.Set("-theta1", "0.2", "-theta2", "0.3", "-lease", "60s", "-save", "1h")
	c.others(list)
	for i := range c.jobs {
		c.submitOn(fmt.Sprintf("job-%03d", i))
	}
	c.rests("all run", func(held map[string]int) bool { return len(held) == c.jobs && sum(held) == c.free() })
	c.quiet()
	return c
}

// free is how many GPUs elastic jobs can have.
func (c *crowd) free() int { return c.nodes * (gpus - gpusOfOthers) }

// sum is the sum of numbers.
func sum(held map[string]int) int {
	n := 0
	for _, one := range held {
		n += one
	}
	return n
}

// others starts the pods of others.
func (c *crowd) others(nodes []*corev1.Node) {
	c.Helper()
	var under sync.WaitGroup
	free := make(chan struct{}, 16)
	for i := range nodes {
		for k := range gpusOfOthers {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "apportion", Name: fmt.Sprintf("other-%d-%d", i, k)}, Spec: corev1.PodSpec{NodeName: nodes[i].Name,
				Containers: []corev1.Container{{Name: "c", Image: "none", Resources: corev1.ResourceRequirements{
					Requests: kubetest.List("nvidia.com/gpu", "1"), Limits: kubetest.List("nvidia.com/gpu", "1")}}}}}
			free <- struct{}{}
			under.Go(func() {
				defer func() { <-free }()
				if _, err := c.cluster.Client.CoreV1().Pods(p.Namespace).Create(c.Context(), p, metav1.CreateOptions{}); err != nil {
					c.Errorf("a pod of others: %v", err)
				}
			})
		}
	}
	under.Wait()
}

// submitOn submits a job that can use more than its share.
func (c *crowd) submitOn(name string) {
	c.Helper()
	j := c.job(name, mostOfJob, 0, nil)
	wants := kubetest.List("nvidia.com/gpu", "1", "cpu", "1", "memory", "1Gi")
	j.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: wants, Limits: wants}
	c.submit(j)
}

// settled is how long nothing may change until everything counts as done: longer than the controller gathers changes.
const settled = 2 * time.Second

// rests waits until all jobs run and hold what is wanted, and nothing changes any more. It returns when each decision was
// taken, and on how many jobs.
func (c *crowd) rests(what string, want func(held map[string]int) bool) map[time.Time]int {
	c.Helper()
	decisions := map[time.Time]int{}
	since, before := time.Now(), ""
	processes.Eventually(c.Bench, what, 10*time.Minute, func() bool {
		time.Sleep(150 * time.Millisecond)
		var last struct {
			At      time.Time
			Took    time.Duration
			Problem struct{ Applications []struct{ ID string } }
		}
		r := c.Report()
		if r == nil || json.Unmarshal(c.Ask("/decision"), &last) != nil {
			return false
		}
		if !last.At.IsZero() {
			decisions[last.At.Add(last.Took)] = len(last.Problem.Applications)
		}
		held, still := map[string]int{}, fmt.Sprint(len(decisions))
		for i := range r.Jobs {
			j := &r.Jobs[i].Job
			still += fmt.Sprint(j.Name, j.Attempt, j.Phase, j.Order)
			if j.Phase == checkpoint.Running && j.Order == 0 {
				held[j.Name] = len(j.Containers)
			}
		}
		if still != before || !want(held) {
			since, before = time.Now(), still
		}
		return time.Since(since) > settled
	})
	return decisions
}

// quiet waits until the controller asks for nothing any more, and returns what it has asked for since it was waited for last,
// but for watches and those that hold the Lease.
func (c *crowd) quiet() []kubetest.Request {
	c.Helper()
	var all []kubetest.Request
	last := time.Now()
	processes.Eventually(c.Bench, "nothing is asked for", 5*time.Minute, func() bool {
		for _, q := range c.proxy.Take() {
			if q.Resource != "leases" && q.Verb != kubetest.Watches {
				all, last = append(all, q), time.Now()
			}
		}
		return time.Since(last) > settled
	})
	return all
}

// effort is what an event has cost.
type effort struct {
	// decided is the time from the event to the first decision on it, bound to the last pod of the first attempt of a job that
	// arrives, and last to the last pod that was made of any job.
	decided, bound, last time.Duration
	// decisions is how many were taken, and changed how many jobs have pods that were made or deleted.
	decisions, changed int
	// requests counts them by verb and resource, but for watches and those that hold the Lease.
	requests map[string]int
	// twice are pods that were made or deleted more than once, and told the Jobs that were written to although nothing of them
	// has changed.
	twice, told []string
}

// total is the number of requests.
func (e *effort) total() int { return sum(e.requests) }

// What may be asked for each job that changes. Its note says that the attempt is over, that the next one begins, and that its
// pods are made; it is read once. Its users are told of each step of a resize, and beside that of pods as they come and go.
const (
	notes  = 4
	reads  = 1
	steps  = 6
	events = 4
)

// faults says what more was asked for than is allowed.
func (e *effort) faults() []string {
	var list []string
	most := func(what string, n int) {
		if got := e.requests[what]; got > n {
			list = append(list, fmt.Sprintf("%d times %s, at most %d are for %d jobs that have changed", got, what, n, e.changed))
		}
	}
	pods := e.requests["create pods"] + e.requests["delete pods"]
	most("patch jobs", notes*e.changed)
	most("get jobs", reads*e.changed)
	most("patch jobs/status", steps*e.changed+2*pods)
	most("create events", events*e.changed)
	for what := range e.requests {
		if !slices.Contains([]string{"create pods", "delete pods", "patch jobs", "get jobs", "patch jobs/status", "create events"}, what) {
			most(what, 0)
		}
	}
	if len(e.twice) > 0 {
		list = append(list, fmt.Sprintf("asked for twice: %v", e.twice))
	}
	if len(e.told) > 0 {
		list = append(list, fmt.Sprintf("written to without a change: %v", e.told))
	}
	if e.decisions == 0 || e.changed == 0 {
		list = append(list, fmt.Sprintf("%d decisions, %d jobs changed", e.decisions, e.changed))
	}
	return list
}

// jobOf is the Job of a request on a Job, or on a pod of it, which is named after it.
func jobOf(q *kubetest.Request) string {
	if q.Resource != "pods" {
		return q.Name
	}
	parts := strings.Split(q.Name, "-")
	return strings.Join(parts[:max(0, len(parts)-2)], "-")
}

// after has something happen to a job, after which there are so many, and measures what comes of it.
func (c *crowd) after(event func(), name string, jobs int, want func(held map[string]int) bool) *effort {
	c.Helper()
	event()
	at := time.Now()
	e := &effort{requests: map[string]int{}}
	for when, n := range c.rests("the event is dealt with", want) {
		if when.After(at) {
			e.decisions++
		}
		if took := when.Sub(at); when.After(at) && n == jobs && (e.decided == 0 || took < e.decided) {
			e.decided = took
		}
	}
	first := "" // how pods of its first attempt are called
	changed, names, written := map[string]bool{}, map[string]int{}, map[string]bool{}
	for _, q := range c.quiet() {
		e.requests[q.Verb+" "+q.Resource]++
		switch q.Resource {
		case "pods":
			names[q.Verb+" "+q.Name]++
			changed[jobOf(&q)] = true
			if q.Verb == "create" {
				e.last = q.At.Sub(at)
			}
			run := q.Name[:strings.LastIndex(q.Name, "-")+1]
			if first == "" && jobOf(&q) == name {
				first = run
			}
			if q.Verb == "create" && run == first {
				e.bound = q.At.Sub(at)
			}
		case "jobs", "jobs/status":
			written[q.Name] = true
		}
	}
	for what, n := range names {
		if n > 1 {
			e.twice = append(e.twice, what)
		}
	}
	for job := range written {
		if !changed[job] {
			e.told = append(e.told, job)
		}
	}
	e.changed = len(changed)
	return e
}

// arrive measures the arrival of one more job, and leave that it is withdrawn again.
func (c *crowd) arrive(name string) *effort {
	c.Helper()
	return c.after(func() { c.submitOn(name) }, name, c.jobs+1, func(held map[string]int) bool { return held["default/"+name] > 0 && sum(held) == c.free() })
}

func (c *crowd) leave(name string) *effort {
	c.Helper()
	return c.after(func() { c.delete(name) }, name, c.jobs, func(held map[string]int) bool { return len(held) == c.jobs && sum(held) == c.free() })
}

// An effort that is more than its jobs need has faults.
func TestEffort(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(e *effort)
		want   int
	}{
		{"as it should be", func(*effort) {}, 0},
		{"a list", func(e *effort) { e.requests["list pods"] = 1 }, 1},
		{"too many notes", func(e *effort) { e.requests["patch jobs"]++ }, 1},
		{"too many reads", func(e *effort) { e.requests["get jobs"]++ }, 1},
		{"too many words", func(e *effort) { e.requests["patch jobs/status"]++ }, 1},
		{"too many events", func(e *effort) { e.requests["create events"]++ }, 1},
		{"a pod twice", func(e *effort) { e.twice = []string{"a-1-0"} }, 1},
		{"a job for nothing", func(e *effort) { e.told = []string{"a"} }, 1},
		{"nothing is done", func(e *effort) { *e = effort{} }, 1},
	} {
		e := &effort{decisions: 1, changed: 2, requests: map[string]int{"create pods": 3, "delete pods": 2, "patch jobs": 2 * notes, "get jobs": 2 * reads,
			"patch jobs/status": 2*steps + 10, "create events": 2 * events}}
		if c.change(e); len(e.faults()) != c.want {
			t.Errorf("%s: %v", c.what, e.faults())
		}
	}
	for want, q := range map[string]kubetest.Request{"a-b": {Resource: "pods", Name: "a-b-12-3"}, "c-1": {Resource: "jobs/status", Name: "c-1"}, "": {Resource: "pods"}} {
		must.Equal(t, jobOf(&q), want, q, "is of")
	}
}

// What the controller asks of the API server is for the jobs that it changes, however many there are.
func TestSize(t *testing.T) {
	c := newCrowd(t, 100)
	for _, event := range []struct {
		name string
		do   func(string) *effort
	}{{"arrives", c.arrive}, {"leaves", c.leave}} {
		e := event.do("late")
		t.Logf("a job %s: decided after %.2f s, bound after %.2f s, all pods after %.2f s; %d decisions, %d jobs changed, %d calls: %v", event.name, e.decided.Seconds(), e.bound.Seconds(), e.last.Seconds(),
			e.decisions, e.changed, e.total(), e.requests)
		for _, fault := range e.faults() {
			t.Errorf("a job %s: %s", event.name, fault)
		}
	}
	_, memory := c.Used()
	t.Logf("the controller needs %.0f MiB", float64(memory)/(1<<20))
	if refused := c.kubelets.Refused(); len(refused) > 0 {
		t.Errorf("kubelets refused %d pods: %v", len(refused), refused[0])
	}
}

// BenchmarkSize measures an arrival on more and more nodes: seconds to the first decision on it, and to the last pod, calls for
// each decision, what of a core is used while nothing changes, and MiB.
func BenchmarkSize(b *testing.B) {
	for _, nodes := range []int{100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", nodes, nodes*(gpus-gpusOfOthers)), func(b *testing.B) {
			c := newCrowd(b, nodes)
			var all []*effort
			for b.Loop() {
				name := fmt.Sprintf("late-%d", len(all))
				all = append(all, c.arrive(name))
				c.leave(name)
			}
			var decided, bound, last, calls, decisions float64
			for _, e := range all {
				b.Logf("%+v", *e)
				decided, bound, last = decided+e.decided.Seconds(), bound+e.bound.Seconds(), last+e.last.Seconds()
				calls, decisions = calls+float64(e.total()), decisions+float64(e.decisions)
			}
			n := float64(len(all))
			b.ReportMetric(decided/n, "decision-s")
			b.ReportMetric(bound/n, "bound-s")
			b.ReportMetric(last/n, "all-pods-s")
			b.ReportMetric(calls/decisions, "calls/decision")
			before, _ := c.Used()
			const rest = 20 * time.Second
			time.Sleep(rest)
			after, memory := c.Used()
			b.ReportMetric(100*(after-before).Seconds()/rest.Seconds(), "core-%-at-rest")
			b.ReportMetric(float64(memory)/(1<<20), "MiB")
		})
	}
}
