// This file plays strangers who are slow, and those who listen where TLS is spoken.

package wire

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// strangers open connections and say the same on each, and no more.
func strangers(t *testing.T, address, text string) (open []net.Conn) {
	for range 300 {
		conn := must.Have(net.Dial("tcp", address))(t)
		t.Cleanup(func() { conn.Close() })
		must.Have(io.WriteString(conn, text))(t)
		open = append(open, conn)
	}
	return open
}

// inUse is the memory in use, in bytes.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// 300 strangers who send slowly neither hold a server up nor fill its memory: the bodies of some are not waited for, and the
// connections of the others end by the limit.
func TestSlowStrangers(t *testing.T) {
	if s := Server(nil); s.ReadTimeout != readLimit || s.IdleTimeout != idleLimit || s.MaxHeaderBytes != maxHeader {
		t.Errorf("the limits of a server are %v, %v and %d bytes", s.ReadTimeout, s.IdleTimeout, s.MaxHeaderBytes)
	}
	mux := http.NewServeMux()
	Handle(mux, "/ask", secret.Gate(), func(context.Context, question) (string, error) { return "", nil }, User)
	server := Server(mux)
	server.ReadTimeout = time.Second
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	go func() { _ = server.Serve(listener) }() // it ends with Close
	defer server.Close()
	address := listener.Addr().String()
	before := inUse()
	head := "POST /ask HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n"
	bodies := strangers(t, address, head+"\r\n"+strings.Repeat("x", 4000))
	headers := strangers(t, address, head)
	ask(t, secret.Credential(ann).Client("http://"+address))
	if grown := inUse() - before; grown > 600*64<<10 {
		t.Errorf("600 strangers take %d KiB", grown>>10)
	}
	for what, open := range map[string][]net.Conn{"bodies": bodies, "headers": headers} {
		for _, conn := range open {
			must.Do(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
			answer, err := io.ReadAll(conn)
			// What the server has not read when it closes makes it a reset.
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				t.Fatalf("slow %s: the connection is open after a minute", what)
			}
			if what == "bodies" && err == nil && !strings.HasPrefix(string(answer), "HTTP/1.1 401") {
				t.Fatalf("a slow body is answered by %q", answer)
			}
		}
	}
}

// The body of a stranger is not read: there is an answer before it comes.
func TestBodyOfAStranger(t *testing.T) {
	client := start(t)
	ask(t, client)
	for name, sign := range map[string]func(*http.Request){
		"nobody":          func(*http.Request) {},
		"another cluster": func(r *http.Request) { NewSecret().Credential(ann).Client("").line.sign(r, nil, client.challenge) },
	} {
		body, never := io.Pipe()
		request := must.Have(http.NewRequestWithContext(t.Context(), http.MethodPost, client.Base+"/ask", body))(t)
		sign(request)
		answered := make(chan int, 1)
		go func() {
			response, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				answered <- 0
				return
			}
			response.Body.Close()
			answered <- response.StatusCode
		}()
		select {
		case status := <-answered:
			must.Equal(t, status, http.StatusUnauthorized, name)
		// A server that reads bodies answers when the limit for a request is over.
		case <-time.After(readLimit * 3 / 4):
			t.Errorf("%s: no answer before the body is read", name)
		}
		never.Close()
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
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: text}} {
		must.Do(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}

// With TLS a call gets through to a server whose certificate is believed, and to no other; what is said is not heard.
func TestTLS(t *testing.T) {
	config := must.Have(ReadTLS(certificate(t)))(t)
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	mux := http.NewServeMux()
	Handle(mux, "/ask", secret.Gate(), func(context.Context, question) (string, error) { return "yes", nil }, User)
	go func() { _ = Serve(t.Context(), tls.NewListener(listener, config), mux) }() // it ends with the context
	call := func(scheme string, ask *http.Client) error {
		client := secret.Credential(ann).Client(scheme + "://" + listener.Addr().String())
		client.HTTP = ask
		return client.Call(t.Context(), "/ask", question{"hello"}, new(string))
	}
	must.Do(t, call("https", HTTP(config)))
	another := must.Have(ReadTLS(certificate(t)))(t)
	for name, err := range map[string]error{"in clear": call("http", nil), "of another authority": call("https", HTTP(another)), "of this machine's": call("https", nil)} {
		must.Err(t, err, must.ErrAny, name, "got through")
	}
	for _, files := range [][2]string{{"/nowhere", "/nowhere"}, {os.DevNull, os.DevNull}} {
		if _, err := ReadTLS(files[0], files[1]); err == nil || !strings.Contains(fmt.Sprint(err), files[0]) {
			t.Errorf("%s: %v", files[0], err)
		}
	}
}
