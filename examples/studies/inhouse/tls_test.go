// This file runs a small cluster by TLS, with certificates that it makes.

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
)

// With certificates all calls go by TLS: those of the master to its agents, of agents to their master, and of users; without one of an
// authority that is believed nobody is answered.
func TestTLS(t *testing.T) {
	p, dir := cluster.Place(t.TempDir()), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cert, key := certificate(t, dir, "own")
	ended := make(chan error, 2)
	go func() {
		ended <- run(ctx, io.Discard, io.Discard, []string{"master", "-dir", string(p), "-tls-cert", cert, "-tls-key", key})
	}()
	go func() {
		ended <- run(ctx, io.Discard, io.Discard, []string{"agent", "-dir", string(p), "-name", "north", "-capacity", "4,8", "-tls-cert", cert, "-tls-key", key})
	}()
	for {
		l, err := p.List(ctx)
		if err == nil && len(l.Servers) == 1 {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("no server has joined: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	client := must.Have(p.Master())(t)
	if !strings.HasPrefix(client.Base, "https://") {
		t.Errorf("the master listens on %s", client.Base)
	}
	other, _ := certificate(t, dir, "other")
	strange := must.Have(wire.ReadAuthorities(other))(t)
	for name, ask := range map[string]*http.Client{"of another authority": wire.HTTP(strange), "without any": nil} {
		client.HTTP = ask
		must.Err(t, client.Call(ctx, "/list", master.Page{}, &master.List{}), must.ErrAny, "a client", name, "got through")
	}
	client.HTTP, client.Base = nil, strings.Replace(client.Base, "https", "http", 1)
	must.Err(t, client.Call(ctx, "/list", master.Page{}, &master.List{}), must.ErrAny, "a call in clear got through")
	cancel()
	for range 2 {
		must.Do(t, <-ended)
	}
	for _, args := range [][]string{{"-tls-cert", cert}, {"-tls-key", key}, {"-tls-cert", key, "-tls-key", key}} {
		must.Err(t, run(t.Context(), io.Discard, io.Discard, append([]string{"master", "-dir", t.TempDir()}, args...)), must.ErrAny, args, "a master runs")
	}
}

// certificate makes a certificate for 127.0.0.1 that is its own authority, and returns its files.
func certificate(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	private := must.Have(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := must.Have(x509.CreateCertificate(rand.Reader, template, template, private.Public(), private))(t)
	text := must.Have(x509.MarshalPKCS8PrivateKey(private))(t)
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: text}} {
		must.Do(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}
