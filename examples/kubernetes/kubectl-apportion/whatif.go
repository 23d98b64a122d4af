// This file answers what would become of a decision if the cluster was another one.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// whatIf prints the decision beside the one without the change.
func (q *query) whatIf(ctx context.Context, c *cluster, _ string, w io.Writer) error {
	other, err := q.change.of(c, q)
	if err != nil {
		return err
	}
	now, err := q.decide(ctx, c)
	if err != nil {
		return err
	}
	then, err := q.decide(ctx, other)
	if err != nil {
		return err
	}
	rows := []string{"JOB\tHAS\tNOW\tTHEN\tWHERE THEN\tWHY NOT MORE THEN"}
	for _, id := range union(now, then) {
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%s\t%s", id, now.Previous.Containers(id), now.Allocation.Containers(id), then.Allocation.Containers(id),
			where(then.Allocation[id]), then.why(id)))
	}
	if err := table(w, rows...); err != nil {
		return err
	}
	steps := alloc.NewPlan(then.Problem, then.Allocation, then.Shares...)
	for _, said := range []struct {
		text string
		jobs []string
	}{{"saved, stopped and resumed", steps.Affected}, {"saved and stopped", steps.Suspended}, {"started", steps.Started}} {
		if len(said.jobs) > 0 {
			if _, err := fmt.Fprintf(w, "%s: %s\n", said.text, strings.Join(said.jobs, ", ")); err != nil {
				return err
			}
		}
	}
	return then.summary(w)
}

// union are the jobs of either decision, in the order of the first.
func union(a, b *decided) []string {
	var ids []string
	for _, apps := range [][]alloc.Application{a.Applications, b.Applications} {
		for i := range apps {
			if !slices.Contains(ids, apps[i].ID) {
				ids = append(ids, apps[i].ID)
			}
		}
	}
	return ids
}

// of returns the cluster after the change; c stays as it is.
func (h *change) of(c *cluster, q *query) (*cluster, error) {
	if len(h.drain)+len(h.arrive)+len(h.end) == 0 {
		return nil, errors.New("what-if needs -drain NODE, -arrive FILE or -end JOB")
	}
	other := *c
	other.Nodes, other.Jobs = slices.Clone(c.Nodes), slices.Clone(c.Jobs)
	for _, name := range h.drain {
		at := slices.IndexFunc(other.Nodes, func(n *corev1.Node) bool { return n.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no node %q", name)
		}
		// A cordon would let jobs stay for as long as moving them costs too much. A drain ends with a node that nobody has.
		other.Nodes = slices.Delete(other.Nodes, at, at+1)
	}
	for _, name := range h.end {
		id := q.id(name)
		at := slices.IndexFunc(other.Jobs, func(j *batchv1.Job) bool { return snapshot.ID(j.Namespace, j.Name) == id })
		if at < 0 {
			return nil, fmt.Errorf("there is no Job %s", id)
		}
		other.end(at)
	}
	for _, file := range h.arrive {
		j, err := manifest(file, q.namespace)
		if err != nil {
			return nil, err
		}
		if other.job(snapshot.ID(j.Namespace, j.Name)) != nil {
			return nil, fmt.Errorf("%s: there is a Job %s already", file, snapshot.ID(j.Namespace, j.Name))
		}
		j.CreationTimestamp = metav1.NewTime(c.Now)
		other.Jobs = append(other.Jobs, j)
	}
	return &other, nil
}

// end takes a Job out, with its pods.
func (c *cluster) end(at int) {
	gone := c.Jobs[at].UID
	c.Jobs = slices.Delete(c.Jobs, at, at+1)
	c.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p *corev1.Pod) bool { return snapshot.Owner(p) == gone })
}

// manifest reads an elastic Job from a file.
func manifest(file, namespace string) (*batchv1.Job, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	j := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(text, j); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	j.Namespace = cmp.Or(j.Namespace, namespace)
	j.UID = types.UID("what-if " + file)
	switch {
	case j.Kind != "Job" || j.Name == "":
		return nil, fmt.Errorf("%s: a Job with a name is needed", file)
	case !snapshot.IsElastic(j):
		return nil, fmt.Errorf("%s: its spec.managedBy is not %s", file, snapshot.Manager)
	case len(j.Spec.Template.Spec.Containers) == 0:
		return nil, fmt.Errorf("%s: its pods have no containers", file)
	}
	return j, nil
}
