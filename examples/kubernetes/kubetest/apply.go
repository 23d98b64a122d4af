// This file applies manifests, as their users do.

package kubetest

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/apportion/apportion/examples/internal/beside/besidetest"
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

// Apply creates what the documents of a manifest say. The name of a resource is taken for the plural of its kind.
func (c *Cluster) Apply(manifest string) {
	c.Helper()
	client := c.Dynamic()
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			c.Fatal(err)
		}
		gvr := o.GroupVersionKind().GroupVersion().WithResource(strings.ToLower(o.GetKind()) + "s")
		c.create(client, gvr, o)
	}
}

// create creates an object, as soon as the API server has its kind.
func (c *Cluster) create(client dynamic.Interface, gvr schema.GroupVersionResource, o *unstructured.Unstructured) {
	c.Helper()
	var in dynamic.ResourceInterface = client.Resource(gvr)
	if namespace := o.GetNamespace(); namespace != "" {
		in = client.Resource(gvr).Namespace(namespace)
	}
	var err error
	besidetest.Eventually(c, o.GetKind()+" "+o.GetName()+" is created", 60*time.Second, func() bool {
		if _, err = in.Create(context.Background(), o, metav1.CreateOptions{}); err != nil {
			c.Logf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		return err == nil
	})
}
