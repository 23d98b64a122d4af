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
	for _, p := range o.Pods {
		ours := elastic[Owner(p)] && p.Labels[Attempt] != "" && (p.DeletionTimestamp == nil || o.Now.Sub(p.DeletionTimestamp.Time) < late)
		if ours || !IsLive(p) {
			continue
		}
		demand := Demand(r.kinds, &p.Spec)
		add(inNamespace, p.Namespace, demand)
		if p.Spec.NodeName != "" {
			add(onNode, p.Spec.NodeName, demand)
		}
	}
	// 2. Nodes, by name.
	nodes := slices.SortedFunc(slices.Values(o.Nodes), func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range nodes {
		view.Servers = append(view.Servers, server(r.kinds, n, onNode[n.Name]))
	}
	// 3. Jobs, and the queues that they are in.
	r.readJobs(o, view, newPlaces(nodes, view.Servers))
	view.Queues = r.queues(o, split(view.Jobs), inNamespace)
	return view
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
