// This file tests how objects of other controllers are read, and what is asked of them.

package resize_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/internal/must"
)

var gpu = apportion.Kinds{"nvidia.com/gpu"}

// objects are one of each kind, called "a", with a count of 2 where %d is written.
var objects = map[string]string{
	"jobs": `{"spec": {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": POD}}`,
	"jobsets": `{"spec": {"replicatedJobs": [{"name": "w", "template": {"spec": {
		"parallelism": 2, "completions": 2, "template": POD}}}]}}`,
	"rayclusters": `{"spec": {"headGroupSpec": {}, "workerGroupSpecs": [{"replicas": 2, "template": POD}]}}`,
	"pytorchjobs": `{"spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 2, "template": POD}}}}`,
	"mpijobs":     `{"spec": {"runPolicy": {}, "mpiReplicaSpecs": {"Launcher": {"replicas": 1}, "Worker": {"replicas": 2, "template": POD}}}}`,
}

// pod is a template of pods with one GPU.
const pod = `{"spec": {"containers": [{"name": "train", "image": "train", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}`

// item returns an object of a kind.
func item(t testing.TB, kind, name string, annotations map[string]string) resize.Item {
	t.Helper()
	kinds := resize.Kinds()
	at := slices.IndexFunc(kinds, func(k resize.Kind) bool { return k.Resource == kind })
	o := &unstructured.Unstructured{}
	must.Do(t, json.Unmarshal([]byte(strings.ReplaceAll(objects[kind], "POD", pod)), &o.Object))
	o.SetNamespace("ml")
	o.SetName(name)
	o.SetUID(types.UID("uid-" + kind + name))
	o.SetResourceVersion("7")
	o.SetAnnotations(annotations)
	return resize.Item{Kind: &kinds[at], Object: o}
}

// podOf returns a pod of an item on a node.
func podOf(i *resize.Item, number int, node string) *corev1.Pod {
	labels := map[string]string{i.Kind.Name: i.Object.GetName()}
	for key, value := range i.Kind.Role {
		labels[key] = strings.ToUpper(value[:1]) + value[1:]
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: i.Object.GetNamespace(), Name: fmt.Sprint(i.Object.GetName(), "-", number), Labels: labels,
		UID: types.UID(fmt.Sprint(i.Object.GetUID(), number))}}
	p.Spec = corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}}}
	p.Status.Phase = corev1.PodRunning
	return p
}

// node returns a node with GPUs.
func node(name string, gpus string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(gpus)},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}

// changes decides on a cluster and returns what is to be changed.
func changes(t testing.TB, o snapshot.Objects, items ...resize.Item) []resize.Change {
	t.Helper()
	r := resize.Read(gpu, o, items)
	if len(r.Rejected) > 0 {
		t.Fatalf("rejected: %v", r.Rejected)
	}
	r.Problem.Theta1, r.Problem.Theta2 = 1, 1
	d := must.Have(alloc.Reallocate(context.Background(), &r.Problem, nil))(t)
	list := must.Have(r.Changes(d))(t)
	return list
}

// Each kind grows from its two pods to the four that the cluster has room for, by a patch of its own count.
func TestGrow(t *testing.T) {
	want := map[string]string{
		"jobs": `[V,{"op":"add","path":"/spec/parallelism","value":4},{"op":"add","path":"/spec/completions","value":4},P]`,
		"jobsets": `[V,{"op":"add","path":"/spec/replicatedJobs/0/template/spec/parallelism","value":4},` +
			`{"op":"add","path":"/spec/replicatedJobs/0/template/spec/completions","value":4},P]`,
		"rayclusters": `[V,{"op":"add","path":"/spec/workerGroupSpecs/0/replicas","value":4},P]`,
		"pytorchjobs": `scale [V,{"op":"replace","path":"/spec/replicas","value":4}]`,
		"mpijobs":     `[V,{"op":"add","path":"/spec/mpiReplicaSpecs/Worker/replicas","value":4},P]`,
	}
	for kind := range objects {
		i := item(t, kind, "a", map[string]string{resize.Max: "8"})
		o := snapshot.Objects{Nodes: []*corev1.Node{node("n1", "4")}, Pods: []*corev1.Pod{podOf(&i, 0, "n1"), podOf(&i, 1, "n1")}}
		list := changes(t, o, i)
		if len(list) != 1 || list[0].From != 2 || list[0].To != 4 {
			t.Fatalf("%s: %+v", kind, list)
		}
		got := strings.TrimSpace(list[0].Subresource + " " + string(list[0].Patch))
		plan := `{"op":"add","path":"/metadata/annotations/apportion.github.io~1plan","value":"{\"n1\":4}"}`
		version := `{"op":"test","path":"/metadata/resourceVersion","value":"7"}`
		must.Equal(t, cmp.Diff(strings.NewReplacer("[V", "["+version, "P]", plan+"]").Replace(want[kind]), got), "", kind)
	}
}

