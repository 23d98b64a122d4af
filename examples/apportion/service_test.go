//go:build !js && !apportion_clib

// This file tests the service: what it answers, what it refuses, and that an error of one request harms no other.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// begin serves with these flags until the test ends, and returns a way to ask.
func begin(t testing.TB, flags ...string) func(method, path, body string) (status int, answer string) {
	t.Helper()
	// The path of a socket is short: that of a test's folder may not be.
	folder := must.Have(os.MkdirTemp("", "serve"))(t)
	socket := filepath.Join(folder, "s")
	stop := serveOn(t, append([]string{"serve", "-listen", socketPrefix + socket}, flags...)...)
	t.Cleanup(func() {
		stop()
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("the service leaves %v, %v", left, err)
		}
		_ = os.RemoveAll(folder)
	})
	if info, err := os.Stat(socket); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v: others may open the socket", info, err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	t.Cleanup(client.CloseIdleConnections)
	return func(method, path, body string) (int, string) {
		request, err := http.NewRequestWithContext(context.Background(), method, "http://service"+path, strings.NewReader(body))
		must.Do(t, err)
		response, err := client.Do(request)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer response.Body.Close()
		text := must.Have(io.ReadAll(response.Body))(t)
		return response.StatusCode, string(text)
	}
}

// serveOn runs the command until stop is called, and returns when it listens.
func serveOn(t testing.TB, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	ended := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		ended <- run(ctx, args, strings.NewReader(""), in, &errs)
		_ = in.Close()
	}()
	var said struct{ Listening string }
	if err := json.NewDecoder(out).Decode(&said); err != nil || said.Listening == "" {
		cancel()
		<-ended
		t.Fatalf("%v: %s", err, &errs)
	}
	return func() {
		cancel()
		must.Equal(t, <-ended, answered, "exit", &errs)
	}
}

const smallProblem = `{"kinds":["gpu"],"servers":[{"id":"s1","capacity":[4]},{"id":"s2","capacity":[4]}],
	"applications":[{"id":"a","demand":[1],"max":8}],"theta1":1,"theta2":1}`

// TestService tells a session what happens, and takes it up elsewhere.
func TestService(t *testing.T) {
	ask := begin(t)
	want := func(status int, method, path, body string, parts ...string) string {
		t.Helper()
		got, answer := ask(method, path, body)
		for _, part := range parts {
			if !strings.Contains(answer, part) {
				t.Errorf("%s %s: %s has no %s", method, path, answer, part)
			}
		}
		must.Equal(t, got, status, method, path, answer)
		return answer
	}
	want(200, "GET", "/healthz", "", "ok")
	want(200, "GET", "/v1/sessions", "", `{"sessions":[]}`)
	want(201, "PUT", "/v1/sessions/c?effort=20", smallProblem, `"objective":1`, `"explanation"`)
	want(200, "POST", "/v1/sessions/c", `{"changes":[{"arrive":{"id":"b","demand":[2],"min":1,"max":2}}]}`, `"b":{`)
	want(200, "POST", "/v1/sessions/c", `{"why":"b"}`, `"helps"`)
	want(200, "POST", "/v1/sessions/c", `{"what_if":[{"lose":"s1"}]}`, `"then"`)
	record := want(200, "POST", "/v1/sessions/c", `{"show":"record"}`, `"decision"`)
	want(200, "POST", "/v1/verify", record, `"proven_bound":0.9`)
	want(200, "POST", "/v1/replay", record, `"differences"`)
	shown := want(200, "POST", "/v1/sessions/c", `{"show":"problem"}`, `"previous"`)
	// A fault changes nothing, and neither does what nobody may ask.
	want(422, "POST", "/v1/sessions/c", `{"what_if":[]}`, `"what_if"`)
	want(422, "POST", "/v1/sessions/c", `{"changes":[{"end":"a"},{"lose":"s9"}]}`, `"changes[1].lose"`)
	want(422, "PUT", "/v1/sessions/c", `{"kinds":["gpu"],"servers":[],"applications":[],"theta1":2,"theta2":1}`, "theta1")
	must.Equal(t, want(200, "POST", "/v1/sessions/c", `{"show":"problem"}`), shown, "is")
	// A session is a value: another service goes on with it.
	other := begin(t)
	if status, _ := other("PUT", "/v1/sessions/d", shown); status != 201 {
		t.Error(status)
	}
	if _, there := other("POST", "/v1/sessions/d", `{"show":"problem"}`); there != shown {
		t.Errorf("elsewhere it is %s, and not %s", there, shown)
	}
	want(200, "POST", "/v1/dorm?effort=20", smallProblem, `"objective"`)
	want(200, "POST", "/v1/why?job=a", smallProblem, `"tried"`)
	want(200, "POST", "/v1/drf", smallDRF, `"containers"`)
	want(204, "DELETE", "/v1/sessions/c", "")
	want(200, "GET", "/v1/schema/dorm.input.json", "", `"$schema"`)
	want(200, "GET", "/v1/openapi.json", "", `"3.1.0"`)

	for _, bad := range []struct {
		status             int
		method, path, body string
	}{
		{404, "POST", "/v1/sessions/c", `{"changes":[]}`},
		{404, "DELETE", "/v1/sessions/c", ""},
		{404, "GET", "/v2/sessions", ""},
		{405, "PATCH", "/v1/sessions", ""},
		{400, "PUT", "/v1/sessions/c", `{"kinds":`},
		{400, "PUT", "/v1/sessions/c", ""},
		{400, "PUT", "/v1/sessions/c", strings.Repeat(`[`, 1<<20)},
		{422, "PUT", "/v1/sessions/c", `[]`},
		{400, "PUT", "/v1/sessions/c?effort=none", smallProblem},
		{400, "POST", "/v1/dorm?effort=0", smallProblem},
		{422, "POST", "/v1/why?job=nobody", smallProblem},
		{422, "POST", "/v1/why", smallProblem},
		{413, "PUT", "/v1/sessions/c", strings.Repeat(" ", maxLine+1)},
		{400, "POST", "/v1/why?job=a&job=b", smallProblem},
		{400, "PUT", "/v1/sessions/%ff", smallProblem},
		{400, "PUT", "/v1/sessions/%00", smallProblem},
		// A query reaches no flag that writes or reads files.
		{400, "POST", "/v1/dorm?record=" + filepath.Join(t.TempDir(), "record"), smallProblem},
	} {
		want(bad.status, bad.method, bad.path, bad.body)
	}
}

