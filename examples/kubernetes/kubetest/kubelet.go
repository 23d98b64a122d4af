// This file implements Kubelets: what runs the pods of nodes.

package kubetest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// Run runs the container of a pod until it ends or the context does, after which it has the pod's grace to end, and returns
// its exit code.
type Run func(ctx context.Context, p *corev1.Pod) int

// Kubelets are those of all nodes of a cluster. They are safe for concurrent use.
type Kubelets struct {
	cluster *Cluster
	run     Run
	// under are the lives of pods.
	under sync.WaitGroup

	mu   sync.Mutex
	pods map[types.UID]*pod
	// on are the pods that hold room, by node.
	on      map[string]map[types.UID]*pod
	nodes   map[string]corev1.ResourceList
	stopped map[string]bool
	refused []string
}

// pod is a pod at its kubelet.
type pod struct {
	*corev1.Pod
	// deleted ends when the pod is to go.
	deleted context.Context
	remove  func()
}

// poll is how often is looked whether a kubelet that was stopped goes on.
const poll = 50 * time.Millisecond

// NewKubelets plays the kubelets until the test ends.
func (c *Cluster) NewKubelets(run Run) *Kubelets {
	c.Helper()
	k := &Kubelets{cluster: c, run: run, pods: map[types.UID]*pod{}, on: map[string]map[types.UID]*pod{}, nodes: map[string]corev1.ResourceList{}, stopped: map[string]bool{}}
	ctx, stop := context.WithCancel(context.Background())
	bound := informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "spec.nodeName!=" })
	shared := informers.NewSharedInformerFactoryWithOptions(c.Client, 0, bound)
	_, err := shared.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { k.see(ctx, o.(*corev1.Pod), false) },
		UpdateFunc: func(_, o any) { k.see(ctx, o.(*corev1.Pod), false) },
		DeleteFunc: func(o any) {
			if last, missed := o.(cache.DeletedFinalStateUnknown); missed {
				o = last.Obj
			}
			k.see(ctx, o.(*corev1.Pod), true)
		},
	})
	if err != nil {
		c.Fatal(err)
	}
	shared.Start(ctx.Done())
	shared.WaitForCacheSync(ctx.Done())
	c.Cleanup(func() { stop(); shared.Shutdown(); k.under.Wait() })
	return k
}

// see hears of a pod.
func (k *Kubelets) see(ctx context.Context, p *corev1.Pod, gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.pods[p.UID]
	if known == nil {
		if gone || !snapshot.IsLive(p) && p.DeletionTimestamp == nil {
			return
		}
		known = &pod{Pod: p}
		known.deleted, known.remove = context.WithCancel(ctx)
		k.pods[p.UID] = known
		k.under.Go(func() { k.live(ctx, known) })
	}
	if gone || p.DeletionTimestamp != nil {
		known.remove()
	}
}

// live is the life of a pod: it is let in or refused, runs, ends, and goes.
func (k *Kubelets) live(ctx context.Context, p *pod) {
	k.await(ctx, p.Spec.NodeName)
	phase, why := corev1.PodFailed, ""
	if p.deleted.Err() == nil {
		if why = k.admit(p); why == "" {
			k.say(ctx, p, corev1.PodRunning, "")
			// A kubelet that is stopped when the pod is deleted ends it when it goes on.
			running, end := context.WithCancel(ctx)
			go func() {
				<-p.deleted.Done()
				k.await(ctx, p.Spec.NodeName)
				end()
			}()
			if k.run(running, p.Pod) == 0 {
				phase = corev1.PodSucceeded
			}
			end()
		}
	}
	// Whoever hears that it has ended may bind another pod to the node at once.
	k.mu.Lock()
	delete(k.on[p.Spec.NodeName], p.UID)
	k.mu.Unlock()
	k.await(ctx, p.Spec.NodeName)
	k.say(ctx, p, phase, why)
	<-p.deleted.Done()
	k.await(ctx, p.Spec.NodeName)
	none := int64(0)
	k.insist(ctx, func() error {
		return k.cluster.Client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &none, Preconditions: metav1.NewUIDPreconditions(string(p.UID))})
	})
	k.mu.Lock()
	delete(k.pods, p.UID)
	k.mu.Unlock()
}

// await waits until the kubelet of a node is not stopped.
func (k *Kubelets) await(ctx context.Context, node string) {
	for ctx.Err() == nil {
		k.mu.Lock()
		stopped := k.stopped[node]
		k.mu.Unlock()
		if !stopped {
			return
		}
		time.Sleep(poll)
	}
}

// admit lets a pod in if it fits, or says why it does not.
func (k *Kubelets) admit(p *pod) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	capacity, known := k.nodes[p.Spec.NodeName]
	if !known {
		return "there is no such node"
	}
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		used := requestOf(p.Pod, name)
		for _, other := range k.on[p.Spec.NodeName] {
			used.Add(requestOf(other.Pod, name))
		}
		if most := capacity[name]; used.Cmp(most) > 0 {
			why := fmt.Sprintf("OutOf%s", name)
			k.refused = append(k.refused, fmt.Sprintf("%s on %s: %s, %s of %s", p.Name, p.Spec.NodeName, why, used.String(), most.String()))
			return why
		}
	}
	if k.on[p.Spec.NodeName] == nil {
		k.on[p.Spec.NodeName] = map[types.UID]*pod{}
	}
	k.on[p.Spec.NodeName][p.UID] = p
	return ""
}

// requestOf is what a pod asks for of one kind.
func requestOf(p *corev1.Pod, name corev1.ResourceName) resource.Quantity {
	if name == corev1.ResourcePods {
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	var sum resource.Quantity
	for i := range p.Spec.Containers {
		sum.Add(p.Spec.Containers[i].Resources.Requests[name])
	}
	return sum
}

// say tells the API server of a pod.
func (k *Kubelets) say(ctx context.Context, p *pod, phase corev1.PodPhase, why string) {
	ready := corev1.ConditionFalse
	now := metav1.Now()
	container := corev1.ContainerStatus{Name: p.Spec.Containers[0].Name, Image: p.Spec.Containers[0].Image}
	if phase == corev1.PodRunning {
		ready, container.Ready = corev1.ConditionTrue, true
		container.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
	} else {
		container.State.Terminated = &corev1.ContainerStateTerminated{FinishedAt: now, Reason: why}
	}
	text, err := json.Marshal(map[string]any{"status": corev1.PodStatus{Phase: phase, Reason: why, StartTime: &now, ContainerStatuses: []corev1.ContainerStatus{container},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: now}}}})
	if err != nil {
		panic(err) // which cannot be
	}
	k.insist(ctx, func() error {
		_, err := k.cluster.Client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, text, metav1.PatchOptions{}, "status")
		return err
	})
}

// insist asks until it is done, or there is nothing to be done any more: the API server may be away.
func (k *Kubelets) insist(ctx context.Context, ask func() error) {
	for err := ask(); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil; err = ask() {
		time.Sleep(poll)
	}
}

// Stop stops the kubelet of a node; what runs there runs on. Go lets it go on.
func (k *Kubelets) Stop(node string) { k.set(node, true) }

// Go lets the kubelet of a node go on.
func (k *Kubelets) Go(node string) { k.set(node, false) }

func (k *Kubelets) set(node string, stopped bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped[node] = stopped
}

// Refused says what did not fit on its node.
func (k *Kubelets) Refused() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.refused)
}
