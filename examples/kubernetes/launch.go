// This file starts and ends the pods of runs by the API of Kubernetes.

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

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// User implements managed.Manager.
func (o *owner) User(spec json.RawMessage) (*command.User, error) {
	var d snapshot.Declared
	err := json.Unmarshal(spec, &d)
	return d.User, err
}

// Start implements managed.Manager. The note comes first: whoever finds it knows that pods of the attempt may live. An attempt
// is noted by one master, and only that one makes its pods: after its death nobody could tell one that was never made from
// one that ran and is gone.
func (o *owner) Start(ctx context.Context, t managed.Task) error {
	var d snapshot.Declared
	if err := json.Unmarshal(t.Spec, &d); err != nil {
		return err
	}
	w := o.work(t.Job)
	w.mu.Lock()
	defer w.mu.Unlock()
	mine := false
	err := o.update(ctx, t.Job, w, func(j *batchv1.Job, n *note) (bool, error) {
		switch {
		case j.UID != d.UID:
			return false, errGone{t.Job, "is another one now"}
		case j.DeletionTimestamp != nil:
			return false, errGone{t.Job, "is being deleted"}
		case t.Attempt <= n.Stopped || t.Attempt < n.Attempt:
			return false, nil // it is over
		case t.Attempt == n.Attempt:
			mine = n.By == o.epoch && n.Made < t.Attempt
			return false, nil
		}
		n.Attempt, n.By, mine = t.Attempt, o.epoch, true
		return true, nil
	})
	if err != nil || !mine {
		return err
	}
	pods, err := o.pods(&d, &t)
	if err != nil {
		return err
	}
	if w.attempt != t.Attempt {
		w.attempt, w.pods = t.Attempt, map[string]bool{}
	}
	if err := o.makeAll(ctx, w, pods); err != nil {
		return err
	}
	return o.update(ctx, t.Job, w, func(_ *batchv1.Job, n *note) (bool, error) {
		n.Made = max(n.Made, t.Attempt)
		return true, nil
	})
}

// together is how many pods of a job are made or deleted at the same time.
const together = 8

// makeAll makes those pods of a run that this program has not made. w.mu is held.
func (o *owner) makeAll(ctx context.Context, w *work, pods []*corev1.Pod) error {
	due := slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return w.pods[p.Name] })
	errs := managed.Each(len(due), together, func(i int) error { return o.make(ctx, due[i]) })
	var faults []error
	for i := range due {
		if errs[i] != nil {
			faults = append(faults, errs[i])
		} else {
			w.pods[due[i].Name] = true
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("kubernetes: %d of %d pods could not be made: %w", len(faults), len(pods), faults[0])
	}
	return nil
}

// make makes a pod. One of its name that belongs to the same run was made by a call whose answer was lost.
func (o *owner) make(ctx context.Context, p *corev1.Pod) error {
	made, err := o.client.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		var there *corev1.Pod
		if there, err = o.client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{}); err != nil {
			return err
		}
		if snapshot.Owner(there) != snapshot.Owner(p) || attemptOf(there) != attemptOf(p) {
			return fmt.Errorf("kubernetes: there is another pod %q", p.Name)
		}
		made = there
	}
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	// One that was seen already is in the store, and may have gone from there.
	if !o.seen.HasPod(p.Namespace, p.Name) {
		o.made[made.UID] = &madePod{made, time.Now()}
	}
	return nil
}

// Stop implements managed.Manager: the attempt is noted as over, and its pods on the node go.
func (o *owner) Stop(ctx context.Context, job string, attempt int64, server string) (left bool, err error) {
	j, err := o.over(ctx, job, attempt)
	if err != nil || j == nil {
		return false, err
	}
	for _, p := range o.podsOf(j.UID) {
		if p.Spec.NodeName != server || attemptOf(p) > attempt || !snapshot.IsLive(p) {
			continue
		}
		if p.DeletionTimestamp == nil {
			if err := o.remove(ctx, p); err != nil {
				return true, err
			}
		}
		if err := o.look(ctx, p); err != nil {
			return true, err
		}
		left = true
	}
	return left && o.isUp(server), nil
}

// unseen is after how long a pod that was made and not seen is asked for, each time, and one whose deletion was not seen is deleted
// again.
const unseen = 20 * time.Second

// over notes that attempts up to one are over. It returns the Job, nil if it is not there.
func (o *owner) over(ctx context.Context, job string, attempt int64) (*batchv1.Job, error) {
	w := o.work(job)
	w.mu.Lock()
	defer w.mu.Unlock()
	var found *batchv1.Job
	err := o.update(ctx, job, w, func(j *batchv1.Job, n *note) (bool, error) {
		found = j
		// One that was never noted, or is noted as over, needs no word. A finalizer cannot be added to what is being deleted.
		if n.Stopped >= attempt || n.Attempt == 0 {
			return false, nil
		}
		n.Stopped = attempt
		return true, nil
	})
	if apierrors.IsNotFound(err) {
		w.job = nil
		return nil, nil
	}
	return found, err
}

// remove deletes a pod, this very one and no other of its name. One that was deleted here a moment ago, or is being deleted, is
// left alone: that may not be seen yet.
func (o *owner) remove(ctx context.Context, p *corev1.Pod) error {
	o.mu.Lock()
	at, was := o.removed[p.UID]
	was = was && time.Since(at) < unseen
	if !was {
		o.removed[p.UID] = time.Now()
	}
	o.mu.Unlock()
	if was {
		return nil
	}
	err := o.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(p.UID))})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it goes, or is gone
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.removed, p.UID)
	return err
}

