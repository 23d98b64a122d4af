// This file implements Cluster: what is watched, with the objects that may be resized.

package live

import (
	"context"
	"errors"
	"fmt"

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
	objects []informers.GenericInformer
	kinds   []*resize.Kind // of objects
}

// Watch begins to watch all that is decided by, and the objects of those kinds that the API server has. It returns when all
// has been seen once. Watching ends with the context.
func Watch(ctx context.Context, clients Clients, kinds []resize.Kind) (*Cluster, error) {
	seen, err := watch.New(clients, false)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Cluster: seen}
	others := dynamicinformer.NewDynamicSharedInformerFactory(clients.Dynamic, 0)
	for i := range kinds {
		there, err := served(clients.Discovery(), kinds[i].GroupVersionResource)
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		informer := others.ForResource(kinds[i].GroupVersionResource)
		c.objects, c.kinds = append(c.objects, informer), append(c.kinds, &kinds[i])
		if err := c.Add(informer.Informer()); err != nil {
			return nil, err
		}
	}
	if len(c.objects) == 0 {
		return nil, errors.New("the API server has none of the kinds that can be resized")
	}
	others.Start(ctx.Done())
	return c, c.Start(ctx)
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
