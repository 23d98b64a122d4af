// This file chooses which admitted workloads of a ClusterQueue give way to the one that waits at its head.

package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/component-helpers/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// saved is the annotation of a Workload with the instant of its last checkpoint, as 2006-01-02T15:04:05Z. Without it a workload loses what
// it has done since it was admitted.
const saved = "apportion.github.io/saved"

// pool is the only server of the problem: the quota of a queue.
const pool = "quota"

// victims returns the workloads that are to be preempted for the head of those that wait, by their names: of the lowest priorities
// whose quota is enough together those that lose least, pods times seconds. None where the head fits or would not fit anyhow. Admitted
// and waiting are those of the queue, which has one flavor for each resource and no cohort.
func victims(ctx context.Context, q *kueue.ClusterQueue, admitted, waiting []*kueue.Workload, now time.Time) ([]string, error) {
	if len(waiting) == 0 || stops(q.Spec.StopPolicy) || q.Spec.Preemption == nil || q.Spec.Preemption.WithinClusterQueue == kueue.PreemptionPolicyNever {
		return nil, nil
	}
	quota, err := quotaOf(q)
	if err != nil {
		return nil, err
	}
	head := slices.MinFunc(waiting, func(a, b *kueue.Workload) int {
		return cmp.Or(cmp.Compare(priority(b), priority(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
	kinds := slices.Sorted(maps.Keys(quota))
	p := &alloc.Problem{Theta1: 1, Theta2: 1, Options: alloc.Options{Preempt: true}, Previous: alloc.Allocation{},
		Servers: []apportion.Server{{ID: pool, Capacity: vector(kinds, quota)}}}
	for _, kind := range kinds {
		p.Kinds = append(p.Kinds, string(kind))
	}
	for _, w := range append(slices.Clone(admitted), head) {
		app := alloc.Application{ID: nameOf(w), Weight: 1, Priority: int64(priority(w)), Form: alloc.Form{Demand: vector(kinds, requests(w)), Min: 1, Max: 1}}
		if w != head {
			lost := lostBy(w, now)
			app.Preemptible, app.AdjustCost = priority(w) < priority(head), &lost
			p.Previous[app.ID] = map[string]int64{pool: 1}
		}
		p.Applications = append(p.Applications, app)
	}
	d, err := alloc.Reallocate(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, s := range d.Suspended {
		list = append(list, s.ID)
	}
	return list, nil
}

// quotaOf returns what a queue has of each resource.
func quotaOf(q *kueue.ClusterQueue) (corev1.ResourceList, error) {
	quota := corev1.ResourceList{}
	for _, group := range q.Spec.ResourceGroups {
		if len(group.Flavors) != 1 || q.Spec.CohortName != "" {
			return nil, fmt.Errorf("ClusterQueue %s: of queues in cohorts, or with a choice of flavors, Kueue says itself what is preempted", q.Name)
		}
		for _, r := range group.Flavors[0].Resources {
			quota[r.Name] = r.NominalQuota
		}
	}
	return quota, nil
}

// requests are what all pods of a workload take together: of an admitted one as it was admitted.
func requests(w *kueue.Workload) corev1.ResourceList {
	sum := corev1.ResourceList{}
	add := func(list corev1.ResourceList, times int64) {
		for name, amount := range list {
			amount.Mul(times)
			total := sum[name]
			total.Add(amount)
			sum[name] = total
		}
	}
	if w.Status.Admission != nil {
		for _, a := range w.Status.Admission.PodSetAssignments {
			add(a.ResourceUsage, 1)
		}
		return sum
	}
	for i := range w.Spec.PodSets {
		set := &w.Spec.PodSets[i]
		add(resource.PodRequests(&corev1.Pod{Spec: set.Template.Spec}, resource.PodResourcesOptions{}), int64(set.Count))
	}
	return sum
}

// vector are amounts by kind, in thousandths.
func vector(kinds []corev1.ResourceName, list corev1.ResourceList) apportion.Resources {
	v := make(apportion.Resources, len(kinds))
	for k, kind := range kinds {
		amount := list[kind]
		v[k] = amount.MilliValue()
	}
	return v
}

// lostBy is what a workload loses if it is preempted now, in seconds of its pods.
func lostBy(w *kueue.Workload, now time.Time) int64 {
	since := now
	if c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil {
		since = c.LastTransitionTime.Time
	}
	if at, err := time.Parse(time.RFC3339, w.Annotations[saved]); err == nil && at.After(since) {
		since = at
	}
	pods := int64(0)
	for i := range w.Spec.PodSets {
		pods += int64(w.Spec.PodSets[i].Count)
	}
	return pods * int64(max(0, now.Sub(since).Seconds()))
}

func priority(w *kueue.Workload) int32 {
	if w.Spec.Priority == nil {
		return 0
	}
	return *w.Spec.Priority
}

func nameOf(w *kueue.Workload) string { return w.Namespace + "/" + w.Name }
