// This file tests the answers about a cluster that a client without a server has, and what is refused.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"

	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/internal/must"
)

// node is a node that is ready, with GPUs.
func node(name string, gpus int64) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(gpus, resource.DecimalSI), "pods": resource.MustParse("110")},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}

// job is an elastic Job of the namespace ml whose pods have a GPU each.
func job(name string, most int32) *batchv1.Job {
	manager := snapshot.Manager
	return &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID(name)},
		Spec: batchv1.JobSpec{ManagedBy: &manager, Parallelism: &most, Template: corev1.PodTemplateSpec{Spec: spec("")}}}
}

// spec is what a pod is made of.
func spec(node string) corev1.PodSpec {
	return corev1.PodSpec{NodeName: node, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "train", Image: "train", Command: []string{"train"},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}}}
}

// pods are those of a Job on a node.
func pods(j *batchv1.Job, node string, n int) []runtime.Object {
	var list []runtime.Object
	for i := range n {
		list = append(list, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: j.Namespace, Name: fmt.Sprintf("%s-%s-%d", j.Name, node, i),
			Labels: map[string]string{snapshot.Attempt: "1"}, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))}},
			Spec: spec(node)})
	}
	return list
}

// told is a condition by which the controller has told how a Job stands.
func told(j *batchv1.Job, text string) *batchv1.Job {
	j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: snapshot.Placed, Reason: "Running", Message: text, LastProbeTime: metav1.Now()})
	return j
}

// stage is a cluster of two nodes for four pods each, where big has six pods and small waits; others are left alone, are over, or
// are not the controller's.
func stage() *fake.Clientset {
	big, small, odd, over, stock := told(job("big", 8), "It has 6."), job("small", 2), job("odd", 2), job("over", 2), job("stock", 2)
	odd.Annotations = map[string]string{snapshot.Prefix + "min": "many"}
	over.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	stock.Spec.ManagedBy = nil
	objects := append(pods(big, "n1", 4), pods(big, "n2", 2)...)
	return fake.NewSimpleClientset(append(objects, node("n1", 4), node("n2", 4), big, small, odd, over, stock)...)
}

// ask is what an answer is, on budgets that allow everything.
func ask(t *testing.T, client *fake.Clientset, args ...string) (string, error) {
	t.Helper()
	var q query
	var text strings.Builder
	words, err := q.parse(append([]string{"-theta1", "1", "-theta2", "1"}, args...), &text)
	if err != nil {
		t.Fatalf("%v: %s", err, text.String())
	}
	q.namespace = "ml"
	err = q.answer(t.Context(), client, words, &text)
	return text.String(), err
}

// file writes a manifest.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "job.yaml")
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// arriving is the manifest of a Job of three pods at least.
const arriving = `
apiVersion: batch/v1
kind: Job
metadata: {name: new, annotations: {apportion.github.io/min: "3"}}
spec:
  managedBy: apportion.github.io/controller
  parallelism: 3
  template:
    spec:
      restartPolicy: Never
      containers: [{name: train, image: train, command: [train], resources: {limits: {nvidia.com/gpu: "1"}}}]
`

// leftAlone is said wherever a decision is shown.
const leftAlone = `ml/odd is left alone: annotation apportion.github.io/min = "many": strconv.ParseInt: parsing "many": invalid syntax
`