// TestServiceLimits runs into each limit, and finds what was there before unharmed.
func TestServiceLimits(t *testing.T) {
	ask := begin(t, "-sessions", "2", "-body", "4000", "-idle", "0")
	for n, want := range []int{201, 201, 429} {
		if got, answer := ask("PUT", fmt.Sprintf("/v1/sessions/s%d", n), smallProblem); got != want {
			t.Errorf("session %d: %d %s", n, got, answer)
		}
	}
	if got, _ := ask("PUT", "/v1/sessions/s1", smallProblem); got != 201 {
		t.Error("one that is there cannot be put again:", got)
	}
	if got, answer := ask("POST", "/v1/sessions/s0", strings.Repeat(" ", 4001)); got != 413 {
		t.Error(got, answer)
	}
	if got, answer := ask("POST", "/v1/sessions/s0", `{"changes":[]}`); got != 200 {
		t.Error(got, answer)
	}
	runtime.GC() // what is alive is known then
	full := begin(t, "-memory", "1")
	if got, answer := full("PUT", "/v1/sessions/s", smallProblem); got != 507 {
		t.Error(got, answer)
	}
	short := begin(t, "-idle", "1ns", "-sessions", "1")
	for _, name := range []string{"a", "b"} {
		if got, answer := short("PUT", "/v1/sessions/"+name, smallProblem); got != 201 {
			t.Error(got, answer)
		}
	}
}

