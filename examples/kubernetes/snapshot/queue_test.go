// This file tests the queues that Jobs name, and what they mean for a decision.

package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// in is an elastic Job of a queue; "" for none.
func in(queue, name string) *batchv1.Job {
	j := job(name)
	if queue != "" {
		j.Labels = map[string]string{Queue: queue}
	}
	return j
}

// Jobs that name a queue are in one below their namespace's, which has the quota for all; those that name none are in one beside
// it. A namespace where nobody names a queue is one by itself.
func TestNamedQueues(t *testing.T) {
	other := job("other")
	other.Namespace = "else"
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: list("cpu", "10")}}
	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", Annotations: map[string]string{Weight: "3", Queues: "vision=2, speech=0.5,none=-1"}}}
	v := view(Objects{Nodes: []*corev1.Node{node("n1")}, Quotas: []*corev1.ResourceQuota{quota}, Namespaces: []*corev1.Namespace{team},
		Jobs: []*batchv1.Job{in("", "a"), in("vision", "b"), in("speech", "c"), in("none", "d"), in("vision", "e"), in("", "f"), other}})
	want := []drf.Queue{{ID: "else", Weight: 1}, {ID: "team", Weight: 3, Ceiling: drf.Ceiling{10000, drf.NoLimit, drf.NoLimit, drf.NoLimit}},
		{ID: "team/default", Parent: "team", Weight: 1}, {ID: "team/none", Parent: "team", Weight: 1},
		{ID: "team/speech", Parent: "team", Weight: 0.5}, {ID: "team/vision", Parent: "team", Weight: 2}}
	must.Equal(t, cmp.Diff(want, v.Queues), "")
	queues := map[string]string{}
	for _, j := range v.Jobs {
		queues[j.Application.ID] = j.Application.Queue
	}
	wantOf := map[string]string{"else/other": "else", "team/a": "team/default", "team/b": "team/vision", "team/c": "team/speech", "team/d": "team/none",
		"team/e": "team/vision", "team/f": "team/default"}
	must.Equal(t, cmp.Diff(wantOf, queues), "")
}

// A queue's weight is shared by its jobs, however many they are: three jobs of a queue have together what one of another has.
func TestNamedQueuesShare(t *testing.T) {
	v := view(Objects{Nodes: []*corev1.Node{node("n1"), node("n2"), node("n3")},
		Jobs: []*batchv1.Job{in("many", "a"), in("many", "b"), in("many", "c"), in("one", "d")}})
	p := alloc.Problem{Kinds: Kinds(), Queues: v.Queues, Theta1: 0, Theta2: 1}
	for _, s := range v.Servers {
		p.Servers = append(p.Servers, s.Server)
	}
	for _, j := range v.Jobs {
		p.Applications = append(p.Applications, j.Application)
	}
	d := must.Have(alloc.Reallocate(t.Context(), &p, nil))(t)
	got := map[string]int64{}
	for _, s := range d.Shares {
		got[s.ID] = s.Containers
	}
	// Twelve GPUs for two queues.
	must.Equal(t, cmp.Diff(map[string]int64{"team/a": 2, "team/b": 2, "team/c": 2, "team/d": 6}, got), "")
}

// What runs is what pods of the controller's have not come to their end.
func TestRunning(t *testing.T) {
	stock := job("stock")
	stock.Spec.ManagedBy = nil
	ended, going, unbound, bare := pod("ended", "n1", "lr"), pod("going", "n1", "lr"), pod("unbound", "", "lr"), pod("bare", "n1", "lr")
	ended.Status.Phase, going.DeletionTimestamp, bare.Labels = corev1.PodSucceeded, &metav1.Time{Time: now}, nil
	o := Objects{Jobs: []*batchv1.Job{job("lr"), job("idle"), stock}, Pods: []*corev1.Pod{pod("a", "n1", "lr"), pod("b", "n2", "lr"), pod("c", "n1", "lr"),
		ended, going, unbound, bare, pod("other", "n1", ""), pod("stock", "n1", "stock")}}
	must.Equal(t, cmp.Diff(alloc.Allocation{"team/lr": {"n1": 2, "n2": 1}}, Running(&o)), "")
	if got := Running(&Objects{}); len(got) != 0 {
		t.Errorf("in an empty cluster there runs %v", got)
	}
}
