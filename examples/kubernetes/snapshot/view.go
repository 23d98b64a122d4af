// This file implements Reader: the view of a cluster from its objects.

package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
)

// late is how long after the end of its grace a pod of ours that was deleted counts as one of others, which hold room: its
// kubelet does not answer.
const late = 10 * time.Second

// View reads the cluster. O(nodes · taints + pods + Jobs · (nodes + taints)).
func (r *Reader) View(o *Objects) *controller.View {
	view := &controller.View{Rejected: map[string]string{}}
	elastic := map[types.UID]bool{}
	for _, j := range o.Jobs {
		elastic[j.UID] = IsElastic(j)
	}
	// 1. What others use, by node and by namespace.
	onNode, inNamespace := map[string]apportion.Resources{}, map[string]apportion.Resources{}
	var unschedulable []*corev1.Pod
	for _, p := range o.Pods {
		ours := elastic[Owner(p)] && p.Labels[Attempt] != "" && (p.DeletionTimestamp == nil || o.Now.Sub(p.DeletionTimestamp.Time) < late)
		if ours || !IsLive(p) {
			continue
		}
		demand := Demand(r.kinds, &p.Spec)
		add(inNamespace, p.Namespace, demand)
		if p.Spec.NodeName != "" {
			add(onNode, p.Spec.NodeName, demand)
		} else if isUnschedulable(p) {
			unschedulable = append(unschedulable, p)
		}
	}
	// 2. Nodes, by name.
	nodes := slices.SortedFunc(slices.Values(o.Nodes), func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range nodes {
		view.Servers = append(view.Servers, server(r.kinds, n, onNode[n.Name]))
	}
	// 3. Jobs, and the queues that they are in.
	places := newPlaces(nodes, view.Servers)
	r.readJobs(o, view, places)
	view.Waiting = r.waiting(unschedulable, places)
	view.Queues = r.queues(o, split(view.Jobs), inNamespace)
	return view
}

// isUnschedulable reports whether a scheduler has found no node for a pod.
func isUnschedulable(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// waiting are pods that wait for a node, in the order in which a scheduler tries them: by priority, and the oldest first. One whose
// affinity cannot be read is left out: elastic jobs could make room for it anywhere but where it can go.
func (r *Reader) waiting(pods []*corev1.Pod, places *places) []controller.Waiting {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(priorityOf(b), priorityOf(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(ID(a.Namespace, a.Name), ID(b.Namespace, b.Name)))
	})
	var list []controller.Waiting
	for _, p := range pods {
		id := ID(p.Namespace, p.Name)
		requires, err := places.requirements("pod "+id, &p.Spec)
		if err == nil {
			list = append(list, controller.Waiting{ID: id, Demand: Demand(r.kinds, &p.Spec), Requires: requires})
		}
	}
	return list
}

func priorityOf(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// add adds quantities to those of a key.
func add(to map[string]apportion.Resources, key string, more apportion.Resources) {
	if to[key] == nil {
		to[key] = make(apportion.Resources, len(more))
	}
	for k := range more {
		to[key][k] += more[k]
	}
}

// readJobs reads the elastic Jobs in the order in which they were created.
func (r *Reader) readJobs(o *Objects, view *controller.View, places *places) {
	priorities := map[string]int64{}
	for _, c := range o.Classes {
		priorities[c.Name] = int64(c.Value)
	}
	jobs := slices.SortedFunc(slices.Values(o.Jobs), func(a, b *batchv1.Job) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(ID(a.Namespace, a.Name), ID(b.Namespace, b.Name)))
	})
	there := map[types.UID]bool{}
	for _, j := range jobs {
		if !IsElastic(j) {
			continue
		}
		there[j.UID] = true
		id := ID(j.Namespace, j.Name)
		if IsFinished(j) || j.DeletionTimestamp != nil {
			view.Withdrawn = append(view.Withdrawn, id)
			continue
		}
		job, err := r.job(j, priorities, places)
		if err != nil {
			view.Rejected[id] = err.Error()
			continue
		}
		view.Jobs = append(view.Jobs, job)
	}
	maps.DeleteFunc(r.declared, func(uid types.UID, _ declared) bool { return !there[uid] })
}

// job reads one Job.
func (r *Reader) job(j *batchv1.Job, priorities map[string]int64, places *places) (controller.Job, error) {
	app, err := r.application(j, priorities)
	if err != nil {
		return controller.Job{}, err
	}
	if app.Requires, err = places.requirements(app.ID, &j.Spec.Template.Spec); err != nil {
		return controller.Job{}, err
	}
	if j.Spec.Suspend != nil && *j.Spec.Suspend {
		app.Requires = append(app.Requires, apportion.Requirement{Key: suspended, Op: apportion.Exists})
	}
	known := r.declared[j.UID]
	if known.version != j.ResourceVersion || known.text == nil {
		if known.text, err = r.declare(j); err != nil {
			return controller.Job{}, err
		}
		known.version = j.ResourceVersion
		r.declared[j.UID] = known
	}
	return controller.Job{Application: app, Spec: known.text, MaxDeaths: maxDeaths(j)}, nil
}
