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
	"github.com/apportion/apportion/internal/must"
)

// vouching is somebody who vouches so.
type vouching func(job string, attempt int64) (time.Duration, error)

func (v vouching) Vouch(job string, attempt int64) (time.Duration, error) { return v(job, attempt) }

func TestVouching(t *testing.T) {
	dir := must.Have(os.MkdirTemp("", "guard-"))(t)
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	listener := must.Have(net.Listen("unix", socket))(t)
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
	must.Fail(a.Renew(t.Context(), guard.Claim{}))(t, must.ErrAny, "a claim of nobody")
	must.Do(t, server.Close())
	must.Fail(a.Renew(t.Context(), claim(5, "x")))(t, must.ErrAny, "nobody is there, and somebody vouches")
}

// What is posted to a socket and is no claim is answered by what is wrong with it.
func TestSocketRefusesNonsense(t *testing.T) {
	h := guard.Vouching(vouching(func(string, int64) (time.Duration, error) { return 0, errors.New("no") }))
	text := must.Have(json.Marshal(claim(5, "a")))(t)
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
		must.Equal(t, w.Code, c.want, name, w.Body)
	}
}
