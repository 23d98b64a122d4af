// This file declares the names by which Jobs, nodes and pods speak to the controller.

package snapshot

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// Prefix begins all labels and annotations that are for the controller.
	Prefix = "apportion.github.io/"
	// Manager is the value of spec.managedBy that makes a Job elastic, and the finalizer of one that was started.
	Manager = Prefix + "controller"
	// Note is the annotation of a Job in which the controller keeps what it has asked for; nobody else writes it.
	Note = Prefix + "note"
	// Drain is the annotation of a node that jobs are to leave: "true", or the time by which they must, as in RFC 3339.
	Drain = Prefix + "drain"
	// Weight is the annotation of a Job or a namespace with its weight.
	Weight = Prefix + "weight"
	// Queue is the label of a Job with its queue below that of its namespace; without it there is one queue for all such Jobs of
	// the namespace.
	Queue = Prefix + "queue"
	// Queues is the annotation of a namespace with the weights of queues below it, as in "vision=2,speech=0.5"; others weigh 1.
	Queues = Prefix + "queues"
	// Attempt is the label of a pod with the number of its run.
	Attempt = Prefix + "attempt"
	// Placed is the type of the condition of a Job that says how it stands and why.
	Placed = Prefix + "Placed"
	// suspended is a label that no node has: what requires it waits.
	suspended = Prefix + "suspended"
)

// ID is the name of a Job as a job.
func ID(namespace, name string) string { return namespace + "/" + name }

// Split is the inverse of ID.
func Split(id string) (namespace, name string) {
	namespace, name, _ = strings.Cut(id, "/")
	return namespace, name
}

// IsElastic reports whether a Job is for the controller.
func IsElastic(j *batchv1.Job) bool { return j.Spec.ManagedBy != nil && *j.Spec.ManagedBy == Manager }

// IsFinished reports whether a Job is over.
func IsFinished(j *batchv1.Job) bool {
	for i := range j.Status.Conditions {
		c := &j.Status.Conditions[i]
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// IsLive reports whether a pod may run: it has not come to its end.
func IsLive(p *corev1.Pod) bool {
	return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
}

// Owner is the Job that a pod belongs to; "" if it belongs to none.
func Owner(p *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOf(p); ref != nil && ref.Kind == "Job" {
		return ref.UID
	}
	return ""
}
