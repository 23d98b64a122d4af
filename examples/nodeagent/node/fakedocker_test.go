//go:build linux

// This file implements a Docker daemon for tests: it notes what it is asked; its containers run nothing.

package node

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// fakeDaemon speaks the part of Docker's protocol that the writer uses, for one container at a time. A
// container prints output and ends, or runs until it is removed if its job is as long as a probe's.
type fakeDaemon struct {
	id     string // of all containers; their process is this test
	output string
	status int
	faults map[string]fault // by the beginning of a call
	info   string

	mu      sync.Mutex
	calls   []string // method, path and body
	removed chan struct{}
	endless bool
}

type fault struct {
	status int
	text   string
}

// newFakeDaemon starts a daemon and returns where it listens. Its containers seem to be on this machine:
// their ID is part of the list of this test's control groups.
func newFakeDaemon(t *testing.T) (d *fakeDaemon, host string) {
	t.Helper()
	d = &fakeDaemon{
		id: content(t, "/proc/self/cgroup")[:1], info: `{"ServerVersion": "1.2.3", "CpuCfsQuota": true}`,
		faults: map[string]fault{}, removed: make(chan struct{}),
	}
	socket := filepath.Join(shortFolder(t), "d.sock")
	listener := must.Have(net.Listen("unix", socket))(t)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: d}}
	server.Start()
	t.Cleanup(server.Close)
	return d, "unix://" + socket
}

// shortFolder makes a folder with a short name: the path of a socket has at most 107 bytes.
func shortFolder(t *testing.T) string {
	t.Helper()
	path := must.Have(os.MkdirTemp("", "nodeagent"))(t)
	t.Cleanup(func() {
		must.Do(t, os.RemoveAll(path))
	})
	return path
}

var version = regexp.MustCompile(`^/v[0-9.]+`)

func (d *fakeDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := r.Method + " " + version.ReplaceAllString(r.URL.Path, "")
	body, _ := io.ReadAll(r.Body)
	removed, wrong := d.note(call, string(body))
	w.Header().Set("Api-Version", "1.41")
	w.Header().Set("Content-Type", "application/json")
	container := " /containers/" + d.id
	switch {
	case wrong.status != 0:
		w.WriteHeader(wrong.status)
		fmt.Fprint(w, wrong.text)
	case call == "GET /info":
		fmt.Fprint(w, d.info)
	case call == "POST /images/create":
		fmt.Fprintln(w, `{"status": "sha256:42"}`)
	case call == "POST /containers/create":
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"Id": %q}`, d.id)
	case call == "POST"+container+"/attach":
		d.attach(w, removed)
	case call == "GET"+container+"/json":
		fmt.Fprintf(w, `{"State": {"Pid": %d}}`, os.Getpid())
	case call == "POST"+container+"/update":
		fmt.Fprint(w, `{}`)
	case call == "POST"+container+"/wait":
		w.(http.Flusher).Flush()
		if removed != nil {
			<-removed
		}
		fmt.Fprintf(w, `{"StatusCode": %d}`, d.status)
	case call == "HEAD /_ping", call == "POST"+container+"/start", call == "DELETE"+container:
		w.WriteHeader(http.StatusNoContent)
	case strings.HasPrefix(call, "DELETE /images/"):
		fmt.Fprint(w, `[]`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"message": "no such call: %s"}`, call)
	}
}

// note books a call. It returns what is closed when the container is removed, if it runs until then, and
// the fault to answer with.
func (d *fakeDaemon) note(call, body string) (removed chan struct{}, wrong fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if strings.HasPrefix(call, "POST /images/create") {
		body = fmt.Sprint(len(body), " bytes")
	}
	d.calls = append(d.calls, strings.TrimSpace(call+" "+body))
	switch {
	case call == "POST /containers/create":
		var request struct{ Cmd []string }
		_ = json.Unmarshal([]byte(body), &request) // the tests look at it
		d.endless = len(request.Cmd) > 2 && len(request.Cmd[2]) >= len("2147483647")
		d.removed = make(chan struct{})
	case strings.HasPrefix(call, "DELETE /containers/"):
		close(d.removed)
	}
	for begin, f := range d.faults {
		if strings.HasPrefix(call, begin) {
			return nil, f
		}
	}
	if d.endless {
		return d.removed, fault{}
	}
	return nil, fault{}
}

// attach sends the output of the container, in a frame of Docker's format: the stream, three zeros, the
// length, the bytes.
func (d *fakeDaemon) attach(w http.ResponseWriter, removed chan struct{}) {
	conn, buffer, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	const stdout = 1
	fmt.Fprint(buffer, "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
	_ = binary.Write(buffer, binary.BigEndian, []uint32{stdout << 24, uint32(len(d.output))})
	fmt.Fprint(buffer, d.output)
	if buffer.Flush() == nil && removed != nil {
		<-removed
	}
}

// heard returns the calls so far that begin with one of the beginnings.
func (d *fakeDaemon) heard(beginnings ...string) (calls []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, call := range d.calls {
		for _, begin := range beginnings {
			if strings.HasPrefix(call, begin) {
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// fail makes calls that begin so fail; a zero fault makes them work again.
func (d *fakeDaemon) fail(begin string, f fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults[begin] = f
}
