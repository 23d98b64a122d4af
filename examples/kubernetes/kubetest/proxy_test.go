// This file tests the proxy before a server that is no Kubernetes.

package kubetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// upstream is a server that answers everything, watches line by line until they end, and counts what it has carried out.
func upstream(t *testing.T) (p *Proxy, done *atomic.Int64) {
	t.Helper()
	done = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		done.Add(1)
		if r.URL.Query().Get("watch") == "" {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprint(w, r.Header.Get("Authorization"), string(body))
			return
		}
		fmt.Fprintln(w, "first")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return NewProxy(t, &rest.Config{Host: server.URL, BearerToken: "of another"}), done
}

// ask asks the proxy, and returns status and answer; 0: there was none.
func ask(t *testing.T, p *Proxy, method, path, body string) (int, string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience/2)
	defer stop()
	r := must.Have(http.NewRequestWithContext(ctx, method, p.URL+path, strings.NewReader(body)))(t)
	r.Header.Set("Authorization", "mine")
	known := x509.NewCertPool()
	if !known.AppendCertsFromPEM(p.Authority) {
		t.Fatal("no certificate")
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: known}}}).Do(r)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body) // a watch that is cut has an end
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s %s has no end", method, path)
	}
	return answer.StatusCode, string(text)
}

// What was asked is told by verb and resource, and passed on with the token of whoever asks.
func TestProxyCounts(t *testing.T) {
	p, _ := upstream(t)
	for _, c := range []struct {
		method, path, body string
		want               Request
	}{
		{"GET", "/api/v1/pods", "", Request{Verb: Lists, Resource: "pods"}},
		{"GET", "/api/v1/nodes/n1", "", Request{Verb: "get", Resource: "nodes", Name: "n1"}},
		{"GET", "/api/v1/namespaces/a", "", Request{Verb: "get", Resource: "namespaces", Name: "a"}},
		{"POST", "/api/v1/namespaces/a/pods", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}`, Request{Verb: "create", Resource: "pods", Namespace: "a", Name: "x"}},
		{"POST", "/api/v1/namespaces/a/events", `{"apiVersion":"v1","kind":"Event","metadata":{"generateName":"x-"}}`, Request{Verb: "create", Resource: "events", Namespace: "a"}},
		{"PATCH", "/apis/batch/v1/namespaces/a/jobs/x/status", "", Request{Verb: "patch", Resource: "jobs/status", Namespace: "a", Name: "x"}},
		{"DELETE", "/api/v1/namespaces/a/pods/x", "", Request{Verb: "delete", Resource: "pods", Namespace: "a", Name: "x"}},
		{"PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/x", "", Request{Verb: "update", Resource: "leases", Namespace: "a", Name: "x"}},
		{"GET", "/readyz", "", Request{Verb: Lists, Resource: "readyz"}},
	} {
		if status, text := ask(t, p, c.method, c.path, c.body); status != http.StatusOK || text != "mine"+c.body {
			t.Errorf("%s %s: %d %q", c.method, c.path, status, text)
		}
		seen := p.Take()
		must.Equal(t, len(seen), 1, seen)
		if at := seen[0].At; time.Since(at) > time.Minute || seen[0].Writes() != (c.method != "GET") {
			t.Errorf("%+v", seen[0])
		}
		if seen[0].At = (time.Time{}); seen[0] != c.want {
			t.Errorf("%s %s: %+v", c.method, c.path, seen[0])
		}
	}
}

// A request that is refused is not carried out; one whose answer is lost is.
func TestProxyMeddles(t *testing.T) {
	p, done := upstream(t)
	p.Meddle(func(q *Request) Fate {
		return map[string]Fate{"a": {Status: http.StatusConflict}, "b": {Lost: true}}[q.Name]
	})
	for i, want := range []struct {
		name   string
		status int
		done   int64
	}{{"a", http.StatusConflict, 0}, {"b", 0, 1}, {"c", http.StatusOK, 2}} {
		status, _ := ask(t, p, "PATCH", "/api/v1/namespaces/n/pods/"+want.name, "")
		if status != want.status || done.Load() != want.done {
			t.Errorf("%d: status %d, %d carried out", i, status, done.Load())
		}
	}
	p.Meddle(nil)
	if status, _ := ask(t, p, "PATCH", "/api/v1/namespaces/n/pods/a", ""); status != http.StatusOK {
		t.Errorf("%d", status)
	}
}

// Watches end when the program is to see nothing, and new ones wait; what is written is written. Then what they have missed is
// gone, once.
func TestProxyBlinds(t *testing.T) {
	p, done := upstream(t)
	const watch = "/api/v1/pods?watch=true"
	watching := func() <-chan string {
		ended := make(chan string, 1)
		go func() {
			status, text := ask(t, p, "GET", watch, "")
			ended <- fmt.Sprint(status, " ", text)
		}()
		return ended
	}
	first := watching()
	processes.Eventually(t, "it watches", patience, func() bool { return done.Load() == 1 })
	p.Blind()
	if text := <-first; text != "200 first\n" && text != "0 " {
		t.Errorf("%q", text)
	}
	p.Take()
	second := watching()
	processes.Eventually(t, "it asks again", patience, func() bool { return len(p.Take()) > 0 })
	if status, _ := ask(t, p, "POST", "/api/v1/namespaces/n/pods", ""); status != http.StatusOK {
		t.Errorf("%d", status)
	}
	must.Equal(t, done.Load(), 2, "were carried out")
	p.See(true)
	if text := <-second; text[:3] != "410" {
		t.Errorf("%q", text)
	}
	third := watching()
	processes.Eventually(t, "it watches", patience, func() bool { return done.Load() == 3 })
	p.cut()
	<-third
}
