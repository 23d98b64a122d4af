// This file implements Proxy: what stands between a program and the API server, counts, and lets things go wrong.

package kubetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Verbs of requests. The others are as in roles of Kubernetes.
const (
	Lists   = "list"
	Watches = "watch"
)

// Request is what a program has asked of the API server.
type Request struct {
	// Verb is as in roles of Kubernetes. Resource is its name, with a subresource behind a slash.
	Verb, Resource string
	// Namespace and Name are of one object; "": the request is not about one, or its name is drawn when it is made.
	Namespace, Name string
	// At is when it came.
	At time.Time
}

// Writes reports whether the request changes something.
func (q *Request) Writes() bool {
	return q.Verb != "get" && q.Verb != Lists && q.Verb != Watches
}

// Fate is what becomes of a request.
type Fate struct {
	// Status is that of a refusal: the request is not carried out; 0: it is.
	Status int
	// Lost says that it is carried out, and nobody hears the answer.
	Lost bool
}

// Proxy is between a program and the API server. It is safe for concurrent use.
type Proxy struct {
	// URL is where programs reach it, and Authority the certificate, as PEM, by which they know it.
	URL       string
	Authority []byte

	through http.Handler
	mu      sync.Mutex
	seen    []Request
	watches map[*Request]context.CancelFunc
	// fate decides on each request; nil: all are carried out.
	fate func(q *Request) Fate
	// blind ends when what is to be seen can be seen again; nil: it can.
	blind chan struct{}
	// expired are the resources whose next watch is told that what it missed is gone.
	expired map[string]bool
}

// NewProxy starts a proxy to the API server of a configuration, until the test ends.
func NewProxy(t testing.TB, config *rest.Config) *Proxy {
	t.Helper()
	target, err := url.Parse(config.Host)
	var transport http.RoundTripper
	if err == nil {
		// Whoever asks shows a token of its own.
		transport, err = rest.TransportFor(&rest.Config{Host: config.Host, TLSClientConfig: config.TLSClientConfig})
	}
	if err != nil {
		t.Fatal(err)
	}
	through := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		// A server that cannot be reached gives no answer.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p := &Proxy{through: through, watches: map[*Request]context.CancelFunc{}}
	server := httptest.NewUnstartedServer(p)
	server.Config.ErrorLog = through.ErrorLog
	// A program shows no token to whom it does not know.
	server.EnableHTTP2 = true
	server.StartTLS()
	p.URL, p.Authority = server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	t.Cleanup(func() {
		p.See(false)
		p.Meddle(nil)
		server.CloseClientConnections()
		p.cut()
		server.Close()
	})
	return p
}

// NewProxy starts a proxy to the API server, until the test ends.
func (c *Cluster) NewProxy() *Proxy {
	c.Helper()
	return NewProxy(c, c.Config)
}

// requestTo reads what a request asks for.
func requestTo(r *http.Request) *Request {
	q := &Request{At: time.Now()}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	skip := map[string]int{"api": 2, "apis": 3}[parts[0]] // the group and its version
	parts = parts[min(skip, len(parts)):]
	if len(parts) > 2 && parts[0] == "namespaces" {
		q.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 0 {
		q.Resource = parts[0]
	}
	if len(parts) > 1 {
		q.Name = parts[1]
	}
	if len(parts) > 2 {
		q.Resource += "/" + strings.Join(parts[2:], "/")
	}
	watch := r.URL.Query().Get("watch")
	switch {
	case r.Method == http.MethodPost:
		q.Verb = "create"
		if q.Name == "" {
			q.Name = nameIn(r)
		}
	case r.Method == http.MethodPut:
		q.Verb = "update"
	case r.Method != http.MethodGet:
		q.Verb = strings.ToLower(r.Method)
	case watch == "true" || watch == "1":
		q.Verb = Watches
	case q.Name == "":
		q.Verb = Lists
	default:
		q.Verb = "get"
	}
	return q
}

// nameIn is the name of the object in the body of a request, which can be read again.
func nameIn(r *http.Request) string {
	text, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	if err != nil {
		return ""
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return ""
	}
	named, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return named.GetName()
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := requestTo(r)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	fate, wait := p.enter(q, cancel)
	defer p.leave(q)
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			panic(http.ErrAbortHandler)
		}
	}
	if q.Verb == Watches && p.isExpired(q.Resource) {
		fate.Status = http.StatusGone
	}
	switch {
	case fate.Status != 0:
		refuse(w, fate.Status)
	case fate.Lost:
		p.through.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
		panic(http.ErrAbortHandler)
	default:
		p.through.ServeHTTP(w, r.WithContext(ctx))
	}
}

// enter notes a request. It returns what becomes of it, and what it has to wait for; nil: nothing.
func (p *Proxy) enter(q *Request, cancel context.CancelFunc) (Fate, <-chan struct{}) {
	p.mu.Lock()
	p.seen = append(p.seen, *q)
	fate, wait := p.fate, p.blind
	looks := q.Verb == Watches || q.Verb == Lists
	if looks {
		p.watches[q] = cancel
	}
	p.mu.Unlock()
	if !looks {
		wait = nil
	}
	// It may wait for somebody who asks this proxy.
	if fate == nil {
		return Fate{}, wait
	}
	return fate(q), wait
}

// leave forgets a request that has ended.
func (p *Proxy) leave(q *Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watches, q)
}

// isExpired reports whether the next watch of a resource is told that what it has missed is gone. It is told once.
func (p *Proxy) isExpired(resource string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	is := p.expired[resource]
	delete(p.expired, resource)
	return is
}

// reasons are those of refusals, by status.
var reasons = map[int]string{http.StatusConflict: "Conflict", http.StatusGone: "Expired", http.StatusForbidden: "Forbidden",
	http.StatusInternalServerError: "InternalError", http.StatusServiceUnavailable: "ServiceUnavailable"}

// refuse answers as the API server does.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"refused by the test","reason":%q,"code":%d}`,
		cmp.Or(reasons[status], "Unknown"), status)
}

// Take returns the requests since it was called last, in the order in which they came.
func (p *Proxy) Take() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// Meddle has each request meet a fate, from now on; nil: none does. It is called from many goroutines.
func (p *Proxy) Meddle(fate func(q *Request) Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fate = fate
}

// Blind closes all watches, and holds back new ones, and lists, until See. All else goes on.
func (p *Proxy) Blind() {
	p.mu.Lock()
	if p.blind == nil {
		p.blind = make(chan struct{})
	}
	p.mu.Unlock()
	p.cut()
}

// cut closes all watches.
func (p *Proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cancel := range p.watches {
		cancel()
	}
}

// See ends Blind. If expired, watches are told first that what they have missed is gone, so that everything is listed anew.
func (p *Proxy) See(expired bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expired = map[string]bool{}
	if expired {
		for q := range p.watches {
			p.expired[q.Resource] = true
		}
	}
	if p.blind != nil {
		close(p.blind)
		p.blind = nil
	}
}

// KubeconfigBy writes one by which a program reaches the API server through a proxy.
func (c *Cluster) KubeconfigBy(p *Proxy, token string) string {
	c.Helper()
	return c.kubeconfig("kubeconfig-by-proxy", token, fmt.Sprintf("server: %q, certificate-authority: %q", p.URL, c.write("proxy.crt", p.Authority)))
}
