// This file lets everything die, hang and come back on a real Kubernetes control plane, while jobs run on it.

package kubernetes

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/managertest"
)

// nodes are those of the cluster in TestFaults.
var nodes = []string{"n1", "n2", "n3"}

// Verbs implements managertest.Player: what a test does to a Kubernetes cluster.
func (b *bench) Verbs() *managertest.Cluster {
	return &managertest.Cluster{
		Nodes: nodes,
		Drain: func(node string, on bool) {
			b.kubelets.Change(node, func(n *corev1.Node) {
				if n.Annotations = nil; on {
					n.Annotations = map[string]string{snapshot.Drain: "true"}
				}
			})
		},
		Submit: func(name string, most, steps, weight int) string {
			b.submit(b.job(name, most, steps, map[string]string{snapshot.Weight: strconv.Itoa(weight)}))
			return snapshot.ID(inNamespace, name)
		},
		Cancel: func(id string) {
			_, name := snapshot.Split(id)
			b.delete(name)
		},
		Jobs: b.running,
	}
}

// faultsOfControl are those of the control plane, of the controller, and of what is between them.
func (b *bench) faultsOfControl() []managertest.Fault {
	return []managertest.Fault{
		{Name: "the API server is killed in the middle of a plan", Of: kubetest.APIServer, Do: func(r *rand.Rand) {
			b.more(r)
			managertest.Wait(r, 0, 3*time.Second)
			b.cluster.Kill(kubetest.APIServer)
			managertest.Wait(r, 100*time.Millisecond, 8*time.Second)
			b.cluster.Start(kubetest.APIServer)
			b.cluster.Ready()
		}},
		{Name: "the controller is killed in one of its writes", Of: managertest.Controllers, Do: func(r *rand.Rand) { b.killInWrite(r) }},
		{Name: "nothing is seen for a while, and all is written", Of: "watches", Do: func(r *rand.Rand) {
			b.proxy.Blind()
			b.more(r)
			b.evict(r, r.IntN(3))
			managertest.Wait(r, time.Second, 10*time.Second)
			b.proxy.See(r.IntN(2) == 0)
		}},
		{Name: "the controller is killed in the middle of a plan", Of: managertest.Controllers, Do: func(r *rand.Rand) {
			b.more(r)
			managertest.Wait(r, 0, 4*time.Second)
			b.End()
			b.Begin()
		}},
		{Name: "every write is refused once, or its answer lost", Of: managertest.Controllers, Do: func(r *rand.Rand) {
			b.proxy.Meddle(oneRefusal(r))
			b.more(r)
			managertest.Wait(r, 2*time.Second, 10*time.Second)
			b.proxy.Meddle(nil)
		}},
	}
}

// faultsOfNodes are those of nodes and kubelets.
func (b *bench) faultsOfNodes() []managertest.Fault {
	one := func(r *rand.Rand) string { return nodes[r.IntN(len(nodes))] }
	return []managertest.Fault{
		{Name: "a node is deleted while its pods run, and comes back", Of: "kubelet", Do: func(r *rand.Rand) {
			node := one(r)
			b.kubelets.Stop(node)
			b.kubelets.RemoveNode(node)
			managertest.Wait(r, 0, 12*time.Second)
			b.kubelets.Collect(node)
			managertest.Wait(r, 0, 4*time.Second)
			b.kubelets.AddNode(newNode(node))
			b.kubelets.Go(node)
		}},
		{Name: "a kubelet is silent, and its pods run", Of: "kubelet", Do: func(r *rand.Rand) {
			node := one(r)
			b.kubelets.Stop(node)
			b.kubelets.SetReady(node, corev1.ConditionUnknown)
			managertest.Wait(r, time.Second, 15*time.Second)
			b.kubelets.Go(node)
			b.kubelets.SetReady(node, corev1.ConditionTrue)
		}},
		{Name: "a node is tainted for a while", Of: "taints", Do: func(r *rand.Rand) {
			node := one(r)
			b.kubelets.Change(node, func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{{Key: "repair", Value: "soon", Effect: corev1.TaintEffectNoSchedule}}
			})
			managertest.Wait(r, time.Second, 6*time.Second)
			b.kubelets.Change(node, func(n *corev1.Node) { n.Spec.Taints = nil })
		}},
	}
}

