// This file tests what is read of where the pods of a Job are to be.

package snapshot

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc"
)

// Kueue's annotations are read from the template, as its documentation has them, and ours from the Job.
func TestTopology(t *testing.T) {
	r := NewReader(Kinds())
	j := job("lr")
	j.Spec.Template.Annotations = map[string]string{
		"kueue.x-k8s.io/podset-required-topology":       "cloud.provider.com/topology-block",
		"kueue.x-k8s.io/podset-preferred-topology":      "cloud.provider.com/topology-rack",
		"kueue.x-k8s.io/podset-slice-required-topology": "cloud.provider.com/topology-rack",
		"kueue.x-k8s.io/podset-slice-size":              "4",
	}
	app, err := r.application(j, nil)
	want := &alloc.Slices{Containers: 4, Within: "cloud.provider.com/topology-rack"}
	if err != nil || app.Within != "cloud.provider.com/topology-block" || app.Prefer != "cloud.provider.com/topology-rack" || cmp.Diff(want, app.Slices) != "" {
		t.Errorf("%+v, %v", app, err)
	}
	j.Annotations = map[string]string{Prefix + "within": "zone", Prefix + "slices": "2", Prefix + "slices-within": "rack"}
	if app, err = r.application(j, nil); err != nil || app.Within != "zone" || app.Slices.Containers != 2 || app.Slices.Within != "rack" {
		t.Errorf("%+v, %v", app, err)
	}
	j.Annotations = nil
	for key, text := range map[string]string{"kueue.x-k8s.io/podset-slice-size": "four", "kueue.x-k8s.io/podset-slice-required-topology": ""} {
		was := j.Spec.Template.Annotations[key]
		if j.Spec.Template.Annotations[key] = text; text == "" {
			delete(j.Spec.Template.Annotations, key)
		}
		if _, err := r.application(j, nil); err == nil || !strings.Contains(err.Error(), "podset-slice-size") {
			t.Errorf("%s = %q: %v", key, text, err)
		}
		j.Spec.Template.Annotations[key] = was
	}
}
