// This file implements the command line of guards that claim by Leases.

package lease

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apportion/apportion/checkpoint/guard"
)

// The variables that say which pod a guard is in, by the downward API: its name and its UID. The Lease goes with the pod then.
const (
	EnvPod    = "POD_NAME"
	EnvPodUID = "POD_UID"
)

// Main is guard.Main with one more road: -lease NAMESPACE claims by a Lease there. The API server is reached as a pod reaches it, or as the
// file $KUBECONFIG says.
func Main(program, args []string, stderr io.Writer) int {
	return guard.Main(program, args, stderr, guard.Road{Name: "lease", Usage: "the namespace of Kubernetes for claims by a Lease", Open: open})
}

// open returns the authority of this process in a namespace.
func open(namespace string) (guard.Authority, error) {
	config, err := rest.InClusterConfig()
	if file := os.Getenv("KUBECONFIG"); file != "" {
		config, err = clientcmd.BuildConfigFromFlags("", file)
	}
	if err != nil {
		return nil, err
	}
	// A guard makes a handful of calls for each claim, and a limit of the client's would hold back the one that matters.
	config.QPS = -1
	// The proxy of the environment could be a stranger's.
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	c, err := client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	owner, err := ownerOf(os.Getenv)
	return &Authority{Leases: c.Leases(namespace), Owner: owner}, err
}

// ownerOf is the pod that the environment names; nil: none.
func ownerOf(lookup func(string) string) (*metav1.OwnerReference, error) {
	name, uid := lookup(EnvPod), lookup(EnvPodUID)
	if cmp.Or(name, uid) == "" {
		return nil, nil
	}
	// With one of them the API server would collect the Lease at once, or never.
	if name == "" || uid == "" {
		return nil, errors.New("lease: " + EnvPod + " and " + EnvPodUID + " are needed together")
	}
	return &metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: name, UID: types.UID(uid)}, nil
}
