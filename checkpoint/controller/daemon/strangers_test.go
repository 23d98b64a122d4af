// This file tests what others can do to a controller: those who come by its port, and a second controller.

package daemon

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/must"
)

// began is a controller that was started, with what it has said of itself.
type began struct {
	page, token string
	ended       <-chan error
	stop        func()
}

// begin starts the program with more arguments, and waits until it says where its page is.
func begin(t *testing.T, p *Program, args ...string) *began {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, ended := &lines{seen: make(chan string, 4)}, make(chan error, 1)
	go func() { ended <- p.Run(ctx, append(args, "-listen", "127.0.0.1:0"), out, os.Stderr) }()
	select {
	case text := <-out.seen:
		page, token, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "page: "), "\ntoken: ")
		return &began{page, token, ended, stop}
	case err := <-ended:
		t.Fatal(err)
		return nil
	}
}

// address is where it listens.
func (b *began) address() string {
	_, address, _ := strings.Cut(b.page, "://")
	address, _, _ = strings.Cut(address, "/")
	return address
}

// claims checks that it answers a guard of its cluster, whose secret is in a folder.
func (b *began) claims(t *testing.T, scheme, private string, client *http.Client) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(private, "guard.secret"))
	var secret wire.Secret
	if err == nil {
		err = secret.UnmarshalText([]byte(strings.TrimSpace(string(text))))
	}
	if err != nil {
		t.Fatal(err)
	}
	h := guard.HTTP{URL: scheme + b.address() + "/lease", Credential: secret.Credential(guard.Party("lr", 1<<40)), Client: client}
	_, err = h.Renew(t.Context(), guard.Claim{ID: guard.ID{Job: "lr", Attempt: 1 << 40, Server: "n1"}, Epoch: 1, Life: "x", Clock: agent.Stamp{Boot: "b", At: 1}})
	if err == nil || !strings.Contains(err.Error(), "is not known here") {
		t.Errorf("a guard is answered %v", err)
	}
}

// contents are the files of a folder with what is in them, but for those of a controller's own.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must.Do(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		found[name] = string(text)
		return err
	}))
	return found
}

// A second controller with a private folder of its own changes nothing that is shared, while it waits and when it could lead: it is told
// that it has the wrong folder. Guards that the first has started go on.
func TestTwoPrivateFolders(t *testing.T) {
	shared, mine, others := t.TempDir(), t.TempDir(), t.TempDir()
	p, _ := on(nil)
	first := begin(t, p, "-shared", shared, "-private", mine)
	before := contents(t, shared)
	for secret, text := range contents(t, mine) {
		for name, said := range before {
			if len(text) > 0 && strings.Contains(said, text) {
				t.Errorf("%s in the shared folder has the %s of the private one", name, secret)
			}
		}
	}
	first.claims(t, "http://", mine, nil)
	// One that waits for the lead elsewhere, and one that has it.
	waiting, end := context.WithCancel(t.Context())
	asked := make(chan bool, 1)
	q, _ := on(nil)
	q.Lead = func(ctx context.Context) (context.Context, func(), error) {
		asked <- true
		<-ctx.Done()
		return ctx, func() {}, ctx.Err()
	}
	ended := make(chan error, 1)
	go func() {
		ended <- q.Run(waiting, []string{"-shared", shared, "-private", others, "-listen", "127.0.0.1:0"}, io.Discard, os.Stderr)
	}()
	<-asked
	must.Equal(t, cmp.Diff(before, contents(t, shared)), "", "who waits has changed")
	end()
	<-ended
	q, connected := on(nil)
	bounded, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	err := q.Run(bounded, []string{"-shared", shared, "-private", others, "-listen", "127.0.0.1:0"}, io.Discard, os.Stderr)
	if err == nil || !strings.Contains(err.Error(), "private folder of the one before") || len(*connected) > 0 {
		t.Errorf("with another's private folder: %v, connected %d times", err, len(*connected))
	}
	must.Equal(t, cmp.Diff(before, contents(t, shared)), "", "who was refused has changed")
	first.claims(t, "http://", mine, nil)
	first.stop()
	must.Do(t, <-first.ended)
}

// With a certificate the page and the leases are spoken of in TLS only, and guards that are told its authority believe it.
func TestTLS(t *testing.T) {
	p, _ := on(nil)
	cert, key := certificate(t)
	private := t.TempDir()
	b := begin(t, p, "-shared", t.TempDir(), "-private", private, "-tls-cert", cert, "-tls-key", key, "-tls-ca", cert)
	defer b.stop()
	config := must.Have(wire.ReadAuthorities(cert))(t)
	if !strings.HasPrefix(b.page, "https://") || b.token != filepath.Join(private, "user.token") {
		t.Errorf("page %s, token in %s", b.page, b.token)
	}
	response := must.Have(wire.HTTP(config).Get(b.page))(t)
	must.Equal(t, response.StatusCode, http.StatusOK, "the page")
	response.Body.Close()
	b.claims(t, "https://", private, wire.HTTP(config))
	if response, err := http.Get("http://" + b.address()); err == nil && response.StatusCode == http.StatusOK {
		t.Error("it is shown in clear")
	}
	for name, args := range map[string][]string{"the key": {"-tls-cert", cert}, "a certificate": {"-tls-cert", key, "-tls-key", key}} {
		must.Err(t, p.Run(t.Context(), append(args, "-shared", t.TempDir(), "-listen", "127.0.0.1:0"), io.Discard, io.Discard), must.ErrAny, "without", name)
	}
}

// certificate makes a certificate for 127.0.0.1 that is its own authority, and returns its files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private := must.Have(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := must.Have(x509.CreateCertificate(rand.Reader, template, template, private.Public(), private))(t)
	text := must.Have(x509.MarshalPKCS8PrivateKey(private))(t)
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: der}, "key": {Type: "PRIVATE KEY", Bytes: text}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", name, err))
		}
	}
	return filepath.Join(dir, "cert"), filepath.Join(dir, "key")
}
