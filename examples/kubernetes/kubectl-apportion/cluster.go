// This file reads a cluster once, and decides on it.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/page"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// cluster is what there was at one moment.
type cluster struct{ snapshot.Objects }

// read lists all that is decided by: six lists, as whoever asks may.
func read(ctx context.Context, client kubernetes.Interface) (*cluster, error) {
	c := &cluster{snapshot.Objects{Now: time.Now()}}
	core, jobs, scheduling := client.CoreV1(), client.BatchV1().Jobs(""), client.SchedulingV1()
	var errs [6]error
	c.Nodes, errs[0] = list(ctx, "nodes", core.Nodes().List, func(l *corev1.NodeList) []corev1.Node { return l.Items })
	c.Pods, errs[1] = list(ctx, "pods", core.Pods("").List, func(l *corev1.PodList) []corev1.Pod { return l.Items })
	c.Jobs, errs[2] = list(ctx, "Jobs", jobs.List, func(l *batchv1.JobList) []batchv1.Job { return l.Items })
	c.Namespaces, errs[3] = list(ctx, "namespaces", core.Namespaces().List, func(l *corev1.NamespaceList) []corev1.Namespace { return l.Items })
	c.Quotas, errs[4] = list(ctx, "quotas", core.ResourceQuotas("").List, func(l *corev1.ResourceQuotaList) []corev1.ResourceQuota { return l.Items })
	c.Classes, errs[5] = list(ctx, "priority classes", scheduling.PriorityClasses().List, func(l *schedulingv1.PriorityClassList) []schedulingv1.PriorityClass { return l.Items })
	return c, errors.Join(errs[:]...)
}

// list lists the objects of one kind.
func list[L, T any](ctx context.Context, kind string, ask func(context.Context, metav1.ListOptions) (L, error), items func(L) []T) ([]*T, error) {
	all, err := ask(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be listed: %w", kind, err)
	}
	of := items(all)
	objects := make([]*T, len(of))
	for i := range of {
		objects[i] = &of[i]
	}
	return objects, nil
}

// decided is a decision on a cluster.
type decided struct {
	*alloc.Problem
	*alloc.Decision
	// rejected says of Jobs that are left alone why; stops, by ID, why each of the others has no more, and reasons why it has nothing or
	// stays where it may not.
	rejected map[string]string
	stops    map[string]alloc.Stop
	reasons  map[string]string
}

// decide takes the decision that a controller would begin with.
func (q *query) decide(ctx context.Context, c *cluster) (*decided, error) {
	view := snapshot.NewReader(q.settings.Kinds).View(&c.Objects)
	p, d, err := controller.Plan(ctx, controller.Config{Cluster: seen{view: view}, Problem: q.settings}, snapshot.Running(&c.Objects))
	if err != nil {
		return nil, err
	}
	e, err := alloc.Explain(p, d)
	if err != nil {
		return nil, err
	}
	result := &decided{p, d, view.Rejected, map[string]alloc.Stop{}, page.Reasons(d)}
	for _, stop := range e.Applications {
		result.stops[stop.ID] = stop
	}
	return result, nil
}

// seen is a cluster that was looked at.
type seen struct {
	controller.Cluster
	view *controller.View
}

// Look implements controller.Cluster.
func (s seen) Look(context.Context) (*controller.View, error) { return s.view, nil }

// why says why a job has no more than it gets, or nothing.
func (d *decided) why(id string) string {
	return cmp.Or(d.reasons[id], d.stops[id].Text)
}
