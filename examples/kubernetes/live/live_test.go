// This file follows a real API server, with Kubernetes' own Job controller and scheduler.

package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/kubernetes/live"
	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

const limit = 90 * time.Second

// bench is a cluster with two nodes for four pods each, and a loop that has the rights that are shipped.
type bench struct {
	*kubetest.Cluster
	dynamic  dynamic.Interface
	kubelets *kubetest.Kubelets
	config   live.Config
	events   *record.FakeRecorder
}

func newBench(t testing.TB) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("a control plane takes some seconds")
	}
	b := &bench{Cluster: kubetest.New(t), events: record.NewFakeRecorder(1000)}
	if !b.StartJobs() || !b.StartScheduler() {
		t.Skip("the Job controller is not there")
	}
	b.dynamic = b.Dynamic()
	// A container runs until its pod is deleted.
	b.kubelets = b.NewKubelets(func(ctx context.Context, _ *corev1.Pod) int { <-ctx.Done(); return 1 })
	for _, name := range []string{"n1", "n2"} {
		b.kubelets.AddNode(kubetest.NewNode(name, kubetest.List("cpu", "4", "pods", "110")))
	}
	b.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: apportion}")
	roles := must.Have(os.ReadFile("../counts/rbac.yaml"))(t)
	b.Apply(string(roles))
	config := rest.CopyConfig(b.Config)
	config.BearerToken = kubetest.CountsToken
	typed := must.Have(kubernetes.NewForConfig(config))(t)
	untyped := must.Have(dynamic.NewForConfig(config))(t)
	log := must.Have(os.Create(filepath.Join(b.Dir, "live.log")))(t)
	t.Cleanup(func() { _ = log.Close() }) // nobody writes any more
	b.config = live.Config{Clients: live.Clients{Interface: typed, Dynamic: untyped}, Kinds: apportion.Kinds{"cpu"}, Objects: resize.Kinds(),
		Quiet: 50 * time.Millisecond, Every: 2 * time.Second, Events: b.events, Log: slog.New(slog.NewTextHandler(log, nil))}
	return b
}

// follow runs a loop until the test ends.
func (b *bench) follow(loop func(ctx context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- loop(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			b.Errorf("the loop ended: %v", err)
		}
	}
	b.Cleanup(stop)
	return stop
}

