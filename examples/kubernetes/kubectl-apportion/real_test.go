// This file asks about a real cluster, with no more rights than are shipped.

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/internal/must"
)

// binding gives the role that is shipped to the user of the test.
const binding = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: apportion-viewer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: apportion-viewer}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: %q}]
`

// What an API server has is read by a user who may list and do nothing else, by a kubeconfig as kubectl's.
func TestReal(t *testing.T) {
	if testing.Short() {
		t.Skip("a control plane takes some seconds")
	}
	c := kubetest.New(t)
	role := must.Have(os.ReadFile("rbac.yaml"))(t)
	c.Apply(string(role) + fmt.Sprintf(binding, kubetest.ControllerUser))
	c.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}")
	for _, n := range []*corev1.Node{node("n1", 4), node("n2", 4)} {
		must.Have(c.Client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}))(t)
	}
	big := must.Have(c.Client.BatchV1().Jobs("ml").Create(t.Context(), job("big", 8), metav1.CreateOptions{}))(t)
	for _, p := range pods(big, "n1", 3) {
		must.Have(c.Client.CoreV1().Pods("ml").Create(t.Context(), p.(*corev1.Pod), metav1.CreateOptions{}))(t)
	}
	must.Have(c.Client.BatchV1().Jobs("ml").Create(t.Context(), job("small", 2), metav1.CreateOptions{}))(t)
	user := c.Kubeconfig(kubetest.ControllerToken)
	ask := func(kubeconfig string, args ...string) (string, error) {
		var q query
		var text strings.Builder
		words, err := q.parse(append([]string{"-kubeconfig", kubeconfig, "-n", "ml", "-theta1", "1", "-theta2", "1"}, args...), &text)
		if err == nil {
			err = q.run(t.Context(), words, &text)
		}
		return text.String(), err
	}
	arrives := file(t, arriving)
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"plan"}, []string{"ml/big    3    6     8", "ml/small  0    2     2"}},
		{[]string{"explain", "big"}, []string{"has       3: n1:3", "decision  6: "}},
		{[]string{"fragmentation"}, []string{"5 of nvidia.com/gpu are free"}},
		{[]string{"what-if", "-drain", "n1", "-arrive", arrives}, []string{"ml/big    3    6    ", "ml/new ", "n2:", "saved, stopped"}},
	} {
		got, err := ask(user, test.args...)
		for _, want := range test.want {
			if err != nil || !strings.Contains(got, want) {
				t.Errorf("%q does not say %q: %v\n%s", test.args, want, err, got)
			}
		}
	}
	if text, err := ask(c.Kubeconfig("token-of-nobody"), "plan"); err == nil {
		t.Errorf("nobody is told %s", text)
	}
	// Nothing was written by it.
	after, err := c.Client.BatchV1().Jobs("ml").Get(t.Context(), "big", metav1.GetOptions{})
	if err != nil || after.ResourceVersion != big.ResourceVersion || len(after.Status.Conditions) != 0 {
		t.Errorf("%v: %+v", err, after)
	}
}
