// This file holds the room of pods that go until other pods of elastic Jobs are there.

package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/resource"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// roomOf is the label of a pod that holds room, with the attempt whose room it was, and its scheduling gate.
const roomOf = snapshot.Prefix + "room"

// Room is held for holdMost at most, and for holdLeast at least, in which the controller has told of what it does with it. Nothing
// waits longer than holdWait for it.
const (
	holdLeast = 5 * time.Second
	holdMost  = time.Minute
	holdWait  = 3 * time.Second
)

// Hold implements managed.Holder, where pods of others wait. An error is kept for Tell: it ends nothing, but others may be there
// first.
func (o *owner) Hold(ctx context.Context, job string, attempt int64) {
	w, j := o.work(job), o.seen.Job(job)
	w.mu.Lock()
	defer w.mu.Unlock()
	if j == nil || w.held >= attempt || !o.seen.PodsWait() {
		return
	}
	w.held = attempt
	byNode := map[string][]*corev1.Pod{}
	for _, p := range o.podsOf(j.UID) {
		if attemptOf(p) == attempt && snapshot.IsLive(p) && p.DeletionTimestamp == nil && o.isUp(p.Spec.NodeName) {
			byNode[p.Spec.NodeName] = append(byNode[p.Spec.NodeName], p)
		}
	}
	ctx, stop := context.WithTimeout(ctx, holdWait)
	defer stop()
	nodes := slices.Sorted(maps.Keys(byNode))
	errs := managed.Each(len(nodes), together, func(i int) error {
		node := nodes[i]
		if err := o.hold(ctx, byNode[node], node); err != nil {
			return fmt.Errorf("the room of %d pods of job %q on %s is not held: %w", len(byNode[node]), job, node, err)
		}
		return nil
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unheld = append(o.unheld, errs...)
}

// hold makes a pod that never runs in place of pods on a node that are about to go. kube-scheduler counts a pod that is
// nominated for a node as being there, for all pods of its priority or less
// (https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/), and never binds one with a gate.
func (o *owner) hold(ctx context.Context, pods []*corev1.Pod, node string) error {
	room := corev1.ResourceList{}
	for _, p := range pods {
		for name, more := range resource.PodRequests(p, resource.PodResourcesOptions{}) {
			sum := room[name]
			sum.Add(more)
			room[name] = sum
		}
	}
	yes, no, first := true, false, pods[0]
	class := first.Spec.PriorityClassName
	if o.mount.class != "" {
		class = "" // room is held from pods of others, which are above that class
	}
	holder := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "room-", Labels: map[string]string{roomOf: strconv.FormatInt(attemptOf(first), 10)}},
		Spec: corev1.PodSpec{PriorityClassName: class, SchedulingGates: []corev1.PodSchedulingGate{{Name: roomOf}},
			AutomountServiceAccountToken: &no, SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "room", Image: "none", Resources: corev1.ResourceRequirements{Requests: room, Limits: room},
				SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}}}}
	made, err := o.client.CoreV1().Pods(o.namespace).Create(ctx, holder, metav1.CreateOptions{FieldManager: fieldManager})
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"status": corev1.PodStatus{NominatedNodeName: node}})
	if err != nil {
		return err
	}
	_, err = o.client.CoreV1().Pods(o.namespace).Patch(ctx, made.Name, types.StrategicMergePatchType, text, metav1.PatchOptions{FieldManager: fieldManager}, "status")
	return err
}

// release gives room back that is held for too long, or for nobody. With an error it is tried again with the next look.
func (o *owner) release(ctx context.Context, pods []*corev1.Pod) {
	o.mu.Lock()
	rests := o.rests
	o.mu.Unlock()
	for _, p := range pods {
		age := time.Since(p.CreationTimestamp.Time)
		if p.Namespace == o.namespace && p.Labels[roomOf] != "" && (age > holdMost || rests && age > holdLeast) {
			_ = o.remove(ctx, p)
		}
	}
}

// rest notes whether any job is being changed, and returns what went wrong when room was held.
func (o *owner) rest(r *controller.Report) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rests = true
	for i := range r.Jobs {
		j := &r.Jobs[i].Job
		switch {
		case j.Order != 0:
			o.rests = false
		case j.Phase != checkpoint.Running && j.Phase != checkpoint.Saving && j.Phase != checkpoint.Verifying && j.Phase != checkpoint.Ended:
			o.rests = o.rests && len(j.Containers) == 0
		}
	}
	defer func() { o.unheld = nil }()
	return errors.Join(o.unheld...)
}
