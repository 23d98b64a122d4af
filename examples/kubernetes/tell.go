// This file tells users by their Jobs, conditions, events and counts of pods, how they stand and why.

package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// The reasons of the condition snapshot.Placed.
const (
	running  = "Running"
	resizing = "Resizing"
	waiting  = "Waiting"
	rejected = "Rejected"
)

// Tell implements external.Teller. It writes to those Jobs alone of which something has changed.
func (o *owner) Tell(ctx context.Context, r *controller.Report) error {
	reports := map[string]*controller.JobReport{}
	for i := range r.Jobs {
		reports[r.Jobs[i].Job.Name] = &r.Jobs[i]
	}
	there := map[types.UID]bool{}
	err := o.rest(r)
	for _, j := range o.seen.Jobs() {
		id := snapshot.ID(j.Namespace, j.Name)
		if !snapshot.IsElastic(j) || snapshot.IsFinished(j) || j.DeletionTimestamp != nil {
			continue
		}
		there[j.UID] = true
		if now, due := o.standing(j, reports[id], r.Rejected[id]); due {
			err = errors.Join(err, o.tell(ctx, j, now, r))
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.told, func(uid types.UID, _ told) bool { return !there[uid] })
	return err
}

// standing says how a Job stands, and whether its users are to be told.
func (o *owner) standing(j *batchv1.Job, r *controller.JobReport, refusal string) (told, bool) {
	now := told{reason: waiting, why: "it was not decided on yet", most: 1}
	if j.Spec.Parallelism != nil {
		now.most = int(*j.Spec.Parallelism)
	}
	for _, p := range o.podsOf(j.UID) {
		if !snapshot.IsLive(p) || p.DeletionTimestamp != nil {
			continue
		}
		now.active++
		for i := range p.Status.Conditions {
			if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				now.ready++
			}
		}
	}
	switch {
	case refusal != "":
		now.reason, now.why = rejected, refusal
	case r == nil:
	case len(r.Job.Containers) == 0:
		now.why = r.Why
	default:
		now.reason, now.why, now.containers = resizing, r.Why, len(r.Job.Containers)
		if slices.Contains([]checkpoint.Phase{checkpoint.Running, checkpoint.Saving, checkpoint.Verifying}, r.Job.Phase) && r.Job.Order == 0 {
			now.reason = running
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	before, known := o.told[j.UID]
	return now, !known || before != now
}

// tell tells the users of one Job.
func (o *owner) tell(ctx context.Context, j *batchv1.Job, now told, r *controller.Report) error {
	o.mu.Lock()
	before := o.told[j.UID]
	o.mu.Unlock()
	sentence, status := now.sentence(r), corev1.ConditionFalse
	if now.containers > 0 {
		status = corev1.ConditionTrue
	}
	at := metav1.Now()
	condition := batchv1.JobCondition{Type: snapshot.Placed, Status: status, Reason: now.reason, Message: sentence, LastProbeTime: at, LastTransitionTime: at}
	for i := range j.Status.Conditions {
		if c := &j.Status.Conditions[i]; c.Type == snapshot.Placed && c.Status == status {
			condition.LastTransitionTime = c.LastTransitionTime
		}
	}
	change := map[string]any{"active": now.active, "ready": min(now.ready, now.active), "conditions": []batchv1.JobCondition{condition}}
	if j.Status.StartTime == nil && now.active > 0 {
		change["startTime"] = at
	}
	if err := o.writeStatus(ctx, j, change); err != nil {
		return err
	}
	o.mu.Lock()
	o.told[j.UID] = now
	o.mu.Unlock()
	if before.containers == now.containers && (before.reason == now.reason || now.reason != rejected && now.reason != waiting) {
		return nil
	}
	return o.announce(ctx, j, now.reason, sentence)
}

// sentence says in one sentence how a job stands, and how good the decision is.
func (t *told) sentence(r *controller.Report) string {
	text := fmt.Sprintf("It has %d of at most %d containers", t.containers, t.most)
	switch {
	case t.reason == rejected:
		return "It is left alone: " + t.why + "."
	case t.reason == waiting:
		text = "It waits"
	case t.reason == resizing:
		text += " and is being resized"
	}
	if t.why != "" {
		text += ": " + strings.TrimSuffix(t.why, ".")
	}
	if r.Bound != 0 {
		text += fmt.Sprintf(" (decision within %.2g%% of the best possible, bound %.4g)", max(0, 100*r.Gap), r.Bound)
	}
	return text + "."
}

// writeStatus writes into the status of a Job. Conditions are merged by their types.
func (o *owner) writeStatus(ctx context.Context, j *batchv1.Job, change map[string]any) error {
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": j.UID}, "status": change})
	if err != nil {
		return err
	}
	_, err = o.client.BatchV1().Jobs(j.Namespace).Patch(ctx, j.Name, types.StrategicMergePatchType, text, metav1.PatchOptions{FieldManager: fieldManager}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it is gone, or another has its name
	}
	return err
}

// announce makes an event of a Job.
func (o *owner) announce(ctx context.Context, j *batchv1.Job, reason, sentence string) error {
	kind := corev1.EventTypeNormal
	if reason == rejected {
		kind = corev1.EventTypeWarning
	}
	at := metav1.Now()
	_, err := o.client.CoreV1().Events(j.Namespace).Create(ctx, &corev1.Event{ObjectMeta: metav1.ObjectMeta{GenerateName: j.Name + "-", Namespace: j.Namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: j.Namespace, Name: j.Name, UID: j.UID},
		Type:           kind, Reason: reason, Message: sentence, Source: corev1.EventSource{Component: fieldManager}, ReportingController: snapshot.Manager,
		FirstTimestamp: at, LastTimestamp: at, Count: 1}, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil // nobody reads it there
	}
	return err
}

// Ended implements controller.Cluster: the Job gets the conditions that say that it is over.
func (o *owner) Ended(ctx context.Context, job string, how checkpoint.Ending, why string) error {
	j := o.seen.Job(job)
	if j == nil || snapshot.IsFinished(j) {
		return nil
	}
	at := metav1.NewTime(time.Now())
	before, after, reason, message := batchv1.JobSuccessCriteriaMet, batchv1.JobComplete, "Done", "Its trainers have done their work."
	if how != checkpoint.Completed {
		before, after, reason, message = batchv1.JobFailureTarget, batchv1.JobFailed, "Cancelled", "It was cancelled."
	}
	if how == checkpoint.GivenUp {
		reason, message = batchv1.JobReasonBackoffLimitExceeded, why
	}
	succeeded := int32(0)
	for _, p := range o.podsOf(j.UID) {
		if p.Status.Phase == corev1.PodSucceeded {
			succeeded++
		}
	}
	change := map[string]any{"active": 0, "ready": 0, "succeeded": max(succeeded, j.Status.Succeeded)}
	var conditions []batchv1.JobCondition
	for _, kind := range []batchv1.JobConditionType{before, after} {
		conditions = append(conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastProbeTime: at, LastTransitionTime: at})
	}
	change["conditions"] = conditions
	if after == batchv1.JobComplete {
		change["completionTime"] = at
	}
	if j.Status.StartTime == nil {
		change["startTime"] = at
	}
	return o.writeStatus(ctx, j, change)
}
