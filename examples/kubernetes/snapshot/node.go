// This file reads nodes as servers.

package snapshot

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
)

// Taints of Kubernetes itself, by what they mean for elastic jobs.
const (
	// systemTaint begins them all. Those of pressure and of cordons let nothing new in.
	systemTaint = "node.kubernetes.io/"
	// outOfService is set by people who know that a node is dead.
	outOfService = systemTaint + "out-of-service"
	// toBeDeleted is set by the cluster autoscaler before it takes a node away.
	toBeDeleted = "ToBeDeletedByClusterAutoscaler"
)

// server reads a node of which others use something.
func server(kinds apportion.Kinds, n *corev1.Node, used apportion.Resources) controller.Server {
	s := controller.Server{Server: apportion.Server{ID: n.Name, Capacity: less(Capacity(kinds, n.Status.Allocatable), used),
		Labels: map[string]string{metav1.ObjectNameField: n.Name}, Cordoned: n.Spec.Unschedulable}, Down: down(n)}
	for key, text := range n.Labels {
		s.Labels[key] = text
	}
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		switch {
		case t.Key == toBeDeleted:
			s.Draining = true
		case strings.HasPrefix(t.Key, systemTaint):
			s.Cordoned = true
		case repels(t):
			s.Labels[taintLabel(t)] = "true"
		}
	}
	if text := n.Annotations[Drain]; text != "" && text != "false" {
		s.Draining = true
		s.Deadline, _ = time.Parse(time.RFC3339, text) // no time: there is no deadline
	}
	s.Draining = s.Draining || n.DeletionTimestamp != nil
	return s
}

// down says why a node is not up; "": it is.
func down(n *corev1.Node) string {
	for i := range n.Spec.Taints {
		if n.Spec.Taints[i].Key == outOfService {
			return "it is out of service"
		}
	}
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		if c.Type != corev1.NodeReady {
			continue
		}
		if c.Status != corev1.ConditionTrue {
			return "its condition Ready is " + string(c.Status)
		}
		return ""
	}
	return "it has no condition Ready"
}

// IsUp reports whether a node has a kubelet that says so.
func IsUp(n *corev1.Node) bool { return down(n) == "" }

// repels reports whether a taint keeps pods away.
func repels(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// taintLabel is the label that stands for a taint.
func taintLabel(t *corev1.Taint) string { return "taint " + t.ToString() }
