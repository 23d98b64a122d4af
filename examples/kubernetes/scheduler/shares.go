// This file implements shares: what each namespace holds, and how many pods of each gang have a place.

package scheduler

import (
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// shares are those of namespaces. They are safe for concurrent use.
type shares struct {
	mu     sync.Mutex
	sorter *drf.Sorter
	total  apportion.Resources
	nodes  map[string]apportion.Resources
	pods   map[types.UID]holding // those that are bound or reserved
	placed map[types.UID]int     // how many of these each owner of a gang has; of "" those without a gang
}

// holding is what a pod takes of its namespace's share. owner is that of its gang, "" where it has none.
type holding struct {
	client *drf.Client
	amount apportion.Resources
	owner  types.UID
}

// newShares returns those of an empty cluster.
func newShares() (*shares, error) {
	total := make(apportion.Resources, len(snapshot.Kinds()))
	tree, err := drf.NewTree(total, nil)
	if err != nil {
		return nil, err
	}
	return &shares{sorter: tree.NewSorter(), total: total, nodes: map[string]apportion.Resources{},
		pods: map[types.UID]holding{}, placed: map[types.UID]int{}}, nil
}

// client returns the client of a namespace, which is made if there is none. mu is held.
func (s *shares) client(namespace string) (*drf.Client, error) {
	if c := s.sorter.Lookup(namespace); c != nil {
		return c, nil
	}
	return s.sorter.Add(drf.Claim{ID: namespace, Weight: 1})
}

// compare returns a negative number if namespace a is due before b, a positive one if after, and 0 if they are the same. One
// that holds nothing is due before one that does.
func (s *shares) compare(a, b string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, errX := s.client(a)
	y, errY := s.client(b)
	if errX != nil || errY != nil {
		return 0 // a namespace has a name, so that this cannot be
	}
	return s.sorter.Compare(x, y)
}

// see keeps the books of what an informer has seen: a node, a namespace, or a pod that is bound, has ended or is gone. Informers know
// nothing of a pod that is only reserved.
func (s *shares) see(object any, gone bool) error {
	switch o := object.(type) {
	case *corev1.Node:
		return s.setNode(o, gone)
	case *corev1.Namespace:
		return s.setWeight(o, gone)
	case *corev1.Pod:
		if gone || !snapshot.IsLive(o) {
			return s.release(o.UID)
		}
		if o.Spec.NodeName != "" {
			return s.take(o)
		}
	}
	return nil
}

// setWeight sets the weight of a namespace.
func (s *shares) setWeight(n *corev1.Namespace, gone bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	weight, text := 1.0, n.Annotations[snapshot.Weight]
	c, err := s.client(n.Name)
	if err == nil && !gone && text != "" {
		weight, err = strconv.ParseFloat(text, 64)
	}
	if err != nil {
		return fmt.Errorf("namespace %s: annotation %s: %w", n.Name, snapshot.Weight, err)
	}
	return s.sorter.SetWeight(c, weight)
}

// setNode says what a node has, or that it is gone.
func (s *shares) setNode(n *corev1.Node, gone bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, q := range s.nodes[n.Name] {
		s.total[k] -= q
	}
	delete(s.nodes, n.Name)
	if !gone {
		has := snapshot.Capacity(snapshot.Kinds(), n.Status.Allocatable)
		s.nodes[n.Name] = has
		for k, q := range has {
			s.total[k] += q
		}
	}
	return s.sorter.SetTotal(s.total)
}

// take charges a namespace with a pod that has a place, once.
func (s *shares) take(p *corev1.Pod) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.pods[p.UID]; there {
		return nil
	}
	c, err := s.client(p.Namespace)
	if err != nil {
		return err
	}
	owner, _ := gangOf(p)
	h := holding{c, snapshot.Demand(snapshot.Kinds(), &p.Spec), owner}
	if err := s.sorter.Allocate(c, h.amount); err != nil {
		return err
	}
	s.pods[p.UID] = h
	s.placed[owner]++
	return nil
}

// release takes the charge for a pod back, once.
func (s *shares) release(uid types.UID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, there := s.pods[uid]
	if !there {
		return nil
	}
	delete(s.pods, uid)
	if s.placed[h.owner]--; s.placed[h.owner] == 0 {
		delete(s.placed, h.owner)
	}
	return s.sorter.Release(h.client, h.amount)
}
