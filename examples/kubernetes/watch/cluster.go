// This file implements Cluster: informers for all that is decided on.

package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// Cluster is what informers hold. After Start its methods may be called by several goroutines.
type Cluster struct {
	shared  informers.SharedInformerFactory
	watched []cache.SharedIndexInformer
	changed chan struct{}

	nodes, pods, jobs, namespaces, quotas, classes cache.Indexer // jobs is nil where they are not watched
}

// The indexes of pods: by the Job that owns them, and those that wait for a scheduler, under the key "".
const (
	byJob   = "job"
	waiting = "waiting"
)

// New prepares informers for a cluster, for its Jobs too if withJobs.
func New(client kubernetes.Interface, withJobs bool) (*Cluster, error) {
	c := &Cluster{shared: informers.NewSharedInformerFactory(client, 0), changed: make(chan struct{}, 1)}
	core := c.shared.Core().V1()
	err := core.Pods().Informer().AddIndexers(cache.Indexers{byJob: jobOf, waiting: waits})
	for _, one := range []struct {
		to       *cache.Indexer
		informer cache.SharedIndexInformer
	}{
		{&c.nodes, core.Nodes().Informer()}, {&c.pods, core.Pods().Informer()}, {&c.namespaces, core.Namespaces().Informer()},
		{&c.quotas, core.ResourceQuotas().Informer()}, {&c.classes, c.shared.Scheduling().V1().PriorityClasses().Informer()},
	} {
		*one.to = one.informer.GetIndexer()
		err = errors.Join(err, c.Add(one.informer))
	}
	if withJobs {
		jobs := c.shared.Batch().V1().Jobs().Informer()
		c.jobs = jobs.GetIndexer()
		err = errors.Join(err, c.Add(jobs))
	}
	return c, err
}

// jobOf is the key of a pod in the index.
func jobOf(object any) ([]string, error) {
	if uid := snapshot.Owner(object.(*corev1.Pod)); uid != "" {
		return []string{string(uid)}, nil
	}
	return nil, nil
}

// waits is the key of a pod that a scheduler may bind at any moment.
func waits(object any) ([]string, error) {
	if p := object.(*corev1.Pod); p.Spec.NodeName == "" && len(p.Spec.SchedulingGates) == 0 && p.DeletionTimestamp == nil && snapshot.IsLive(p) {
		return []string{""}, nil
	}
	return nil, nil
}

// Add has the changes of an informer count, and slims its objects. One of another factory is started by whoever has that, before
// Start is called, which waits for it.
func (c *Cluster) Add(informer cache.SharedIndexInformer) error {
	c.watched = append(c.watched, informer)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { c.note() }, DeleteFunc: func(any) { c.note() },
		UpdateFunc: func(before, after any) {
			if matters(before, after) {
				c.note()
			}
		},
	})
	return errors.Join(err, informer.SetTransform(slim))
}

// OnPod calls see with every pod that has come, has changed, or is gone, one after the other. It is called before Start.
func (c *Cluster) OnPod(see func(p *corev1.Pod)) error {
	_, err := c.shared.Core().V1().Pods().Informer().AddEventHandler(onPod(see))
	return err
}

// onPod makes what an informer calls.
func onPod(see func(p *corev1.Pod)) cache.ResourceEventHandler {
	each := func(object any) {
		// A deletion that was not seen is told with what was seen last.
		if last, missed := object.(cache.DeletedFinalStateUnknown); missed {
			object = last.Obj
		}
		see(object.(*corev1.Pod))
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: each, UpdateFunc: func(_, object any) { each(object) }, DeleteFunc: each}
}

// Start begins to watch, and returns when all has been seen once. Watching ends with the context.
func (c *Cluster) Start(ctx context.Context) error {
	c.shared.Start(ctx.Done())
	synced := make([]cache.InformerSynced, len(c.watched))
	for i, informer := range c.watched {
		synced[i] = informer.HasSynced
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return fmt.Errorf("the cluster could not be listed: %w", ctx.Err())
	}
	return nil
}

// slim takes away what nobody reads, which is most of an object.
func slim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	return object, nil
}

// matters reports whether an update may change a decision.
func matters(before, after any) bool {
	a, isNode := before.(*corev1.Node)
	if !isNode {
		return true
	}
	b := after.(*corev1.Node)
	same := equality.Semantic.DeepEqual
	return snapshot.IsUp(a) != snapshot.IsUp(b) || !same(a.Status.Allocatable, b.Status.Allocatable) || !same(a.Spec, b.Spec) ||
		!same(a.Labels, b.Labels) || !same(a.Annotations, b.Annotations) || !a.DeletionTimestamp.Equal(b.DeletionTimestamp)
}

// note says that something has changed.
func (c *Cluster) note() {
	select {
	case c.changed <- struct{}{}:
	default: // it has been said, and nobody has looked since
	}
}

// Changed receives when something has changed since it last did.
func (c *Cluster) Changed() <-chan struct{} { return c.changed }

// Objects returns what is there, for one moment; Jobs if they are watched. O(objects).
func (c *Cluster) Objects(now time.Time) snapshot.Objects {
	return snapshot.Objects{Nodes: all[*corev1.Node](c.nodes), Pods: all[*corev1.Pod](c.pods), Jobs: c.Jobs(),
		Namespaces: all[*corev1.Namespace](c.namespaces), Quotas: all[*corev1.ResourceQuota](c.quotas),
		Classes: all[*schedulingv1.PriorityClass](c.classes), Now: now}
}

// all are the objects of a store.
func all[T any](store cache.Indexer) []T {
	list := store.List()
	typed := make([]T, len(list))
	for i := range list {
		typed[i] = list[i].(T)
	}
	return typed
}

// Jobs are all Jobs, nil where they are not watched.
func (c *Cluster) Jobs() []*batchv1.Job {
	if c.jobs == nil {
		return nil
	}
	return all[*batchv1.Job](c.jobs)
}

// Job returns the Job "namespace/name", nil where it is not there.
func (c *Cluster) Job(id string) *batchv1.Job {
	if object, there, err := c.jobs.GetByKey(id); there && err == nil {
		return object.(*batchv1.Job)
	}
	return nil
}

// Node returns a node, nil where it is not there.
func (c *Cluster) Node(name string) *corev1.Node {
	if object, there, err := c.nodes.GetByKey(name); there && err == nil {
		return object.(*corev1.Node)
	}
	return nil
}

// HasPod reports whether there is a pod of this name.
func (c *Cluster) HasPod(namespace, name string) bool {
	_, there, err := c.pods.GetByKey(namespace + "/" + name)
	return there && err == nil
}

// PodsWait reports whether any pod waits for a scheduler to bind it.
func (c *Cluster) PodsWait() bool {
	keys, err := c.pods.IndexKeys(waiting, "")
	return err == nil && len(keys) > 0
}

// PodsOf returns the pods that a Job owns. O(pods of the Job).
func (c *Cluster) PodsOf(job types.UID) []*corev1.Pod {
	list, _ := c.pods.ByIndex(byJob, string(job)) // the index is there
	pods := make([]*corev1.Pod, len(list))
	for i := range list {
		pods[i] = list[i].(*corev1.Pod)
	}
	return pods
}
