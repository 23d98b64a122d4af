// This file implements shares: what each namespace holds.

package scheduler

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// shares are those of namespaces. They are safe for concurrent use.
type shares struct {
	kinds apportion.Kinds

	mu     sync.RWMutex
	sorter *drf.Sorter
	total  apportion.Resources
	nodes  map[string]apportion.Resources
	pods   map[types.UID]holding
}

// holding is what a pod takes of its namespace's share.
type holding struct {
	client *drf.Client
	amount apportion.Resources
}

// newShares returns those of an empty cluster.
func newShares(kinds apportion.Kinds) (*shares, error) {
	total := make(apportion.Resources, len(kinds))
	tree, err := drf.NewTree(total, nil)
	if err != nil {
		return nil, err
	}
	return &shares{kinds: kinds, sorter: tree.NewSorter(), total: total, nodes: map[string]apportion.Resources{}, pods: map[types.UID]holding{}}, nil
}

// client returns the client of a namespace, which is made if there is none. mu is held for writing.
func (s *shares) client(namespace string) (*drf.Client, error) {
	if c := s.sorter.Lookup(namespace); c != nil {
		return c, nil
	}
	return s.sorter.Add(drf.Claim{ID: namespace, Weight: 1})
}

// compare returns a negative number if namespace a is due before b, a positive one if after, and 0 if they are the same. One
// that holds nothing is due before one that does.
func (s *shares) compare(a, b string) int {
	if a == b {
		return 0
	}
	s.mu.RLock()
	x, y := s.sorter.Lookup(a), s.sorter.Lookup(b)
	s.mu.RUnlock()
	if x == nil || y == nil {
		s.mu.Lock()
		var errs [2]error
		x, errs[0] = s.client(a)
		y, errs[1] = s.client(b)
		s.mu.Unlock()
		if errs != [2]error{} {
			return 0 // a namespace has a name, so that this cannot be
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.sorter.Compare(x, y)
}

// setWeight sets the weight of a namespace.
func (s *shares) setWeight(namespace string, weight float64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.client(namespace)
	if err != nil {
		return err
	}
	return s.sorter.SetWeight(c, weight)
}

// setNode says what a node has, nil that it is gone.
func (s *shares) setNode(n *corev1.Node, gone bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, q := range s.nodes[n.Name] {
		s.total[k] -= q
	}
	delete(s.nodes, n.Name)
	if !gone {
		has := snapshot.Capacity(s.kinds, n.Status.Allocatable)
		s.nodes[n.Name] = has
		for k, q := range has {
			s.total[k] += q
		}
	}
	return s.sorter.SetTotal(s.total)
}

// take charges a namespace with a pod, once.
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
	h := holding{c, snapshot.Demand(s.kinds, &p.Spec)}
	if err := s.sorter.Allocate(c, h.amount); err != nil {
		return err
	}
	s.pods[p.UID] = h
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
	return s.sorter.Release(h.client, h.amount)
}
