// This file makes nodes, and changes them as what watches over nodes would.

package kubetest

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/apportion/apportion/examples/managertest/processes"
)

// List is a list of quantities: pairs of a name and a text.
func List(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// NewNode makes a node that is ready.
func NewNode(name string, has corev1.ResourceList) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{Capacity: has, Allocatable: has, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.Now()}}}}
}

// AddNode adds a node with its kubelet.
func (k *Kubelets) AddNode(n *corev1.Node) {
	k.cluster.Helper()
	k.mu.Lock()
	k.nodes[n.Name] = n.Status.Allocatable
	k.mu.Unlock()
	k.try("a node is added", func(ctx context.Context) error {
		_, err := k.cluster.Client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{})
		return err
	})
}

// RemoveNode takes a node away. Its kubelet is not told, and goes on with what runs there.
func (k *Kubelets) RemoveNode(name string) {
	k.cluster.Helper()
	k.try("a node is taken away", func(ctx context.Context) error {
		return k.cluster.Client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// Collect forgets the pods that are bound to a node, as what collects the pods of nodes that are gone does: nobody has seen
// them end.
func (k *Kubelets) Collect(node string) {
	k.cluster.Helper()
	none := int64(0)
	k.try("the pods of a node are forgotten", func(ctx context.Context) error {
		return k.cluster.Client.CoreV1().Pods(metav1.NamespaceDefault).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &none},
			metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	})
}

// Change changes a node, its status, or both.
func (k *Kubelets) Change(node string, how func(n *corev1.Node)) {
	k.cluster.Helper()
	nodes := k.cluster.Client.CoreV1().Nodes()
	k.try("a node is changed", func(ctx context.Context) error {
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
			n, err := nodes.Get(ctx, node, metav1.GetOptions{})
			if err != nil {
				return err
			}
			how(n)
			status := n.Status
			if n, err = nodes.Update(ctx, n, metav1.UpdateOptions{}); err != nil {
				return err
			}
			n.Status = status
			_, err = nodes.UpdateStatus(ctx, n, metav1.UpdateOptions{})
			return err
		})
	})
}

// SetReady says whether a node is ready, as the node controller does when its kubelet is silent.
func (k *Kubelets) SetReady(node string, ready corev1.ConditionStatus) {
	k.cluster.Helper()
	k.Change(node, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.Now()}}
	})
}

// try tries something until the API server takes it.
func (k *Kubelets) try(what string, do func(ctx context.Context) error) {
	k.cluster.Helper()
	said := ""
	processes.Eventually(k.cluster, what, patience, func() bool {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		err := do(ctx)
		if err != nil && err.Error() != said {
			said = err.Error()
			k.cluster.Logf("%s: %v", what, err)
		}
		return err == nil
	})
}

// patience is how long is tried what must succeed in the end: longer than a killed API server may take to come back, see Ready.
const patience = restart + 30*time.Second
