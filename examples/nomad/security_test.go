// This file tests what the controller may do with the rights that policy.hcl gives it, on a cluster with access control and
// TLS.

package nomad

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// certify makes an authority and a certificate for the loopback, for both ends of TLS, in files of the cluster's folder.
func (c *cluster) certify() (authority, certificate, key string) {
	c.Helper()
	made := func(template, parent *x509.Certificate, by *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		own := must.Have(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(c)
		if by == nil {
			by = own
		}
		der := must.Have(x509.CreateCertificate(rand.Reader, template, parent, &own.PublicKey, by))(c)
		return der, own
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	rootDER, rootKey := made(root, root, nil)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server.global.nomad"}, NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"server.global.nomad", "client.global.nomad", "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	leafDER, leafKey := made(leaf, root, rootKey)
	keyDER := must.Have(x509.MarshalECPrivateKey(leafKey))(c)
	c.Write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})), 0o600)
	c.Write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER})), 0o600)
	c.Write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})), 0o600)
	return filepath.Join(c.Dir, "ca.pem"), filepath.Join(c.Dir, "cert.pem"), filepath.Join(c.Dir, "key.pem")
}

// bootstrap returns the token of the cluster's first operator, which the test has from then on.
func (c *cluster) bootstrap() string {
	c.Helper()
	var root *api.ACLToken
	processes.Eventually(c, "access control begins", 60*time.Second, func() (so bool) {
		var err error
		root, _, err = c.client.ACLTokens().Bootstrap(nil)
		return err == nil
	})
	c.client.SetSecretID(root.SecretID)
	return root.SecretID
}

// The policy that is shipped lets the controller do its work, and nothing else.
func TestLeastRights(t *testing.T) {
	c := prepare(t, "n1")
	ca, cert, key := c.certify()
	config := &api.Config{Address: c.address("https"), TLSConfig: &api.TLSConfig{CACert: ca, ClientCert: cert, ClientKey: key}}
	c.up(fmt.Sprintf(`
acl {
  enabled = true
}
tls {
  http = true
  rpc = true
  ca_file = %q
  cert_file = %q
  key_file = %q
  verify_https_client = true
}
`, ca, cert, key), config)
	root := c.bootstrap()
	rules := must.Have(os.ReadFile("policy.hcl"))(t)
	must.Have(c.client.ACLPolicies().Upsert(&api.ACLPolicy{Name: "apportion", Rules: string(rules)}, nil))(t)
	token, _, err := c.client.ACLTokens().Create(&api.ACLToken{Name: "apportion", Type: "client", Policies: []string{"apportion"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.ready(1)
	b := &bench{c, managertest.New(t, c.Dir, "NOMAD_ADDR="+c.address("https"), "NOMAD_TOKEN="+token.SecretID, "NOMAD_CACERT="+ca, "NOMAD_CLIENT_CERT="+cert, "NOMAD_CLIENT_KEY="+key)}
	b.submit("a", 4, 40, nil)
	b.Holds(map[string]int{"a": 4})
	b.submit("b", 4, 40, nil)
	processes.Eventually(b.Bench, "both have done their work", 90*time.Second, func() bool { b.Report(); return len(b.running()) == 0 })
	b.Check()

	config.SecretID = token.SecretID
	b.refuses(config)
	// Without a client's certificate nobody gets in at all.
	stranger, err := api.NewClient(&api.Config{Address: c.address("https"), SecretID: root, TLSConfig: &api.TLSConfig{CACert: ca}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := stranger.Nodes().List(nil); err == nil {
		t.Error("a stranger without a certificate is answered")
	}
}

// refuses tries what the controller must not be able to do.
func (b *bench) refuses(config *api.Config) {
	t := b.Bench.TB
	limited := must.Have(api.NewClient(config))(t)
	nodes, _, err := limited.Nodes().List(nil)
	if err != nil || len(nodes) != 1 {
		t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	runs, _, err := limited.Allocations().List(nil)
	if err != nil || len(runs) == 0 {
		t.Fatalf("%d allocations, %v", len(runs), err)
	}
	if _, _, err := b.client.Variables().Create(&api.Variable{Path: "secret", Items: map[string]string{"key": "value"}}, nil); err != nil {
		t.Fatal(err)
	}
	// Who may not read a variable is told that there is none.
	if _, _, err := b.client.Variables().Read("secret", nil); err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string]func() error{
		"drain a node": func() error {
			_, err := limited.Nodes().UpdateDrain(nodes[0].ID, &api.DrainSpec{Deadline: time.Minute}, false, nil)
			return err
		},
		"read variables": func() error { _, _, err := limited.Variables().Read("secret", nil); return err },
		"read tokens":    func() error { _, _, err := limited.ACLTokens().List(nil); return err },
		"read a file": func() error {
			_, _, err := limited.AllocFS().List(&api.Allocation{ID: runs[0].ID}, "/", nil)
			return err
		},
		"collect garbage": func() error { return limited.System().GarbageCollect() },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), "403") && !strings.Contains(err.Error(), "Permission denied") && !strings.Contains(err.Error(), "variable not found") {
			t.Errorf("it may %s: %v", what, err)
		}
	}
}
