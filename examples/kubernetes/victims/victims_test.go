// This file has Kueue's own code choose what is preempted, with the annotations and without them.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	utiltestingapi "sigs.k8s.io/kueue/pkg/util/testing/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/apportion/apportion/internal/must"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// queue has so many CPUs, and preempts lower priorities.
func queue(cpus int64) *kueue.ClusterQueue {
	q := utiltestingapi.MakeClusterQueue("q").ResourceGroup(*utiltestingapi.MakeFlavorQuotas("default").Resource(corev1.ResourceCPU, fmt.Sprint(cpus)).Obj()).
		Preemption(kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority}).Obj()
	q.Kind = "ClusterQueue"
	return q
}

// job is a workload of the queue.
type job struct {
	name           string
	cpus           int64
	priority       int32
	admitted, save time.Duration // ago; 0: it waits, it has saved nothing
}

func (j *job) workload() *kueue.Workload {
	w := utiltestingapi.MakeWorkload(j.name, "ns").UID(types.UID("uid-"+j.name)).Queue("local").Priority(j.priority).Request(corev1.ResourceCPU, fmt.Sprint(j.cpus)).Obj()
	w.Kind = "Workload"
	if j.admitted > 0 {
		admission := utiltestingapi.MakeAdmission("q").PodSets(utiltestingapi.MakePodSetAssignment(kueue.DefaultPodSetName).
			Assignment(corev1.ResourceCPU, "default", fmt.Sprint(j.cpus)).Obj()).Obj()
		w = (&utiltestingapi.WorkloadWrapper{Workload: *w}).ReserveQuotaAt(admission, now.Add(-j.admitted)).Obj()
	}
	if j.save > 0 {
		w.Annotations = map[string]string{saved: now.Add(-j.save).Format(time.RFC3339)}
	}
	return w
}

// preempted is what Kueue preempts of a queue for the workload that waits.
func preempted(t must.TB, q *kueue.ClusterQueue, admitted []*kueue.Workload, head *kueue.Workload) []string {
	t.Helper()
	var items []kueue.Workload
	for _, w := range admitted {
		items = append(items, *w)
	}
	client := utiltesting.NewClientBuilder().WithLists(&kueue.WorkloadList{Items: items}).Build()
	cache, ctx, log := schdcache.New(client), context.Background(), logr.Discard()
	cache.AddOrUpdateResourceFlavor(log, utiltestingapi.MakeResourceFlavor("default").Obj())
	must.Do(t, cache.AddClusterQueue(ctx, q))
	snapshot := must.Have(cache.Snapshot(ctx))(t)
	info := workload.NewInfo(head)
	info.ClusterQueue = "q"
	assignment := flavorassigner.Assignment{PodSets: []flavorassigner.PodSetAssignment{{Name: kueue.DefaultPodSetName, Count: 1,
		Flavors: flavorassigner.ResourceAssignment{corev1.ResourceCPU: {Name: "default", Mode: flavorassigner.Preempt}}}}}
	p := preemption.New(client, workload.Ordering{}, &record.FakeRecorder{}, nil, false, clocktesting.NewFakeClock(now), nil, expectations.New(), nil)
	var names []string
	for _, target := range p.GetTargets(log, *info, assignment, snapshot) {
		names = append(names, target.WorkloadInfo.Obj.Name)
	}
	slices.Sort(names)
	return names
}

// boosted returns the same workloads with the annotations that the program prints commands for, by what it reads.
func boosted(t must.TB, q *kueue.ClusterQueue, admitted []*kueue.Workload, head *kueue.Workload) []*kueue.Workload {
	t.Helper()
	local := utiltestingapi.MakeLocalQueue("local", "ns").ClusterQueue("q").Obj()
	local.Kind = "LocalQueue"
	items := []any{q, local, head}
	var list []*kueue.Workload
	for _, w := range admitted {
		items, list = append(items, w), append(list, w.DeepCopy())
	}
	text := must.Have(json.Marshal(map[string]any{"items": items}))(t)
	var out bytes.Buffer
	must.Do(t, run(context.Background(), bytes.NewReader(text), &out, now))
	for line := range strings.Lines(out.String()) {
		var name, set string
		must.Have(fmt.Sscanf(line, "kubectl annotate workload -n ns %s --overwrite "+boost+"=%s\n", &name, &set))(t)
		at := slices.IndexFunc(list, func(w *kueue.Workload) bool { return w.Name == name })
		list[at].Annotations = map[string]string{boost: set}
	}
	return list
}

