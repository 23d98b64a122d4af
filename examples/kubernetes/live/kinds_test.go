// This file resizes objects of every kind that resize knows on a real API server, which checks their fields.

package live_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/live"
	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// crdsVariable names a folder with the custom resource definitions of the projects themselves.
const crdsVariable = "APPORTION_CRDS"

// definitions are the custom resources: those of a folder, or ours.
func definitions(t *testing.T) []string {
	t.Helper()
	names := []string{"testdata/kinds.yaml"}
	if dir := os.Getenv(crdsVariable); dir != "" {
		names, _ = filepath.Glob(filepath.Join(dir, "*.yaml")) // the pattern is right
	}
	var list []string
	for _, name := range names {
		text := must.Have(os.ReadFile(name))(t)
		list = append(list, strings.TrimPrefix(string(text), "---\n"))
	}
	return list
}

// ofKind are objects of each kind with one pod that may have two, each called as its kind is.
const ofKind = `
apiVersion: batch/v1
kind: Job
metadata: {name: jobs, META}
spec: {parallelism: 1, completions: 1, completionMode: Indexed, template: POD}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: jobsets, META}
spec: {replicatedJobs: [{name: w, template: {spec: {parallelism: 1, completions: 1, completionMode: Indexed, template: POD}}}]}
---
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: rayclusters, META}
spec:
  headGroupSpec: {rayStartParams: {}, template: POD}
  workerGroupSpecs: [{groupName: w, replicas: 1, minReplicas: 0, maxReplicas: 8, rayStartParams: {}, template: POD}]
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: pytorchjobs, META}
spec: {pytorchReplicaSpecs: {Worker: {replicas: 1, template: POD}}}
---
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: mpijobs, META}
spec: {mpiReplicaSpecs: {Launcher: {replicas: 1, template: POD}, Worker: {replicas: 1, template: POD}}}`

// isOfKueue marks an object as Kueue's.
const isOfKueue = "labels: {kueue.x-k8s.io/queue-name: team}"

// asks returns what an object asks for: its first count, and whether it is suspended.
func (b *bench) asks(kind *resize.Kind, name string) (n int64, suspended bool, o *unstructured.Unstructured) {
	b.Helper()
	o = must.Have(b.dynamic.Resource(kind.GroupVersionResource).Namespace("default").Get(context.Background(), name, metav1.GetOptions{}))(b)
	// Of the paths the API server has its own idea: one that it did not know it would have dropped.
	value := func(path string) any {
		var at any = o.Object
		for part := range strings.SplitSeq(strings.ReplaceAll(path, "[0]", ".0"), ".") {
			switch in := at.(type) {
			case map[string]any:
				at = in[part]
			case []any:
				at = in[0]
			default:
				return nil
			}
		}
		return at
	}
	n, _ = value(kind.Counts[0]).(int64)
	suspended, _ = value(kind.Suspend).(bool)
	return n, suspended, o
}

// Every kind is resized, suspended and let go on by the fields that its definition has, with the rights that are shipped. Of a Job
// of Kueue's that is suspended nothing is changed, and of one that Kueue lets run the number of pods.
func TestKinds(t *testing.T) {
	b := newBench(t)
	b.Apply(definitions(t)...)
	kinds := resize.Kinds()
	pod := `{spec: {restartPolicy: Never, containers: [{name: train, image: train, resources: {requests: {cpu: 500m}}}]}}`
	manifest := strings.ReplaceAll(strings.ReplaceAll(ofKind, "POD", pod), "META", `namespace: default, annotations: {apportion.github.io/max: "2"}`)
	b.Apply(manifest)
	kueues := strings.Replace(strings.Split(manifest, "\n---\n")[0], "name: jobs, ", "name: queued, "+isOfKueue+", ", 1)
	b.Apply(strings.Replace(kueues, "spec: {parallelism", "spec: {suspend: true, parallelism", 1))
	stop := b.follow(func(ctx context.Context) error {
		return live.Resize(ctx, b.config, alloc.Problem{Theta1: 0, Theta2: 1})
	})
	for i := range kinds {
		name := kinds[i].Resource
		processes.Eventually(t, "two pods are asked for of "+name, limit, func() bool {
			n, suspended, _ := b.asks(&kinds[i], name)
			return n == 2 && !suspended
		})
	}
	if n, suspended, _ := b.asks(&kinds[0], "queued"); n != 1 || !suspended {
		t.Errorf("of what Kueue has suspended are asked %d pods, suspended is %v", n, suspended)
	}
	admitted := []byte(`{"spec": {"suspend": false}}`) // as Kueue does
	must.Have(b.Client.BatchV1().Jobs("default").Patch(t.Context(), "queued", types.MergePatchType, admitted, metav1.PatchOptions{}))(t)
	processes.Eventually(t, "what Kueue lets run grows", limit, func() bool {
		n, suspended, _ := b.asks(&kinds[0], "queued")
		return n == 2 && !suspended
	})
	stop()
	for i := range kinds {
		b.stopsAndGoesOn(&kinds[i])
	}
	t.Run("stale", b.stale)
	t.Run("rights", b.rights)
}

// stopsAndGoesOn suspends an object, and lets it go on with three pods.
func (b *bench) stopsAndGoesOn(kind *resize.Kind) {
	b.Helper()
	for _, to := range []int64{0, 3} {
		// Whoever writes the status in between makes the change stale, and it is made again on what is there then.
		for range 20 {
			_, _, o := b.asks(kind, kind.Resource)
			change, err := (&resize.Item{Kind: kind, Object: o}).Change(to, nil)
			if err != nil || change == nil {
				b.Errorf("%s: %v, %v", kind.Resource, change, err)
				return
			}
			var sub []string
			if change.Subresource != "" {
				sub = []string{change.Subresource}
			}
			_, err = b.config.Clients.Dynamic.Resource(kind.GroupVersionResource).Namespace("default").
				Patch(context.Background(), o.GetName(), types.JSONPatchType, change.Patch, metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}, sub...)
			if err == nil {
				break
			}
			b.Logf("%s: %d pods: %v", kind.Resource, to, err)
		}
		n, suspended, _ := b.asks(kind, kind.Resource)
		if got, want := fmt.Sprint(n, suspended), fmt.Sprint(max(to, 2), to == 0); got != want {
			b.Errorf("%s with %d pods: count and suspended are %s, want %s", kind.Resource, to, got, want)
		}
	}
}
