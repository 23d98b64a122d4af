// This file implements owner: a Kubernetes cluster of which this program owns the pods of elastic Jobs.

package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/examples/internal/beside"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// owner is a Kubernetes cluster as the controller sees it: by informers, which no decision asks anything of the API server
// for. It implements beside.Cluster and beside.Teller, and is safe for concurrent use.
type owner struct {
	master
	client kubernetes.Interface
	store  stores

	// looking keeps looks apart; reader belongs to whoever holds it.
	looking sync.Mutex
	reader  *snapshot.Reader

	mu sync.Mutex
	// works are what is known of each job, by ID.
	works map[string]*work
	// made are pods that were made here and not seen since, by UID.
	made map[types.UID]*corev1.Pod
	// told is what the users of each Job were told last.
	told map[types.UID]told
}

// master is what an owner works for: the master of an epoch, 0 if nothing is to be changed, and how its guards are started.
type master struct {
	epoch int64
	guard beside.Guarded
	mount mount
}

// work is what is known of a job.
type work struct {
	// mu keeps writes apart: the servers of a job all ask for them at the same time.
	mu sync.Mutex
	// job is what was written or read last; nil: it is to be read.
	job *batchv1.Job
	// attempt is what pods were made of last, by name.
	attempt int64
	pods    map[string]bool
	// parts are how many pods of that attempt each node is to have.
	parts map[string]int
}

// stores are those of informers.
type stores struct {
	nodes, pods, jobs, namespaces, quotas, classes cache.Indexer
}

// byJob is the index of pods by the Job that owns them.
const byJob = "job"

// newOwner returns the cluster when its informers have seen it.
func newOwner(ctx context.Context, client kubernetes.Interface, kinds apportion.Kinds, m master) (*owner, error) {
	o := &owner{master: m, client: client, reader: snapshot.NewReader(kinds), works: map[string]*work{},
		made: map[types.UID]*corev1.Pod{}, told: map[types.UID]told{}}
	shared := informers.NewSharedInformerFactory(client, 0)
	core := shared.Core().V1()
	pods := core.Pods().Informer()
	seen := func(object any) {
		if last, missed := object.(cache.DeletedFinalStateUnknown); missed {
			object = last.Obj
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.made, object.(*corev1.Pod).UID)
	}
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: seen, UpdateFunc: func(_, object any) { seen(object) }, DeleteFunc: seen})
	err = errors.Join(err, pods.AddIndexers(cache.Indexers{byJob: func(object any) ([]string, error) {
		if uid := snapshot.Owner(object.(*corev1.Pod)); uid != "" {
			return []string{string(uid)}, nil
		}
		return nil, nil
	}}))
	// What nobody reads is not kept: it is most of an object.
	err = errors.Join(err, pods.SetTransform(slim))
	if err != nil {
		return nil, err
	}
	o.store = stores{core.Nodes().Informer().GetIndexer(), pods.GetIndexer(), shared.Batch().V1().Jobs().Informer().GetIndexer(),
		core.Namespaces().Informer().GetIndexer(), core.ResourceQuotas().Informer().GetIndexer(), shared.Scheduling().V1().PriorityClasses().Informer().GetIndexer()}
	shared.Start(ctx.Done())
	for kind, synced := range shared.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return nil, errors.Join(ctx.Err(), errors.New(kind.String()+" could not be listed"))
		}
	}
	return o, nil
}

// slim takes away what nobody reads.
func slim(object any) (any, error) {
	if o, is := object.(metav1.ObjectMetaAccessor); is {
		o.GetObjectMeta().SetManagedFields(nil)
	}
	return object, nil
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

// Look implements controller.Cluster. It asks the API server nothing, but takes away pods that must not be.
func (o *owner) Look(ctx context.Context) (*controller.View, error) {
	o.looking.Lock()
	defer o.looking.Unlock()
	objects := snapshot.Objects{Nodes: all[*corev1.Node](o.store.nodes), Pods: all[*corev1.Pod](o.store.pods), Jobs: all[*batchv1.Job](o.store.jobs),
		Namespaces: all[*corev1.Namespace](o.store.namespaces), Quotas: all[*corev1.ResourceQuota](o.store.quotas),
		Classes: all[*schedulingv1.PriorityClass](o.store.classes), Now: time.Now()}
	view := o.reader.View(&objects)
	if o.epoch > 0 {
		o.sweep(ctx, objects.Jobs)
	}
	return view, nil
}

// Running implements beside.Cluster.
func (o *owner) Running(context.Context) (alloc.Allocation, error) {
	running := alloc.Allocation{}
	for _, j := range all[*batchv1.Job](o.store.jobs) {
		id := snapshot.ID(j.Namespace, j.Name)
		for _, p := range o.podsOf(j.UID) {
			if snapshot.IsElastic(j) && snapshot.IsLive(p) && p.DeletionTimestamp == nil {
				if running[id] == nil {
					running[id] = map[string]int64{}
				}
				running[id][p.Spec.NodeName]++
			}
		}
	}
	return running, nil
}

// seenJob is a Job as it was seen last; nil: it is not there.
func (o *owner) seenJob(id string) *batchv1.Job {
	if object, there, err := o.store.jobs.GetByKey(id); there && err == nil {
		return object.(*batchv1.Job)
	}
	return nil
}

// podsOf are the pods of a Job, with those that were made and not seen yet.
func (o *owner) podsOf(job types.UID) []*corev1.Pod {
	list, _ := o.store.pods.ByIndex(byJob, string(job)) // the index is there
	var pods []*corev1.Pod
	seen := map[types.UID]bool{}
	for _, object := range list {
		p := object.(*corev1.Pod)
		if seen[p.UID] = true; p.Labels[snapshot.Attempt] != "" {
			pods = append(pods, p)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for uid, p := range o.made {
		if !seen[uid] && snapshot.Owner(p) == job {
			pods = append(pods, p)
		}
	}
	return pods
}

// attemptOf is the attempt that a pod belongs to.
func attemptOf(p *corev1.Pod) int64 {
	n, _ := strconv.ParseInt(p.Labels[snapshot.Attempt], 10, 64) // which this program has written
	return n
}

// work returns what is known of a job.
func (o *owner) work(id string) *work {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.works[id] == nil {
		o.works[id] = &work{}
	}
	return o.works[id]
}
