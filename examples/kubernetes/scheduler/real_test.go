// This file runs the plugin inside kube-scheduler, on a real API server, with the rights that are shipped.

package scheduler

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// soon is the limit for what is a matter of seconds.
const soon = 90 * time.Second

// real is a cluster whose pods are placed by a scheduler with the plugin.
type real struct {
	*kubetest.Cluster
	kubelets *kubetest.Kubelets
}

// newReal starts a control plane and the scheduler, which is built from the plugin as it is now.
func newReal(t *testing.T) *real {
	t.Helper()
	if testing.Short() {
		t.Skip("a control plane takes some seconds")
	}
	r := &real{Cluster: kubetest.New(t)}
	if !r.StartJobs() {
		t.Skip("the Job controller is not there")
	}
	// A container runs until its pod is deleted.
	r.kubelets = r.NewKubelets(func(ctx context.Context, _ *corev1.Pod) int { <-ctx.Done(); return 1 })
	r.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: apportion}")
	r.Apply(read(t, "deploy/rbac.yaml"))
	r.start(t)
	return r
}

// read reads a file that is shipped.
func read(t *testing.T, name string) string {
	t.Helper()
	text := must.Have(os.ReadFile(name))(t)
	return string(text)
}

// start builds the scheduler and starts it until the test ends.
func (r *real) start(t *testing.T) {
	t.Helper()
	program := processes.Build(t, r.Dir, "scheduler", "../cluster", "./scheduler")
	// A gang gives its places back after seconds, which is a profile's to say.
	r.Write("config.yaml", strings.ReplaceAll(read(t, "deploy/config.yaml"), "patience: 30s", "patience: 8s")+
		fmt.Sprintf("clientConnection: {kubeconfig: %q, qps: 500, burst: 1000}\npodMaxBackoffSeconds: 1\n", r.Kubeconfig(kubetest.SchedulerToken)), 0o600)
	r.Group.Start("scheduler", program, "--config", filepath.Join(r.Dir, "config.yaml"), "--secure-port=0")
}

// pods creates pods of a namespace, one after the other, that take CPUs; bound to a node, "" for none.
func (r *real) pods(namespace, name string, n, cpus int, node string) {
	r.Helper()
	for i := range n {
		r.Apply(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s-%d, namespace: %s}
spec:
  schedulerName: apportion
  nodeName: %q
  terminationGracePeriodSeconds: 0
  containers: [{name: train, image: train, resources: {requests: {cpu: %d}}}]`, name, i, namespace, node, cpus))
	}
}

// job creates a stock Job. annotations are for it, ofPods for its pods, both as YAML.
func (r *real) job(name string, pods, cpus int, annotations, ofPods string) {
	r.Helper()
	r.Apply(fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata: {name: %s, namespace: default, annotations: {%s}}
spec:
  parallelism: %d
  completions: %[3]d
  completionMode: Indexed
  template:
    metadata: {annotations: {%s}}
    spec:
      schedulerName: apportion
      restartPolicy: Never
      terminationGracePeriodSeconds: 0
      containers: [{name: train, image: train, resources: {requests: {cpu: %d}}}]`, name, annotations, pods, ofPods, cpus))
}

// seen counts the pods of a namespace whose names begin so: on each node, and those that the scheduler could not place.
func (r *real) seen(namespace, prefix string) (on map[string]int, refused int) {
	r.Helper()
	list := must.Have(r.Client.CoreV1().Pods(namespace).List(context.Background(), metav1.ListOptions{}))(r)
	on = map[string]int{}
	for i := range list.Items {
		p := &list.Items[i]
		if !strings.HasPrefix(p.Name, prefix) || p.DeletionTimestamp != nil {
			continue
		}
		if p.Spec.NodeName != "" {
			on[p.Spec.NodeName]++
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				refused++
			}
		}
	}
	return on, refused
}

// placed waits until the pods are on these nodes, and none elsewhere.
func (r *real) placed(namespace, prefix string, want map[string]int) {
	r.Helper()
	var on map[string]int
	defer func() {
		if r.Failed() {
			r.Logf("pods %s* of %s are on %v, wanted %v", prefix, namespace, on, want)
		}
	}()
	processes.Eventually(r, "the pods are placed", soon, func() bool {
		on, _ = r.seen(namespace, prefix)
		return maps.Equal(on, want)
	})
}