// TestServiceBusy holds the only turn: others are told so when their time is over, and a caller that hangs up harms nobody.
func TestServiceBusy(t *testing.T) {
	c := &command{dispatch: dispatch, service: serviceOptions{atOnce: 1, body: 1 << 20, most: 9, timeout: 50 * time.Millisecond}}
	s := newService(c, "")
	s.turns <- struct{}{}
	post := func(ctx context.Context, path, body string) int {
		w := newRecorder()
		r := must.Have(http.NewRequestWithContext(ctx, "POST", path, strings.NewReader(body)))(t)
		s.handler().ServeHTTP(w, r)
		return w.status
	}
	must.Equal(t, post(t.Context(), "/v1/drf", smallDRF), 503)
	<-s.turns
	// With as many bodies in memory as there may be no other is read, and what has none is answered.
	for range cap(s.bodies) {
		s.bodies <- struct{}{}
	}
	waits, giveUp := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer giveUp()
	must.Equal(t, post(waits, "/v1/drf", smallDRF), 0, "a body too many is read")
	must.Equal(t, post(t.Context(), "/v1/sessions/none", ""), 404)
	for range cap(s.bodies) {
		<-s.bodies
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	post(gone, "/v1/drf", smallDRF)
	must.Equal(t, post(t.Context(), "/v1/drf", smallDRF), 200)
	// A panic is that of one request: its turns are given back.
	s.dispatch = func(context.Context, []string, io.Reader, io.Writer, io.Writer) error { panic("planted") }
	for range 2 {
		must.Equal(t, post(t.Context(), "/v1/drf", smallDRF), 500)
	}
	// What is begun goes on when its caller has gone.
	leaving, leave := context.WithCancel(t.Context())
	s.dispatch = func(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) error {
		leave()
		if ctx.Err() != nil {
			t.Error("the answer ends with its caller")
		}
		return dispatch(ctx, args, in, out, errs)
	}
	must.Equal(t, post(leaving, "/v1/drf", smallDRF), 200)
}

// recorder records a status.
type recorder struct {
	status int
	header http.Header
}

func newRecorder() *recorder                       { return &recorder{header: http.Header{}} }
func (r *recorder) Header() http.Header            { return r.header }
func (r *recorder) WriteHeader(status int)         { r.status = status }
func (r *recorder) Write(text []byte) (int, error) { return len(text), nil }

// TestServiceAtOnce has many callers: each session has the decisions of its own caller in order, and one that all share loses nothing.
func TestServiceAtOnce(t *testing.T) {
	ask := begin(t, "-at-once", "4")
	ask("PUT", "/v1/sessions/shared", smallProblem)
	var wait sync.WaitGroup
	answers := make([]string, 6)
	for n := range answers {
		wait.Go(func() {
			path := fmt.Sprintf("/v1/sessions/s%d", n)
			ask("PUT", path, smallProblem)
			for step := range 10 {
				ask("POST", path, fmt.Sprintf(`{"changes":[{"arrive":{"id":"b%d","demand":[1],"max":2}}]}`, step))
				ask("POST", path, fmt.Sprintf(`{"changes":[{"end":"b%d"}]}`, step))
				if status, answer := ask("POST", "/v1/sessions/shared", fmt.Sprintf(`{"changes":[{"arrive":{"id":"b%d-%d","demand":[1],"max":2}}]}`, n, step)); status != 200 {
					t.Error(answer)
				}
			}
			_, answers[n] = ask("POST", path, `{"show":"problem"}`)
		})
	}
	wait.Wait()
	for _, answer := range answers[1:] {
		must.Equal(t, answer, answers[0])
	}
	if _, shown := ask("POST", "/v1/sessions/shared", `{"show":"problem"}`); strings.Count(shown, `{"id":"b`) != 10*len(answers) {
		t.Errorf("%s has not all of %d applications", shown, 10*len(answers))
	}
}

// TestServiceHalfARequest ends connections at every point: others are answered as before.
func TestServiceHalfARequest(t *testing.T) {
	folder := must.Have(os.MkdirTemp("", "serve"))(t)
	defer os.RemoveAll(folder)
	socket := filepath.Join(folder, "s")
	defer serveOn(t, "serve", "-listen", socketPrefix+socket)()
	whole := fmt.Sprintf("PUT /v1/sessions/half HTTP/1.1\r\nHost: s\r\nContent-Length: %d\r\n\r\n%s", len(smallProblem), smallProblem)
	for cut := 0; cut < len(whole); cut += 7 {
		conn := must.Have(net.Dial("unix", socket))(t)
		must.Have(io.WriteString(conn, whole[:cut]))(t)
		_ = conn.Close()
	}
	conn := must.Have(net.Dial("unix", socket))(t)
	defer conn.Close()
	must.Have(io.WriteString(conn, "GET /v1/sessions HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n"))(t)
	if text, err := io.ReadAll(conn); err != nil || !strings.Contains(string(text), `{"sessions":[]}`) {
		t.Errorf("%v: a part of a request has begun a session: %s", err, text)
	}
	// A second service leaves the first alone.
	code, _, errs := call(t, "", "serve", "-listen", socketPrefix+socket)
	if code != failed || !strings.Contains(errs, "another service") {
		t.Error(code, errs)
	}
}

// TestServiceToken shows right and wrong tokens to a service on a loopback address.
func TestServiceToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		_ = os.Remove(path)
		must.Do(t, os.WriteFile(path, []byte(text), mode))
	}
	const token = "a token that nobody guesses"
	write(token+"\n", 0o600)
	c := &command{dispatch: dispatch, service: serviceOptions{listen: "127.0.0.1:0", token: path, atOnce: 1, body: 100, most: 1, timeout: time.Second}}
	read := must.Have(c.service.readToken())(t)
	must.Equal(t, read, token)
	s := newService(c, read)
	for header, want := range map[string]int{"": 401, "Bearer": 401, "Bearer ": 401, token: 401, "Bearer " + token + "x": 401, "Basic " + token: 401, "Bearer " + token: 200} {
		w := newRecorder()
		r := must.Have(http.NewRequestWithContext(t.Context(), "GET", "/v1/sessions", nil))(t)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		if s.handler().ServeHTTP(w, r); w.status != want {
			t.Errorf("%q: %d", header, w.status)
		}
	}
	for _, bad := range [][]string{
		{"-listen", "127.0.0.1:0"},                        // no token
		{"-listen", "0.0.0.0:0", "-token", path},          // no certificate
		{"-listen", "192.0.2.1:0", "-token", path},        // the same
		{"-listen", "nonsense", "-token", path},           // no address
		{"-listen", "127.0.0.1:0", "-token", path + ".0"}, // no file
		{"-listen", "127.0.0.1:0", "-token", path, "-cert", path, "-key", path},
		{"-listen", socketPrefix + path}, // a file that is no socket
		{"cluster.json"}, {"-at-once", "0"}, {"-sessions", "0"}, {"-body", "-1"}, {"-timeout", "0s"}, {"-memory", "-1"}, {"-idle", "-1s"},
	} {
		if code, out, errs := call(t, "", append([]string{"serve"}, bad...)...); code == answered || out != "" || errs == "" {
			t.Errorf("%q: exit %d, %s%s", bad, code, out, errs)
		}
	}
	for text, mode := range map[string]os.FileMode{token: 0o644, "short": 0o600, "": 0o600} {
		if write(text, mode); runtime.GOOS == "windows" {
			break
		}
		must.Fail(c.service.readToken())(t, must.ErrAny, "a token", text, "of mode", mode, "is taken")
	}
}

