// This file tests how pods are made and deleted, on an API server in memory.

package main

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/apportion/apportion/examples/kubernetes/watch"
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
	o := &owner{client: client, seen: seen, made: map[types.UID]*corev1.Pod{}}
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
	if calls := len(client.Actions()) - before; calls != 1 {
		t.Errorf("%d calls for one pod", calls)
	}
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
