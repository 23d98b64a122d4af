//go:build linux

// This file tests claims through a socket at somebody who vouches for no longer than it can itself, and control groups.

package guard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/guard"
)

// vouching is somebody who vouches so.
type vouching func(job string, attempt int64) (time.Duration, error)

func (v vouching) Vouch(job string, attempt int64) (time.Duration, error) { return v(job, attempt) }

func TestVouching(t *testing.T) {
	dir, err := os.MkdirTemp("", "guard-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var left time.Duration
	var fault error
	server := &http.Server{Handler: guard.Vouching(vouching(func(job string, attempt int64) (time.Duration, error) {
		if job != "lr" || attempt != 5 {
			t.Errorf("asked for attempt %d of %s", attempt, job)
		}
		return left, fault
	}))}
	go func() { _ = server.Serve(listener) }()
	a := guard.NewSocket(socket)
	for _, test := range []struct {
		name   string
		left   time.Duration
		fault  error
		fenced bool
		error  string
	}{
		{"vouched for", 3 * time.Second, nil, false, ""},
		{"over", 0, nil, false, "the lease of the agent is over"},
		{"fenced off", 3 * time.Second, fmt.Errorf("stopped: %w", checkpoint.ErrFenced), true, ""},
		{"cannot say", 3 * time.Second, errors.New("no book"), false, "no book"},
	} {
		left, fault = test.left, test.fault
		g, err := a.Renew(t.Context(), claim(5, "x"))
		switch {
		case test.error != "":
			if err == nil || !strings.Contains(err.Error(), test.error) || g != (guard.Grant{}) {
				t.Errorf("%s: %+v, %v", test.name, g, err)
			}
		case err != nil || (g.Fenced != "") != test.fenced:
			t.Errorf("%s: %+v, %v", test.name, g, err)
		case !test.fenced && (g.Length != left || g.Heard != claim(5, "x").Clock):
			t.Errorf("%s: %+v", test.name, g)
		}
	}
	if _, err := a.Renew(t.Context(), guard.Claim{}); err == nil {
		t.Error("a claim of nobody")
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if _, err := a.Renew(t.Context(), claim(5, "x")); err == nil {
		t.Error("nobody is there, and somebody vouches")
	}
}

// groups returns a folder of cgroup v2 in which groups can be made, or skips the test.
func groups(t *testing.T) string {
	t.Helper()
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		dir := filepath.Join(root, fmt.Sprintf("guard-test-%d", os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err == nil {
			return dir
		}
	}
	t.Skip("NOT TESTED, cgroup v2 is not there or not allowed")
	return ""
}

// With a control group all of a trainer is in it, and it is gone with the trainer.
func TestCgroup(t *testing.T) {
	b := newBench(t, time.Minute)
	b.set.Cgroup, b.set.HostPID, b.set.Containment = groups(t), true, guard.ControlGroup
	b.begins()
	if text := b.heldBy(); !strings.Contains(text, "held by: cgroup\n") {
		t.Error(text)
	}
	made, _ := filepath.Glob(filepath.Join(b.set.Cgroup, "apportion-*"))
	if len(made) != 1 {
		t.Fatalf("groups: %v", made)
	}
	for _, pid := range b.alive() {
		if in, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid)); len(in) > 0 && !strings.Contains(string(in), filepath.Base(made[0])) {
			t.Errorf("process %d is in %s", pid, in)
		}
	}
	b.desk.Fence("lr", 5)
	b.ends()
	if _, err := os.Stat(made[0]); err == nil {
		t.Error("the group is still there")
	}
}

// A folder in which no group can be made is gone without.
func TestNoCgroup(t *testing.T) {
	b := newBench(t, time.Minute)
	b.set.Cgroup = t.TempDir()
	b.begins()
	b.desk.Fence("lr", 5)
	b.ends()
	if left, _ := os.ReadDir(b.set.Cgroup); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What is posted to a socket and is no claim is answered by what is wrong with it.
func TestSocketRefusesNonsense(t *testing.T) {
	h := guard.Vouching(vouching(func(string, int64) (time.Duration, error) { return 0, errors.New("no") }))
	text, err := json.Marshal(claim(5, "a"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, body string
		want         int
	}{
		"not granted": {"POST", string(text), 409},
		"a question":  {"GET", string(text), 400},
		"no claim":    {"POST", "{", 400},
		"a long one":  {"POST", `{"job":"` + strings.Repeat("x", 1<<17) + `"}`, 400},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, "/", strings.NewReader(c.body)))
		if w.Code != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
