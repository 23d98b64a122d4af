// This file tests paths, and what is read and set by them, on objects that are written down.

package resize

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/apportion/apportion/internal/must"
)

// object reads an object as the API server hands it over: whole numbers are int64.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	must.Do(t, o.UnmarshalJSON([]byte(text)))
	return o
}

// A path is fields and indexes, and a pointer says the same with slashes.
func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		"spec":                "/spec",
		"spec.parallelism":    "/spec/parallelism",
		"spec.groups[0].size": "/spec/groups/0/size",
		"spec.groups[12]":     "/spec/groups/12",
		"a/b.c~d":             "/a~1b/c~0d",
		"a~1.b":               "/a~01/b",
	} {
		must.Equal(t, must.Have(pointer(path))(t), want, path)
	}
	for _, path := range []string{"", ".", "spec.", ".spec", "a..b", "[0]", "a[", "a[]", "a[x]", "a[-1]", "a[0", "a[0]b", "a[1.5]", "a[0][1]"} {
		if got, err := pointer(path); err == nil {
			t.Errorf("%q: %s", path, got)
		}
		if got, err := get(map[string]any{"a": []any{1}}, path); err == nil {
			t.Errorf("%q: %v", path, got)
		}
	}
}

// What is not there is nothing, what is of another form than the path says is a fault.
func TestGet(t *testing.T) {
	o := object(t, `{"kind": "K", "apiVersion": "v1", "spec": {"groups": [{"size": 2}, {"size": 3}], "name": "x", "none": null}}`).Object
	for path, want := range map[string]any{
		"spec.groups[1].size": int64(3), "spec.groups[0].size": int64(2), "spec.groups[2].size": nil, "spec.groups[2]": nil, "spec.name": "x",
		"spec.none": nil, "spec.none.deep[3].er": nil, "spec.other": nil, "other.size": nil, "kind": "K",
	} {
		must.Equal(t, must.Have(get(o, path))(t), want, path)
	}
	for path, want := range map[string]string{
		"spec[0]": "no list to take item 0 of", "spec.groups.size": `list in the place of field "size"`, "spec.name.first": "string has no fields", "spec.name[0]": "string has no fields",
	} {
		if got, err := get(o, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", path, got, err, want)
		}
	}
}

// A count is a whole number, however JSON was read.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		value any
		want  int64
		fault bool
	}{
		{nil, 7, false}, {int64(0), 0, false}, {int64(5), 5, false}, {float64(5), 5, false}, {float64(-1), -1, false}, {5.5, 0, true}, {"5", 0, true}, {true, 0, true},
		{math.NaN(), 0, true}, {math.Inf(1), 0, true}, {[]any{int64(1)}, 0, true},
	} {
		got, err := number(map[string]any{"n": c.value}, "n", 7)
		if (err != nil) != c.fault || err == nil && got != c.want {
			t.Errorf("%v: %d, %v, want %d", c.value, got, err, c.want)
		}
	}
	must.Fail(number(map[string]any{}, "n[", 7))(t, must.ErrAny, "a path that is none")
}

