package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/internal/must"
)

// A record is asked about as its problem is; what it lacks is listed, and what cannot be understood is refused.
func TestRecordsAreAsked(t *testing.T) {
	record := recorded(t, `{"kinds": ["gpu"], "theta1": 1, "theta2": 1, "servers": [{"id": "one", "capacity": [4]}, {"id": "two", "capacity": [4]}],
		"applications": [{"id": "a", "demand": [4], "max": 1, "min": 1}, {"id": "big", "demand": [5], "max": 1, "min": 1}]}`)
	for _, c := range []struct {
		name, record string
		code         int
		want, errs   string
	}{
		{"whole", record, answered, "Both servers are too small", ""},
		{"of another time", altered(t, record, 1.0, "version"), answered, "Both servers are too small", ""},
		{"newer", altered(t, record, 99.0, "version"), failed, "", "version"},
		{"with a field of its own", altered(t, record, "red", "colour"), answered, "Both servers", "no record has it"},
		{"half written", record[:len(record)/2], failed, "", ""},
		{"without a server's capacity", strings.Replace(record, `"capacity"`, `"capacities"`, 1), failed, "", "capacities"},
	} {
		code, out, errs := call(t, c.record, "why", "-job", "big")
		if code != c.code || !strings.Contains(out, c.want) || !strings.Contains(errs, c.errs) || c.code == failed && errs == "" {
			t.Errorf("%s: exit %d, %s%s", c.name, code, out, errs)
		}
	}
	for _, name := range []string{"plan", "fragmentation", "when"} {
		if code, out, errs := call(t, record, name); code != answered || out == "" || errs != "" {
			t.Errorf("%s: exit %d, %s%s", name, code, out, errs)
		}
	}
	if code, out, errs := call(t, record, "what-if", "-drain", "one", "-set", "theta2=0.2", "-end", "a"); code != answered || !strings.Contains(out, `"drained: one"`) || errs != "" {
		t.Errorf("what-if: exit %d, %s%s", code, out, errs)
	}
}

// A controller is asked for what it has decided last, by its token, with every question about a problem.
func TestControllerIsAsked(t *testing.T) {
	p := &alloc.Problem{}
	must.Do(t, json.Unmarshal(must.Have(os.ReadFile("cluster.json"))(t), p))
	d := must.Have(alloc.Reallocate(t.Context(), p, nil))(t)
	last := controller.Taken{At: time.Now(), Took: time.Second, Problem: p, Decision: d}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/decision" || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(last)
	}))
	defer server.Close()
	token := filepath.Join(t.TempDir(), "user.token")
	must.Do(t, os.WriteFile(token, []byte("secret\n"), 0o600))
	for _, args := range [][]string{{"why", "-job", "app-3"}, {"plan"}, {"fragmentation"}, {"when"}, {"what-if", "-lose", "slave-2"}} {
		_, want, _ := call(t, "", append(args, "cluster.json")...)
		code, out, errs := call(t, "", append(append([]string{args[0], "-token", token}, args[1:]...), server.URL)...)
		if code != answered || out != want || errs != "" {
			t.Errorf("%s: exit %d, %s%s; the file has %s", args, code, out, errs, want)
		}
	}
	if code, out, _ := call(t, "", "why", "app-3", "cluster.json"); code != answered || !strings.Contains(out, "no server has room") {
		t.Errorf("a job before the file: exit %d, %s", code, out)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if code, out, errs := call(t, "", args...); code != failed || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s%s", args, code, out, errs)
		}
	}
	refused("the token is missing or wrong", "plan", server.URL)
	refused("no such file", "dorm", server.URL)
	last.Fault = "its server is gone"
	if code, out, errs := call(t, "", "plan", "-token", token, server.URL); code != answered || out == "" || !strings.Contains(errs, last.Fault) {
		t.Errorf("with a fault: exit %d, %s%s", code, out, errs)
	}
	last.Problem, last.Decision = nil, nil
	refused("has decided nothing yet", "plan", "-token", token, server.URL)
}

// A token is not sent where others could read it.
func TestTokenStaysHere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(file, []byte("secret"), 0o600))
	var errs strings.Builder
	if code := run(t.Context(), []string{"plan", "-token", file, "http://192.0.2.1:7190"}, nil, io.Discard, &errs); code != misused || !strings.Contains(errs.String(), "https") {
		t.Errorf("exit status %d: %s", code, errs.String())
	}
}
