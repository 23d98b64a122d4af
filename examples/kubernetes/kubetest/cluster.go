// This file implements Cluster: etcd and kube-apiserver as processes.

package kubetest

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/apportion/apportion/examples/managertest/processes"
)

// Variables name the control plane: its one binary, or a folder with etcd and kube-apiserver; requireVariable says that one
// must be there.
const (
	binaryVariable  = "APPORTION_KUBERNETES"
	assetsVariable  = "KUBEBUILDER_ASSETS"
	requireVariable = "APPORTION_REQUIRE_KUBERNETES"
)

// Components of a control plane.
const (
	Etcd          = "etcd"
	APIServer     = "kube-apiserver"
	JobController = "job-controller"
)

// Cluster is a control plane, each component a process.
type Cluster struct {
	*processes.Group
	// Config and Client are those of one who may do anything.
	Config *rest.Config
	Client kubernetes.Interface

	args map[string][]string
}

// Users that the API server knows, by their tokens. Beside the admin they are the service accounts of our manifests, which have no
// rights but those that a test gives them.
const (
	adminToken       = "token-of-admin"
	ControllerUser   = "system:serviceaccount:apportion:apportion"
	ControllerToken  = "token-of-apportion"
	CountsToken      = "token-of-apportion-counts"
	SchedulerToken   = "token-of-apportion-scheduler"
	GuardToken       = "token-of-apportion-guard"
	otherUsersTokens = ControllerToken + "," + ControllerUser + ",2,system:serviceaccounts\n" +
		CountsToken + "," + ControllerUser + "-counts,3,system:serviceaccounts\n" +
		SchedulerToken + "," + ControllerUser + "-scheduler,4,system:serviceaccounts\n" +
		GuardToken + ",system:serviceaccount:ml:apportion-guard,5,system:serviceaccounts\n"
)

// New starts a control plane, or skips the test where there is none; a test that must not be skipped fails.
func New(t testing.TB) *Cluster {
	t.Helper()
	if os.Getenv(binaryVariable) == "" && os.Getenv(assetsVariable) == "" {
		if os.Getenv(requireVariable) != "" {
			t.Fatalf("%s is not set: make kubernetes builds it", binaryVariable)
		}
		t.Skipf("%s is not set: make kubernetes builds it", binaryVariable)
	}
	c := &Cluster{Group: processes.New(t, "kube"), args: map[string][]string{}}
	dir, port := c.Dir, processes.FreePorts(t, 3)
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", port), fmt.Sprintf("http://127.0.0.1:%d", port+1)
	c.args[Etcd] = []string{"--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer, "--unsafe-no-fsync", "--log-level", "error"}
	key, tokens := c.write("accounts.key", newKey(t)), c.write("tokens.csv", []byte(adminToken+",admin,1,system:masters\n"+otherUsersTokens))
	c.args[APIServer] = []string{"--etcd-servers=" + client, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port+2),
		"--cert-dir=" + filepath.Join(dir, "certs"), "--token-auth-file=" + tokens, "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none", "--profiling=false",
		// Pods of the test have no service account, and nobody would take the taint of a new node away.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--enable-priority-and-fairness=false", "--max-requests-inflight=0", "--max-mutating-requests-inflight=0"}
	c.Start(Etcd)
	c.Start(APIServer)
	c.connect(fmt.Sprintf("https://127.0.0.1:%d", port+2))
	return c
}

// newKey makes a key for tokens of service accounts.
func newKey(t testing.TB) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

// write writes a file of the cluster and returns its path.
func (c *Cluster) write(name string, text []byte) string {
	c.Helper()
	c.Write(name, string(text), 0o600)
	return filepath.Join(c.Dir, name)
}

// connect waits until the API server is ready.
func (c *Cluster) connect(url string) {
	c.Helper()
	var authority []byte
	processes.Eventually(c, "the API server has a certificate", 120*time.Second, func() (so bool) {
		authority, _ = os.ReadFile(filepath.Join(c.Dir, "certs", "apiserver.crt"))
		return len(authority) > 0
	})
	c.Config = &rest.Config{Host: url, BearerToken: adminToken, QPS: 2000, Burst: 2000, TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
	var err error
	if c.Client, err = kubernetes.NewForConfig(c.Config); err != nil {
		c.Fatal(err)
	}
	c.Ready()
}

// restart is how long an API server may take to come up on a busy machine.
const restart = 120 * time.Second

// Ready waits until the API server is ready.
func (c *Cluster) Ready() {
	c.Helper()
	processes.Eventually(c, "the API server is ready", restart, func() bool {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		text, err := c.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil && string(text) == "ok"
	})
}

// Kubeconfig writes a file by which a program reaches the API server with a token; "": that of one who may do anything.
func (c *Cluster) Kubeconfig(token string) string {
	c.Helper()
	return c.kubeconfig("kubeconfig-"+cmp.Or(token, adminToken), token, fmt.Sprintf("server: %q, certificate-authority: %q", c.Config.Host, filepath.Join(c.Dir, "certs", "apiserver.crt")))
}

// kubeconfig writes a file with this name, for the cluster at a server.
func (c *Cluster) kubeconfig(name, token, server string) string {
	c.Helper()
	return c.write(name, []byte(fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {%s}}]
users: [{name: test, user: {token: %s}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
current-context: test
`, server, cmp.Or(token, adminToken))))
}

// Start starts a component.
func (c *Cluster) Start(component string) {
	c.Helper()
	if binary := os.Getenv(binaryVariable); binary != "" {
		c.Group.Start(component, binary, append([]string{component}, c.args[component]...)...)
		return
	}
	c.Group.Start(component, filepath.Join(os.Getenv(assetsVariable), component), c.args[component]...)
}

// StartJobs starts Kubernetes' own Job controller; a folder KUBEBUILDER_ASSETS has none.
func (c *Cluster) StartJobs() bool {
	c.Helper()
	c.args[JobController] = []string{"--kubeconfig", c.Kubeconfig("")}
	return c.startOwn(JobController)
}

// startOwn starts a component that only the one binary has.
func (c *Cluster) startOwn(component string) bool {
	c.Helper()
	if os.Getenv(binaryVariable) == "" {
		return false
	}
	c.Start(component)
	return true
}