// faultsOfUsers are what users and other programs do.
func (b *bench) faultsOfUsers() []managertest.Fault {
	return []managertest.Fault{
		{Name: "pods are evicted", Of: "pods", Do: func(r *rand.Rand) { b.evict(r, 1+r.IntN(4)) }},
		{Name: "a quota is lowered for a while", Of: "quota", Do: func(r *rand.Rand) {
			b.quota(int64(4 + r.IntN(8)))
			managertest.Wait(r, time.Second, 6*time.Second)
			b.quota(1000)
		}},
		{Name: "others have used up a quota for a while", Of: "used quota", Do: func(r *rand.Rand) {
			b.useUp(true)
			b.more(r)
			managertest.Wait(r, time.Second, 8*time.Second)
			b.useUp(false)
		}},
		{Name: "a webhook denies pods for a while", Of: "webhook", Do: func(r *rand.Rand) {
			b.strictly(r, func() {
				b.more(r)
				managertest.Wait(r, 2*time.Second, 10*time.Second)
			})
		}},
	}
}

// killInWrite kills the controller when one of the writes that come next is carried out, before it hears the answer; or after a
// while, if there are not so many.
func (b *bench) killInWrite(r *rand.Rand) {
	last, reached, ended := 1+r.IntN(20), make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	writes := 0
	b.proxy.Meddle(func(q *kubetest.Request) kubetest.Fate {
		if !q.Writes() || q.Resource == "leases" {
			return kubetest.Fate{}
		}
		mu.Lock()
		writes++
		n := writes
		mu.Unlock()
		switch {
		case n < last:
			return kubetest.Fate{}
		case n == last:
			close(reached)
			return kubetest.Fate{Lost: true}
		}
		<-ended // what comes after it is not carried out
		return kubetest.Fate{Status: http.StatusServiceUnavailable}
	})
	b.more(r)
	select {
	case <-reached:
	case <-time.After(10 * time.Second):
	}
	b.End()
	close(ended)
	b.proxy.Meddle(nil)
	b.Begin()
}

// oneRefusal has every write to an object refused once, or carried out without an answer.
func oneRefusal(r *rand.Rand) func(q *kubetest.Request) kubetest.Fate {
	draw := rand.New(rand.NewPCG(r.Uint64(), 0))
	var mu sync.Mutex
	met := map[string]bool{}
	return func(q *kubetest.Request) kubetest.Fate {
		mu.Lock()
		defer mu.Unlock()
		key := q.Verb + " " + q.Resource + " " + q.Name
		if !q.Writes() || q.Resource == "leases" || met[key] {
			return kubetest.Fate{}
		}
		met[key] = true
		switch draw.IntN(3) {
		case 0:
			return kubetest.Fate{Lost: true}
		case 1:
			if q.Verb == "patch" {
				return kubetest.Fate{Status: http.StatusConflict}
			}
		}
		return kubetest.Fate{Status: http.StatusInternalServerError}
	}
}

// useUp says whether a quota, which leaves enough by its text, is used up, as it is when others were faster.
func (b *bench) useUp(is bool) {
	b.Helper()
	quotas := b.cluster.Client.CoreV1().ResourceQuotas(inNamespace)
	hard := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(1000, resource.DecimalSI)}
	const name = "used"
	b.insist("the quota of others is taken", func(ctx context.Context) error {
		if !is {
			err := quotas.Delete(ctx, name, metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		}
		there, err := quotas.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			there, err = quotas.Create(ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{})
		}
		if err == nil {
			there.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: hard}
			_, err = quotas.UpdateStatus(ctx, there, metav1.UpdateOptions{})
		}
		return err
	})
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
	b.insist("the quota is taken", func(ctx context.Context) error {
		there, err := quotas.Get(ctx, q.Name, metav1.GetOptions{})
		if err == nil {
			there.Spec = q.Spec
			_, err = quotas.Update(ctx, there, metav1.UpdateOptions{})
		} else {
			_, err = quotas.Create(ctx, q, metav1.CreateOptions{})
		}
		return err
	})
}

// more submits another job.
func (b *bench) more(r *rand.Rand) {
	b.Verbs().Submit(b.Another(r))
}

// Nothing runs twice and nothing confirmed is lost, whatever dies and comes back, nothing is put where it does not fit, and
// every job ends.
func TestFaults(t *testing.T) {
	b := newBench(t, nodes...)
	// An API server that comes back within two thirds of it finds the controller leading; another one leads within it.
	b.Set("-leader-lease", "30s")
	b.Play(b.Verbs(), 5, 1, slices.Concat(b.faultsOfControl(), b.faultsOfNodes(), b.faultsOfUsers())...)
	b.check()
}
