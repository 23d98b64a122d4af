// Package deploy_test renders the Helm chart, and holds it to what kustomize applies.
package deploy_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"sigs.k8s.io/yaml"
)

// namespace is the one that kustomize's files name.
const namespace = "apportion"

// load reads the chart.
func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load("apportion")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render returns the objects that an installation with some values makes, by kind and name.
func render(t *testing.T, in string, values map[string]any) (map[string]map[string]any, error) {
	t.Helper()
	c := load(t)
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "apportion", Namespace: in, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if filepath.Ext(name) == ".yaml" {
			parse(t, found, files[name])
		}
	}
	return found, nil
}

// parse adds the objects of a file.
func parse(t *testing.T, found map[string]map[string]any, text string) {
	t.Helper()
	for _, part := range strings.Split(text, "\n---\n") {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(part), &object); err != nil {
			t.Fatalf("%v:\n%s", err, part)
		}
		if object == nil {
			continue
		}
		name := object["kind"].(string) + " " + object["metadata"].(map[string]any)["name"].(string)
		if found[name] != nil {
			t.Errorf("%s is there twice", name)
		}
		found[name] = object
	}
}

// applied returns the objects of kustomize's folder but the namespace, which Helm makes by itself, with the image that it names.
func applied(t *testing.T) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for _, name := range []string{"rbac.yaml", "controller.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parse(t, found, strings.Replace(string(text), "image: apportion\n", "image: registry.example/apportion:latest\n", 1))
	}
	return found
}

// With its own values the chart makes what kustomize applies, field by field.
func TestSameAsKustomize(t *testing.T) {
	got, err := render(t, namespace, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(applied(t), got); diff != "" || len(got) == 0 {
		t.Errorf("%d objects, -kustomize +chart:\n%s", len(got), diff)
	}
}

// In another namespace nothing names the one of kustomize's files.
func TestNamespace(t *testing.T) {
	got, err := render(t, "elsewhere", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range got {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "namespace: apportion") || strings.Contains(string(text), "apportion.apportion") {
			t.Errorf("%s is in the namespace of another installation:\n%s", name, text)
		}
	}
}

// digest is a right one.
var digest = "sha256:" + strings.Repeat("0123456789abcdef", 4)

// Every value reaches an object, and a value that says nothing, or something wrong, is refused.
func TestValues(t *testing.T) {
	used := map[string]string{}
	for name, values := range map[string]map[string]any{
		"image.repository":      {"image": map[string]any{"repository": "sentinel.example/x"}},
		"image.tag":             {"image": map[string]any{"tag": "sentinel"}},
		"image.digest":          {"image": map[string]any{"digest": digest}},
		"arguments":             {"arguments": []any{"-reserve=sentinel"}},
		"sharedClaim":           {"sharedClaim": "sentinel"},
		"private.storage":       {"private": map[string]any{"storage": "77Gi"}},
		"private.storageClass":  {"private": map[string]any{"storageClass": "sentinel"}},
		"resources":             {"resources": map[string]any{"limits": map[string]any{"memory": "77Gi"}}},
		"priorityClass":         {"priorityClass": "sentinel"},
		"nodeSelector":          {"nodeSelector": map[string]any{"sentinel": "yes"}},
		"tolerations":           {"tolerations": []any{map[string]any{"key": "sentinel"}}},
		"networkPolicy":         {"networkPolicy": false},
		"arguments, with quote": {"arguments": []any{`-x=a: "sentinel"`}},
	} {
		got, err := render(t, namespace, values)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		key, _, _ := strings.Cut(name, ",")
		used[key] = name
		text, err := yaml.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		_, policy := got["NetworkPolicy apportion"]
		if found := strings.Contains(string(text), "sentinel") || strings.Contains(string(text), digest) || strings.Contains(string(text), "77Gi"); found == (name == "networkPolicy") || policy == (name == "networkPolicy") {
			t.Errorf("%s reaches nothing:\n%s", name, text)
		}
	}
	for _, name := range leaves("", load(t).Values) {
		if used[name] == "" {
			t.Errorf("nothing is known of value %s", name)
		}
	}
	for name, values := range map[string]map[string]any{
		"unknown":          {"replicas": 2},
		"no repository":    {"image": map[string]any{"repository": ""}},
		"half a digest":    {"image": map[string]any{"digest": "sha256:12"}},
		"no argument":      {"arguments": []any{"reserve"}},
		"negative storage": {"private": map[string]any{"storage": "-1Gi"}},
		"no claim":         {"sharedClaim": ""},
	} {
		if _, err := render(t, namespace, values); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// leaves lists the paths of values; what users fill in themselves is one.
func leaves(above string, values map[string]any) (all []string) {
	for name, value := range values {
		if inner, nested := value.(map[string]any); nested && name != "resources" && len(inner) > 0 {
			all = append(all, leaves(above+name+".", inner)...)
		} else {
			all = append(all, above+name)
		}
	}
	return all
}

func TestLint(t *testing.T) {
	for _, m := range lint.AllWithKubeVersion("apportion", nil, namespace, nil).Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}
