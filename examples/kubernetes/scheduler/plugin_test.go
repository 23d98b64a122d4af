// This file tests the order of the queue, what namespaces hold, gangs and hints, without a scheduler.

package scheduler

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-scheduler/framework"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/internal/must"
)

var (
	_ framework.QueueSortPlugin = (*Plugin)(nil)
	_ framework.ReservePlugin   = (*Plugin)(nil)
	_ framework.PermitPlugin    = (*Plugin)(nil)
	_ framework.ScorePlugin     = (*Plugin)(nil)
	_ framework.SignPlugin      = (*Plugin)(nil)
)

// handle is what a scheduler gives its plugins, as far as this one asks for it.
type handle struct {
	framework.Handle
	shared  informers.SharedInformerFactory
	waiting []*waiting
}

func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return h.shared }

func (h *handle) IterateOverWaitingPods(use func(framework.WaitingPod)) {
	for _, w := range h.waiting {
		use(w)
	}
}

// waiting is a pod that waits for its gang.
type waiting struct {
	framework.WaitingPod
	pod *corev1.Pod
	end string
}

func (w *waiting) GetPod() *corev1.Pod        { return w.pod }
func (w *waiting) Allow(string)               { w.end = "allowed" }
func (w *waiting) Reject(string, string) bool { w.end = "rejected"; return true }

// queued is a pod in the scheduler's queue.
type queued struct {
	framework.QueuedPodInfo
	framework.PodInfo
	pod *corev1.Pod
	at  time.Time
}

func (q *queued) GetPodInfo() framework.PodInfo { return q }
func (q *queued) GetPod() *corev1.Pod           { return q.pod }
func (q *queued) GetTimestamp() time.Time       { return q.at }

// node is a node as plugins see it.
type node struct {
	framework.NodeInfo
	name string
	pods []*corev1.Pod
}

func (n *node) Node() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name}}
}

func (n *node) GetPods() []framework.PodInfo {
	var list []framework.PodInfo
	for _, p := range n.pods {
		list = append(list, &queued{pod: p})
	}
	return list
}

// newPlugin returns a plugin that has seen a node of 16 CPUs.
func newPlugin(t must.TB) (*Plugin, *handle) {
	h := &handle{shared: informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0)}
	p := must.Have(New(context.Background(), nil, h))(t).(*Plugin)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{"cpu": resource.MustParse("16")}}}
	must.Do(t, p.shares.see(n, false))
	return p, h
}

// pod returns a pod of a namespace that asks for CPUs and is controlled by an owner.
func pod(namespace, name string, cpus int, owner string) *corev1.Pod {
	isController := true
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name),
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: owner, UID: types.UID(owner), Controller: &isController}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": *resource.NewQuantity(int64(cpus), resource.DecimalSI)}}}}}}
}

// bound returns the same pod on a node.
func bound(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	p.Spec.NodeName = "n1"
	return p
}

// Priority comes first, then the share that a namespace has for its weight, then who came first.
func TestLess(t *testing.T) {
	p, _ := newPlugin(t)
	for _, seen := range []*corev1.Pod{bound(pod("a", "1", 6, "x")), bound(pod("b", "1", 4, "x")), bound(pod("c", "1", 5, "x"))} {
		must.Do(t, p.shares.see(seen, false))
	}
	heavy := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{snapshot.Weight: "2"}}}
	must.Do(t, p.shares.see(heavy, false))
	urgent := pod("c", "urgent", 1, "x")
	priority := int32(7)
	urgent.Spec.Priority = &priority
	var list []framework.QueuedPodInfo
	for i, q := range []*corev1.Pod{pod("c", "2", 1, "x"), pod("b", "3", 1, "x"), pod("b", "2", 1, "x"), pod("a", "2", 1, "x"), urgent, pod("new", "1", 1, "x")} {
		list = append(list, &queued{pod: q, at: time.Unix(int64(i), 0)})
	}
	slices.SortFunc(list, func(x, y framework.QueuedPodInfo) int {
		switch {
		case p.Less(x, y):
			return -1
		case p.Less(y, x):
			return 1
		}
		return 0
	})
	var got []string
	for _, q := range list {
		got = append(got, q.GetPodInfo().GetPod().Namespace+"/"+q.GetPodInfo().GetPod().Name)
	}
	// a has 6 of weight 2, b 4, c 5; new has nothing.
	must.Equal(t, fmt.Sprint(got), "[c/urgent new/1 a/2 b/3 b/2 c/2]", "the order")
}