// clear deletes all pods of the namespaces, and Jobs, and waits until they are gone.
func (r *real) clear(namespaces ...string) {
	r.Helper()
	ctx, none := context.Background(), int64(0)
	for _, namespace := range namespaces {
		orphan := metav1.DeletePropagationOrphan
		must.Do(r, r.Client.BatchV1().Jobs(namespace).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &orphan}, metav1.ListOptions{}))
		processes.Eventually(r, "the pods are gone", soon, func() bool {
			must.Do(r, r.Client.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &none}, metav1.ListOptions{}))
			list, err := r.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
			return err == nil && len(list.Items) == 0
		})
	}
}

// The plugin inside kube-scheduler: which pods are next, gangs, and hints.
func TestScheduler(t *testing.T) {
	r := newReal(t)
	r.kubelets.AddNode(kubetest.NewNode("n1", kubetest.List("cpu", "6", "pods", "110")))
	r.order()
	r.clear("heavy", "light")
	r.gang()
	r.clear("default")
	// A decision has other ideas than the scheduler, which would take the emptier node first.
	r.job("hinted", 4, 1, `apportion.github.io/plan: '{"n1": 1, "n2": 3}'`, "")
	r.placed("default", "hinted", map[string]int{"n1": 1, "n2": 3})
	if refused := r.kubelets.Refused(); len(refused) > 0 {
		t.Errorf("pods that did not fit on their node: %v", refused)
	}
	r.rights()
}

// order: heavy has four pods and the weight 4, light has two. Light's pods were there first, and heavy's are next.
func (r *real) order() {
	r.Helper()
	r.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: light}")
	r.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: heavy, annotations: {apportion.github.io/weight: \"4\"}}")
	r.pods("light", "has", 2, 1, "n1")
	r.pods("heavy", "has", 4, 1, "n1")
	r.pods("light", "waits", 3, 1, "")
	r.pods("heavy", "waits", 3, 1, "")
	processes.Eventually(r, "the scheduler has seen all that wait", soon, func() bool {
		_, light := r.seen("light", "waits")
		_, heavy := r.seen("heavy", "waits")
		return light == 3 && heavy == 3
	})
	// A pod that was refused a moment ago would be asked again later than the others: a second is its pause.
	time.Sleep(3 * time.Second)
	r.kubelets.AddNode(kubetest.NewNode("n2", kubetest.List("cpu", "3", "pods", "110")))
	r.placed("heavy", "waits", map[string]int{"n2": 3})
	r.placed("light", "waits", map[string]int{})
}

// gang: three of four pods have room, and none is bound before the fourth has. Those that wait for it have places for as long as
// the profile says.
func (r *real) gang() {
	r.Helper()
	r.pods("default", "filler", 1, 2, "n2")
	r.job("gang", 4, 2, "", `apportion.github.io/gang: "4"`)
	processes.Eventually(r, "all of the gang have given up", soon, func() bool {
		_, refused := r.seen("default", "gang")
		return refused == 4
	})
	r.placed("default", "gang", map[string]int{})
	must.Do(r, r.Client.CoreV1().Pods("default").Delete(context.Background(), "filler-0", metav1.DeleteOptions{}))
	r.placed("default", "gang", map[string]int{"n1": 3, "n2": 1})
}

// rights: what the scheduler may not.
func (r *real) rights() {
	r.Helper()
	config := rest.CopyConfig(r.Config)
	config.BearerToken = kubetest.SchedulerToken
	client := must.Have(kubernetes.NewForConfig(config))(r)
	ctx := context.Background()
	_, secrets := client.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
	jobs := client.BatchV1().Jobs("default").Delete(ctx, "hinted", metav1.DeleteOptions{})
	if !apierrors.IsForbidden(secrets) || !apierrors.IsForbidden(jobs) {
		r.Errorf("secrets are read: %v; a Job is deleted: %v", secrets, jobs)
	}
}