// What nobody has room for is suspended where it may have none, and keeps its count; it comes back with another.
func TestSuspendAndResume(t *testing.T) {
	i := item(t, "pytorchjobs", "a", map[string]string{resize.Max: "4", snapshot.Prefix + "min": "0"})
	list := changes(t, snapshot.Objects{Nodes: []*corev1.Node{node("n1", "0")}}, i)
	// There is no runPolicy, so that it is made first.
	want := `[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/spec/runPolicy","value":{}},` +
		`{"op":"add","path":"/spec/runPolicy/suspend","value":true}]`
	if len(list) != 1 || list[0].To != 0 || string(list[0].Patch) != want {
		t.Fatalf("%+v\n%s", list, list[0].Patch)
	}
	must.Do(t, unstructured.SetNestedField(i.Object.Object, true, "spec", "runPolicy", "suspend"))
	if list := changes(t, snapshot.Objects{Nodes: []*corev1.Node{node("n1", "0")}}, i); len(list) != 0 {
		t.Errorf("what is suspended is suspended again: %+v", list)
	}
	list = changes(t, snapshot.Objects{Nodes: []*corev1.Node{node("n1", "3")}}, i)
	want = `[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/spec/runPolicy/suspend","value":false},` +
		`{"op":"add","path":"/spec/pytorchReplicaSpecs/Worker/replicas","value":3},` +
		`{"op":"add","path":"/metadata/annotations/apportion.github.io~1plan","value":"{\"n1\":3}"}]`
	if len(list) != 1 || list[0].From != 0 || list[0].To != 3 || string(list[0].Patch) != want {
		t.Fatalf("%+v\n%s", list, list[0].Patch)
	}
}

// What runs is no more than what was asked for: the pods that are about to go, those with the highest indexes, are nobody's any
// more.
func TestPrevious(t *testing.T) {
	i := item(t, "jobs", "a", map[string]string{resize.Max: "8"}) // asks for 2
	o := snapshot.Objects{Nodes: []*corev1.Node{node("n1", "4"), node("n2", "4")}}
	for n, where := range []string{"n2", "n1", "n2", ""} {
		p := podOf(&i, 3-n, where)
		p.Labels["batch.kubernetes.io/job-completion-index"] = fmt.Sprint(10 - n)
		o.Pods = append(o.Pods, p)
	}
	// The pod without a node has the lowest index, 7; of the others 8 and 9 stay.
	r := resize.Read(gpu, o, []resize.Item{i})
	must.Equal(t, cmp.Diff(alloc.Allocation{"jobs/ml/a": {"n1": 1, "n2": 1}}, r.Problem.Previous), "")
	must.Do(t, unstructured.SetNestedField(i.Object.Object, true, "spec", "suspend"))
	if r := resize.Read(gpu, o, []resize.Item{i}); len(r.Problem.Previous) != 0 {
		t.Errorf("a suspended object runs %v", r.Problem.Previous)
	}
}

// Who gives comes before who gets, and what pods of others use is nobody's.
func TestOrderAndOthers(t *testing.T) {
	big := item(t, "jobs", "big", map[string]string{resize.Max: "8"})
	for _, field := range []string{"parallelism", "completions"} {
		must.Do(t, unstructured.SetNestedField(big.Object.Object, int64(6), "spec", field))
	}
	small := item(t, "rayclusters", "a-small", map[string]string{resize.Max: "8"})
	o := snapshot.Objects{Nodes: []*corev1.Node{node("n1", "8")}, Now: time.Unix(60, 0)}
	for n := range 6 {
		o.Pods = append(o.Pods, podOf(&big, n, "n1"))
	}
	other := podOf(&small, 0, "n1")
	other.Labels = nil
	ending := podOf(&small, 1, "n1")
	ending.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	o.Pods = append(o.Pods, other, ending)
	r := resize.Read(gpu, o, []resize.Item{small, big})
	must.Equal(t, r.Problem.Servers[0].Capacity[0], 6, "of 8 GPUs are left beside a pod of others and one that is ended late")
	must.Equal(t, cmp.Diff(alloc.Allocation{"jobs/ml/big": {"n1": 6}}, r.Problem.Previous), "", "previous")
	r.Problem.Theta1, r.Problem.Theta2 = 0, 1
	d := must.Have(alloc.Reallocate(t.Context(), &r.Problem, nil))(t)
	list, err := r.Changes(d)
	if err != nil || len(list) != 2 || list[0].ID != "jobs/ml/big" || list[0].To != 3 || list[1].ID != "rayclusters/ml/a-small" || list[1].To != 3 {
		t.Errorf("%d changes, %v: %+v", len(list), err, list)
	}
}

