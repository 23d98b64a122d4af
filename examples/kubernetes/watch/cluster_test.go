// This file tests what is kept, what counts as a change, and what the API server is asked, on a client without a server.

package watch

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/apportion/apportion/internal/must"
)

// limit is long for what takes an instant.
const limit = 60 * time.Second

// named is the metadata of an object of the namespace ml.
func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "ml", Name: name, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}}
}

// podOf is a pod of the Job with a UID.
func podOf(name string, owner string) *corev1.Pod {
	isController := true
	p := &corev1.Pod{ObjectMeta: named(name)}
	if owner != "" {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: owner, UID: "uid-of-job", Controller: &isController}}
	}
	return p
}

// watching waits until every kind is watched, which begins after all was listed: what a client without a server creates in between
// is never heard of.
func watching(t *testing.T, c *Cluster, client *fake.Clientset) {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		n := 0
		for _, action := range client.Actions() {
			if action.GetVerb() == "watch" {
				n++
			}
		}
		if n >= len(c.watched) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d kinds are watched", n, len(c.watched))
		}
	}
}

// begin watches a cluster that has these objects.
func begin(t *testing.T, withJobs bool, objects ...runtime.Object) (*Cluster, *fake.Clientset) {
	t.Helper()
	client := fake.NewSimpleClientset(objects...)
	c := must.Have(New(client, withJobs))(t)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(func() {
		stop()
		c.shared.Shutdown()
	})
	must.Do(t, c.Start(ctx))
	watching(t, c, client)
	return c, client
}

// All that there is is there, by every way to it, and the API server was asked for each kind once, however often it is read.
func TestObjects(t *testing.T) {
	c, client := begin(t, true, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, podOf("a-1", "a"), podOf("a-2", "a"), podOf("other", ""),
		&batchv1.Job{ObjectMeta: named("a")}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ml"}},
		&corev1.ResourceQuota{ObjectMeta: named("q")}, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}})
	for range 50 {
		o := c.Objects(time.Unix(7, 0))
		if len(o.Nodes) != 1 || len(o.Pods) != 3 || len(o.Jobs) != 1 || len(o.Namespaces) != 1 || len(o.Quotas) != 1 || len(o.Classes) != 1 || o.Now.Unix() != 7 {
			t.Fatalf("%+v", o)
		}
	}
	if c.Job("ml/a") == nil || c.Job("ml/b") != nil || c.Job("other/a") != nil {
		t.Error("Job does not find the one that is there, or finds another")
	}
	if c.Node("n1") == nil || c.Node("n2") != nil {
		t.Error("Node does not find the one that is there, or finds another")
	}
	if !c.HasPod("ml", "a-1") || c.HasPod("ml", "a-3") || c.HasPod("other", "a-1") {
		t.Error("HasPod does not find the one that is there, or finds another")
	}
	must.Equal(t, len(c.PodsOf("uid-of-job")), 2, "the Job has", "pods")
	if fields := c.Job("ml/a").ManagedFields; fields != nil {
		t.Errorf("what nobody reads is kept: %v", fields)
	}
	asked := map[string]int{}
	for _, action := range client.Actions() {
		asked[action.GetVerb()+" "+action.GetResource().Resource]++
	}
	for _, kind := range []string{"nodes", "pods", "jobs", "namespaces", "resourcequotas", "priorityclasses"} {
		if asked["list "+kind] != 1 || asked["watch "+kind] != 1 {
			t.Errorf("%s were listed %d times and watched %d times", kind, asked["list "+kind], asked["watch "+kind])
		}
	}
	must.Equal(t, len(asked), 12, "the API server was asked", asked)
}

// Jobs are left alone where another way to watch them is used.
func TestWithoutJobs(t *testing.T) {
	c, client := begin(t, false, &batchv1.Job{ObjectMeta: named("a")})
	if o := c.Objects(time.Now()); o.Jobs != nil {
		t.Errorf("%d Jobs", len(o.Jobs))
	}
	for _, action := range client.Actions() {
		if action.GetResource().Resource == "jobs" {
			t.Errorf("the API server was asked to %s Jobs", action.GetVerb())
		}
	}
}

