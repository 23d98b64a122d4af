// This file tests what the controller does to Jobs and pods, call by call, on a real API server: what is refused, what dies in
// the middle, and what others do meanwhile.

package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// errDead is what every call of a controller that is dead returns.
var errDead = errors.New("this controller is dead")

// transport is between an owner and the API server: it counts writes, has some refused, and lets the owner die.
type transport struct {
	next http.RoundTripper

	mu sync.Mutex
	// writes counts them; after dies of them the owner is dead, if it is not negative. The last one is carried out, and its
	// answer is lost.
	writes, dies int
	// refuses says that every write to a path is refused with a conflict once.
	refuses bool
	refused map[string]bool
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	isWrite := r.Method != http.MethodGet
	t.mu.Lock()
	dead := t.dies >= 0 && t.writes >= t.dies
	if dead && (isWrite || r.URL.Query().Get("watch") == "") {
		t.mu.Unlock()
		return nil, errDead
	}
	key := r.Method + " " + r.URL.Path
	refuse := isWrite && t.refuses && !t.refused[key] && r.Method == http.MethodPatch
	if isWrite {
		t.writes++
		t.refused[key] = true
	}
	last := t.dies >= 0 && t.writes >= t.dies
	t.mu.Unlock()
	if refuse {
		text := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`
		return &http.Response{StatusCode: http.StatusConflict, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	}
	answer, err := t.next.RoundTrip(r)
	if isWrite && last && err == nil {
		_ = answer.Body.Close() // nobody hears it
		return nil, errDead
	}
	return answer, err
}

// stage is an API server with kubelets whose pods only wait.
type stage struct {
	*kubetest.Cluster
	kubelets *kubetest.Kubelets
	epoch    int64
	// blind ends what the newest owner sees; it can still write.
	blind func()
}

func newStage(t *testing.T) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("a control plane takes some seconds")
	}
	s := &stage{Cluster: kubetest.New(t)}
	s.kubelets = s.NewKubelets(func(ctx context.Context, _ *corev1.Pod) int { <-ctx.Done(); return 1 })
	for _, node := range []string{"n1", "n2"} {
		s.kubelets.AddNode(kubetest.NewNode(node, kubetest.List("cpu", "8", "memory", "16Gi", "pods", "110")))
	}
	return s
}

// owner is the next master.
func (s *stage) owner(t *testing.T, through *transport) *owner {
	t.Helper()
	config := rest.CopyConfig(s.Config)
	if through != nil {
		through.refused = map[string]bool{}
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { through.next = next; return through })
	}
	client := must.Have(kubernetes.NewForConfig(config))(t)
	s.epoch++
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	s.blind = stop
	o := must.Have(newOwner(ctx, client, snapshot.Kinds(), master{epoch: s.epoch, namespace: inNamespace,
		guard: daemon.Guarded{Program: "/bin/guard", URL: "http://c/lease", Shared: "/shared", Every: time.Second}}))(t)
	return o
}

// submit creates a Job and returns its spec.
func (s *stage) submit(t *testing.T, name string) json.RawMessage {
	t.Helper()
	b := &bench{Bench: &managertest.Bench{TB: t, Trainer: "/bin/trainer"}}
	j := must.Have(s.Client.BatchV1().Jobs(inNamespace).Create(t.Context(), b.job(name, 3, 1, nil), metav1.CreateOptions{}))(t)
	text := must.Have(json.Marshal(snapshot.Declared{Namespace: j.Namespace, Name: j.Name, UID: j.UID, Template: j.Spec.Template, SaveSignal: "USR1"}))(t)
	return text
}

// task is an attempt of a job with three containers on two nodes.
func (s *stage) task(name string, attempt int64, spec json.RawMessage) managed.Task {
	return managed.Task{Epoch: s.epoch, Spec: spec, Credential: "/shared/token", Run: runner.Run{Job: snapshot.ID(inNamespace, name), Attempt: attempt, Containers: []string{"n1", "n1", "n2"}, Dir: "/shared/run"}}
}

// pods are the pods of a job that live, by name.
func (s *stage) pods(t *testing.T, name string) []string {
	t.Helper()
	list := must.Have(s.Client.CoreV1().Pods(inNamespace).List(t.Context(), metav1.ListOptions{}))(t)
	var names []string
	for i := range list.Items {
		p := &list.Items[i]
		if snapshot.IsLive(p) && p.DeletionTimestamp == nil && strings.HasPrefix(p.Name, name+"-") {
			names = append(names, p.Name+"@"+p.Spec.NodeName)
		}
	}
	slices.Sort(names)
	return names
}

// whole are the pods of an attempt.
func whole(name string, attempt int64) []string {
	return []string{fmt.Sprintf("%s-%d-0@n1", name, attempt), fmt.Sprintf("%s-%d-1@n1", name, attempt), fmt.Sprintf("%s-%d-2@n2", name, attempt)}
}

// stopAll stops an attempt on both nodes.
func stopAll(ctx context.Context, o *owner, job string, attempt int64) error {
	return errors.Join(stop(ctx, o, job, attempt, "n1"), stop(ctx, o, job, attempt, "n2"))
}

// stop stops an attempt on a node, as a fleet does: until nothing is left.
func stop(ctx context.Context, o *owner, job string, attempt int64, node string) error {
	for {
		left, err := o.Stop(ctx, job, attempt, node)
		if err = errors.Join(err, ctx.Err()); err != nil || !left {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// What an owner does, on one API server.
func TestOwner(t *testing.T) {
	s := newStage(t)
	for name, test := range map[string]func(*testing.T, *stage){"start once": testStartOnce, "death after every call": testDeathAfterEveryCall,
		"stale": testStale, "lost answer": testLostAnswer, "not admitted": testNotAdmitted, "least rights": testLeastRights, "manifests": testManifests} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// An attempt is started once, whatever is asked twice, refused once, or done to its pods by others; and of two masters the
// older is refused.
func testStartOnce(t *testing.T, s *stage) {
	refusing := &transport{dies: -1, refuses: true}
	o, spec := s.owner(t, refusing), s.submit(t, "a")
	ctx, job := t.Context(), snapshot.ID(inNamespace, "a")
	for range 2 {
		must.Do(t, o.Start(ctx, s.task("a", 1, spec)))
	}
	must.Same(t, s.pods(t, "a"), whole("a", 1))
	// 1. Others take a pod away: it is not made again, and the controller knows.
	must.Do(t, s.Client.CoreV1().Pods(inNamespace).Delete(ctx, "a-1-1", metav1.DeleteOptions{}))
	processes.Eventually(t, "the pod is missed", 20*time.Second, func() bool {
		text, _, err := o.Trouble(ctx, job, 1, managed.Part{Server: "n1", Count: 2})
		return err == nil && strings.Contains(text, "1 of its 2 pods on n1 are gone")
	})
	if text, _, err := o.Trouble(ctx, job, 1, managed.Part{Server: "n2", Count: 1}); text != "" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if err := o.Start(ctx, s.task("a", 1, spec)); err != nil || len(s.pods(t, "a")) != 2 {
		t.Errorf("%v, %v", s.pods(t, "a"), err)
	}
	// 2. Another master stops it and starts the next; a late word of the first changes nothing.
	next := s.owner(t, nil)
	must.Do(t, stopAll(ctx, next, job, 1))
	if got := s.pods(t, "a"); len(got) != 0 {
		t.Errorf("%v live", got)
	}
	if err := next.Start(ctx, s.task("a", 1, spec)); err != nil || len(s.pods(t, "a")) != 0 {
		t.Errorf("an attempt that is over was started: %v, %v", s.pods(t, "a"), err)
	}
	must.Err(t, o.Start(ctx, s.task("a", 2, spec)), checkpoint.ErrFenced, "the older master")
	if err := next.Start(ctx, s.task("a", 2, spec)); err != nil || !slices.Equal(s.pods(t, "a"), whole("a", 2)) {
		t.Errorf("%v, %v", s.pods(t, "a"), err)
	}
	must.Fail(o.Stop(ctx, job, 2, "n1"))(t, checkpoint.ErrFenced, "the older master")
	// An attempt that was stopped before it was asked for is over as well.
	if err := errors.Join(stop(ctx, next, job, 3, "n1"), next.Start(ctx, s.task("a", 3, spec))); err != nil || len(s.pods(t, "a")) != 1 {
		t.Errorf("%v, %v", s.pods(t, "a"), err)
	}
	// 3. The Job is held until it is forgotten.
	background := metav1.DeletePropagationBackground
	must.Do(t, s.Client.BatchV1().Jobs(inNamespace).Delete(ctx, "a", metav1.DeleteOptions{PropagationPolicy: &background}))
	must.Err(t, next.Start(ctx, s.task("a", 4, spec)), must.ErrAny, "a Job that is being deleted was started")
	must.Have(s.Client.BatchV1().Jobs(inNamespace).Get(ctx, "a", metav1.GetOptions{}))(t, "the Job is not held")
	must.Do(t, errors.Join(stopAll(ctx, next, job, 3), next.Forget(ctx, job), next.Forget(ctx, job)))
	if _, err := s.Client.BatchV1().Jobs(inNamespace).Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Job: %v", err)
	}
	if refused := s.kubelets.Refused(); len(refused) > 0 {
		t.Errorf("%v", refused)
	}
}

// A controller dies after each of its writes in turn, with the answer lost; the next one ends with exactly the pods of the next
// attempt, and never makes a pod of the one before.
func testDeathAfterEveryCall(t *testing.T, s *stage) {
	for dies := 1; ; dies++ {
		name := fmt.Sprintf("d%d", dies)
		spec, job := s.submit(t, name), snapshot.ID(inNamespace, name)
		dying := &transport{dies: dies}
		first := s.owner(t, dying)
		ctx, stop := context.WithTimeout(t.Context(), 60*time.Second)
		err := first.Start(ctx, s.task(name, 1, spec))
		if err == nil {
			err = stopAll(ctx, first, job, 1)
		}
		before := s.pods(t, name)
		next := s.owner(t, nil)
		// What was begun is not gone on with: nobody knows what of it ran.
		if err := next.Start(ctx, s.task(name, 1, spec)); err != nil || dies > 1 && len(s.pods(t, name)) > len(before) {
			t.Errorf("dead after %d writes: %v, then %v, %v", dies, before, s.pods(t, name), err)
		}
		must.Do(t, errors.Join(stopAll(ctx, next, job, 1), next.Start(ctx, s.task(name, 2, spec))), "dead after", dies, "writes")
		must.Same(t, s.pods(t, name), whole(name, 2), "dead after", dies, "writes")
		must.Do(t, errors.Join(stopAll(ctx, next, job, 2), next.Forget(ctx, job)), "dead after", dies, "writes")
		stop()
		if err == nil {
			t.Logf("%d deaths", dies-1)
			break
		}
	}
	if refused := s.kubelets.Refused(); len(refused) > 0 {
		t.Errorf("%v", refused)
	}
}

// What the API server does not admit, for a quota or a policy, is said, and done when it admits it.
func testNotAdmitted(t *testing.T, s *stage) {
	o, spec, ctx := s.owner(t, nil), s.submit(t, "q"), t.Context()
	fail, deny := admissionv1.Fail, admissionv1.Deny
	policies := s.Client.AdmissionregistrationV1()
	must.Have(policies.ValidatingAdmissionPolicies().Create(ctx, &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "no-third"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{FailurePolicy: &fail,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}}}},
			Validations: []admissionv1.Validation{{Expression: `!object.metadata.name.endsWith("-2")`, Message: "no third pod"}}}}, metav1.CreateOptions{}))(t)
	must.Have(policies.ValidatingAdmissionPolicyBindings().Create(ctx, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "no-third"},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "no-third", ValidationActions: []admissionv1.ValidationAction{deny}}}, metav1.CreateOptions{}))(t)
	// It takes the API server a moment to know a policy.
	probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe-2"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}}}
	processes.Eventually(t, "the policy is in force", 60*time.Second, func() bool {
		_, err := s.Client.CoreV1().Pods(inNamespace).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil
	})
	if err := o.Start(ctx, s.task("q", 1, spec)); err == nil || !strings.Contains(err.Error(), "no third pod") || len(s.pods(t, "q")) != 2 {
		t.Errorf("%v, %v", s.pods(t, "q"), err)
	}
	if text, _, err := o.Trouble(ctx, snapshot.ID(inNamespace, "q"), 1, managed.Part{Server: "n2", Count: 1}); text != "" || err != nil {
		t.Errorf("what is being made is no trouble: %q, %v", text, err)
	}
	// One that was made and is gone is not made again, when the last can be.
	must.Do(t, s.Client.CoreV1().Pods(inNamespace).Delete(ctx, "q-1-0", metav1.DeleteOptions{}))
	processes.Eventually(t, "the pod is gone", 20*time.Second, func() bool {
		_, err := s.Client.CoreV1().Pods(inNamespace).Get(ctx, "q-1-0", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	must.Do(t, policies.ValidatingAdmissionPolicyBindings().Delete(ctx, "no-third", metav1.DeleteOptions{}))
	processes.Eventually(t, "the policy is out of force", 60*time.Second, func() bool { return o.Start(ctx, s.task("q", 1, spec)) == nil })
	must.Same(t, s.pods(t, "q"), whole("q", 1)[1:])
}

// A master that does not see what the next has written writes nothing over it.
func testStale(t *testing.T, s *stage) {
	o, spec := s.owner(t, nil), s.submit(t, "s")
	ctx, job := t.Context(), snapshot.ID(inNamespace, "s")
	must.Do(t, o.Start(ctx, s.task("s", 1, spec)))
	s.blind()
	next := s.owner(t, nil)
	must.Do(t, errors.Join(stopAll(ctx, next, job, 1), next.Start(ctx, s.task("s", 2, spec))))
	must.Err(t, o.Start(ctx, s.task("s", 3, spec)), checkpoint.ErrFenced)
	must.Same(t, s.pods(t, "s"), whole("s", 2))
}

// A pod whose making was not answered is there, and counts as made.
func testLostAnswer(t *testing.T, s *stage) {
	lossy := &transport{dies: 2}
	o, spec := s.owner(t, lossy), s.submit(t, "l")
	must.Err(t, o.Start(t.Context(), s.task("l", 1, spec)), must.ErrAny, "no answer was lost")
	lossy.mu.Lock()
	lossy.dies = -1
	lossy.mu.Unlock()
	if err := o.Start(t.Context(), s.task("l", 1, spec)); err != nil || !slices.Equal(s.pods(t, "l"), whole("l", 1)) {
		t.Errorf("%v, %v", s.pods(t, "l"), err)
	}
}

// The rights that are shipped let the controller do nothing else. That they are enough the other tests show, which have them.
func testLeastRights(t *testing.T, s *stage) {
	s.ApplyFolder("deploy")
	config := rest.CopyConfig(s.Config)
	config.BearerToken = kubetest.ControllerToken
	limited := must.Have(kubernetes.NewForConfig(config))(t)
	ctx := t.Context()
	if list, err := limited.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err != nil || len(list.Items) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	patch := []byte(`{"metadata":{"labels":{"x":"y"}}}`)
	core := limited.CoreV1()
	for what, try := range map[string]func() error{
		"list secrets":     func() error { _, err := core.Secrets("").List(ctx, metav1.ListOptions{}); return err },
		"read a secret":    func() error { _, err := core.Secrets("apportion").Get(ctx, "x", metav1.GetOptions{}); return err },
		"list config maps": func() error { _, err := core.ConfigMaps("").List(ctx, metav1.ListOptions{}); return err },
		"change a node": func() error {
			_, err := core.Nodes().Patch(ctx, "n1", "application/merge-patch+json", patch, metav1.PatchOptions{})
			return err
		},
		"delete a node": func() error { return core.Nodes().Delete(ctx, "n1", metav1.DeleteOptions{}) },
		"change a pod": func() error {
			_, err := core.Pods(inNamespace).Patch(ctx, "x", "application/merge-patch+json", patch, metav1.PatchOptions{})
			return err
		},
		"end a pod's status": func() error {
			_, err := core.Pods(inNamespace).Patch(ctx, "x", "application/merge-patch+json", patch, metav1.PatchOptions{}, "status")
			return err
		},
		"run commands": func() error {
			return core.RESTClient().Post().Resource("pods").Namespace(inNamespace).Name("x").SubResource("exec").Do(ctx).Error()
		},
		"read logs": func() error {
			_, err := core.Pods(inNamespace).GetLogs("x", &corev1.PodLogOptions{}).DoRaw(ctx)
			return err
		},
		"make Jobs": func() error {
			_, err := limited.BatchV1().Jobs(inNamespace).Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
			return err
		},
		"delete Jobs":   func() error { return limited.BatchV1().Jobs(inNamespace).Delete(ctx, "x", metav1.DeleteOptions{}) },
		"raise a quota": func() error { return core.ResourceQuotas(inNamespace).Delete(ctx, "x", metav1.DeleteOptions{}) },
		"take another Lease": func() error {
			_, err := limited.CoordinationV1().Leases("kube-system").List(ctx, metav1.ListOptions{})
			return err
		},
		"see another Lease": func() error {
			_, err := limited.CoordinationV1().Leases("apportion").Get(ctx, "other", metav1.GetOptions{})
			return err
		},
		"give itself a right": func() error { return limited.RbacV1().ClusterRoles().Delete(ctx, "apportion", metav1.DeleteOptions{}) },
	} {
		if err := try(); !apierrors.IsForbidden(err) {
			t.Errorf("it may %s: %v", what, err)
		}
	}
}

// A second controller waits while the first leads, and goes on with its jobs when that has given the Lease back.
func TestTwoControllers(t *testing.T) {
	b := newBench(t, "n1")
	b.submit(b.job("a", 4, 100000, nil))
	b.Holds(map[string]int{"default/a": 4})
	second, _ := b.second(t)
	time.Sleep(3 * time.Second)
	if text, _ := os.ReadFile(second); strings.Contains(string(text), "page:") {
		t.Fatal("two lead")
	}
	b.stand(t)
	processes.Eventually(t, "the second leads", 60*time.Second, func() bool {
		text, _ := os.ReadFile(second)
		return strings.Contains(string(text), "page:")
	})
	b.Holds(map[string]int{"default/a": 4})
	b.check()
	if text, _ := os.ReadFile(b.Dir + "/controller.log"); strings.Contains(string(text), "forbidden") {
		t.Errorf("a right is missing: %.2000s", text)
	}
}
