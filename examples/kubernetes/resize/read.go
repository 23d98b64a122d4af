// This file implements Read: objects, pods and nodes as a problem.

package resize

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

const (
	// Max is the annotation that makes an object elastic: the most pods that it may have.
	Max = snapshot.Prefix + "max"
	// Paused is the annotation of an object that is to be left as it is: "true".
	Paused = snapshot.Prefix + "paused"
	// Plan is the annotation with where a decision has the pods of an object, by node, for schedulers that prefer to hear it.
	Plan = snapshot.Prefix + "plan"
)

// Reading is a cluster at one moment.
type Reading struct {
	// Problem is what there is to decide. It has the servers, applications, queues and what runs; who decides adds budgets
	// and options.
	Problem alloc.Problem
	// Rejected says of elastic objects that are left alone why, by ID.
	Rejected map[string]string
	items    map[string]*Item
}

// Read reads a cluster. Jobs of o are not looked at: they are items as others are.
// O(items · (nodes + pods of the item) + pods).
func Read(kinds apportion.Kinds, o snapshot.Objects, items []Item) *Reading {
	r := &Reading{Rejected: map[string]string{}, items: map[string]*Item{}}
	o.Jobs = nil
	byItem := podsOf(o.Pods, items)
	// Each item is read through a stand-in, the Job that would say the same, so that demands, selectors, taints, priorities
	// and quotas mean here what they mean for Jobs.
	replaced, running := map[types.UID]*corev1.Pod{}, alloc.Allocation{}
	ids := map[string]string{}
	for i := range items {
		item := &items[i]
		if _, asked := item.Object.GetAnnotations()[Max]; !asked || item.isOver() {
			continue
		}
		job, err := item.standIn()
		if err != nil {
			r.Rejected[item.ID()] = err.Error()
			continue
		}
		r.items[item.ID()] = item
		o.Jobs = append(o.Jobs, job)
		ids[snapshot.ID(job.Namespace, job.Name)] = item.ID()
		for _, p := range byItem[i] {
			replaced[p.UID] = podOf(p, job)
		}
		if on := item.placed(byItem[i]); len(on) > 0 {
			running[item.ID()] = on
		}
	}
	o.Pods = slices.Clone(o.Pods)
	for i, p := range o.Pods {
		if other, ours := replaced[p.UID]; ours {
			o.Pods[i] = other
		}
	}
	r.fill(kinds, snapshot.NewReader(kinds).View(&o), ids, running)
	return r
}

// fill makes the problem from the view of the stand-ins.
func (r *Reading) fill(kinds apportion.Kinds, view *controller.View, ids map[string]string, running alloc.Allocation) {
	p := &r.Problem
	p.Kinds, p.Queues, p.Previous = kinds, view.Queues, alloc.Allocation{}
	for i := range view.Servers {
		s := view.Servers[i].Server
		// Nothing new comes to a node that is down or to be left. What runs there stays until its own controller ends it.
		s.Cordoned = s.Cordoned || view.Servers[i].Draining || view.Servers[i].Down != ""
		p.Servers = append(p.Servers, s)
	}
	for i := range view.Jobs {
		app := view.Jobs[i].Application
		app.ID = ids[app.ID]
		p.Applications = append(p.Applications, app)
		if on := running[app.ID]; on != nil {
			p.Previous[app.ID] = on
		}
	}
	for id, why := range view.Rejected {
		r.Rejected[ids[id]] = why
	}
	maps.DeleteFunc(r.items, func(id string, _ *Item) bool { _, rejected := r.Rejected[id]; return rejected })
}

// podsOf finds the live pods of each item. O(items + pods · kinds).
func podsOf(pods []*corev1.Pod, items []Item) [][]*corev1.Pod {
	type key struct{ label, namespace, name string }
	at := map[key]int{}
	labels := map[string]bool{}
	for i := range items {
		item := &items[i]
		at[key{item.Kind.Name, item.Object.GetNamespace(), item.Object.GetName()}] = i
		labels[item.Kind.Name] = true
	}
	found := make([][]*corev1.Pod, len(items))
	for _, p := range pods {
		if !snapshot.IsLive(p) {
			continue
		}
		for label := range labels {
			// A pod of a JobSet has the label of its Job as well, but that Job is no item unless it asks for it.
			i, ours := at[key{label, p.Namespace, p.Labels[label]}]
			if ours && inRole(p, items[i].Kind.Role) {
				found[i] = append(found[i], p)
			}
		}
	}
	return found
}

// placed returns how many pods of an object are on each node: no more than its count, for what is beyond that is being ended, and
// the pods with the highest indexes are those that go.
func (i *Item) placed(pods []*corev1.Pod) map[string]int64 {
	count, suspended, err := i.count()
	if err != nil || suspended {
		return nil
	}
	index := func(p *corev1.Pod) int {
		n, _ := strconv.Atoi(p.Labels[batchv1.JobCompletionIndexAnnotation]) // without an index the names decide
		return n
	}
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(index(a), index(b)), cmp.Compare(a.Name, b.Name))
	})
	on := map[string]int64{}
	for _, p := range sorted {
		// One that is being ended holds room for a while, and is nothing of the count.
		if count > 0 && p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			on[p.Spec.NodeName]++
			count--
		}
	}
	return on
}

// inRole reports whether a pod is one of those that are counted.
func inRole(p *corev1.Pod, role map[string]string) bool {
	for key, value := range role {
		if !strings.EqualFold(p.Labels[key], value) {
			return false
		}
	}
	return true
}

// standIn returns the Job that stands for an object.
func (i *Item) standIn() (*batchv1.Job, error) {
	annotations := maps.Clone(i.Object.GetAnnotations())
	if annotations[Paused] == "true" {
		return nil, errors.New("it is paused by its annotation")
	}
	most, err := strconv.ParseInt(annotations[Max], 10, 32)
	if err != nil || most < 1 {
		return nil, fmt.Errorf("annotation %s = %q: a number of pods from 1 on", Max, annotations[Max])
	}
	_, suspended, err := i.count()
	if err != nil {
		return nil, err
	}
	if suspended && i.isKueues() {
		return nil, errors.New("it is suspended by Kueue: it is resized when that has admitted it")
	}
	template, err := i.Template()
	if err != nil {
		return nil, err
	}
	// Nothing of ours is put before the command, so that it need not be known.
	template.Spec.Containers[0].Command = []string{"unknown"}
	delete(annotations, Max)
	delete(annotations, Plan)
	manager, pods := snapshot.Manager, int32(most)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: i.Object.GetNamespace(), Name: i.Kind.Resource + "/" + i.Object.GetName(), UID: i.Object.GetUID(),
			Labels: i.Object.GetLabels(), Annotations: annotations, CreationTimestamp: i.Object.GetCreationTimestamp(), ResourceVersion: i.Object.GetResourceVersion(),
		},
		Spec: batchv1.JobSpec{ManagedBy: &manager, Parallelism: &pods, Template: *template},
	}, nil
}

// podOf returns a pod as one of the Job that stands for its object.
func podOf(p *corev1.Pod, job *batchv1.Job) *corev1.Pod {
	c := *p
	isController := true
	c.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: job.Name, UID: job.UID, Controller: &isController}}
	c.Labels = maps.Clone(p.Labels)
	c.Labels[snapshot.Attempt] = "1"
	return &c
}
