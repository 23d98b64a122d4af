// This file plays elastic jobs on a real Kubernetes control plane and asks their workers' own logs whether anything ran twice
// or was lost.

package kubernetes

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// bench is a control plane with kubelets and a controller, which has the rights that are shipped.
type bench struct {
	*managertest.Bench
	cluster  *kubetest.Cluster
	kubelets *kubetest.Kubelets
	// proxy is between the controller and the API server.
	proxy *kubetest.Proxy
	// strict makes the webhook that denies pods.
	strict *webhook
}

// inNamespace is the namespace of the test's jobs.
const inNamespace = "default"

// newBench starts all that there is, on nodes with room for eight containers each, which are processes.
func newBench(t testing.TB, nodes ...string) *bench {
	t.Helper()
	var list []*corev1.Node
	for _, node := range nodes {
		list = append(list, newNode(node))
	}
	return newBenchOf(t, kubetest.Process, list)
}

// newNode is a node with room for eight containers.
func newNode(name string) *corev1.Node {
	return kubetest.NewNode(name, kubetest.List("cpu", "8", "memory", "16Gi", "pods", "110"))
}

// newBenchOf starts all that there is, on nodes whose kubelets run containers as run says, which is told the folder of the test.
func newBenchOf(t testing.TB, run func(dir string) kubetest.Run, nodes []*corev1.Node) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("real jobs on a real cluster take a minute")
	}
	b := &bench{cluster: kubetest.New(t)}
	dir := b.cluster.Dir
	b.kubelets = b.cluster.NewKubelets(run(dir))
	for _, node := range nodes {
		b.kubelets.AddNode(node)
	}
	// The controller is a process of the test and no pod, but has the rights of its manifests.
	b.cluster.ApplyFolder("deploy")
	b.proxy = b.cluster.NewProxy()
	b.Bench = managertest.New(t, dir, "KUBECONFIG="+b.cluster.KubeconfigBy(b.proxy, kubetest.ControllerToken), "POD_NAMESPACE=apportion", "POD_NAME=apportion-"+managertest.Number)
	return b
}

// job is an elastic Job as its user writes it. A container takes an eighth of a node.
func (b *bench) job(name string, most, steps int, annotations map[string]string) *batchv1.Job {
	manager, parallelism := snapshot.Manager, int32(most)
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: inNamespace, Annotations: annotations}, Spec: batchv1.JobSpec{
		ManagedBy: &manager, Parallelism: &parallelism, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "train", Image: "none", Command: []string{b.Trainer, "train"}, Args: []string{"-steps", strconv.Itoa(steps), "-cost", "1ms"},
				Resources: corev1.ResourceRequirements{Requests: kubetest.List("cpu", "1", "memory", "500Mi")}}}}}}}
}

// submit creates a Job. An API server that was killed a moment ago takes nothing yet.
func (b *bench) submit(j *batchv1.Job) {
	b.Helper()
	processes.Eventually(b.Bench, "the job is taken", 60*time.Second, func() bool {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		_, err := b.cluster.Client.BatchV1().Jobs(j.Namespace).Create(ctx, j, metav1.CreateOptions{})
		b.retried(err)
		return err == nil
	})
}

// retried takes errors that an API server which has just come back gives.
func (b *bench) retried(err error) {
	if err != nil {
		b.Logf("the API server: %v", err)
	}
}

// delete deletes a Job as its user does.
func (b *bench) delete(name string) {
	b.Helper()
	background := metav1.DeletePropagationBackground
	processes.Eventually(b.Bench, "the deletion is taken", 60*time.Second, func() bool {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		err := b.cluster.Client.BatchV1().Jobs(inNamespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
		b.retried(err)
		return err == nil
	})
}

// get reads a Job; nil: there is none, or nobody answers.
func (b *bench) get(name string) *batchv1.Job {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	j, err := b.cluster.Client.BatchV1().Jobs(inNamespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return j
}

// running are the elastic Jobs that are not over.
func (b *bench) running() []string {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	list, err := b.cluster.Client.BatchV1().Jobs(inNamespace).List(ctx, metav1.ListOptions{})
	b.retried(err)
	var ids []string
	if err == nil {
		for i := range list.Items {
			if j := &list.Items[i]; snapshot.IsElastic(j) && !snapshot.IsFinished(j) && j.DeletionTimestamp == nil {
				ids = append(ids, snapshot.ID(j.Namespace, j.Name))
			}
		}
	}
	return ids
}

// check asks the workers' logs, and the kubelets whether anything did not fit.
func (b *bench) check() {
	b.Helper()
	b.Check()
	if refused := b.kubelets.Refused(); len(refused) > 0 {
		b.Errorf("kubelets refused %d pods: %v", len(refused), refused[0])
	}
}

// condition is the message of a Job's condition.
func condition(j *batchv1.Job, kind batchv1.JobConditionType) string {
	if j != nil {
		for i := range j.Status.Conditions {
			if j.Status.Conditions[i].Type == kind {
				return j.Status.Conditions[i].Message
			}
		}
	}
	return ""
}

// Jobs come, share the cluster, finish, and are withdrawn; Kubernetes' own Job controller leaves them alone, and their users
// are told.
func TestJobsAreShared(t *testing.T) {
	b := newBench(t, nodes...)
	b.cluster.StartJobs()
	b.Share(b.Verbs(), func(string) {
		processes.Eventually(b.Bench, "c has done its work", 60*time.Second, func() bool {
			b.Report()
			j := b.get("c")
			return j != nil && condition(j, batchv1.JobComplete) != "" && len(j.Finalizers) == 0
		})
	})
	processes.Eventually(b.Bench, "users see who has what", 30*time.Second, func() bool {
		j := b.get("b")
		return strings.Contains(condition(j, snapshot.Placed), "It has 12 of at most 12 containers") && strings.Contains(condition(j, snapshot.Placed), "bound") &&
			j.Status.Active == 12 && j.Status.Ready != nil && *j.Status.Ready == 12
	})
	processes.Eventually(b.Bench, "a is gone", 60*time.Second, func() bool { return b.get("a") == nil })
	b.check()
	// A job of the same name is another one: it begins at the beginning.
	b.submit(b.job("a", 4, 100000, nil))
	b.Holds(map[string]int{"default/a": 4, "default/b": 12})
	if events, err := b.cluster.Client.CoreV1().Events(inNamespace).List(context.Background(), metav1.ListOptions{}); err != nil || len(events.Items) == 0 {
		t.Errorf("%d events, %v", len(events.Items), err)
	}
	if logs, _ := filepath.Glob(filepath.Join(b.Dir, "*.log")); len(logs) == 0 {
		t.Error("no logs")
	}
}
