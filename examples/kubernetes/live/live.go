// This file implements Cluster: what is watched, with the objects that may be resized.

package live

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/examples/kubernetes/watch"
)

// Clients are how the API is called.
type Clients struct {
	kubernetes.Interface
	Dynamic dynamic.Interface
}

// Cluster is what informers hold. Its methods may be called by several goroutines.
type Cluster struct {
	*watch.Cluster
	discovery discovery.DiscoveryInterface
	others    dynamicinformer.DynamicSharedInformerFactory

	mu      sync.Mutex
	objects []objects
	// missing are the kinds that the API server did not have when it was asked last.
	missing []*resize.Kind
}

// objects are all of one kind.
type objects struct {
	kind     *resize.Kind
	informer informers.GenericInformer
}

// Watch begins to watch all that is decided by, and the objects of those kinds that the API server has. It returns when all
// has been seen once. Watching ends with the context.
func Watch(ctx context.Context, clients Clients, kinds []resize.Kind) (*Cluster, error) {
	// Not the struct around it, which hides what else the client can be asked.
	seen, err := watch.New(clients.Interface, false)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Cluster: seen, discovery: clients.Discovery(), others: dynamicinformer.NewDynamicSharedInformerFactory(clients.Dynamic, 0)}
	for i := range kinds {
		c.missing = append(c.missing, &kinds[i])
	}
	if err := c.Look(ctx); err != nil {
		return nil, err
	}
	if len(c.objects) == 0 {
		return nil, errors.New("the API server has none of the kinds that can be resized")
	}
	return c, c.Start(ctx)
}

// Look asks which kinds the API server has that it did not have before, since definitions are installed at any time, and begins
// to watch them. It does not wait until they have been seen. A call for each kind that is missing.
func (c *Cluster) Look(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	missing := c.missing
	c.missing = nil
	var faults []error
	for _, kind := range missing {
		there, err := served(c.discovery, kind.GroupVersionResource)
		if err == nil && there {
			informer := c.others.ForResource(kind.GroupVersionResource)
			if err = c.Add(informer.Informer()); err == nil {
				c.objects = append(c.objects, objects{kind, informer})
				continue
			}
		}
		faults = append(faults, err)
		c.missing = append(c.missing, kind)
	}
	c.others.Start(ctx.Done())
	return errors.Join(faults...)
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

// Items returns the objects that may be resized, of the kinds of which all were seen.
func (c *Cluster) Items() ([]resize.Item, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var items []resize.Item
	for _, of := range c.objects {
		if !of.informer.Informer().HasSynced() {
			continue
		}
		list, err := of.informer.Lister().List(labels.Everything())
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			items = append(items, resize.Item{Kind: of.kind, Object: o.(*unstructured.Unstructured)})
		}
	}
	return items, nil
}