// A field is set below parents that are made where there are none, from the top; lists are not made.
func TestSet(t *testing.T) {
	for text, want := range map[string]string{
		`{"spec": {"a": {"b": {"c": 1}}}}`: `[{"op":"add","path":"/spec/a/b/c","value":9}]`,
		`{"spec": {"a": {}}}`:              `[{"op":"add","path":"/spec/a/b","value":{}},{"op":"add","path":"/spec/a/b/c","value":9}]`,
		`{}`: `[{"op":"add","path":"/spec","value":{}},{"op":"add","path":"/spec/a","value":{}},{"op":"add","path":"/spec/a/b","value":{}},` +
			`{"op":"add","path":"/spec/a/b/c","value":9}]`,
	} {
		var fields map[string]any
		must.Do(t, json.Unmarshal([]byte(text), &fields))
		i := &Item{Object: &unstructured.Unstructured{Object: fields}}
		operations, err := i.set("spec.a.b.c", 9)
		got, jsonErr := json.Marshal(operations)
		if err != nil || jsonErr != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	i := &Item{Object: &unstructured.Unstructured{Object: map[string]any{"spec": "none"}}}
	for _, path := range []string{"spec.a.b", "spec..b", "spec.a["} {
		if operations, err := i.set(path, 9); err == nil {
			t.Errorf("%s: %v", path, operations)
		}
	}
}

// Counts behind the first are changed where they say the same as the first, and nowhere else.
func TestSetCounts(t *testing.T) {
	kind := &Kind{Counts: []string{"spec.parallelism", "spec.completions", "spec.slots"}}
	for text, want := range map[string][]string{
		`{"parallelism": 2}`:                                 {"/spec/parallelism"},
		`{"parallelism": 2, "completions": 2}`:               {"/spec/parallelism", "/spec/completions"},
		`{"parallelism": 2, "completions": 100, "slots": 2}`: {"/spec/parallelism", "/spec/slots"},
	} {
		i := &Item{Kind: kind, Object: object(t, `{"kind": "K", "apiVersion": "v1", "spec": `+text+`}`)}
		operations, err := i.setCounts(2, 5)
		var got []string
		for _, o := range operations {
			if got = append(got, o.Path); o.Value != int64(5) || o.Op != "add" {
				t.Errorf("%s: %+v", text, o)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	i := &Item{Kind: kind, Object: object(t, `{"kind": "K", "apiVersion": "v1", "spec": {"parallelism": 2, "completions": "two"}}`)}
	must.Fail(i.setCounts(2, 5))(t, must.ErrAny, "a count that is none")
}

// Of all pods those are an item's that have its name in the label of its kind, its namespace and its role, and have not ended.
func TestPodsOf(t *testing.T) {
	kinds := Kinds()
	named := func(resource string) *Kind {
		return &kinds[slices.IndexFunc(kinds, func(k Kind) bool { return k.Resource == resource })]
	}
	item := func(resource, namespace, name string) Item {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetNamespace(namespace)
		o.SetName(name)
		return Item{Kind: named(resource), Object: o}
	}
	pod := func(name, namespace string, labels ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{}}}
		for i := 0; i < len(labels); i += 2 {
			p.Labels[labels[i]] = labels[i+1]
		}
		return p
	}
	ended := pod("ended", "ml", "ray.io/cluster", "a", "ray.io/node-type", "worker")
	ended.Status.Phase = corev1.PodFailed
	pods := []*corev1.Pod{
		pod("head", "ml", "ray.io/cluster", "a", "ray.io/node-type", "head"), pod("worker", "ml", "ray.io/cluster", "a", "ray.io/node-type", "Worker"), ended,
		pod("elsewhere", "web", "ray.io/cluster", "a", "ray.io/node-type", "worker"), pod("other", "ml", "ray.io/cluster", "b", "ray.io/node-type", "worker"),
		pod("nobody", "ml"), pod("job", "ml", "batch.kubernetes.io/job-name", "a"),
		// A JobSet's pods have the label of its Jobs as well.
		pod("set", "ml", "jobset.sigs.k8s.io/jobset-name", "s", "batch.kubernetes.io/job-name", "s-w-0"),
	}
	items := []Item{item("rayclusters", "ml", "a"), item("jobs", "ml", "a"), item("jobsets", "ml", "s"), item("jobs", "ml", "none")}
	var got [][]string
	for _, list := range podsOf(pods, items) {
		names := []string{}
		for _, p := range list {
			names = append(names, p.Name)
		}
		got = append(got, names)
	}
	must.Equal(t, cmp.Diff([][]string{{"worker"}, {"job"}, {"set"}, {}}, got), "")
}

// An object is over when its deletion has begun or a condition says so, of whatever controller.
func TestIsOver(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false,
		`{"status": {"conditions": [{"type": "Complete", "status": "True"}]}}`:                                       true,
		`{"status": {"conditions": [{"type": "Complete", "status": "False"}]}}`:                                      false,
		`{"status": {"conditions": [{"type": "Running", "status": "True"}, {"type": "Failed", "status": "True"}]}}`:  true,
		`{"status": {"conditions": [{"type": "FailureTarget", "status": "True"}]}}`:                                  true,
		`{"status": {"conditions": [{"type": "Completed", "status": "True"}]}}`:                                      true,
		`{"status": {"conditions": [{"type": "Succeeded", "status": "True"}]}}`:                                      true,
		`{"status": {"conditions": [{"type": "Suspended", "status": "True"}, {"status": "True"}, "nonsense"]}}`:      false,
		`{"status": {"conditions": "none"}}`:                                                                         false,
		`{"metadata": {"deletionTimestamp": "2026-05-01T12:00:00Z"}}`:                                                true,
		`{"metadata": {"deletionTimestamp": "2026-05-01T12:00:00Z"}, "status": {"conditions": [{"type": "Ready"}]}}`: true,
	} {
		var fields map[string]any
		must.Do(t, json.Unmarshal([]byte(text), &fields))
		must.Equal(t, (&Item{Object: &unstructured.Unstructured{Object: fields}}).isOver(), want, text)
	}
}