// job creates an Indexed Job of pods that take a CPU each. annotations are pairs, without their prefix.
func (b *bench) job(name string, pods int, suspended bool, annotations ...string) {
	b.Helper()
	text := ""
	for i := 0; i < len(annotations); i += 2 {
		text += fmt.Sprintf("apportion.github.io/%s: %q, ", annotations[i], annotations[i+1])
	}
	b.Apply(fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata: {name: %s, namespace: default, annotations: {%s}}
spec:
  parallelism: %d
  completions: %[3]d
  completionMode: Indexed
  suspend: %t
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 0
      containers: [{name: train, image: train, resources: {requests: {cpu: 1}}}]`, name, text, pods, suspended))
}

// runs waits until so many pods of a job run.
func (b *bench) runs(want map[string]int) {
	b.Helper()
	var got map[string]int
	defer func() {
		if b.Failed() {
			b.Logf("running are %v, wanted %v", got, want)
		}
	}()
	processes.Eventually(b, fmt.Sprintf("pods of jobs are %v", want), limit, func() bool {
		list := must.Have(b.Client.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{}))(b)
		got = map[string]int{}
		for i := range list.Items {
			if p := &list.Items[i]; p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				got[p.Labels["batch.kubernetes.io/job-name"]]++
			}
		}
		return fmt.Sprint(got) == fmt.Sprint(want)
	})
}

// A job grows while the cluster is idle, gives way to another, also one of another kind, and grows again when that is gone.
// Users who write at the same time are not overwritten.
func TestResize(t *testing.T) {
	b := newBench(t)
	b.job("first", 2, false, "max", "8")
	b.runs(map[string]int{"first": 2})
	b.follow(func(ctx context.Context) error {
		return live.Resize(ctx, b.config, alloc.Problem{Theta1: 0, Theta2: 1})
	})
	b.runs(map[string]int{"first": 8})
	b.job("second", 1, true, "max", "8")
	b.runs(map[string]int{"first": 4, "second": 4})

	// Custom resources are installed while it runs. A PyTorchJob is resized by its subresource scale; nobody makes its pods here.
	b.Apply(definitions(t)...)
	gvr := b.config.Objects[3].GroupVersionResource
	b.Apply(`
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: third, namespace: default, annotations: {apportion.github.io/max: "2"}}
spec: {pytorchReplicaSpecs: {Worker: {replicas: 1, template: {spec: {containers: [{name: train, image: train, resources: {requests: {cpu: 1}}}]}}}}}`)
	processes.Eventually(t, "the PyTorchJob has two workers", limit, func() bool {
		o := must.Have(b.dynamic.Resource(gvr).Namespace("default").Get(context.Background(), "third", metav1.GetOptions{}))(t)
		n, _, _ := unstructured.NestedInt64(o.Object, "spec", "pytorchReplicaSpecs", "Worker", "replicas")
		return n == 2
	})
	b.runs(map[string]int{"first": 3, "second": 3})

	background := metav1.DeletePropagationBackground
	must.Do(t, b.dynamic.Resource(gvr).Namespace("default").Delete(context.Background(), "third", metav1.DeleteOptions{}))
	must.Do(t, b.Client.BatchV1().Jobs("default").Delete(context.Background(), "second", metav1.DeleteOptions{PropagationPolicy: &background}))
	// The pods of a Job that was deleted are collected by a controller that this cluster has not.
	selector := metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=second"}
	must.Do(t, b.Client.CoreV1().Pods("default").DeleteCollection(context.Background(), metav1.DeleteOptions{}, selector))
	b.runs(map[string]int{"first": 8})
	if refused := b.kubelets.Refused(); len(refused) > 0 {
		t.Errorf("pods that did not fit on their node: %v", refused)
	}
}

// stale: a patch holds for the version that was read, and the API server says so in a way that is understood.
func (b *bench) stale(t *testing.T) {
	b.job("a", 1, false, "max", "8")
	jobs := resize.Kinds()[0]
	read, err := b.dynamic.Resource(jobs.GroupVersionResource).Namespace("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other := []byte(`{"metadata": {"annotations": {"apportion.github.io/max": "5"}}}`)
	must.Have(b.Client.BatchV1().Jobs("default").Patch(t.Context(), "a", types.MergePatchType, other, metav1.PatchOptions{}))(t)
	item := resize.Item{Kind: &jobs, Object: read}
	change, err := item.Change(4, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.dynamic.Resource(jobs.GroupVersionResource).Namespace("default").Patch(t.Context(), "a", types.JSONPatchType, change.Patch, metav1.PatchOptions{})
	if !live.IsStale(err) {
		t.Errorf("a patch of what is not there any more: %v", err)
	}
	refused := json.RawMessage(`[{"op": "add", "path": "/spec/parallelism", "value": -1}]`)
	_, err = b.dynamic.Resource(jobs.GroupVersionResource).Namespace("default").Patch(t.Context(), "a", types.JSONPatchType, refused, metav1.PatchOptions{})
	if err == nil || live.IsStale(err) {
		t.Errorf("a patch that is refused for what it says: %v", err)
	}
}

// rights: the role does all that it is for, as the other tests show, and nothing else.
func (b *bench) rights(t *testing.T) {
	ctx, c := t.Context(), b.config.Clients
	for what, call := range map[string]func() error{
		"read secrets": func() error { _, err := c.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); return err },
		"delete pods":  func() error { return c.CoreV1().Pods("default").Delete(ctx, "a", metav1.DeleteOptions{}) },
		"delete jobs":  func() error { return c.BatchV1().Jobs("default").Delete(ctx, "a", metav1.DeleteOptions{}) },
		"write nodes": func() error {
			_, err := c.CoreV1().Nodes().Patch(ctx, "n1", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			return err
		},
		"read a ConfigMap of another name": func() error {
			_, err := c.CoreV1().ConfigMaps("apportion").Get(ctx, "other", metav1.GetOptions{})
			return err
		},
	} {
		if err := call(); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