func workloads(jobs []job) (list []*kueue.Workload) {
	for i := range jobs {
		list = append(list, jobs[i].workload())
	}
	return list
}

// Kueue by itself takes the newest; with the annotations what loses least. What has saved a moment ago loses little, however long it runs.
func TestKueueTakesTheCheapest(t *testing.T) {
	features.SetFeatureGateDuringTest(t, features.PriorityBoost, true)
	q, head := queue(10), (&job{name: "head", cpus: 5, priority: 10}).workload()
	admitted := workloads([]job{
		{name: "saved", cpus: 5, admitted: 10 * time.Hour, save: 30 * time.Second},
		{name: "b", cpus: 3, admitted: time.Hour},
		{name: "c", cpus: 2, admitted: 2 * time.Hour},
	})
	if got := preempted(t, q, admitted, head); fmt.Sprint(got) != "[b c]" {
		t.Errorf("Kueue by itself preempts %v", got)
	}
	if got := preempted(t, q, boosted(t, q, admitted, head), head); fmt.Sprint(got) != "[saved]" {
		t.Errorf("with the annotations Kueue preempts %v", got)
	}
}

// Whatever is admitted, Kueue preempts with the annotations what loses least among the lowest priorities that are enough, as all sets tell.
func TestPropCheapest(t *testing.T) {
	features.SetFeatureGateDuringTest(t, features.PriorityBoost, true)
	rapid.Check(t, func(t *rapid.T) {
		var jobs []job
		cpus := int64(0)
		for n := range rapid.IntRange(1, 6).Draw(t, "jobs") {
			j := job{name: fmt.Sprintf("j%d", n), cpus: rapid.Int64Range(1, 5).Draw(t, "cpus"), priority: rapid.Int32Range(0, 3).Draw(t, "priority"),
				admitted: time.Duration(rapid.IntRange(1, 50).Draw(t, "admitted")) * time.Minute}
			jobs, cpus = append(jobs, j), cpus+j.cpus
		}
		q, head := queue(cpus+rapid.Int64Range(0, 2).Draw(t, "free")), job{name: "head", cpus: rapid.Int64Range(1, 12).Draw(t, "head"), priority: 2}
		free := q.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota.Value() - cpus
		if head.cpus <= free {
			t.Skip("nobody is preempted")
		}
		want := cheapest(jobs, head.cpus-free, head.priority)
		admitted := workloads(jobs)
		got := preempted(t, q, boosted(t, q, admitted, head.workload()), head.workload())
		lost := int64(0)
		for _, w := range admitted {
			if slices.Contains(got, w.Name) {
				lost += lostBy(w, now)
			}
		}
		must.Equal(t, lost, want, "Kueue preempts", got, "which loses", "would do")
	})
}

// cheapest is what the cheapest set of the lowest priorities loses that frees so much, 0 if there is none: the twin looks at all sets.
func cheapest(jobs []job, need int64, below int32) int64 {
	for limit := range below {
		best := int64(0)
		for set := range uint(1) << len(jobs) {
			freed, lost := int64(0), int64(0)
			for left := set; left != 0; left &= left - 1 {
				j := &jobs[bits.TrailingZeros(left)]
				if j.priority > limit {
					freed -= 1 << 40
				}
				freed, lost = freed+j.cpus, lost+int64(j.admitted.Seconds())
			}
			if freed >= need && (best == 0 || lost < best) {
				best = lost
			}
		}
		if best > 0 {
			return best
		}
	}
	return 0
}

