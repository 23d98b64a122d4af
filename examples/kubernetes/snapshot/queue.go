// This file reads namespaces as queues, with what their quotas leave.

package snapshot

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

// queues are the namespaces that have elastic jobs, by name. used is what the pods of others take of each.
func (r *Reader) queues(o *Objects, having map[string]bool, used map[string]apportion.Resources) []drf.Queue {
	weights := map[string]float64{}
	for _, n := range o.Namespaces {
		// A weight that cannot be read, or that a queue cannot have, is 1: a namespace is not a job's to be refused for.
		if w, err := strconv.ParseFloat(n.Annotations[Weight], 64); err == nil && w >= drf.MinWeight && w <= drf.MaxWeight {
			weights[n.Name] = w
		}
	}
	var list []drf.Queue
	for _, name := range slices.Sorted(maps.Keys(having)) {
		q := drf.Queue{ID: name, Weight: 1}
		if w, said := weights[name]; said {
			q.Weight = w
		}
		for _, quota := range o.Quotas {
			if quota.Namespace == name {
				r.limit(&q, quota, used[name])
			}
		}
		list = append(list, q)
	}
	return list
}

// limit lowers the ceiling of a queue to what a quota leaves. A quota with scopes is for some pods only, and is left to the
// API server.
func (r *Reader) limit(q *drf.Queue, quota *corev1.ResourceQuota, used apportion.Resources) {
	if len(quota.Spec.Scopes) > 0 || quota.Spec.ScopeSelector != nil {
		return
	}
	for k, kind := range r.kinds {
		for _, name := range []corev1.ResourceName{corev1.ResourceName(kind), corev1.ResourceName("requests." + kind), corev1.ResourceName("count/" + kind)} {
			hard, limited := quota.Spec.Hard[name]
			if !limited {
				continue
			}
			if q.Ceiling == nil {
				q.Ceiling = slices.Repeat(drf.Ceiling{drf.NoLimit}, len(r.kinds))
			}
			left := amount(kind, hard, false)
			if used != nil {
				left -= used[k]
			}
			q.Ceiling[k] = min(q.Ceiling[k], max(0, left))
		}
	}
}
