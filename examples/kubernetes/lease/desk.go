// This file implements the desk's side of Leases.

package lease

import (
	"context"
	"fmt"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/apportion/apportion/checkpoint/guard"
)

// together is how many claims are answered at the same time: each waits for one write.
const together = 8

// answerer answers the claims in the Leases of a namespace.
type answerer struct {
	desk      *guard.Desk
	client    kubernetes.Interface
	namespace string
	leases    cache.Indexer
	queue     workqueue.TypedRateLimitingInterface[string]
	report    func(error)

	mu sync.Mutex
	// before are the claims that were answered, by the keys of their Leases. It is this desk's own: another answers for itself, so that
	// it hears of all runs.
	before map[string]guard.Claim
}

// Answer answers claims in the Leases of a namespace for a desk until the context ends. It returns when it has seen all that are there, or
// with an error when the context ends before. What goes wrong with a claim is told to report, unless that is nil, and tried again; it
// renews nothing. wait waits until nothing is answered any more.
func Answer(ctx context.Context, c kubernetes.Interface, namespace string, desk *guard.Desk, report func(error)) (wait func(), err error) {
	shared := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = Label + "=true" }))
	informer := shared.Coordination().V1().Leases().Informer()
	a := &answerer{desk: desk, client: c, namespace: namespace, leases: informer.GetIndexer(), report: report, before: map[string]guard.Claim{},
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
	note := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			a.queue.Add(key)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, now any) { note(now) }, DeleteFunc: note}); err != nil {
		return nil, err
	}
	shared.Start(ctx.Done())
	var working sync.WaitGroup
	for range together {
		working.Go(func() { a.work(ctx) })
	}
	working.Go(func() { <-ctx.Done(); a.queue.ShutDown() })
	wait = func() { working.Wait(); shared.Shutdown() }
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		wait()
		return nil, fmt.Errorf("lease: the Leases of %s cannot be read: %w", namespace, ctx.Err())
	}
	return wait, nil
}

// work answers one claim after the other until the queue is shut down.
func (a *answerer) work(ctx context.Context) {
	for {
		key, over := a.queue.Get()
		if over {
			return
		}
		err := a.answer(ctx, key)
		if err != nil && ctx.Err() == nil {
			if a.report != nil {
				a.report(err)
			}
			a.queue.AddRateLimited(key)
		} else {
			a.queue.Forget(key)
		}
		a.queue.Done(key)
	}
}

// answer answers the claim in a Lease, unless it was answered before. No two calls are for one Lease at the same time.
func (a *answerer) answer(ctx context.Context, key string) error {
	object, there, err := a.leases.GetByKey(key)
	if err != nil || !there {
		a.mu.Lock()
		delete(a.before, key)
		a.mu.Unlock()
		return err
	}
	l := object.(*coordinationv1.Lease)
	var c guard.Claim
	// What somebody has put there that is no claim, or the claim of another run, is left alone.
	if read(l, claimKey, &c) != nil || Name(c.ID) != l.Name {
		return nil
	}
	a.mu.Lock()
	last, known := a.before[key]
	a.mu.Unlock()
	// The same claim again is no new word of the guard: to grant it again would vouch for one that may be dead.
	if known && last.Life == c.Life && last.Clock == c.Clock {
		return nil
	}
	granted, err := a.desk.Answer(c)
	if err != nil {
		return nil // nothing is said, which renews nothing
	}
	l = l.DeepCopy()
	if err := grant(l, &c, granted); err != nil {
		return err
	}
	_, err = a.client.CoordinationV1().Leases(a.namespace).Update(ctx, l, metav1.UpdateOptions{})
	switch {
	// The guard has claimed anew, and that claim comes; or the Lease was deleted, and the run ends by that.
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("lease: %s is not answered: %w", key, err)
	}
	a.mu.Lock()
	a.before[key] = c
	a.mu.Unlock()
	return nil
}
