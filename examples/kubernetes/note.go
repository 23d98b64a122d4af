// This file implements the note of a job: what was asked for last, by which master, and what must not live. It is the fence on
// the API server.

package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// note is what an annotation of a Job says.
type note struct {
	// Epoch is that of the master which has written last.
	Epoch int64 `json:"epoch"`
	// Attempt is the newest that was asked for, By the epoch of the master which has, and Made that of which all pods were made.
	Attempt int64 `json:"attempt"`
	By      int64 `json:"by"`
	Made    int64 `json:"made"`
	// Stopped is the newest that must not live.
	Stopped int64 `json:"stopped"`
}

// noteOf reads the note of a Job; zero: there is none.
func noteOf(j *batchv1.Job) note {
	var n note
	_ = json.Unmarshal([]byte(j.Annotations[snapshot.Note]), &n) // which this program has written
	return n
}

// job returns the newest version of a Job that is known: what was written or read here, or what was seen since.
func (o *owner) job(ctx context.Context, id string, w *work) (*batchv1.Job, error) {
	namespace, name := snapshot.Split(id)
	if w.job != nil {
		if seen := o.seen.Job(id); seen != nil && seen.UID == w.job.UID && newer(seen, w.job) {
			w.job = seen
		}
		return w.job, nil
	}
	j, err := o.client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		w.job = j
	}
	return j, err
}

// newer reports whether a is a newer version of a Job than b. Versions of one kind of object can be compared.
func newer(a, b *batchv1.Job) bool {
	n, errA := strconv.ParseUint(a.ResourceVersion, 10, 64)
	m, errB := strconv.ParseUint(b.ResourceVersion, 10, 64)
	return errA == nil && errB == nil && n > m
}

// errGone says that a Job is not there to have pods.
type errGone struct{ id, why string }

func (e errGone) Error() string { return fmt.Sprintf("kubernetes: job %q %s", e.id, e.why) }

// update reads the note of a job, has it changed, and writes it, until nobody came between; of two masters one is refused.
// change returns false where there is nothing to write. w.mu is held. One call where nobody else has written.
func (o *owner) update(ctx context.Context, id string, w *work, change func(j *batchv1.Job, n *note) (bool, error)) error {
	for {
		j, err := o.job(ctx, id, w)
		if err != nil {
			return err
		}
		n := noteOf(j)
		if n.Epoch > o.epoch {
			return fmt.Errorf("kubernetes: master %d has written to job %q: %w", n.Epoch, id, checkpoint.ErrFenced)
		}
		due, err := change(j, &n)
		if err != nil || !due {
			return err
		}
		n.Epoch = o.epoch
		written, err := o.write(ctx, j, &n)
		// What was written, if anything, or what another has, is read again after an error.
		if w.job = written; !apierrors.IsConflict(err) {
			return err
		}
	}
}

// write writes a note into the version of a Job that was read, with the finalizer that holds the Job until nothing of it runs.
// No note: both go.
func (o *owner) write(ctx context.Context, j *batchv1.Job, n *note) (*batchv1.Job, error) {
	finalizers := slices.DeleteFunc(slices.Clone(j.Finalizers), func(f string) bool { return f == snapshot.Manager })
	var text any
	if n != nil {
		finalizers = append(finalizers, snapshot.Manager)
		t, err := json.Marshal(n)
		if err != nil {
			return nil, err
		}
		text = string(t)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": j.UID, "resourceVersion": j.ResourceVersion,
		"finalizers": finalizers, "annotations": map[string]any{snapshot.Note: text}}})
	if err != nil {
		return nil, err
	}
	written, err := o.client.BatchV1().Jobs(j.Namespace).Patch(ctx, j.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return nil, err
	}
	return written, nil
}

// fieldManager is the name of this program in the fields that it has written.
const fieldManager = "apportion"
