// This file reads namespaces as queues, with what their quotas leave, and the queues below them that Jobs name.

package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/drf"
)

// unnamed is the queue below a namespace of the Jobs that name none, where others do.
const unnamed = "default"

// queueOf is the queue of a Job: its namespace's, or the one below it that its label names.
func queueOf(j *batchv1.Job) string {
	if leaf := j.Labels[Queue]; leaf != "" {
		return ID(j.Namespace, leaf)
	}
	return j.Namespace
}

// split returns the queues of jobs, by namespace: those below it, none where all jobs are the namespace's own. A queue has jobs or
// queues, so that where some of them name a queue the others get one too.
func split(jobs []controller.Job) map[string][]string {
	below := map[string][]string{}
	for i := range jobs {
		namespace, leaf := Split(jobs[i].Application.Queue)
		if leaf != "" && !slices.Contains(below[namespace], leaf) {
			below[namespace] = append(below[namespace], leaf)
		}
	}
	for i := range jobs {
		app := &jobs[i].Application
		namespace, leaf := Split(app.Queue)
		switch {
		case leaf != "":
		case len(below[namespace]) == 0:
			below[namespace] = nil // the namespace has jobs
		default:
			app.Queue = ID(namespace, unnamed)
			if !slices.Contains(below[namespace], unnamed) {
				below[namespace] = append(below[namespace], unnamed)
			}
		}
	}
	return below
}

// queues are the namespaces that have elastic jobs and what is below them, by name. used is what the pods of others take of each
// namespace.
func (r *Reader) queues(o *Objects, having map[string][]string, used map[string]apportion.Resources) []drf.Queue {
	namespaces := map[string]*corev1.Namespace{}
	for _, n := range o.Namespaces {
		namespaces[n.Name] = n
	}
	var list []drf.Queue
	for _, name := range slices.Sorted(maps.Keys(having)) {
		q, weights := drf.Queue{ID: name, Weight: 1}, map[string]float64{}
		if n := namespaces[name]; n != nil {
			q.Weight, weights = weight(n.Annotations[Weight]), weightsOf(n.Annotations[Queues])
		}
		for _, quota := range o.Quotas {
			if quota.Namespace == name {
				r.limit(&q, quota, used[name])
			}
		}
		list = append(list, q)
		for _, leaf := range slices.Sorted(slices.Values(having[name])) {
			list = append(list, drf.Queue{ID: ID(name, leaf), Parent: name, Weight: cmp.Or(weights[leaf], 1)})
		}
	}
	return list
}

// weight reads a weight. One that cannot be read, or that a queue cannot have, is 1: a namespace is not a job's to be refused for.
func weight(text string) float64 {
	if w, err := strconv.ParseFloat(text, 64); err == nil && w >= drf.MinWeight && w <= drf.MaxWeight {
		return w
	}
	return 1
}

// weightsOf reads the weights of queues, by name.
func weightsOf(text string) map[string]float64 {
	weights := map[string]float64{}
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		weights[strings.TrimSpace(name)] = weight(strings.TrimSpace(number))
	}
	return weights
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
