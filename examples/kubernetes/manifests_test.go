// This file applies what is shipped to a real API server.

package kubernetes

import (
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/internal/must"
)

// readFile reads a file that is shipped.
func readFile(t *testing.T, name string) string {
	t.Helper()
	text := must.Have(os.ReadFile(name))(t)
	return string(text)
}

// What is shipped is what the API server takes, field by field; the pods of the controller as well, and the elastic Job is one
// that the controller shares.
func testManifests(t *testing.T, s *stage) {
	s.ApplyFolder("deploy")
	for _, name := range []string{"deploy/job.yaml", "scheduler/deploy/rbac.yaml", "counts/rbac.yaml", "kubectl-apportion/rbac.yaml"} {
		manifest := readFile(t, name)
		if name == "deploy/job.yaml" { // whose namespace its user names to kubectl
			manifest = strings.Replace(manifest, "metadata:\n", "metadata:\n  namespace: "+inNamespace+"\n", 1)
		}
		s.Apply(manifest)
	}
	s.isDeployed(t)
	j := must.Have(s.Client.BatchV1().Jobs(inNamespace).Get(t.Context(), "lr", metav1.GetOptions{}))(t)
	view := snapshot.NewReader(snapshot.Kinds()).View(&snapshot.Objects{Jobs: []*batchv1.Job{j}, Now: time.Now()})
	if len(view.Rejected) > 0 || len(view.Jobs) != 1 {
		t.Errorf("the elastic Job is left alone: %v, %d are shared", view.Rejected, len(view.Jobs))
	}
	// The Job of the README is the same.
	shown := managertest.Blocks(t, "README.md", "yaml")
	var told, is batchv1.Job
	for text, into := range map[string]*batchv1.Job{shown[len(shown)-1]: &told, readFile(t, "deploy/job.yaml"): &is} {
		must.Do(t, yaml.UnmarshalStrict([]byte(text), into))
	}
	if told.Spec.String() != is.Spec.String() || !maps.Equal(told.Annotations, is.Annotations) || len(is.Annotations) == 0 {
		t.Errorf("the README shows\n%s\nand %v, shipped are\n%s\nand %v", told.Spec.String(), told.Annotations, is.Spec.String(), is.Annotations)
	}
}

// isDeployed asks whether the controller's pods would be made as they should be, and whether the program takes its arguments.
func (s *stage) isDeployed(t *testing.T) {
	t.Helper()
	set, err := s.Client.AppsV1().StatefulSets("apportion").Get(t.Context(), "apportion", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	template := &set.Spec.Template
	// Nobody makes the volumes of a StatefulSet here.
	for _, claim := range set.Spec.VolumeClaimTemplates {
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name = "apportion-0"
	if pod, err = s.Client.CoreV1().Pods("apportion").Create(t.Context(), pod, dry); err != nil {
		t.Fatalf("its pod: %v", err)
	}
	service, err := s.Client.CoreV1().Services("apportion").Get(t.Context(), set.Spec.ServiceName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range service.Spec.Selector {
		if pod.Labels[key] != value {
			t.Errorf("the service does not reach its pod: %s is %q", key, pod.Labels[key])
		}
	}
	c := &pod.Spec.Containers[0]
	if !strings.Contains(c.Image, "/") {
		t.Errorf("its image is %q, from nowhere", c.Image)
	}
	if i := slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == "IMAGE" }); i < 0 || c.Env[i].Value != c.Image {
		t.Errorf("the guard's image is another than %q: %v", c.Image, c.Env)
	}
	if ready, live := c.ReadinessProbe, c.LivenessProbe; ready == nil || live == nil || ready.HTTPGet.Path != "/readyz" || live.HTTPGet.Path != "/healthz" || c.Resources.Limits.Memory().IsZero() {
		t.Errorf("its probes are %v and %v, its limits %v", ready, live, c.Resources.Limits)
	}
	policy, err := s.Client.NetworkingV1().NetworkPolicies("apportion").Get(t.Context(), "apportion", metav1.GetOptions{})
	if err != nil || policy.Spec.PodSelector.MatchLabels["app"] != pod.Labels["app"] || len(policy.Spec.Ingress) != 1 {
		t.Errorf("%+v, %v", policy, err)
	}
	if pod.Spec.ServiceAccountName != "apportion" {
		t.Errorf("it is %q", pod.Spec.ServiceAccountName)
	}
	// What is asked for help has read all that was said before.
	if err := run(t.Context(), append(slices.Clone(c.Args), "-help"), io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("the program does not take its arguments: %v", err)
	}
}