// answers are what is answered to the letter; MANIFEST stands for the file with the Job that arrives.
var answers = []struct {
	args []string
	want string
}{
	{[]string{"plan"}, `
JOB       HAS  GETS  MOST  WHERE      WHY NOT MORE
ml/big    6    6     8     n1:4 n2:2  no server has room. Both servers have no nvidia.com/gpu free
ml/small  0    2     2     n2:2       it has its maximum of 2
` + leftAlone + `objective 1.036 of at most 1.036 (within 0%), unfairness 0 of 4, 0 of 1 adjusted
`},
	{[]string{"explain", "big"}, `
job         ml/big
has         6: n1:4 n2:2
controller  Running, 0s ago: It has 6.
decision    6: n1:4 n2:2
asks for    1 to 8, weight 1, priority 0, queue ml
share       0.75, due 0.75
not more    no server has room. Both servers have no nvidia.com/gpu free
`},
	{[]string{"explain", "ml/small"}, `
job       ml/small
has       0
decision  2: n2:2
asks for  1 to 2, weight 1, priority 0, queue ml
share     0.25, due 0.25
not more  it has its maximum of 2
`},
	{[]string{"explain", "odd"}, `
job       ml/odd
has       0
decision  it is left alone: annotation apportion.github.io/min = "many": strconv.ParseInt: parsing "many": invalid syntax
`},
	{[]string{"explain", "over"}, `
job       ml/over
has       0
decision  it is over
`},
	{[]string{"fragmentation"}, `
2 of nvidia.com/gpu are free on open nodes
pods of every size find all of it
`},
	{[]string{"fragmentation", "pods"}, `
214 of pods are free on open nodes
SIZE OF A POD  FIT  AFTER MOVES  IN ONE PIECE
16             12   12           13
64             2    2            3
`},
	// Of the two that want the four GPUs that are left, each has some.
	{[]string{"what-if", "-drain", "n2"}, `
JOB       HAS  NOW  THEN  WHERE THEN  WHY NOT MORE THEN
ml/big    6    6    2     n1:2        no server has room. The server has no nvidia.com/gpu free
ml/small  0    2    2     n1:2        it has its maximum of 2
saved, stopped and resumed: ml/big
started: ml/small
` + leftAlone + `objective 1.036 of at most 1.036 (within 0%), unfairness 0 of 4, 1 of 1 adjusted
`},
	{[]string{"what-if", "-end", "big"}, `
JOB       HAS  NOW  THEN  WHERE THEN  WHY NOT MORE THEN
ml/big    6    6    0     -
ml/small  0    2    2     n2:2        it has its maximum of 2
started: ml/small
` + leftAlone + `objective 0.2591 of at most 0.2591 (within 0%), unfairness 0 of 4, 0 of 0 adjusted
`},
	{[]string{"what-if", "-arrive", "MANIFEST"}, `
JOB       HAS  NOW  THEN  WHERE THEN  WHY NOT MORE THEN
ml/big    6    6    3     n1:1 n2:2   no server has room. Both servers have no nvidia.com/gpu free
ml/small  0    2    2     n2:2        it has its maximum of 2
ml/new    0    0    3     n1:3        it has its maximum of 3
saved, stopped and resumed: ml/big
started: ml/new, ml/small
` + leftAlone + `objective 0.9392 of at most 0.9392 (within 0%), unfairness 0 of 4, 1 of 1 adjusted
`},
}

// What is answered, to the letter.
func TestAnswers(t *testing.T) {
	arrives := file(t, arriving)
	for _, test := range answers {
		args := slices.Clone(test.args)
		if at := slices.Index(args, "MANIFEST"); at >= 0 {
			args[at] = arrives
		}
		got, err := ask(t, stage(), args...)
		if err != nil {
			t.Errorf("%q: %v", test.args, err)
		}
		got = regexp.MustCompile(`\d+s ago`).ReplaceAllString(got, "0s ago")
		must.Equal(t, cmp.Diff(strings.TrimPrefix(test.want, "\n"), got), "", test.args)
	}
}

