// This file tests the pieces of answers by themselves: tables, places, changed clusters and manifests.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/internal/must"
)

// Columns are aligned, and no line ends with spaces; empty cells keep their column.
func TestTable(t *testing.T) {
	var text strings.Builder
	must.Do(t, table(&text, "A\tBB\tC", "long\t\tx", "\ty\t", "z"))
	must.Equal(t, text.String(), "A     BB  C\nlong      x\n      y\nz\n")
}

// Places are told by name, and so is nothing.
func TestWhere(t *testing.T) {
	for want, on := range map[string]map[string]int64{"-": {}, "n1:2": {"n1": 2}, "a:1 b:3 c:2": {"c": 2, "a": 1, "b": 3}} {
		must.Equal(t, where(on), want, on)
	}
	a := alloc.Allocation{"x": {"n1": 2, "n2": 1}, "none": {}}
	for id, want := range map[string]string{"x": "3: n1:2 n2:1", "none": "0", "other": "0"} {
		must.Equal(t, amount(a, id), want, id)
	}
}

// A Job is named with its namespace or without.
func TestID(t *testing.T) {
	q := &query{namespace: "ml"}
	for name, want := range map[string]string{"lr": "ml/lr", "web/lr": "web/lr", "/lr": "/lr"} {
		must.Equal(t, q.id(name), want, name)
	}
}

// The jobs of two decisions are told once each, those of the first before those that are new.
func TestUnion(t *testing.T) {
	of := func(ids ...string) *decided {
		d := &decided{Problem: &alloc.Problem{}}
		for _, id := range ids {
			d.Applications = append(d.Applications, alloc.Application{ID: id})
		}
		return d
	}
	must.Same(t, union(of("b", "a"), of("c", "a", "b", "d")), []string{"b", "a", "c", "d"})
	if got := union(of(), of()); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// The kind to ask about is GPUs where a server has any, else the first.
func TestScarce(t *testing.T) {
	for want, capacities := range map[string][]apportion.Resources{"cpu": {{8, 0}, {8, 0}}, gpus: {{8, 0}, {0, 1}}} {
		d := &decided{Problem: &alloc.Problem{Kinds: apportion.Kinds{"cpu", gpus}}}
		for _, c := range capacities {
			d.Servers = append(d.Servers, apportion.Server{Capacity: c})
		}
		must.Equal(t, d.scarce(), want, capacities)
	}
	d := &decided{Problem: &alloc.Problem{Kinds: apportion.Kinds{"cpu"}, Servers: []apportion.Server{{Capacity: apportion.Resources{1}}}}}
	must.Equal(t, d.scarce(), "cpu", "without GPUs")
}

// small is a cluster with two nodes and two Jobs, each with a pod, and a pod of nobody.
func small() *cluster {
	c := &cluster{snapshot.Objects{Now: time.Unix(1000, 0)}}
	for _, name := range []string{"n1", "n2"} {
		c.Nodes = append(c.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	controls := true
	for _, name := range []string{"a", "b"} {
		c.Jobs = append(c.Jobs, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID("uid-" + name)}})
		c.Pods = append(c.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name + "-0",
			OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: name, UID: types.UID("uid-" + name), Controller: &controls}}}})
	}
	c.Pods = append(c.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "bare"}})
	return c
}

// write writes a manifest and returns its file.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "job.yaml")
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// elastic is a manifest of an elastic Job.
const elastic = `apiVersion: batch/v1
kind: Job
metadata: {name: new}
spec:
  managedBy: apportion.github.io/controller
  template: {spec: {containers: [{name: train, command: [train]}]}}
`

// A changed cluster has lost its nodes and its Jobs, with their pods, and has the new ones; the one that was read stays as it is.
func TestChange(t *testing.T) {
	c, q := small(), &query{namespace: "ml"}
	h := &change{drain: []string{"n1"}, end: []string{"a"}, arrive: []string{write(t, elastic)}}
	after := must.Have(h.of(c, q))(t)
	if len(after.Nodes) != 1 || after.Nodes[0].Name != "n2" || len(after.Jobs) != 2 || after.Jobs[0].Name != "b" || after.Jobs[1].Name != "new" ||
		after.Jobs[1].Namespace != "ml" || !after.Jobs[1].CreationTimestamp.Time.Equal(c.Now) || after.Jobs[1].UID == "" {
		t.Errorf("%+v, %+v", after.Nodes, after.Jobs)
	}
	if len(after.Pods) != 2 || after.Pods[0].Name != "b-0" || after.Pods[1].Name != "bare" {
		t.Errorf("%d pods are left: %v", len(after.Pods), after.Pods[0].Name)
	}
	if before := small(); len(c.Nodes) != len(before.Nodes) || len(c.Jobs) != len(before.Jobs) || len(c.Pods) != len(before.Pods) || c.Pods[0].Name != "a-0" || c.Nodes[0].Name != "n1" {
		t.Error("the cluster that was read has changed")
	}
	// One that ends makes room for one of its name.
	h = &change{end: []string{"ml/a"}, arrive: []string{write(t, strings.Replace(elastic, "new", "a", 1))}}
	must.Have(h.of(c, q))(t)
	for want, h := range map[string]*change{
		"what-if needs":   {},
		`no node "n3"`:    {drain: []string{"n1", "n3"}},
		`no node "n1"`:    {drain: []string{"n1", "n1"}},
		"no Job ml/c":     {end: []string{"c"}},
		"no Job web/a":    {end: []string{"web/a"}},
		"no such file":    {arrive: []string{"/nowhere/job.yaml"}},
		"Job ml/a alread": {arrive: []string{write(t, strings.Replace(elastic, "new", "a", 1))}},
	} {
		if _, err := h.of(c, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", h, err, want)
		}
	}
}

// A manifest is one of an elastic Job, and every fault names the file.
func TestManifest(t *testing.T) {
	j, err := manifest(write(t, strings.Replace(elastic, "{name: new}", "{name: new, namespace: web}", 1)), "ml")
	if err != nil || j.Namespace != "web" || j.Name != "new" {
		t.Errorf("%+v, %v", j, err)
	}
	for want, text := range map[string]string{
		"a Job with a name":  strings.Replace(elastic, "{name: new}", "{}", 1),
		"Job with a name":    strings.Replace(elastic, "kind: Job", "kind: Pod", 1),
		"spec.managedBy":     strings.Replace(elastic, "  managedBy: apportion.github.io/controller\n", "", 1),
		"not apportion":      strings.Replace(elastic, "apportion.github.io/controller", "somebody", 1),
		"have no containers": strings.Replace(elastic, "[{name: train, command: [train]}]", "[]", 1),
		"unknown field":      strings.Replace(elastic, "managedBy", "managedby2", 1),
		"yaml":               "{",
	} {
		name := write(t, text)
		if _, err := manifest(name, "ml"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
