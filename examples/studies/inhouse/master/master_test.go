// This file checks the master against an agent in memory.

package master

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/must"
)

// secret is that of the clusters here.
var secret = wire.NewSecret()

// newServer is an agent in memory behind a listener. It notes what it is told.
func newServer(t *testing.T, memory *storetest.MemStore) *server {
	s := &server{Server: agenttest.Server{ID: "only", Store: memory}}
	s.Meet = func(_ context.Context, o agent.Order) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told = append(s.told, string(o.Effect.Action))
		return nil
	}
	mux := http.NewServeMux()
	wire.HandleAgent(mux, secret.Credential(agentOf("only")).Gate(), s)
	s.http = httptest.NewServer(mux)
	t.Cleanup(s.http.Close)
	return s
}

type server struct {
	agenttest.Server
	http *httptest.Server

	mu   sync.Mutex
	told []string
}

func (s *server) did() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// bench is a master that runs, and one agent.
type bench struct {
	t      *testing.T
	config Config
	agent  *server
	client *wire.Client
	stop   func()
}

func newBench(t *testing.T) *bench {
	store := &storetest.MemStore{}
	b := &bench{t: t, agent: newServer(t, store)}
	b.config = Config{Dir: t.TempDir(), Shared: t.TempDir(), Secret: secret, Store: store,
		Protocol: checkpoint.Config{Kinds: apportion.Kinds{"cpu"}, Retries: -1, Backoff: time.Millisecond},
		Decider:  Dorm{1, 1}, Grace: time.Minute, SaveEvery: time.Hour, Poll: 5 * time.Millisecond}
	for _, name := range []string{"journal", "specs"} {
		must.Do(t, os.Mkdir(filepath.Join(b.config.Dir, name), 0o700))
	}
	b.start()
	t.Cleanup(func() { b.stop() })
	b.register()
	return b
}

// start opens the master's directory, for the first time or again.
func (b *bench) start() {
	b.t.Helper()
	m := must.Have(Open(b.config))(b.t)
	server := httptest.NewServer(m.Handler())
	b.client = secret.Credential(wire.Party{Role: wire.User, Name: "test"}).Client(server.URL)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
		server.Close()
	})
}

func (b *bench) call(path string, question, answer any) error {
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	return b.client.Call(ctx, path, question, answer)
}

func (b *bench) register() {
	b.t.Helper()
	r := Registration{URL: b.agent.http.URL, Server: apportion.Server{ID: "only", Capacity: apportion.Resources{4}}}
	must.Do(b.t, b.as(agentOf("only"), "/register", r))
}

func agentOf(server string) wire.Party { return wire.Party{Role: wire.Agent, Name: server} }

// as calls the master as somebody.
func (b *bench) as(who wire.Party, path string, question any) error {
	return secret.Credential(who).Client(b.client.Base).Call(b.t.Context(), path, question, &Nothing{})
}

// Users, agents and masters may do what is theirs, and an agent speaks for its own server.
func TestRoles(t *testing.T) {
	b := newBench(t)
	user := wire.Party{Role: wire.User, Name: "u"}
	r := Registration{URL: b.agent.http.URL, Server: apportion.Server{ID: "only", Capacity: apportion.Resources{4}}}
	for _, test := range []struct {
		who      wire.Party
		path     string
		question any
		want     string
	}{
		{user, "/register", r, "not for the role user"},
		{agentOf("other"), "/register", r, "agent/6f74686572 registers as agent/6f6e6c79"},
		{agentOf("only"), "/submit", app, "not for the role agent"},
		{agentOf("only"), "/cancel", Name{"lr"}, "not for the role agent"},
		{agentOf("only"), "/move", Move{Job: "lr"}, "not for the role agent"},
		{agentOf("only"), "/list", Nothing{}, "not for the role agent"},
		{agentOf("only"), "/explain", Nothing{}, "not for the role agent"},
		{wire.Party{Role: wire.Master}, "/list", Nothing{}, "not signed"},
	} {
		if err := b.as(test.who, test.path, test.question); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v asks for %s: %v; want %q", test.who, test.path, err, test.want)
		}
	}
}

var app = alloc.Application{ID: "lr", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 3}, Start: []string{"a"}, Resume: []string{"b"}}

// await waits until the job is as wanted.
func (b *bench) await(what string, is func(View) bool) View {
	b.t.Helper()
	return b.awaitAll(what, func(v []View) bool { return len(v) == 1 && is(v[0]) })[0]
}

