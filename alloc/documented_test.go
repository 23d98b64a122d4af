// This file holds decisions to what the documentation of other queueing schedulers shows: their examples of borrowing, reclaim and fair
// sharing, and where a rule differs, why.

package alloc_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
)

const (
	kueueQueues  = "https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/"
	kueuePreempt = "https://kueue.sigs.k8s.io/docs/concepts/preemption/"
	kaiFairness  = "https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/fairness/README.md"
	kaiReclaim   = "https://github.com/kai-scheduler/KAI-Scheduler/discussions/1763"
	yarnCapacity = "https://docs.cloudera.com/HDPDocuments/HDP2/HDP-2.6.1/bk_yarn-resource-management/content/resource_distribution_workflow_example.html"
	yarnBalance  = "https://issues.apache.org/jira/browse/YARN-8379"
	yarnFair     = "https://blog.cloudera.com/untangling-apache-hadoop-yarn-part-4-fair-scheduler-queue-basics/"
)

// jobs are so many jobs of one size of a queue; elastic is one that takes anything up to that.
type jobs struct {
	queue   string
	count   int
	size    int64
	elastic bool
}

// documented is one example: a pool of one kind, its queues, what runs, what is submitted then, and what queues have in the end.
type documented struct {
	name, source  string
	total         int64
	queues        []drf.Queue
	runs, comes   []jobs
	level         bool // Options.ReclaimLevel
	want          map[string]int64
	there         map[string]int64 // what it is there, where that is something else
	differs       string
	suspended     []string
	wantSuspended bool
}

func guaranteed(id, parent string, weight float64, quota int64) drf.Queue {
	return drf.Queue{ID: id, Parent: parent, Weight: weight, Guarantee: apportion.Resources{quota}}
}

// kueue has the two queues of the page, of 9 and of 12 CPUs, in one cohort.
func kueue(limit int64) []drf.Queue {
	a, b := guaranteed("team-a", "", 1, 9), guaranteed("team-b", "", 1, 12)
	a.Ceiling = drf.Ceiling{limit}
	return []drf.Queue{a, b}
}

var documentedExamples = []documented{
	{name: "Kueue: unused quota is borrowed", source: kueueQueues, total: 21, queues: kueue(drf.NoLimit),
		comes: []jobs{{"team-a", 30, 1, false}}, want: map[string]int64{"team-a": 21}},
	{name: "Kueue: a limit of 1 on borrowing", source: kueueQueues, total: 21, queues: kueue(10),
		comes: []jobs{{"team-a", 30, 1, false}}, want: map[string]int64{"team-a": 10}},
	{name: "Kueue: what is below the quota reclaims", source: kueuePreempt, total: 21, queues: kueue(drf.NoLimit),
		runs: []jobs{{"team-a", 21, 1, false}}, comes: []jobs{{"team-b", 12, 1, false}}, want: map[string]int64{"team-a": 9, "team-b": 12}},
	{name: "Kueue: what would borrow reclaims nothing", source: kueuePreempt, total: 21, queues: kueue(drf.NoLimit),
		runs: []jobs{{"team-a", 21, 1, false}}, comes: []jobs{{"team-b", 20, 1, false}}, want: map[string]int64{"team-a": 9, "team-b": 12}},
	{name: "Kueue: no target in vain", source: kueuePreempt, total: 12, queues: []drf.Queue{guaranteed("team-a", "", 1, 4), guaranteed("team-b", "", 1, 8)},
		runs: []jobs{{"team-a", 1, 8, false}, {"team-a", 2, 2, false}}, comes: []jobs{{"team-b", 1, 8, false}},
		want: map[string]int64{"team-a": 4, "team-b": 8}, suspended: []string{"team-a0"}, wantSuspended: true},
	{name: "Kueue: no more than the final share of the other", source: kueuePreempt, total: 12, level: true,
		queues: []drf.Queue{guaranteed("team-a", "", 1, 0), guaranteed("team-b", "", 1, 0)},
		runs:   []jobs{{"team-a", 12, 1, false}}, comes: []jobs{{"team-b", 12, 1, false}}, want: map[string]int64{"team-a": 6, "team-b": 6}},
	{name: "Kueue: shares by weight", source: kueuePreempt, total: 12, level: true,
		queues: []drf.Queue{guaranteed("team-a", "", 1, 0), guaranteed("team-b", "", 2, 0)},
		runs:   []jobs{{"team-a", 12, 1, false}}, comes: []jobs{{"team-b", 12, 1, false}}, want: map[string]int64{"team-a": 4, "team-b": 8}},
	{name: "Kueue: less than the initial share of the other", source: kueuePreempt, total: 12, level: true,
		queues: []drf.Queue{guaranteed("team-a", "", 1, 0), guaranteed("team-b", "", 1, 0)},
		runs:   []jobs{{"team-a", 1, 12, false}}, comes: []jobs{{"team-b", 1, 6, false}},
		want: map[string]int64{"team-a": 12}, there: map[string]int64{"team-b": 6},
		differs: "by LessThanInitialShare, the second strategy there, the smaller job takes all from the larger one, whose queue " +
			"has less from then on; here the level of the other queue counts without what is taken, so that no two take turns"},
	{name: "YARN: a queue has what another one has borrowed", source: yarnCapacity, total: 1000,
		queues: []drf.Queue{guaranteed("engineering", "", 6, 600), guaranteed("support", "", 1, 100), guaranteed("marketing", "", 3, 300),
			guaranteed("development", "engineering", 1, 120), guaranteed("qa", "engineering", 4, 480)},
		runs:  []jobs{{"development", 5, 120, false}, {"support", 1, 100, false}, {"marketing", 1, 300, false}},
		comes: []jobs{{"qa", 4, 120, false}},
		want:  map[string]int64{"development": 120, "qa": 480, "support": 100, "marketing": 300},
		there: map[string]int64{"development": 600, "qa": 0, "support": 100, "marketing": 300},
		differs: "there it waits until containers of development end, since nothing is preempted in the example; " +
			"here what is within a guarantee does not wait for what is beyond one where that is preemptible"},
	{name: "YARN: by guarantees alone nothing is balanced", source: yarnBalance, total: 100,
		queues: []drf.Queue{guaranteed("a", "", 30, 30), guaranteed("b", "", 30, 30), guaranteed("c", "", 40, 40)},
		runs:   []jobs{{"a", 3, 10, false}, {"b", 7, 10, false}}, comes: []jobs{{"a", 4, 10, false}}, want: map[string]int64{"a": 30, "b": 70}},
	{name: "YARN: balanced, as is asked for", source: yarnBalance, total: 100, level: true,
		queues: []drf.Queue{guaranteed("a", "", 30, 30), guaranteed("b", "", 30, 30), guaranteed("c", "", 40, 40)},
		runs:   []jobs{{"a", 3, 10, false}, {"b", 7, 10, false}}, comes: []jobs{{"a", 4, 10, false}}, want: map[string]int64{"a": 50, "b": 50}},
	{name: "YARN: fair shares by weight", source: yarnFair, total: 1000, queues: []drf.Queue{{ID: "x", Weight: .25}, {ID: "others", Weight: .75}},
		comes: []jobs{{"x", 1, 1000, true}, {"others", 1, 1000, true}}, want: map[string]int64{"x": 250, "others": 750}},
	{name: "KAI: reclaim up to the quota", source: kaiReclaim, total: 16,
		queues: []drf.Queue{guaranteed("alice", "", 1, 4), guaranteed("bob", "", 1, 4)},
		runs:   []jobs{{"alice", 16, 1, false}}, comes: []jobs{{"bob", 16, 1, false}}, want: map[string]int64{"alice": 12, "bob": 4}},
	{name: "KAI: reclaim up to the fair share", source: kaiFairness, total: 16, level: true,
		queues: []drf.Queue{guaranteed("alice", "", 1, 4), guaranteed("bob", "", 1, 4)},
		runs:   []jobs{{"alice", 16, 1, false}}, comes: []jobs{{"bob", 16, 1, false}}, want: map[string]int64{"alice": 8, "bob": 8}},
	{name: "KAI: the lowest ratio stays the lowest", source: kaiFairness, total: 16, level: true,
		queues: []drf.Queue{guaranteed("alice", "", 1, 0), guaranteed("bob", "", 3, 0)},
		runs:   []jobs{{"alice", 4, 4, false}}, comes: []jobs{{"bob", 1, 16, false}}, want: map[string]int64{"alice": 16}},
}

