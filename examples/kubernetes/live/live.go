// This file implements Cluster: informers for all that is decided on.

package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// Clients are how the API is called.
type Clients struct {
	kubernetes.Interface
	Dynamic dynamic.Interface
}

// Cluster is what informers hold. Its methods may be called by several goroutines.
type Cluster struct {
	typed   informers.SharedInformerFactory
	objects []informers.GenericInformer
	kinds   []*resize.Kind // of objects
	changed chan struct{}
}

// Watch begins to watch nodes, pods, namespaces, quotas, priority classes, and the objects of those kinds that the API server
// has. It returns when all has been seen once. Watching ends with the context.
func Watch(ctx context.Context, clients Clients, kinds []resize.Kind) (*Cluster, error) {
	c := &Cluster{typed: informers.NewSharedInformerFactory(clients, 0), changed: make(chan struct{}, 1)}
	watched := []cache.SharedIndexInformer{
		c.typed.Core().V1().Nodes().Informer(), c.typed.Core().V1().Pods().Informer(), c.typed.Core().V1().Namespaces().Informer(),
		c.typed.Core().V1().ResourceQuotas().Informer(), c.typed.Scheduling().V1().PriorityClasses().Informer(),
	}
	others := dynamicinformer.NewDynamicSharedInformerFactory(clients.Dynamic, 0)
	for i := range kinds {
		there, err := served(clients.Discovery(), kinds[i].GroupVersionResource)
		if err != nil {
			return nil, err
		}
		if there {
			informer := others.ForResource(kinds[i].GroupVersionResource)
			c.objects, c.kinds = append(c.objects, informer), append(c.kinds, &kinds[i])
			watched = append(watched, informer.Informer())
		}
	}
	if len(c.objects) == 0 {
		return nil, errors.New("the API server has none of the kinds that can be resized")
	}
	for _, informer := range watched {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { c.note() }, DeleteFunc: func(any) { c.note() },
			UpdateFunc: func(before, after any) {
				if matters(before, after) {
					c.note()
				}
			},
		}); err != nil {
			return nil, err
		}
	}
	for _, informer := range watched {
		if err := informer.SetTransform(slim); err != nil {
			return nil, err
		}
	}
	c.typed.Start(ctx.Done())
	others.Start(ctx.Done())
	c.typed.WaitForCacheSync(ctx.Done())
	others.WaitForCacheSync(ctx.Done())
	return c, ctx.Err()
}

// slim takes away what nobody reads, which is most of an object.
func slim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	return object, nil
}

// served reports whether the API server has a resource.
func served(d discovery.DiscoveryInterface, gvr schema.GroupVersionResource) (bool, error) {
	list, err := d.ServerResourcesForGroupVersion(gvr.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("what %s has: %w", gvr.GroupVersion(), err)
	}
	for i := range list.APIResources {
		if list.APIResources[i].Name == gvr.Resource {
			return true, nil
		}
	}
	return false, nil
}

// matters reports whether an update may change a decision. Kubelets renew the status of nodes every few seconds, mostly with
// nothing in it.
func matters(before, after any) bool {
	a, isNode := before.(*corev1.Node)
	if !isNode {
		return true
	}
	b := after.(*corev1.Node)
	return snapshot.IsUp(a) != snapshot.IsUp(b) || a.Generation != b.Generation || !same(a, b)
}

// same reports whether two states of a node are alike in what decisions look at.
func same(a, b *corev1.Node) bool {
	if len(a.Status.Allocatable) != len(b.Status.Allocatable) || !labels.Equals(a.Labels, b.Labels) || !labels.Equals(a.Annotations, b.Annotations) {
		return false
	}
	for name, q := range a.Status.Allocatable {
		if q.Cmp(b.Status.Allocatable[name]) != 0 {
			return false
		}
	}
	return a.Spec.Unschedulable == b.Spec.Unschedulable && len(a.Spec.Taints) == len(b.Spec.Taints)
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

// Objects returns what is there, for one moment, but for Jobs. It must not be changed. O(objects).
func (c *Cluster) Objects(now time.Time) (snapshot.Objects, error) {
	o := snapshot.Objects{Now: now}
	var errs [5]error
	all := labels.Everything()
	o.Nodes, errs[0] = c.typed.Core().V1().Nodes().Lister().List(all)
	o.Pods, errs[1] = c.typed.Core().V1().Pods().Lister().List(all)
	o.Namespaces, errs[2] = c.typed.Core().V1().Namespaces().Lister().List(all)
	o.Quotas, errs[3] = c.typed.Core().V1().ResourceQuotas().Lister().List(all)
	o.Classes, errs[4] = c.typed.Scheduling().V1().PriorityClasses().Lister().List(all)
	return o, errors.Join(errs[:]...)
}

// Items returns the objects that may be resized.
func (c *Cluster) Items() ([]resize.Item, error) {
	var items []resize.Item
	for at, informer := range c.objects {
		list, err := informer.Lister().List(labels.Everything())
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			items = append(items, resize.Item{Kind: c.kinds[at], Object: o.(*unstructured.Unstructured)})
		}
	}
	return items, nil
}
