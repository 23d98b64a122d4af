// This file implements Plugin: the points of the scheduler's framework.

package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/tools/cache"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	"k8s.io/kube-scheduler/framework"

	"github.com/apportion/apportion/examples/kubernetes/resize"
)

// Plugin is one of the scheduler's. It is safe for concurrent use.
type Plugin struct {
	handle framework.Handle
	args   Args
	shares *shares
	jobs   batchlisters.JobLister
}

// New makes the plugin for a scheduler, with Args as the scheduler's configuration has them.
func New(_ context.Context, given runtime.Object, handle framework.Handle) (framework.Plugin, error) {
	args, err := readArgs(given)
	if err != nil {
		return nil, err
	}
	s, err := newShares()
	if err != nil {
		return nil, err
	}
	shared := handle.SharedInformerFactory()
	core := shared.Core().V1()
	for _, informer := range []cache.SharedIndexInformer{core.Pods().Informer(), core.Nodes().Informer(), core.Namespaces().Informer()} {
		if _, err := informer.AddEventHandler(handler(s.see)); err != nil {
			return nil, err
		}
	}
	return &Plugin{handle: handle, args: args, shares: s, jobs: shared.Batch().V1().Jobs().Lister()}, nil
}

// handler makes what an informer calls.
func handler(see func(object any, gone bool) error) cache.ResourceEventHandler {
	say := func(object any, gone bool) {
		if last, missed := object.(cache.DeletedFinalStateUnknown); missed {
			object = last.Obj
		}
		if err := see(object, gone); err != nil {
			klog.ErrorS(err, "what was seen does not add up", "plugin", Name)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: func(o any) { say(o, false) }, UpdateFunc: func(_, o any) { say(o, false) },
		DeleteFunc: func(o any) { say(o, true) }}
}

// Name implements framework.Plugin.
func (p *Plugin) Name() string { return Name }

// Less implements framework.QueueSortPlugin.
func (p *Plugin) Less(a, b framework.QueuedPodInfo) bool {
	x, y := a.GetPodInfo().GetPod(), b.GetPodInfo().GetPod()
	if u, v := corev1helpers.PodPriority(x), corev1helpers.PodPriority(y); u != v {
		return u > v
	}
	if c := p.shares.compare(x.Namespace, y.Namespace); c != 0 {
		return c < 0
	}
	return a.GetTimestamp().Before(b.GetTimestamp())
}

// Reserve implements framework.ReservePlugin: the pod counts from here on.
func (p *Plugin) Reserve(_ context.Context, _ framework.CycleState, pod *corev1.Pod, _ string) *framework.Status {
	return framework.AsStatus(p.shares.take(pod))
}

// Unreserve implements framework.ReservePlugin. One that gives its place back takes all of its gang that wait with it.
func (p *Plugin) Unreserve(_ context.Context, _ framework.CycleState, pod *corev1.Pod, _ string) {
	if err := p.shares.release(pod.UID); err != nil {
		klog.ErrorS(err, "what was reserved is not there", "plugin", Name, "pod", klog.KObj(pod))
	}
	p.each(pod, func(w framework.WaitingPod) { w.Reject(Name, "another pod of its gang has no place") })
}

// Permit implements framework.PermitPlugin: a pod of a gang waits for the others, and the last one lets them all go.
func (p *Plugin) Permit(_ context.Context, _ framework.CycleState, pod *corev1.Pod, _ string) (*framework.Status, time.Duration) {
	if missing := p.shares.missing(pod); missing > 0 {
		return framework.NewStatus(framework.Wait, fmt.Sprintf("%d of its gang have no place yet", missing)), p.args.Patience.Duration
	}
	p.each(pod, func(w framework.WaitingPod) { w.Allow(Name) })
	return nil, 0
}

// each calls use with the other pods of a gang that wait.
func (p *Plugin) each(pod *corev1.Pod, use func(framework.WaitingPod)) {
	owner, size := gangOf(pod)
	if size == 0 {
		return
	}
	p.handle.IterateOverWaitingPods(func(w framework.WaitingPod) {
		if other, _ := gangOf(w.GetPod()); other == owner && w.GetPod().UID != pod.UID {
			use(w)
		}
	})
}

// Score implements framework.ScorePlugin: a node that is short of what the plan has there.
func (p *Plugin) Score(_ context.Context, _ framework.CycleState, pod *corev1.Pod, node framework.NodeInfo) (int64, *framework.Status) {
	plan, owner := p.plan(pod)
	want := plan[node.Node().Name]
	for _, other := range node.GetPods() {
		if want > 0 && metav1.IsControlledBy(other.GetPod(), owner) {
			want--
		}
	}
	return max(0, min(want, 1)) * framework.MaxScore, nil
}

// plan is what a decision has asked for of the Job of a pod.
func (p *Plugin) plan(pod *corev1.Pod) (map[string]int64, metav1.Object) {
	ref := metav1.GetControllerOf(pod)
	if ref == nil || ref.Kind != "Job" {
		return nil, nil
	}
	job, err := p.jobs.Jobs(pod.Namespace).Get(ref.Name)
	var plan map[string]int64
	if err != nil || json.Unmarshal([]byte(job.Annotations[resize.Plan]), &plan) != nil {
		return nil, nil // it is not known yet or not any more, or nobody has planned it
	}
	return plan, job
}

// ScoreExtensions implements framework.ScorePlugin.
func (p *Plugin) ScoreExtensions() framework.ScoreExtensions { return nil }

// SignPod implements framework.SignPlugin: pods of one owner get the same answer.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) ([]framework.SignFragment, *framework.Status) {
	return []framework.SignFragment{{Key: Name + "/owner", Value: metav1.GetControllerOf(pod)}}, nil
}