// What needs no boost any more loses it, and a queue whose victims Kueue chooses by more than priorities is left alone.
func TestLeftAlone(t *testing.T) {
	old := (&job{name: "old", cpus: 1, admitted: time.Hour}).workload()
	old.Annotations = map[string]string{boost: "-1"}
	shared := queue(4)
	shared.Name, shared.Spec.CohortName = "shared", "all"
	local := utiltestingapi.MakeLocalQueue("local", "ns").ClusterQueue("shared").Obj()
	local.Kind = "LocalQueue"
	head := (&job{name: "head", cpus: 5, priority: 10}).workload()
	text := must.Have(json.Marshal(map[string]any{"items": []any{queue(4), shared, local, old, head}}))(t)
	var out bytes.Buffer
	must.Do(t, run(t.Context(), bytes.NewReader(text), &out, now))
	if want := "kubectl annotate workload -n ns old " + boost + "-\n# ClusterQueue shared: "; !strings.HasPrefix(out.String(), want) {
		t.Errorf("%q, want %q", out.String(), want)
	}
	// What cannot be decided is told in comments: a shell reads the rest.
	local.Spec.ClusterQueue = "q"
	text = must.Have(json.Marshal(map[string]any{"items": []any{queue(4), local, old, old, old, head}}))(t)
	out.Reset()
	must.Do(t, run(t.Context(), bytes.NewReader(text), &out, now))
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "# ") {
			t.Errorf("%q of %q", line, out.String())
		}
	}
	if out.Len() == 0 {
		t.Error("a workload that is there twice is no fault")
	}
	if err := run(t.Context(), strings.NewReader(`{"items":[{"kind":"Workload","spec":3}]}`), &out, now); err == nil || !strings.Contains(err.Error(), `kind "Workload"`) {
		t.Errorf("nonsense: %v", err)
	}
	if err := run(t.Context(), strings.NewReader(`{"items":[{"kind":"Workload","metadata":{"namespace":"ns","name":"x; reboot"}}]}`), &out, now); err == nil || !strings.Contains(err.Error(), `"x; reboot"`) {
		t.Errorf("a name for a shell: %v", err)
	}
}

// Nothing gives way to what Kueue does not queue now: it was evicted a moment ago, or its queue is stopped.
func TestHeadIsQueued(t *testing.T) {
	hold := kueue.Hold
	for _, c := range []struct {
		name   string
		change func(*kueue.ClusterQueue, *kueue.LocalQueue, *kueue.Workload)
		want   bool
	}{
		{"queued", func(*kueue.ClusterQueue, *kueue.LocalQueue, *kueue.Workload) {}, true},
		{"its ClusterQueue is stopped", func(q *kueue.ClusterQueue, _ *kueue.LocalQueue, _ *kueue.Workload) { q.Spec.StopPolicy = &hold }, false},
		{"its LocalQueue is stopped", func(_ *kueue.ClusterQueue, l *kueue.LocalQueue, _ *kueue.Workload) { l.Spec.StopPolicy = &hold }, false},
		{"it waits to be queued again", func(_ *kueue.ClusterQueue, _ *kueue.LocalQueue, w *kueue.Workload) {
			w.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadRequeued, Status: metav1.ConditionFalse}}
		}, false},
	} {
		q, head := queue(4), (&job{name: "head", cpus: 2, priority: 10}).workload()
		local := utiltestingapi.MakeLocalQueue("local", "ns").ClusterQueue("q").Obj()
		local.Kind = "LocalQueue"
		c.change(q, local, head)
		admitted := []*kueue.Workload{(&job{name: "a", cpus: 2, priority: 1, admitted: 2 * time.Hour}).workload(), (&job{name: "b", cpus: 2, priority: 1, admitted: time.Hour}).workload()}
		text := must.Have(json.Marshal(map[string]any{"items": []any{q, local, admitted[0], admitted[1], head}}))(t)
		var out bytes.Buffer
		must.Do(t, run(t.Context(), bytes.NewReader(text), &out, now))
		if got := out.String(); strings.Contains(got, " b --overwrite "+boost+"=") != c.want || !c.want && got != "" {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
