// This file tests how pods are made and deleted, on an API server in memory.

package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
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
	o := &owner{client: client, made: map[types.UID]*corev1.Pod{}}
	o.store.pods = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	w := &work{pods: map[string]bool{}}
	var pods []*corev1.Pod
	for i := range 20 * together {
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
	if calls := len(client.Actions()) - before; calls != 1 {
		t.Errorf("%d calls for one pod", calls)
	}
}

// A pod that was deleted here is not deleted again for a while, whoever meets it.
func TestRemovedOnce(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, Name: "p", UID: "u"}}
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: inNamespace, Name: "p", UID: "v"}}
	client := fake.NewClientset(p)
	o := &owner{client: client, removed: map[types.UID]time.Time{}}
	if o.isRemoved(p) {
		t.Error("it was not deleted yet")
	}
	if err := o.remove(t.Context(), p, nil); err != nil || !o.isRemoved(p) || o.isRemoved(other) {
		t.Errorf("%v, %v", err, o.removed)
	}
	// What was not seen for long is tried again.
	o.removed[p.UID] = time.Now().Add(-unseen)
	if o.isRemoved(p) {
		t.Error("nobody tries again")
	}
	// A deletion that failed was none.
	client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("not today") })
	if err := o.remove(t.Context(), other, nil); err == nil || o.isRemoved(other) {
		t.Errorf("%v, %v", err, o.removed)
	}
}
