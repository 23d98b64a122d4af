// This file lets everything die, hang and come back on a real Kubernetes control plane, while jobs run on it.

package main

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion/examples/internal/beside/besidetest"
	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// nodes are those of the cluster in TestFaults.
var nodes = []string{"n1", "n2", "n3"}

// own are the faults of a Kubernetes cluster.
func (b *bench) own() []besidetest.Fault {
	one := func(r *rand.Rand) string { return nodes[r.IntN(len(nodes))] }
	return []besidetest.Fault{
		{Name: "the API server is killed in the middle of a plan", Do: func(r *rand.Rand) {
			b.more(r)
			besidetest.Wait(r, 0, 3*time.Second)
			b.cluster.Kill(kubetest.APIServer)
			besidetest.Wait(r, 100*time.Millisecond, 8*time.Second)
			b.cluster.Start(kubetest.APIServer)
			b.cluster.Ready()
		}},
		{Name: "a kubelet is silent, and its pods run", Do: func(r *rand.Rand) {
			node := one(r)
			b.kubelets.Stop(node)
			b.kubelets.SetReady(node, corev1.ConditionUnknown)
			besidetest.Wait(r, time.Second, 15*time.Second)
			b.kubelets.Go(node)
			b.kubelets.SetReady(node, corev1.ConditionTrue)
		}},
		{Name: "the controller is killed in the middle of a plan", Do: func(r *rand.Rand) {
			b.more(r)
			besidetest.Wait(r, 0, 4*time.Second)
			b.End()
			b.Begin()
		}},
		{Name: "pods are evicted", Do: func(r *rand.Rand) { b.evict(r, 1+r.IntN(4)) }},
		{Name: "a node is tainted for a while", Do: func(r *rand.Rand) {
			node := one(r)
			b.kubelets.Change(node, func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{{Key: "repair", Value: "soon", Effect: corev1.TaintEffectNoSchedule}}
			})
			besidetest.Wait(r, time.Second, 6*time.Second)
			b.kubelets.Change(node, func(n *corev1.Node) { n.Spec.Taints = nil })
		}},
		{Name: "a node is drained", Do: func(r *rand.Rand) {
			node := one(r)
			b.kubelets.Change(node, func(n *corev1.Node) { n.Annotations = map[string]string{snapshot.Drain: "true"} })
			besidetest.Wait(r, time.Second, 6*time.Second)
			b.kubelets.Change(node, func(n *corev1.Node) { n.Annotations = nil })
		}},
		{Name: "a quota is lowered for a while", Do: func(r *rand.Rand) {
			b.quota(int64(4 + r.IntN(8)))
			besidetest.Wait(r, time.Second, 6*time.Second)
			b.quota(1000)
		}},
		{Name: "a job is deleted by its user, and another submitted", Do: func(r *rand.Rand) {
			if ids := b.running(); len(ids) > 0 {
				_, name := snapshot.Split(ids[r.IntN(len(ids))])
				b.delete(name)
			}
			b.more(r)
		}},
	}
}

// evict deletes pods of elastic jobs, as others may.
func (b *bench) evict(r *rand.Rand, most int) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	pods := b.cluster.Client.CoreV1().Pods(inNamespace)
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: snapshot.Attempt})
	b.retried(err)
	if err != nil {
		return
	}
	r.Shuffle(len(list.Items), func(i, j int) { list.Items[i], list.Items[j] = list.Items[j], list.Items[i] })
	for i := range list.Items[:min(most, len(list.Items))] {
		b.retried(pods.Delete(ctx, list.Items[i].Name, metav1.DeleteOptions{}))
	}
}

// quota sets how many pods the namespace may have.
func (b *bench) quota(most int64) {
	b.Helper()
	quotas := b.cluster.Client.CoreV1().ResourceQuotas(inNamespace)
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "most"}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(most, resource.DecimalSI)}}}
	besidetest.Eventually(b.Bench, "the quota is taken", 60*time.Second, func() bool {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		there, err := quotas.Get(ctx, q.Name, metav1.GetOptions{})
		if err == nil {
			there.Spec = q.Spec
			_, err = quotas.Update(ctx, there, metav1.UpdateOptions{})
		} else {
			_, err = quotas.Create(ctx, q, metav1.CreateOptions{})
		}
		b.retried(err)
		return err == nil
	})
}

// more submits another job.
func (b *bench) more(r *rand.Rand) {
	name, most, steps := b.Another(r)
	b.submit(b.job(name, most, steps, nil))
}

// Nothing runs twice and nothing confirmed is lost, whatever dies and comes back, nothing is put where it does not fit, and
// every job ends.
func TestFaults(t *testing.T) {
	b := newBench(t, nodes...)
	b.Play(b.own(), 4, 1, b.running, b.more)
	b.check()
}
