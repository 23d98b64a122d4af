// This file applies manifests, as their users do.

package kubetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/apportion/apportion/examples/managertest/processes"
)

// Scheduler is Kubernetes' own.
const Scheduler = "kube-scheduler"

// StartScheduler starts it; a folder KUBEBUILDER_ASSETS has none.
func (c *Cluster) StartScheduler() bool {
	c.Helper()
	config := c.write("scheduler.yaml", []byte(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: "`+c.Kubeconfig("")+`", qps: 500, burst: 1000}
`))
	c.args[Scheduler] = []string{"--config", config, "--secure-port=0"}
	return c.startOwn(Scheduler)
}

// Dynamic returns a client for objects of any kind.
func (c *Cluster) Dynamic() dynamic.Interface {
	c.Helper()
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		c.Fatal(err)
	}
	return client
}

// Apply applies the documents of manifests, as kubectl apply --server-side does: a field that the API server does not know is an
// error. The name of a resource is taken for the plural of its kind.
func (c *Cluster) Apply(manifests ...string) {
	c.Helper()
	for _, manifest := range manifests {
		c.apply(documents(c, manifest))
	}
}

// ApplyFolder applies what a kustomization says, as kubectl apply -k does, as far as ours go: resources, and the names of images.
func (c *Cluster) ApplyFolder(dir string) {
	c.Helper()
	c.apply(kustomized(c, dir))
}

// documents are the objects of a manifest.
func documents(t testing.TB, manifest string) []*unstructured.Unstructured {
	t.Helper()
	var list []*unstructured.Unstructured
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	return list
}

// kustomization is what is understood of one.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Images     []struct {
		Name    string `json:"name"`
		NewName string `json:"newName"`
		NewTag  string `json:"newTag"`
	} `json:"images"`
}

// kustomized are the objects that a folder with a kustomization stands for.
func kustomized(t testing.TB, dir string) []*unstructured.Unstructured {
	t.Helper()
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var k kustomization
	if err := yaml.UnmarshalStrict(read("kustomization.yaml"), &k); err != nil {
		t.Fatal(err)
	}
	var list []*unstructured.Unstructured
	for _, name := range k.Resources {
		for _, o := range documents(t, string(read(name))) {
			for _, image := range k.Images {
				setImage(o.Object, image.Name, image.NewName+":"+image.NewTag)
			}
			list = append(list, o)
		}
	}
	return list
}

// setImage gives every container that has an image of this name, without a tag, another one.
func setImage(value any, name, image string) {
	switch in := value.(type) {
	case map[string]any:
		if in["image"] == name {
			in["image"] = image
		}
		for _, one := range in {
			setImage(one, name, image)
		}
	case []any:
		for _, one := range in {
			setImage(one, name, image)
		}
	}
}

// apply applies objects, each as soon as the API server has its kind.
func (c *Cluster) apply(list []*unstructured.Unstructured) {
	c.Helper()
	client := c.Dynamic()
	for _, o := range list {
		gvr, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		var in dynamic.ResourceInterface = client.Resource(gvr)
		if namespace := o.GetNamespace(); namespace != "" {
			in = client.Resource(gvr).Namespace(namespace)
		}
		text, err := o.MarshalJSON()
		if err != nil {
			c.Fatal(err)
		}
		// What is wrong by itself is not tried again.
		processes.Eventually(c, fmt.Sprintf("%s %s is applied", o.GetKind(), o.GetName()), patience, func() bool {
			_, err = in.Patch(context.Background(), o.GetName(), types.ApplyPatchType, text,
				metav1.PatchOptions{FieldManager: "test", FieldValidation: metav1.FieldValidationStrict})
			return err == nil || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
		})
		if err != nil {
			c.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}