// Whatever is seen in whatever order, a namespace holds what its pods that are bound or reserved ask for.
func TestPropShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := newPlugin(t)
		want := map[string]map[string]int64{"a": {}, "b": {}}
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			namespace := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace")
			number := rapid.IntRange(1, 5).Draw(t, "pod")
			one := pod(namespace, fmt.Sprint(number), number, "x")
			var err error
			switch rapid.SampledFrom([]string{"reserve", "unreserve", "bound", "ended", "deleted", "pending"}).Draw(t, "event") {
			case "reserve":
				err = p.Reserve(context.Background(), nil, one, "n1").AsError()
				want[namespace][one.Name] = int64(number)
			case "unreserve":
				p.Unreserve(context.Background(), nil, one, "n1")
				delete(want[namespace], one.Name)
			case "bound":
				err = p.shares.see(bound(one), false)
				want[namespace][one.Name] = int64(number)
			case "ended":
				one = bound(one)
				one.Status.Phase = corev1.PodSucceeded
				err = p.shares.see(one, false)
				delete(want[namespace], one.Name)
			case "deleted":
				err = p.shares.see(bound(one), true)
				delete(want[namespace], one.Name)
			case "pending":
				err = p.shares.see(one, false)
			}
			if err != nil {
				t.Fatal(err)
			}
			for namespace, pods := range want {
				var sum, held int64
				for _, n := range pods {
					sum += 1000 * n
				}
				if c := p.shares.sorter.Lookup(namespace); c != nil {
					held = c.Held()[0]
				}
				must.Equal(t, held, sum, "namespace", namespace, "holds", "thousandths of a CPU")
			}
		}
	})
}

// The last pod of a gang lets all go; one that gives up takes those that wait with it, and nobody else.
func TestGang(t *testing.T) {
	p, h := newPlugin(t)
	member := func(owner string, n int) *corev1.Pod {
		m := pod("a", fmt.Sprint(owner, n), 1, owner)
		m.Annotations = map[string]string{Gang: "3"}
		return m
	}
	permit := func(m *corev1.Pod) framework.Code {
		must.Do(t, p.Reserve(context.Background(), nil, m, "n1").AsError())
		status, patience := p.Permit(context.Background(), nil, m, "n1")
		if (status.Code() == framework.Wait) != (patience > 0) {
			t.Errorf("%v for %v", status, patience)
		}
		if status.Code() == framework.Wait {
			h.waiting = append(h.waiting, &waiting{pod: m})
		}
		return status.Code()
	}
	other := &waiting{pod: member("other", 1)}
	h.waiting = append(h.waiting, other)
	if permit(member("g", 1)) != framework.Wait || permit(member("g", 2)) != framework.Wait {
		t.Error("one and two of three do not wait")
	}
	p.Unreserve(context.Background(), nil, member("g", 1), "n1")
	if h.waiting[2].end != "rejected" || other.end != "" {
		t.Errorf("one of a gang gave up: the next is %q, one of another gang %q", h.waiting[2].end, other.end)
	}
	h.waiting = []*waiting{other}
	// The second has kept its place: it was rejected, and the scheduler has not unreserved it here.
	must.Equal(t, permit(member("g", 3)), framework.Wait, "two of three do not wait")
	must.Equal(t, permit(member("g", 4)), framework.Success, "the third of three")
	if h.waiting[1].end != "allowed" || other.end != "" {
		t.Errorf("the gang is whole: the first is %q, one of another gang %q", h.waiting[1].end, other.end)
	}
	must.Equal(t, permit(pod("a", "alone", 1, "x")), framework.Success, "a pod without a gang")
}

// A node is preferred as long as it has fewer pods of the Job than were planned there.
func TestScore(t *testing.T) {
	p, h := newPlugin(t)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x", UID: "x", Annotations: map[string]string{resize.Plan: `{"n1": 2}`}}}
	must.Do(t, h.shared.Batch().V1().Jobs().Informer().GetIndexer().Add(job))
	for _, test := range []struct {
		pod  *corev1.Pod
		node *node
		want int64
	}{
		{pod("a", "new", 1, "x"), &node{name: "n1"}, framework.MaxScore},
		{pod("a", "new", 1, "x"), &node{name: "n1", pods: []*corev1.Pod{pod("a", "1", 1, "x"), pod("a", "2", 1, "other")}}, framework.MaxScore},
		{pod("a", "new", 1, "x"), &node{name: "n1", pods: []*corev1.Pod{pod("a", "1", 1, "x"), pod("a", "2", 1, "x")}}, 0},
		{pod("a", "new", 1, "x"), &node{name: "n2"}, 0},
		{pod("b", "new", 1, "x"), &node{name: "n1"}, 0},
		{pod("a", "new", 1, "unknown"), &node{name: "n1", pods: []*corev1.Pod{pod("a", "1", 1, "x")}}, 0},
	} {
		got, status := p.Score(context.Background(), nil, test.pod, test.node)
		if got != test.want || !status.IsSuccess() {
			t.Errorf("%s on %s: %d, %v, want %d", test.pod.Name, test.node.name, got, status, test.want)
		}
	}
}

// What an informer has missed, and what cannot be understood, ends nothing.
func TestHandler(t *testing.T) {
	p, _ := newPlugin(t)
	one := bound(pod("a", "1", 2, "x"))
	h := handler(p.shares.see)
	h.OnAdd(one, true)
	h.OnDelete(cache.DeletedFinalStateUnknown{Obj: one})
	must.Equal(t, p.shares.sorter.Lookup("a").Held()[0], 0, "a pod that is gone holds")
	bad := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{snapshot.Weight: "heavy"}}}
	must.Err(t, p.shares.see(bad, false), must.ErrAny, "a weight that is no number is taken")
	must.Do(t, p.shares.see(bad, true), "a namespace that is gone has a weight")
}