// TestServiceDescription: a description that names a schema that is not there is of no use.
func TestServiceDescription(t *testing.T) {
	ask := begin(t)
	_, text := ask("GET", "/v1/openapi.json", "")
	for _, part := range strings.Split(text, `"$ref":"`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if status, _ := ask("GET", "/v1/"+name, ""); status != 200 {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// TestServiceReadme runs the commands of the README.
func TestServiceReadme(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil || testing.Short() {
		t.Skip("curl is needed, and time")
	}
	readme := must.Have(os.ReadFile("README.md"))(t)
	_, text, _ := strings.Cut(string(readme), "## serve\n")
	_, text, _ = strings.Cut(text, "```sh\n")
	commands, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("the README has no commands")
	}
	bin, folder := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cluster, err := os.ReadFile("cluster.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "cluster.json"), cluster, 0o600)
	}
	must.Do(t, err)
	cmd := exec.Command("bash", "-c", "set -m\n"+commands+"wait\n")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	must.Equal(t, strings.Count(string(out), `"status":"decided"`), 2, "answers", err, out)
}

// BenchmarkService is the event of BenchmarkSession through the socket, beside a request that asks for nothing, and what ten sessions of 1,000 servers hold.
func BenchmarkService(b *testing.B) {
	b.Run("event", func(b *testing.B) {
		ask := begin(b)
		if status, answer := ask("PUT", "/v1/sessions/s?effort=20", drawnProblem(rand.New(rand.NewPCG(1, 1)), 100, 100)); status != 201 {
			b.Fatal(status, answer)
		}
		for n := 0; b.Loop(); n++ {
			line := [...]string{`{"changes":[{"arrive":{"id":"new","demand":[2,0],"min":1,"max":4}}]}`, `{"changes":[{"end":"new"}]}`}[n%2]
			if status, answer := ask("POST", "/v1/sessions/s", line); status != 200 {
				b.Fatal(status, answer)
			}
		}
	})
	b.Run("nothing", func(b *testing.B) {
		ask := begin(b)
		for b.Loop() {
			ask("GET", "/healthz", "")
		}
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			runtime.GC()
			before, kept := liveBytes(), make([]*session, 10)
			for n := range kept {
				s, _, err := newSession(b.Context(), []byte(drawnProblem(rand.New(rand.NewPCG(uint64(n), 1)), 1000, 500)), 20)
				must.Do(b, err)
				kept[n] = s
			}
			runtime.GC()
			b.ReportMetric(float64(liveBytes()-before)/1e6, "MB")
			runtime.KeepAlive(kept)
		}
	})
}

// TestServiceEndsBySignal ends a service as a service manager does: what it has made is gone.
func TestServiceEndsBySignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	folder := must.Have(os.MkdirTemp("", "serve"))(t)
	defer os.RemoveAll(folder)
	cmd := exec.Command(os.Args[0], "serve", "-listen", socketPrefix+filepath.Join(folder, "s"))
	cmd.Env = append(os.Environ(), asCommand+"=1")
	out := must.Have(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	must.Do(t, json.NewDecoder(out).Decode(&struct{ Listening string }{}))
	must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
	must.Do(t, cmd.Wait())
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the service leaves %v, %v", left, err)
	}
}

// TestServiceEndsBeforeItServes ends a service between its first line and its first request.
func TestServiceEndsBeforeItServes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		folder := t.TempDir()
		must.Equal(t, run(ctx, []string{"serve", "-listen", socketPrefix + filepath.Join(folder, "s")}, nil, io.Discard, io.Discard), 0, "exit status")
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Fatalf("the service leaves %v, %v", left, err)
		}
	}
}
