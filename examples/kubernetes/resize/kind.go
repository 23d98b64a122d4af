// This file implements Kind: where an elastic resource keeps the number of its pods.

package resize

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a sort of objects that can be resized by one number. Paths are fields joined by dots, with the index of an item of a
// list in brackets, as in "spec.workerGroupSpecs[0].replicas".
type Kind struct {
	schema.GroupVersionResource
	// Counts are the fields that hold the number of pods. Those behind the first are changed only where they are there: an
	// Indexed Job's completions go with its parallelism.
	Counts []string `json:"counts"`
	// Suspend is the field that says that there are no pods; empty: the count is set to 0 for that.
	Suspend string `json:"suspend,omitempty"`
	// Template is the pods' template.
	Template string `json:"template"`
	// Name is the label by which pods tell the object's name; Role are further labels of those that are counted, whose
	// values are compared without regard to case.
	Name string            `json:"name"`
	Role map[string]string `json:"role,omitempty"`
	// Scale says that the resource has a subresource scale, by which the count is set: whoever may do no more than that can
	// resize it.
	Scale bool `json:"scale,omitempty"`
}

// Kinds are those that are known. Further ones are data, see [Kind].
//
// A JobSet can be resized where its gate ElasticJobSet is on (since 0.12). A TrainJob is not among them: since version 2.1 of
// Kubeflow's trainer all of spec.trainer is immutable.
func Kinds() []Kind {
	kubeflow := func(version, resource, replicas string, scale bool) Kind {
		return Kind{
			GroupVersionResource: schema.GroupVersionResource{Group: "kubeflow.org", Version: version, Resource: resource},
			Counts:               []string{"spec." + replicas + ".Worker.replicas"},
			Suspend:              "spec.runPolicy.suspend",
			Template:             "spec." + replicas + ".Worker.template",
			Name:                 "training.kubeflow.org/job-name",
			Role:                 map[string]string{"training.kubeflow.org/replica-type": "worker"},
			Scale:                scale,
		}
	}
	return []Kind{
		{
			GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"},
			Counts:               []string{"spec.parallelism", "spec.completions"},
			Suspend:              "spec.suspend",
			Template:             "spec.template",
			Name:                 "batch.kubernetes.io/job-name",
		},
		{
			GroupVersionResource: schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"},
			Counts:               []string{"spec.replicatedJobs[0].template.spec.parallelism", "spec.replicatedJobs[0].template.spec.completions"},
			Suspend:              "spec.suspend",
			Template:             "spec.replicatedJobs[0].template.spec.template",
			Name:                 "jobset.sigs.k8s.io/jobset-name",
		},
		{
			GroupVersionResource: schema.GroupVersionResource{Group: "ray.io", Version: "v1", Resource: "rayclusters"},
			Counts:               []string{"spec.workerGroupSpecs[0].replicas"},
			Suspend:              "spec.suspend",
			Template:             "spec.workerGroupSpecs[0].template",
			Name:                 "ray.io/cluster",
			Role:                 map[string]string{"ray.io/node-type": "worker"},
		},
		kubeflow("v1", "pytorchjobs", "pytorchReplicaSpecs", true),
		kubeflow("v2beta1", "mpijobs", "mpiReplicaSpecs", false),
	}
}

// step is one step of a path: a field, or an item of a list.
type step struct {
	field string
	item  int // -1 for a field
}

// parse reads a path.
func parse(path string) ([]step, error) {
	var steps []step
	for part := range strings.SplitSeq(path, ".") {
		field, rest, listed := strings.Cut(part, "[")
		if field == "" {
			return nil, fmt.Errorf("path %q: a field without a name", path)
		}
		steps = append(steps, step{field, -1})
		if !listed {
			continue
		}
		index, closed := strings.CutSuffix(rest, "]")
		item, err := strconv.Atoi(index)
		if err != nil || !closed || item < 0 {
			return nil, fmt.Errorf("path %q: [%s is not the index of an item", path, rest)
		}
		steps = append(steps, step{"", item})
	}
	return steps, nil
}

// get returns what an object has at a path, nil for nothing.
func get(object map[string]any, path string) (any, error) {
	steps, err := parse(path)
	if err != nil {
		return nil, err
	}
	var at any = object
	for _, s := range steps {
		switch in := at.(type) {
		case map[string]any:
			if s.item >= 0 {
				return nil, fmt.Errorf("path %q: there is no list to take item %d of", path, s.item)
			}
			at = in[s.field]
		case []any:
			if s.item < 0 {
				return nil, fmt.Errorf("path %q: there is a list in the place of field %q", path, s.field)
			}
			if s.item >= len(in) {
				return nil, nil
			}
			at = in[s.item]
		case nil:
			return nil, nil
		default:
			return nil, fmt.Errorf("path %q: %T has no fields", path, at)
		}
	}
	return at, nil
}

// escape writes a field in a JSON pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns a path as a JSON pointer, RFC 6901.
func pointer(path string) (string, error) {
	steps, err := parse(path)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, s := range steps {
		text.WriteByte('/')
		if s.item >= 0 {
			text.WriteString(strconv.Itoa(s.item))
		} else {
			text.WriteString(escape.Replace(s.field))
		}
	}
	return text.String(), nil
}

// number reads a count; absent is what the API takes for none said.
func number(object map[string]any, path string, absent int64) (int64, error) {
	value, err := get(object, path)
	if err != nil {
		return 0, err
	}
	switch n := value.(type) {
	case nil:
		return absent, nil
	case int64:
		return n, nil
	case float64:
		if n == float64(int64(n)) {
			return int64(n), nil
		}
	}
	return 0, fmt.Errorf("%s is %v, not a number of pods", path, value)
}