// submitAll adds these jobs and returns their names.
func submitAll(p *alloc.Problem, list []jobs) (ids []string) {
	for _, j := range list {
		for range j.count {
			n := 0
			for _, app := range p.Applications {
				if app.Queue == j.queue {
					n++
				}
			}
			id := fmt.Sprint(j.queue, n)
			least := j.size
			if j.elastic {
				least = 1
			}
			submit(p, j.queue, id, least, j.size)
			ids = append(ids, id)
		}
	}
	return ids
}

// Each example ends as documented, or as it is said why not; what a queue has does not change in three decisions more.
func TestDocumentedExamples(t *testing.T) {
	for _, c := range documentedExamples {
		p := &alloc.Problem{Kinds: apportion.Kinds{"unit"}, Theta1: .1, Theta2: .1, Previous: alloc.Allocation{}, Queues: c.queues,
			Servers: []apportion.Server{{ID: "pool", Capacity: apportion.Resources{c.total}}}, Options: alloc.Options{Preempt: true, ReclaimLevel: c.level}}
		for _, id := range submitAll(p, c.runs) {
			p.Previous[id] = map[string]int64{"pool": p.Applications[len(p.Previous)].Min}
		}
		submitAll(p, c.comes)
		got := map[string]int64{}
		for decision := range 4 {
			d := follow(t, p)
			var suspended []string
			for _, w := range d.Suspended {
				suspended = append(suspended, w.ID)
			}
			if decision == 0 && c.wantSuspended && !cmp.Equal(suspended, c.suspended) {
				t.Errorf("%s: %v are suspended, want %v", c.name, suspended, c.suspended)
			}
			clear(got)
			for _, q := range c.queues {
				if n := has(p, d.Allocation, q.ID); n > 0 {
					got[q.ID] = n
				}
			}
			if !cmp.Equal(got, c.want) {
				t.Errorf("%s, decision %d: %v, want %v\n%s", c.name, decision, got, c.want, c.source)
			}
		}
		if (c.there == nil) != (c.differs == "") {
			t.Errorf("%s: what differs has to be said", c.name)
		}
	}
}
