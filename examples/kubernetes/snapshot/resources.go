// This file turns quantities of Kubernetes into resources.

package snapshot

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/apportion/apportion"
)

// mebi is the unit of bytes.
const mebi = 1 << 20

// Kinds are the kinds of resources that are decided on unless others are named.
func Kinds() apportion.Kinds {
	return apportion.Kinds{string(corev1.ResourceCPU), string(corev1.ResourceMemory), "nvidia.com/gpu", string(corev1.ResourcePods)}
}

// amount is a quantity in the unit of its kind, rounded up or down.
func amount(kind string, q resource.Quantity, up bool) int64 {
	switch corev1.ResourceName(kind) {
	case corev1.ResourceCPU:
		return q.MilliValue()
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		bytes := q.Value()
		if up && bytes <= math.MaxInt64-mebi {
			bytes += mebi - 1
		}
		return bytes / mebi
	}
	return q.Value()
}

// Demand is what a pod takes of each kind: the sum of its containers and of those that stay beside them, or what one that
// comes before them takes, whatever is more; and itself.
func Demand(kinds apportion.Kinds, spec *corev1.PodSpec) apportion.Resources {
	demand := make(apportion.Resources, len(kinds))
	for k, kind := range kinds {
		name := corev1.ResourceName(kind)
		if name == corev1.ResourcePods {
			demand[k] = 1
			continue
		}
		var sidecars, before int64
		for i := range spec.InitContainers {
			c := &spec.InitContainers[i]
			one := requested(kind, &c.Resources)
			if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				sidecars += one
				one = 0
			}
			before = max(before, sidecars+one)
		}
		for i := range spec.Containers {
			demand[k] += requested(kind, &spec.Containers[i].Resources)
		}
		demand[k] = max(demand[k]+sidecars, before)
		if spec.Resources != nil {
			if q, said := request(name, spec.Resources); said {
				demand[k] = amount(kind, q, true)
			}
		}
		if q, extra := spec.Overhead[name]; extra {
			demand[k] += amount(kind, q, true)
		}
	}
	return demand
}

// requested is what a container asks for.
func requested(kind string, r *corev1.ResourceRequirements) int64 {
	q, _ := request(corev1.ResourceName(kind), r)
	return amount(kind, q, true)
}

// request is a request, or the limit where there is none: the API server fills that in for pods, not for templates.
func request(name corev1.ResourceName, r *corev1.ResourceRequirements) (resource.Quantity, bool) {
	if q, said := r.Requests[name]; said {
		return q, true
	}
	q, said := r.Limits[name]
	return q, said
}

// Capacity is what a list of quantities holds of each kind, rounded down.
func Capacity(kinds apportion.Kinds, list corev1.ResourceList) apportion.Resources {
	c := make(apportion.Resources, len(kinds))
	for k, kind := range kinds {
		c[k] = max(0, amount(kind, list[corev1.ResourceName(kind)], false))
	}
	return c
}

// less is what is left of a after b, nothing at least.
func less(a, b apportion.Resources) apportion.Resources {
	left := a.Clone()
	for k := range b {
		left[k] = max(0, left[k]-b[k])
	}
	return left
}
