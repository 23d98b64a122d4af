// This file tests what is watched, on an API server in memory.

package live_test

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	discovery "k8s.io/client-go/discovery/fake"
	dynamic "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/apportion/apportion/examples/kubernetes/live"
	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// Kinds that the API server gets later are watched from the next look on, those that it has are asked for once, and an error of it
// ends nothing.
func TestLook(t *testing.T) {
	typed := fake.NewClientset()
	has := typed.Discovery().(*discovery.FakeDiscovery)
	serve := func(group, resource string) {
		has.Resources = append(has.Resources, &metav1.APIResourceList{GroupVersion: group, APIResources: []metav1.APIResource{{Name: resource}}})
	}
	jobs, jobsets := resize.Kinds()[0].GroupVersionResource, resize.Kinds()[1].GroupVersionResource
	object := func(kind, version, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name, "namespace": "default"}}}
	}
	lists := map[schema.GroupVersionResource]string{jobs: "JobList", jobsets: "JobSetList"}
	clients := live.Clients{Interface: typed, Dynamic: dynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists,
		object("Job", "batch/v1", "a"), object("JobSet", "jobset.x-k8s.io/v1alpha2", "b"))}
	must.Fail(live.Watch(t.Context(), clients, resize.Kinds()))(t, must.ErrAny, "an API server without any of the kinds is watched")
	serve("batch/v1", "jobs")
	c := must.Have(live.Watch(t.Context(), clients, resize.Kinds()))(t)
	sees := func(n int) {
		t.Helper()
		processes.Eventually(t, "the objects are seen", 60*time.Second, func() bool {
			items, err := c.Items()
			return err == nil && len(items) == n
		})
	}
	sees(1)
	serve("jobset.x-k8s.io/v1alpha2", "jobsets")
	refused := true
	typed.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) {
		return refused, nil, errors.New("not today")
	})
	must.Err(t, c.Look(t.Context()), must.ErrAny, "what the API server has was not known, and nobody is told")
	sees(1)
	refused = false
	select { // what was noted before
	case <-c.Changed():
	default:
	}
	for range 2 {
		must.Do(t, c.Look(t.Context()))
	}
	sees(2)
	select {
	case <-c.Changed():
	case <-time.After(60 * time.Second):
		t.Error("objects of a new kind are no reason to decide")
	}
}
