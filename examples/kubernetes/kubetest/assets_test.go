// This file starts a control plane from a folder of binaries, as other projects have it.

package kubetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// assets makes a folder as KUBEBUILDER_ASSETS names one, of the one binary.
func assets(t *testing.T, binary string) string {
	t.Helper()
	dir := t.TempDir()
	for _, component := range []string{Etcd, APIServer} {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' %s \"$@\"\n", binary, component)
		must.Do(t, os.WriteFile(filepath.Join(dir, component), []byte(script), 0o700))
	}
	return dir
}

// A folder with etcd and kube-apiserver is enough to run pods, and to kill the API server.
func TestAssets(t *testing.T) {
	if testing.Short() {
		t.Skip("a control plane takes some seconds")
	}
	if binary := os.Getenv(binaryVariable); binary != "" {
		t.Setenv(assetsVariable, assets(t, binary))
		t.Setenv(binaryVariable, "")
	}
	c := New(t)
	if c.StartJobs() || c.StartScheduler() {
		t.Fatal("a folder has no Job controller and no scheduler")
	}
	k := c.NewKubelets(func(context.Context, *corev1.Pod) int { return 0 })
	k.AddNode(NewNode("n1", List("cpu", "1", "pods", "10")))
	pod := func(name, cpu string) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c", Image: "none",
			Resources: corev1.ResourceRequirements{Requests: List("cpu", cpu)}}}}}
		processes.Eventually(t, name+" is made", patience, func() bool {
			_, err := c.Client.CoreV1().Pods(metav1.NamespaceDefault).Create(t.Context(), p, metav1.CreateOptions{})
			return err == nil
		})
	}
	ends := func(name string, phase corev1.PodPhase) {
		processes.Eventually(t, fmt.Sprintf("%s is %s", name, phase), patience, func() bool {
			p, err := c.Client.CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), name, metav1.GetOptions{})
			return err == nil && p.Status.Phase == phase
		})
	}
	pod("fits", "1")
	ends("fits", corev1.PodSucceeded)
	c.Kill(APIServer)
	c.Start(APIServer)
	c.Ready()
	pod("large", "2")
	ends("large", corev1.PodFailed)
	if refused := k.Refused(); len(refused) != 1 {
		t.Errorf("%v", refused)
	}
}
