// This file implements Item: an object that may be elastic, and what it says of itself.

package resize

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// kueueQueue is the label of an object that is Kueue's to admit.
const kueueQueue = "kueue.x-k8s.io/queue-name"

// Item is an object that may be elastic.
type Item struct {
	Kind   *Kind
	Object *unstructured.Unstructured
}

// ID is the name of an item as an application.
func (i *Item) ID() string {
	return i.Kind.Resource + "/" + i.Object.GetNamespace() + "/" + i.Object.GetName()
}

// isKueues reports whether Kueue says when an object runs: the field that suspends it is Kueue's, and only its number of pods may
// be changed.
func (i *Item) isKueues() bool { return i.Object.GetLabels()[kueueQueue] != "" }

// isOver reports whether an object needs no pods any more. The words are those of Jobs, JobSets and Kubeflow's jobs.
func (i *Item) isOver() bool {
	if i.Object.GetDeletionTimestamp() != nil {
		return true
	}
	conditions, _, _ := unstructured.NestedSlice(i.Object.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		fields, _ := c.(map[string]any)
		kind, _ := fields["type"].(string)
		return fields["status"] == "True" && slices.Contains([]string{"Complete", "Completed", "Succeeded", "Failed", "FailureTarget"}, kind)
	})
}

// Template returns what the pods of an object are made of.
func (i *Item) Template() (*corev1.PodTemplateSpec, error) {
	value, err := get(i.Object.Object, i.Kind.Template)
	if err != nil {
		return nil, err
	}
	fields, there := value.(map[string]any)
	if !there {
		return nil, fmt.Errorf("it has no pods' template at %s", i.Kind.Template)
	}
	template := &corev1.PodTemplateSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, template); err != nil {
		return nil, fmt.Errorf("the pods' template at %s: %w", i.Kind.Template, err)
	}
	if len(template.Spec.Containers) == 0 {
		return nil, fmt.Errorf("the pods' template at %s has no containers", i.Kind.Template)
	}
	return template, nil
}

// count returns what the first count of an object says, and whether it is suspended.
func (i *Item) count() (count int64, suspended bool, err error) {
	if count, err = number(i.Object.Object, i.Kind.Counts[0], 1); err != nil || i.Kind.Suspend == "" {
		return count, false, err
	}
	value, err := get(i.Object.Object, i.Kind.Suspend)
	suspended, _ = value.(bool)
	return count, suspended, err
}
