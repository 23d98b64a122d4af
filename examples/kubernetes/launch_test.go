// This file tests how pods are made and deleted, on an API server in memory.

package kubernetes

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/kubernetes/watch"
	"github.com/apportion/apportion/internal/must"
)

// Many pods of a run are made at the same time, each once, however often it is asked for.
func TestMakeAll(t *testing.T) {
	client, refused := fake.NewClientset(), true
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		p := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		p.UID = types.UID("uid of " + p.Name)
		if refused && p.Name == "p-17" {
			return true, nil, errors.New("not today")
		}
		return false, nil, nil
	})
	seen, err := watch.New(client, true) // it sees nothing
	if err != nil {
		t.Fatal(err)
	}
	o := &owner{client: client, seen: seen, made: map[types.UID]*madePod{}}
	w := &work{pods: map[string]bool{}}
	var pods []*corev1.Pod
	for i := range 5 * together {
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, Name: fmt.Sprintf("p-%d", i)}})
	}
	if err := o.makeAll(t.Context(), w, pods); err == nil || len(w.pods) != len(pods)-1 {
		t.Errorf("%v, %d made", err, len(w.pods))
	}
	refused = false
	before := len(client.Actions())
	if err := o.makeAll(t.Context(), w, pods); err != nil || len(w.pods) != len(pods) || len(o.made) != len(pods) {
		t.Errorf("%v, %d made, %d known", err, len(w.pods), len(o.made))
	}
	must.Equal(t, len(client.Actions())-before, 1, "calls for one pod")
}

// A pod is deleted once, however many meet it at the same time; again when that was not seen for long, or has failed.
func TestRemovedOnce(t *testing.T) {
	client, refuses := fake.NewClientset(), false
	client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		if refuses {
			return true, nil, errors.New("not today")
		}
		return true, nil, nil
	})
	o := &owner{client: client, removed: map[types.UID]time.Time{}}
	removes := func(uid types.UID, calls int, wantErr bool) {
		t.Helper()
		client.ClearActions()
		var under sync.WaitGroup
		for range 20 {
			under.Go(func() {
				err := o.remove(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, Name: "p", UID: uid}})
				if err != nil && !wantErr {
					t.Error(err)
				}
			})
		}
		under.Wait()
		if got := len(client.Actions()); got != calls && !wantErr || wantErr && got == 0 {
			t.Errorf("%d calls for pod %s, want %d", got, uid, calls)
		}
	}
	removes("u", 1, false)
	removes("u", 0, false)
	removes("v", 1, false) // another of its name
	o.removed["u"] = time.Now().Add(-unseen)
	removes("u", 1, false)
	refuses = true
	removes("w", 0, true)
	refuses = false
	removes("w", 1, false)
}

// A pod that was made, and has gone before anybody saw it, is missed: it is asked for after a while, and not more often than that.
func TestMadeAndNeverSeen(t *testing.T) {
	const id, attempt = inNamespace + "/a", 7
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, Name: "a", UID: "job", Annotations: map[string]string{
		snapshot.Note: `{"epoch":1,"attempt":7,"by":1,"made":7}`}}}
	client := fake.NewClientset(job)
	seen, err := watch.New(client, true) // it sees nothing
	if err != nil {
		t.Fatal(err)
	}
	o := &owner{master: master{epoch: 1}, client: client, seen: seen, made: map[types.UID]*madePod{}, works: map[string]*work{
		id: {attempt: attempt}}}
	for i := range 2 {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, Name: podName("a", attempt, i), UID: types.UID(fmt.Sprint("pod", i)),
			Labels:          map[string]string{snapshot.Attempt: "7"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}}, Spec: corev1.PodSpec{NodeName: "n1"}}
		must.Do(t, o.make(t.Context(), p))
	}
	says := func(want string, calls int) {
		t.Helper()
		before := len(client.Actions())
		for range 3 {
			if text, _, err := o.Trouble(t.Context(), id, attempt, managed.Part{Server: "n1", Count: 2}); text != want || err != nil {
				t.Errorf("%q, %v, want %q", text, err, want)
			}
		}
		if got := len(client.Actions()) - before; got != calls {
			t.Errorf("%d calls, want %d", got, calls)
		}
	}
	later := func() {
		for _, p := range o.made {
			p.at = p.at.Add(-2 * unseen)
		}
	}
	says("", 1) // the Job is read once
	// A kubelet refuses a pod whose room others have; whatever else ends one is a death.
	for reason, want := range map[string]bool{"OutOfcpu": true, "Evicted": false} {
		o.made["pod0"].Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason}
		if text, refused, err := o.Trouble(t.Context(), id, attempt, managed.Part{Server: "n1", Count: 2}); refused != want || !strings.Contains(text, reason) || err != nil {
			t.Errorf("%q, refused %t, %v", text, refused, err)
		}
	}
	o.made["pod0"].Status = corev1.PodStatus{}
	later()
	says("", 2)
	must.Do(t, client.CoreV1().Pods(inNamespace).Delete(t.Context(), podName("a", attempt, 1), metav1.DeleteOptions{}))
	says("", 0)
	later()
	says("1 of its 2 pods on n1 are gone", 2)
	// Another pod has the name of one.
	later()
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, Name: podName("a", attempt, 0), UID: "other"}}
	must.Have(client.CoreV1().Pods(inNamespace).Update(t.Context(), other, metav1.UpdateOptions{}))(t)
	says("its pods on n1 are gone", 1)
}