// awaitAll waits until the jobs are as wanted.
func (b *bench) awaitAll(what string, is func([]View) bool) []View {
	b.t.Helper()
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		var l List
		must.Do(b.t, b.call("/list", Nothing{}, &l))
		if is(l.Jobs) {
			return l.Jobs
		}
		if time.Now().After(limit) {
			b.t.Fatalf("%s: %+v; the agent did %v", what, l, b.agent.did())
		}
	}
}

func runs(v View) bool  { return v.Job.Phase == checkpoint.Running }
func ended(v View) bool { return v.Job.Phase == checkpoint.Ended }

func (b *bench) submit() {
	b.t.Helper()
	must.Do(b.t, b.call("/submit", app, &Nothing{}))
}

func TestJobRunsAndEnds(t *testing.T) {
	b := newBench(t)
	b.submit()
	v := b.await("runs", runs)
	if !slices.Equal(v.Job.Containers, []string{"only", "only", "only"}) || v.Share.Actual != 0.75 {
		t.Errorf("%+v", v)
	}
	b.agent.Work(9)
	b.agent.Finish("lr")
	v = b.await("ends", ended)
	if v.Job.Ending != checkpoint.Completed || v.Progress.Step != 9 {
		t.Errorf("%+v", v)
	}
	if got, want := b.agent.did(), []string{"create", "resume", "confirm", "stop", "release"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What was acknowledged is there after the master was stopped.
func TestMasterRestarts(t *testing.T) {
	b := newBench(t)
	b.submit()
	before := b.await("runs", runs)
	b.stop()
	b.start()
	after := b.await("runs still", runs)
	must.Equal(t, after.Job.Attempt, before.Job.Attempt, "attempt", "before")
	if err := b.call("/submit", app, &Nothing{}); err == nil || !strings.Contains(err.Error(), "is there twice") {
		t.Errorf("submitted again: %v", err)
	}
	if err := b.call("/cancel", Name{"lr"}, &Nothing{}); err != nil { // the agent has not registered with this master yet
		t.Fatal(err)
	}
	b.register()
	if v := b.await("ends", ended); v.Job.Ending != checkpoint.Cancelled {
		t.Errorf("%+v", v)
	}
}

func TestSubmitRefuses(t *testing.T) {
	b := newBench(t)
	for name, spoil := range map[string]func(*alloc.Application){
		"bad name":        func(a *alloc.Application) { a.ID = "a\nb" },
		"wrong length":    func(a *alloc.Application) { a.Demand = apportion.Resources{1, 2} },
		"is empty":        func(a *alloc.Application) { a.Start = nil },
		"Weight":          func(a *alloc.Application) { a.Weight = -1 },
		"is out of range": func(a *alloc.Application) { a.Max = 1 << 40 },
		"Demand[cpu]":     func(a *alloc.Application) { a.Demand = apportion.Resources{-1} },
	} {
		bad := app
		spoil(&bad)
		if err := b.call("/submit", bad, &Nothing{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var l List
	if err := b.call("/list", Nothing{}, &l); err != nil || len(l.Jobs) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	if entries, _ := os.ReadDir(filepath.Join(b.config.Dir, "specs")); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// page asks for the status page.
func (b *bench) page(query string) (status int, text string) {
	b.t.Helper()
	response := must.Have(http.Get(b.client.Base + "/" + query))(b.t)
	defer response.Body.Close()
	body := must.Have(io.ReadAll(response.Body))(b.t)
	return response.StatusCode, string(body)
}

func TestPage(t *testing.T) {
	b := newBench(t)
	evil := app
	evil.ID = "<script>"
	must.Do(t, b.call("/submit", evil, &Nothing{}))
	b.await("runs", runs)
	dir := filepath.Join(b.config.Shared, evil.ID, "1")
	must.Do(t, os.MkdirAll(dir, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, CurveFile), []byte(`{"step":1,"value":2}`+"\n"+`{"step":2,"value":1}`+"\n"), 0o600))
	for _, query := range []string{"", "?sign=00&until=9999999999", strings.TrimPrefix(secret.Link("/", time.Now().Add(-time.Second)), "/"),
		strings.TrimPrefix(wire.NewSecret().Link("/", time.Now().Add(time.Hour)), "/")} {
		if status, _ := b.page(query); status != http.StatusUnauthorized {
			t.Errorf("%q opens the page: %d", query, status)
		}
	}
	status, text := b.page(strings.TrimPrefix(secret.Link("/", time.Now().Add(time.Hour)), "/"))
	for _, want := range []string{`"id":"\u003cscript\u003e"`, `"curve":"160,0.0 320,60.0","loss":"1.000"`, `"share":0.75,`, "1 jobs; utilization 0.75, at most 0.75 is possible.",
		"stopped without: after 1m0s, or ten times its longest save", "begun again: after 10m0s", "remembered for ever", `"changes":[{"job":"\u003cscript\u003e","from":"","to":"`} {
		if status != 200 || !strings.Contains(text, want) {
			t.Errorf("%d, no %q:\n%s", status, want, text)
		}
	}
	must.Equal(t, strings.Count(text, "<script>"), 1, "scripts: a job's name is taken for HTML")
	_, ask, _ := strings.Cut(text, `data-ask="`)
	ask, _, _ = strings.Cut(ask, `"`)
	for question, want := range map[string]string{"": "it has its maximum of 3", "&if": "If <script> had ended"} {
		if status, answer := b.page(html.UnescapeString(ask) + "&job=%3Cscript%3E" + question); status != 200 || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", question, status, answer)
		}
	}
}

// After one job has ended the master knows how long jobs run: the list and the page say when the one begins that waits.
func TestStartIsForeseen(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"past", "next", "waits"} {
		whole := app
		whole.ID, whole.Min, whole.Max = name, 4, 4
		must.Do(t, b.call("/submit", whole, &Nothing{}))
	}
	b.awaitAll("nobody knows how long jobs run", func(v []View) bool {
		return len(v) == 3 && runs(v[0]) && v[0].Starts == "" && strings.HasPrefix(v[2].Starts, "its start is not known: ")
	})
	b.agent.Finish("past")
	b.awaitAll("one has a start", func(v []View) bool {
		return runs(v[1]) && v[1].Starts == "" && v[2].Waiting != "" && strings.HasPrefix(v[2].Starts, "it starts ")
	})
	_, text := b.page(strings.TrimPrefix(secret.Link("/", time.Now().Add(time.Hour)), "/"))
	_, row, _ := strings.Cut(text, `{"id":"waits"`)
	if row, _, _ = strings.Cut(row, "}"); !strings.Contains(row, `"early":1`) {
		t.Errorf("the page has no start: %s", row)
	}
}

// What a job has made of its curve is told in its own row, whatever it is called, and the others are shown.
func TestBrokenCurve(t *testing.T) {
	b := newBench(t)
	odd, other := app, app
	odd.ID, odd.Max, other.Max = "[", 1, 1
	for _, a := range []alloc.Application{odd, other} {
		must.Do(t, b.call("/submit", a, &Nothing{}))
	}
	for job, line := range map[string]string{"[": strings.Repeat("x", bufio.MaxScanTokenSize+1), "lr": `{"step":1,"value":2}`} {
		dir := filepath.Join(b.config.Shared, job, "1")
		must.Do(t, os.MkdirAll(dir, 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, CurveFile), []byte(line+"\n"), 0o600))
	}
	status, text := b.page(strings.TrimPrefix(secret.Link("/", time.Now().Add(time.Hour)), "/"))
	for _, want := range []string{`"id":"["`, "the losses cannot be read: ", "token too long", `"curve":"320,`} {
		if status != 200 || !strings.Contains(text, want) {
			t.Errorf("%d, no %q:\n%s", status, want, text)
		}
	}
}

// Names that mean something to a pattern, a path or a page are names: each has its own row with its own curve.
func TestNamesOnThePage(t *testing.T) {
	b := newBench(t)
	names := []string{"%", "..", "<b>", "a/b", "*", "[a-z]", "{{.}}"}
	for i, name := range names {
		named := app
		named.ID, named.Max = name, 1
		must.Do(t, b.call("/submit", named, &Nothing{}), name)
		dir := filepath.Join(b.config.Shared, string(store.FolderOf(name)), "1")
		must.Do(t, os.MkdirAll(dir, 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, CurveFile), fmt.Appendf(nil, `{"step":1,"value":%d}`+"\n", 100+i), 0o600))
	}
	status, text := b.page(strings.TrimPrefix(secret.Link("/", time.Now().Add(time.Hour)), "/"))
	if status != http.StatusOK || strings.Contains(text, "<b>") || strings.Contains(text, "cannot be read") {
		t.Errorf("%d\n%s", status, text)
	}
	for i, name := range names {
		quoted, _ := json.Marshal(name)
		_, row, _ := strings.Cut(text, `{"id":`+string(quoted)+`,"state"`)
		row, _, _ = strings.Cut(row, "}]")
		row, _, _ = strings.Cut(row, `"id":`)
		if !strings.Contains(row, fmt.Sprintf(`"loss":"%d.000"`, 100+i)) {
			t.Errorf("%q has no loss of %d: %s", name, 100+i, row)
		}
	}
}

func TestCurve(t *testing.T) {
	shared := t.TempDir()
	for attempt, text := range map[string]string{
		"9":  "{\"step\":1,\"value\":1}\n{\"step\":2,\"value\":2}\n{\"step\":3,\"value\":3}\n{\"st",
		"10": "{\"step\":2,\"value\":20}\n{\"step\":3,\"value\":30}\nnoise\n",
		"11": "",
		"12": "{\"step\":4,\"value\":4}\n{\"step\":5,\"value\":5}\n{\"step\":4,\"value\":40}\n", // started anew
	} {
		dir := filepath.Join(shared, "lr", attempt)
		must.Do(t, os.MkdirAll(dir, 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, CurveFile), []byte(text), 0o600))
	}
	curve, err := Curve(shared, "lr")
	if want := []Point{{Step: 1, Value: 1}, {Step: 2, Value: 20}, {Step: 3, Value: 30}, {Step: 4, Value: 40}}; err != nil || !slices.Equal(curve, want) {
		t.Errorf("%v, %v, want %v", curve, err, want)
	}
	if curve, err := Curve(shared, "nobody"); err != nil || len(curve) != 0 {
		t.Errorf("%v, %v", curve, err)
	}
}