// await waits for a change.
func await(t *testing.T, c *Cluster, what string) {
	t.Helper()
	select {
	case <-c.Changed():
	case <-time.After(limit):
		t.Fatalf("nothing has changed: %s", what)
	}
}

// Pods that come, change and go are told of, and count as changes.
func TestOnPod(t *testing.T) {
	client := fake.NewSimpleClientset()
	c := must.Have(New(client, false))(t)
	seen := make(chan string, 10)
	must.Do(t, c.OnPod(func(p *corev1.Pod) { seen <- p.Name + " " + string(p.Status.Phase) }))
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(func() { stop(); c.shared.Shutdown() })
	must.Do(t, c.Start(ctx))
	watching(t, c, client)
	pods, p := client.CoreV1().Pods("ml"), podOf("a", "")
	for _, do := range []func() error{
		func() error { _, err := pods.Create(ctx, p, metav1.CreateOptions{}); return err },
		func() error {
			p.Status.Phase = corev1.PodRunning
			_, err := pods.Update(ctx, p, metav1.UpdateOptions{})
			return err
		},
		func() error { return pods.Delete(ctx, "a", metav1.DeleteOptions{}) },
	} {
		must.Do(t, do())
		await(t, c, "a pod")
	}
	for i, want := range []string{"a ", "a Running", "a Running"} {
		select {
		case got := <-seen:
			must.Equal(t, got, want, "call", i, "tells of")
		case <-time.After(limit):
			t.Fatalf("there was no call %d", i)
		}
	}
}

// A tombstone is what an informer has of an object whose deletion it did not see.
func TestMissedDeletion(t *testing.T) {
	var told []string
	handler := onPod(func(p *corev1.Pod) { told = append(told, p.Name) })
	handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "ml/a", Obj: podOf("a", "")})
	must.Same(t, told, []string{"a"}, "told of")
}

// ready is a node that has a kubelet and something of everything that is looked at.
func ready() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"zone": "a"}, Annotations: map[string]string{"note": "x"}},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("4")},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}

// What a kubelet says every few seconds is no change; what decisions look at is.
func TestMatters(t *testing.T) {
	for _, test := range []struct {
		what   string
		change func(n *corev1.Node)
		want   bool
	}{
		{"a heartbeat", func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = metav1.Now() }, false},
		{"images", func(n *corev1.Node) { n.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}} }, false},
		{"the same quantity in other words", func(n *corev1.Node) { n.Status.Allocatable["cpu"] = resource.MustParse("4000m") }, false},
		{"readiness", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, true},
		{"capacity", func(n *corev1.Node) { n.Status.Allocatable["cpu"] = resource.MustParse("3") }, true},
		{"a kind more", func(n *corev1.Node) { n.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("8") }, true},
		{"a cordon", func(n *corev1.Node) { n.Spec.Unschedulable = true }, true},
		{"another taint in place of one", func(n *corev1.Node) { n.Spec.Taints[0].Key = "other" }, true},
		{"a label", func(n *corev1.Node) { n.Labels["zone"] = "b" }, true},
		{"a drain", func(n *corev1.Node) { n.Annotations["apportion.github.io/drain"] = "true" }, true},
		{"its deletion", func(n *corev1.Node) { now := metav1.Now(); n.DeletionTimestamp = &now }, true},
	} {
		after := ready()
		test.change(after)
		must.Equal(t, matters(ready(), after), test.want, test.what, "matters")
	}
	if !matters(podOf("a", ""), podOf("a", "")) {
		t.Error("a pod does not matter")
	}
}

// A cluster that cannot be listed is an error, not one that has nothing.
func TestNotListed(t *testing.T) {
	c := must.Have(New(fake.NewSimpleClientset(), true))(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	must.Err(t, c.Start(ctx), must.ErrAny, "what was never seen counts as seen")
	c.shared.Shutdown()
}