// look asks for a pod that was made and for a while not seen, and forgets it if it is gone: it may have come and gone while nothing
// was to be seen.
func (o *owner) look(ctx context.Context, p *corev1.Pod) error {
	o.mu.Lock()
	known, is := o.made[p.UID]
	due := is && time.Since(known.at) > unseen
	o.mu.Unlock()
	if !due {
		return nil
	}
	there, err := o.client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if known.at = time.Now(); err != nil || there.UID != p.UID {
		delete(o.made, p.UID)
	}
	return nil
}

// isUp reports whether a node has a kubelet that can end pods.
func (o *owner) isUp(node string) bool {
	n := o.seen.Node(node)
	return n != nil && snapshot.IsUp(n)
}

// sweepMost is how many pods one sweep takes away.
const sweepMost = 50

// sweep takes away pods that no Stop has met: those that a master before this one made too late, and what is left of attempts
// before the newest.
func (o *owner) sweep(ctx context.Context, jobs []*batchv1.Job) {
	o.mu.Lock()
	maps.DeleteFunc(o.removed, func(_ types.UID, at time.Time) bool { return time.Since(at) >= unseen })
	o.mu.Unlock()
	swept := 0
	for _, j := range jobs {
		if !snapshot.IsElastic(j) || j.Annotations[snapshot.Note] == "" {
			continue
		}
		n := noteOf(j)
		for _, p := range o.podsOf(j.UID) {
			attempt := attemptOf(p)
			old := snapshot.IsLive(p) && attempt <= n.Stopped || !snapshot.IsLive(p) && attempt < n.Attempt
			if old && p.DeletionTimestamp == nil && swept < sweepMost {
				swept++
				_ = o.remove(ctx, p) // with the next look it is tried again
			}
		}
	}
}

// Trouble implements managed.Manager: a pod that has ended without its guard having said a word, that cannot start, or that is
// not there any more.
func (o *owner) Trouble(ctx context.Context, job string, attempt int64, part managed.Part) (why string, refused bool, err error) {
	w := o.work(job)
	w.mu.Lock()
	j, err := o.job(ctx, job, w)
	w.mu.Unlock()
	if err != nil {
		return "", false, err
	}
	n := noteOf(j)
	if n.Attempt < attempt {
		return "", false, nil // it was not asked for yet
	}
	for _, p := range o.podsOn(j.UID, part.Server, attempt) {
		if err := o.look(ctx, p); err != nil {
			return "", false, err
		}
	}
	pods := o.podsOn(j.UID, part.Server, attempt)
	for _, p := range pods {
		if text := troubleOf(p); text != "" {
			return fmt.Sprintf("pod %s %s", p.Name, text), strings.HasPrefix(p.Status.Reason, outOf), nil
		}
	}
	switch {
	case n.By == o.epoch && n.Made < attempt:
		return "", false, nil // they are being made
	case len(pods) == 0:
		return "its pods on " + part.Server + " are gone", false, nil
	case len(pods) < part.Count:
		return fmt.Sprintf("%d of its %d pods on %s are gone", part.Count-len(pods), part.Count, part.Server), false, nil
	}
	return "", false, nil
}

// podsOn are the pods of an attempt on a node, with those that were made and not seen yet.
func (o *owner) podsOn(job types.UID, server string, attempt int64) []*corev1.Pod {
	return slices.DeleteFunc(o.podsOf(job), func(p *corev1.Pod) bool { return p.Spec.NodeName != server || attemptOf(p) != attempt })
}

// outOf begins the reason of a pod that its kubelet has refused, as others have the room: OutOfcpu, OutOfmemory, OutOfpods.
const outOf = "OutOf"

// stuck are reasons for which a container does not start, by themselves.
var stuck = []string{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}

// troubleOf says why a pod will never run, or runs no more; "": nothing is known of that.
func troubleOf(p *corev1.Pod) string {
	if !snapshot.IsLive(p) {
		text := "is " + string(p.Status.Phase)
		for i := range p.Status.ContainerStatuses {
			if t := p.Status.ContainerStatuses[i].State.Terminated; t != nil && p.Status.Reason == "" {
				text += fmt.Sprintf(": exit code %d %s", t.ExitCode, t.Reason)
			}
		}
		return strings.TrimSpace(text + " " + p.Status.Reason + " " + p.Status.Message)
	}
	for i := range p.Status.ContainerStatuses {
		if waiting := p.Status.ContainerStatuses[i].State.Waiting; waiting != nil {
			for _, reason := range stuck {
				if waiting.Reason == reason {
					return "cannot start: " + reason + ": " + waiting.Message
				}
			}
		}
	}
	return ""
}

// Forget implements controller.Cluster: the Job is let go, and with it what was noted of its attempts.
func (o *owner) Forget(ctx context.Context, job string) error {
	w := o.work(job)
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.job = nil; ; w.job = nil {
		j, err := o.job(ctx, job, w)
		if apierrors.IsNotFound(err) {
			break
		}
		if err != nil {
			return err
		}
		if n := noteOf(j); n.Epoch > o.epoch {
			return errors.New("kubernetes: another master has written to job " + job)
		}
		if _, err = o.write(ctx, j, nil); apierrors.IsNotFound(err) || err == nil {
			break
		}
		if !apierrors.IsConflict(err) {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.works, job)
	return nil
}