// Many jobs are listed in parts, in the order of submission.
func TestListInParts(t *testing.T) {
	b := newBench(t)
	const jobs = 2*pageLength + 30
	for i := range jobs {
		app := Submission{Application: alloc.Application{ID: fmt.Sprintf("job%03d", i), Weight: 1, Form: alloc.Form{Min: 1, Max: 1, Demand: apportion.Resources{4}},
			Executor: "e", Start: []string{"x"}, Resume: []string{"x"}}}
		must.Do(t, b.call("/submit", app, &Nothing{}))
	}
	var names []string
	parts, from := 0, 0
	for more := true; more; more = from != 0 {
		var l List
		must.Do(t, b.call("/list", Page{From: from}, &l))
		for _, v := range l.Jobs {
			names = append(names, v.Job.Name)
		}
		parts, from = parts+1, l.Next
		if len(l.Jobs) > pageLength || len(l.Servers) != 1 {
			t.Errorf("part %d has %d jobs and %d servers", parts, len(l.Jobs), len(l.Servers))
		}
	}
	if parts != 3 || len(names) != jobs || !slices.IsSorted(names) {
		t.Errorf("%d parts with %d jobs: %v", parts, len(names), names)
	}
}

// A job that has ended is forgotten after a while: its specification goes, its name is free, and no master that follows begins it again.
func TestEndedIsForgotten(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.config.Retain = time.Second
	b.start()
	b.register()
	b.submit()
	b.await("it runs", runs)
	b.agent.Finish("lr")
	gone := func(when string) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			var l List
			must.Do(t, b.call("/list", Page{}, &l))
			files, err := os.ReadDir(filepath.Join(b.config.Dir, "specs"))
			if err == nil && len(l.Jobs) == 0 && len(files) == 0 {
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("%s: %d jobs, files %v", when, len(l.Jobs), files)
			}
		}
	}
	gone("after it has ended")
	b.stop()
	b.start()
	b.register()
	gone("after a restart")
	b.submit()
	b.await("it runs again", runs)
	// A master that dies between the forgetting of a job and the end of its file does not begin it again.
	b.agent.Finish("lr")
	file := filepath.Join(b.config.Dir, "specs", "lr.json")
	var text []byte
	for limit := time.Now().Add(time.Minute); !strings.Contains(string(text), `"ended": true`); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("its end is not in its file: %s", text)
		}
		text, _ = os.ReadFile(file) // it may be gone already
	}
	gone("after its second end")
	b.stop()
	must.Do(t, os.WriteFile(file, text, 0o600))
	told := len(b.agent.did())
	b.start()
	b.register()
	gone("after a restart in between")
	for _, action := range b.agent.did()[told:] {
		if action == string(checkpoint.Create) || action == string(checkpoint.Resume) {
			t.Errorf("the agent was told to %s", action)
		}
	}
}

func TestDamagedSpec(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "lr.json"), []byte("{"), 0o600))
	var syntax *json.SyntaxError
	if _, err := openSpecs(dir); !errors.As(err, &syntax) || !strings.Contains(err.Error(), "lr.json") {
		t.Errorf("%v", err)
	}
}