// Free GPUs in pieces, one on each node, become one piece by a move.
func TestFragments(t *testing.T) {
	a, b := job("a", 3), job("b", 2)
	objects := append(append(pods(a, "n1", 3), pods(b, "n2", 2)...), pods(job("c", 1), "n2", 1)...)
	got, err := ask(t, fake.NewSimpleClientset(append(objects, node("n1", 4), node("n2", 4), node("n3", 2), a, b, job("c", 1))...), "fragmentation")
	want := `4 of nvidia.com/gpu are free on open nodes
SIZE OF A POD  FIT  AFTER MOVES  IN ONE PIECE
2              1    2            2
4              0    1            1
the moves: ml/c, ml/b
`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Who must leave a node that is drained leaves it, whatever the budget for moves by one's own will.
func TestDrainForces(t *testing.T) {
	big := job("big", 8)
	client := fake.NewSimpleClientset(append(pods(big, "n1", 3), node("n1", 4), node("n2", 4), big, job("small", 2))...)
	for _, budget := range []string{"0", "1"} {
		got, err := ask(t, client, "what-if", "-drain", "n1", "-arrive", file(t, arriving), "-theta2", budget)
		if err != nil || strings.Contains(got, "n1:") || !strings.Contains(got, "n2:") || !strings.Contains(got, "saved, stopped") || !strings.Contains(got, "it needs 3 nvidia.com/gpu") {
			t.Errorf("%v\n%s", err, got)
		}
	}
}

// What cannot be answered is said in a way from which the next try comes right.
func TestRefused(t *testing.T) {
	stock := strings.Replace(arriving, "managedBy: apportion.github.io/controller", "suspend: false", 1)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"advise"}, "explain, plan, fragmentation or what-if"},
		{[]string{"plan", "big"}, "plan is about all Jobs"},
		{[]string{"explain", "big", "small"}, "one word behind the command"},
		{[]string{"explain"}, "which Job"},
		{[]string{"explain", "none"}, "there is no Job ml/none"},
		{[]string{"explain", "other/big"}, "there is no Job other/big"},
		{[]string{"explain", "stock"}, "spec.managedBy is not"},
		{[]string{"fragmentation", "tpu"}, "tpu"},
		{[]string{"what-if"}, "-drain NODE, -arrive FILE or -end JOB"},
		{[]string{"what-if", "-drain", "n1,n9"}, `no node "n9"`},
		{[]string{"what-if", "-end", "none"}, "there is no Job ml/none"},
		{[]string{"what-if", "-arrive", "/not/there.yaml"}, "no such file"},
		{[]string{"what-if", "-arrive", file(t, "kind: Jobb")}, "a Job with a name is needed"},
		{[]string{"what-if", "-arrive", file(t, "kindness: Job")}, "kindness"},
		{[]string{"what-if", "-arrive", file(t, stock)}, "spec.managedBy is not"},
		{[]string{"what-if", "-arrive", file(t, strings.Replace(arriving, "name: new", "name: big", 1))}, "there is a Job ml/big already"},
		{[]string{"what-if", "-arrive", file(t, arriving[:strings.Index(arriving, "      containers")])}, "no containers"},
	} {
		text, err := ask(t, stage(), test.args...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q; %s", test.args, err, test.want, text)
		}
	}
}

// Flags stand anywhere; a flag that is not known, and no word at all, are told how it is done.
func TestParse(t *testing.T) {
	var q query
	var text strings.Builder
	words, err := q.parse([]string{"-n", "team", "explain", "--kinds", "cpu,gpu", "lr", "-theta2=0.5"}, &text)
	if err != nil || !slices.Equal(words, []string{"explain", "lr"}) {
		t.Errorf("%q, %v", words, err)
	}
	if namespace, _, err := q.config.Namespace(); err != nil || namespace != "team" {
		t.Errorf("namespace %q, %v", namespace, err)
	}
	if !slices.Equal(q.settings.Kinds, []string{"cpu", "gpu"}) || q.settings.Theta2 != 0.5 || q.settings.Theta1 != 0.2 {
		t.Errorf("%+v", q.settings)
	}
	for _, args := range [][]string{nil, {"plan", "-theta3", "1"}} {
		text.Reset()
		if _, err := new(query).parse(args, &text); err == nil || !strings.Contains(text.String(), "kubectl apportion explain JOB") {
			t.Errorf("%q: %v, and help is %q", args, err, text.String())
		}
	}
}

// A cluster that may not be read is no empty one.
func TestUnreadable(t *testing.T) {
	for _, kind := range []string{"nodes", "pods", "jobs", "namespaces", "resourcequotas", "priorityclasses"} {
		client := stage()
		client.PrependReactor("list", kind, func(ktesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("not you") })
		if text, err := ask(t, client, "plan"); err == nil || !strings.Contains(err.Error(), "cannot be listed: not you") {
			t.Errorf("%s that may not be listed: %v, %s", kind, err, text)
		}
	}
}
