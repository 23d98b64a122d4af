// This file implements owner: a Kubernetes cluster of which this program owns the pods of elastic Jobs.

package kubernetes

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/kubernetes/watch"
)

// owner is a Kubernetes cluster as the controller sees it: by informers, which no decision asks anything of the API server
// for. It implements daemon.Cluster and daemon.Teller, and is safe for concurrent use.
type owner struct {
	master
	client kubernetes.Interface
	seen   *watch.Cluster

	// looking keeps looks apart; reader belongs to whoever holds it.
	looking sync.Mutex
	reader  *snapshot.Reader

	mu sync.Mutex
	// works are what is known of each job, by ID.
	works map[string]*work
	// made are pods that were made here and not seen since, by UID.
	made map[types.UID]*madePod
	// removed is when pods were deleted here, by UID, for as long as that may not be seen yet.
	removed map[types.UID]time.Time
	// told is what the users of each Job were told last.
	told map[types.UID]told
	// rests is whether no job is being changed, as was told last, and unheld what went wrong since when room was held.
	rests  bool
	unheld []error
}

// master is what an owner works for: the master of an epoch, 0 if nothing is to be changed, and how its guards are started.
type master struct {
	epoch int64
	guard daemon.Guarded
	mount mount
	// namespace is that of this program, in which room is held.
	namespace string
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
	// held is the newest attempt whose room is held.
	held int64
}

// madePod is a pod that was made here and not seen since.
type madePod struct {
	*corev1.Pod
	// at is when it was known to be there last: when it was made, or when it was asked for.
	at time.Time
}

// newOwner returns the cluster when all of it has been seen.
func newOwner(ctx context.Context, client kubernetes.Interface, kinds apportion.Kinds, m master) (*owner, error) {
	seen, err := watch.New(client, true)
	if err != nil {
		return nil, err
	}
	o := &owner{master: m, client: client, seen: seen, reader: snapshot.NewReader(kinds), works: map[string]*work{},
		made: map[types.UID]*madePod{}, removed: map[types.UID]time.Time{}, told: map[types.UID]told{}}
	o.reader.User = m.mount.user
	err = seen.OnPod(func(p *corev1.Pod) {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.made, p.UID)
	})
	if err != nil {
		return nil, err
	}
	return o, seen.Start(ctx)
}

// podsOf are the pods of a Job, with those that were made and not seen yet.
func (o *owner) podsOf(job types.UID) []*corev1.Pod {
	var pods []*corev1.Pod
	seen := map[types.UID]bool{}
	for _, p := range o.seen.PodsOf(job) {
		if seen[p.UID] = true; p.Labels[snapshot.Attempt] != "" {
			pods = append(pods, p)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for uid, p := range o.made {
		if !seen[uid] && snapshot.Owner(p.Pod) == job {
			pods = append(pods, p.Pod)
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
	o.works[id] = cmp.Or(o.works[id], &work{})
	return o.works[id]
}

// told is what users were told of a Job. What it does not hold, the bound and the gap of every new decision, is no reason to
// tell them again: a decision would write to every Job.
type told struct {
	reason, why                     string
	containers, most, active, ready int
}