// What cannot be understood is left alone with a reason; what asks for nothing is not looked at.
func TestRejected(t *testing.T) {
	for _, test := range []struct {
		kind        string
		annotations map[string]string
		change      func(o map[string]any)
		want        string // "" for an object that is no application and not rejected
	}{
		{"jobs", nil, nil, ""},
		{"jobs", map[string]string{resize.Max: "many"}, nil, `"many": a number of pods`},
		{"jobs", map[string]string{resize.Max: "0"}, nil, "a number of pods from 1 on"},
		{"jobs", map[string]string{resize.Max: "2", resize.Paused: "true"}, nil, "paused"},
		{"jobs", map[string]string{resize.Max: "2", snapshot.Prefix + "most": "3"}, nil, "is not known"},
		{"jobs", map[string]string{resize.Max: "2"}, func(o map[string]any) { o["status"] = finished("Complete") }, ""},
		{"pytorchjobs", map[string]string{resize.Max: "2"}, func(o map[string]any) { o["status"] = finished("Succeeded") }, ""},
		{"jobs", map[string]string{resize.Max: "2"}, func(o map[string]any) { delete(o["spec"].(map[string]any), "template") }, "no pods' template at spec.template"},
		{"jobs", map[string]string{resize.Max: "2"}, func(o map[string]any) { o["spec"].(map[string]any)["parallelism"] = "two" }, "spec.parallelism is two"},
		{"rayclusters", map[string]string{resize.Max: "2"}, func(o map[string]any) { o["spec"].(map[string]any)["workerGroupSpecs"] = "none" }, "has no fields"},
		{"rayclusters", map[string]string{resize.Max: "2"}, func(o map[string]any) { o["spec"].(map[string]any)["workerGroupSpecs"] = []any{} }, "no pods' template"},
	} {
		i := item(t, test.kind, "a", test.annotations)
		if test.change != nil {
			test.change(i.Object.Object)
		}
		r := resize.Read(gpu, snapshot.Objects{Nodes: []*corev1.Node{node("n1", "4")}}, []resize.Item{i})
		got := r.Rejected[test.kind+"/ml/a"]
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) || len(r.Problem.Applications) != 0 {
			t.Errorf("%s %v: %q, want %q; %d applications", test.kind, test.annotations, got, test.want, len(r.Problem.Applications))
		}
	}
}

// finished is the status of an object that has a condition.
func finished(condition string) map[string]any {
	return map[string]any{"conditions": []any{map[string]any{"type": condition, "status": "True"}}}
}

// A Job whose completions are work items, not pods, keeps them.
func TestWorkItems(t *testing.T) {
	i := item(t, "jobs", "a", map[string]string{resize.Max: "8"})
	must.Do(t, unstructured.SetNestedField(i.Object.Object, int64(100), "spec", "completions"))
	list := changes(t, snapshot.Objects{Nodes: []*corev1.Node{node("n1", "4")}}, i)
	if len(list) != 1 || strings.Contains(string(list[0].Patch), "completions") {
		t.Errorf("%+v %s", list, list[0].Patch)
	}
}

// The label of an object names its queue, as a Job's does.
func TestQueue(t *testing.T) {
	named, other := item(t, "jobs", "a", map[string]string{resize.Max: "8"}), item(t, "rayclusters", "b", map[string]string{resize.Max: "8"})
	named.Object.SetLabels(map[string]string{snapshot.Queue: "vision"})
	p := &resize.Read(gpu, snapshot.Objects{Nodes: []*corev1.Node{node("n1", "4")}}, []resize.Item{named, other}).Problem
	if got := []string{p.Applications[0].Queue, p.Applications[1].Queue}; !slices.Equal(got, []string{"ml/vision", "ml/default"}) || len(p.Queues) != 3 {
		t.Errorf("the queues are %v, of %d", got, len(p.Queues))
	}
}

// Of an object that is Kueue's the number of pods is changed and nothing else: one that Kueue has suspended is left alone, and none
// is suspended or taken out of that.
func TestKueue(t *testing.T) {
	o := snapshot.Objects{Nodes: []*corev1.Node{node("n1", "4")}}
	i := item(t, "jobs", "a", map[string]string{resize.Max: "8"})
	i.Object.SetLabels(map[string]string{"kueue.x-k8s.io/queue-name": "team"})
	list := changes(t, o, i)
	if len(list) != 1 || list[0].To != 4 || strings.Contains(string(list[0].Patch), "suspend") {
		t.Errorf("%+v", list)
	}
	if c, err := i.Change(0, nil); c != nil || err != nil {
		t.Errorf("it would be suspended: %+v, %v", c, err)
	}
	must.Do(t, unstructured.SetNestedField(i.Object.Object, true, "spec", "suspend"))
	r := resize.Read(gpu, o, []resize.Item{i})
	if why := r.Rejected["jobs/ml/a"]; !strings.Contains(why, "suspended by Kueue") || len(r.Problem.Applications) != 0 {
		t.Errorf("%q, %d applications", why, len(r.Problem.Applications))
	}
}
