// This file tests the page of a controller and what else it answers, whatever users call their jobs.

package controller_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
	"github.com/apportion/apportion/checkpoint/page"
	"github.com/apportion/apportion/internal/must"
)

// get asks a controller for something by the token of a user.
func (b *bench) get(path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.Header.Set("Authorization", "Bearer user")
	b.now().Handler("user").ServeHTTP(answer, request)
	return answer
}

// shown is what the page is given to show.
type shown struct {
	Head struct {
		Summary string
		Notes   []string
	}
	Servers struct{ Set []page.Server }
	Jobs    struct{ Set []page.Job }
	Queues  struct{ Set []page.Queue }

	Decisions []page.Decision
}

func (b *bench) shown() (s shown) {
	b.Helper()
	text := b.get("/").Body.String()
	_, text, _ = strings.Cut(text, `id="state">`)
	text, _, _ = strings.Cut(text, "</script>")
	must.Do(b, json.Unmarshal([]byte(text), &s), text)
	return s
}

// Names that mean something to a pattern, a path, a page or a format are names: their jobs run, and the page has each as it
// is, also where it is rejected, and where it is the name of a server.
func TestNamesOnThePage(t *testing.T) {
	names := []string{"[", "%", "%s%d", "..", "../..", "<b>", `"><script>alert(1)</script>`, "{{.}}", "a/b", "*", "é"}
	b := newBench(t)
	b.fake.change(func(v *controller.View) {
		v.Servers[2].ID, v.Servers[2].Down = "<i>[", "</td>gone"
		v.Rejected = map[string]string{"<u>": "its <max> is no number"}
		v.Waiting = []controller.Waiting{{ID: "<p>lain", Demand: apportion.Resources{100}}}
	})
	b.submit(1, names[:8]...)
	b.eventually("eight run", func() bool { return len(b.held()) == 8 })
	b.submit(1, names[8:]...)
	b.eventually("the others wait", func() bool { d := b.now().Last().Decision; return d != nil && len(d.Waiting) == 3 })
	answer := b.get("/")
	if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(answer.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("%d %v", answer.Code, answer.Header())
	}
	s := b.shown()
	whys := map[string]string{}
	for _, j := range s.Jobs.Set {
		whys[j.ID] = j.State + ": " + j.Why
	}
	for _, name := range names {
		if whys[name] == "" {
			t.Errorf("%q is not on the page", name)
		}
	}
	if whys["<u>"] != "rejected: its <max> is no number" || !strings.Contains(s.Head.Summary, "Room is made for what waits beside the jobs: <p>lain.") ||
		!slices.ContainsFunc(s.Servers.Set, func(s page.Server) bool { return s.ID == "<i>[" && s.State == "</td>gone" }) {
		t.Errorf("%+v", s)
	}
	for _, raw := range []string{"<b>", "<script>alert", "<u>", "<max>", "<i>", "</td>gone", "<p>lain"} {
		if strings.Contains(answer.Body.String(), raw) {
			t.Errorf("%q is on the page, and a browser obeys it", raw)
		}
	}
	for _, path := range []string{"/state", "/decision", "/explain", "/metrics"} {
		if answer := b.get(path); answer.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
	if explained := b.get("/explain").Body.String(); !strings.Contains(explained, "%s%d") || !strings.Contains(explained, "..") {
		t.Errorf("%s", explained)
	}
	var report controller.Report
	if err := json.Unmarshal(b.get("/state").Body.Bytes(), &report); err != nil || len(report.Jobs) != len(names) {
		t.Errorf("%d jobs, %v", len(report.Jobs), err)
	}
	// Nobody has another path by a name.
	for _, path := range []string{"/..", "/state/", "/[", "/index.html"} {
		if answer := b.get(path); answer.Code == http.StatusOK {
			t.Errorf("%s: %s", path, answer.Body)
		}
	}
}

// The page has each job's containers on their servers, and the metrics count what is there.
func TestNumbersOnThePage(t *testing.T) {
	b := newBench(t)
	b.submit(6, "a", "b")
	b.holds(map[string]int{"a": 6, "b": 6})
	// The page and the numbers are those of one moment if nothing has moved in between.
	var report controller.Report
	var text shown
	var metrics string
	b.eventually("nothing moves", func() bool {
		before := b.held()
		report = b.now().Report()
		text, metrics = b.shown(), b.get("/metrics").Body.String()
		return fmt.Sprint(before) == "map[a:6 b:6]" && fmt.Sprint(b.now().Report().Jobs) == fmt.Sprint(report.Jobs)
	})
	for i, j := range report.Jobs {
		held := map[string]int64{}
		for _, server := range j.Job.Containers {
			held[server]++
		}
		if on := text.Jobs.Set[i]; on.ID != j.Job.Name || !maps.Equal(on.On, held) || on.Share != 0.5 || on.Fair != 0.5 || on.State != "running" || on.Since == 0 || on.Attempt < 1 {
			t.Errorf("%s has %v, and the page %+v", j.Job.Name, held, on)
		}
	}
	if n := len(text.Decisions); n == 0 || text.Decisions[n-1].Gap != 0 {
		t.Errorf("%+v", text.Decisions)
	}
	for _, want := range []string{`apportion_jobs{phase="running"} 2`, `apportion_servers{state="up"} 3`, `apportion_servers{state="silent"} 0`, "apportion_containers 12", "apportion_starts_total 2",
		"apportion_objective 1", "apportion_objective_bound 1", "apportion_reservations 0", `apportion_queue_share_ratio{queue=""} 1`, `apportion_queue_fair_share_ratio{queue=""} 1`, `apportion_job_wait_seconds_count{queue=""} 2`,
		`apportion_decisions_total{outcome="failed"} 0`, `apportion_looks_total{result="failed"} 0`} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("no %q:\n%s", want, metrics)
		}
	}
}

// Runs are counted once each, and those of jobs that had run before by their causes, from the beginning of a controller on.
func TestStartsAreCounted(t *testing.T) {
	b := newBench(t)
	counts := func(want ...string) {
		t.Helper()
		b.eventually(fmt.Sprint(want), func() bool {
			text := b.get("/metrics").Body.String()
			return !slices.ContainsFunc(want, func(line string) bool { return !strings.Contains(text, line+"\n") })
		})
	}
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	counts("apportion_starts_total 1")
	b.fake.Each("a", func(c *managedtest.Container) { c.End(guard.End{Code: 3}) })
	counts("apportion_starts_total 2", `apportion_restarts_total{cause="exited"} 1`)
	b.holds(map[string]int{"a": 12})
	b.submit(12, "b")
	b.holds(map[string]int{"a": 6, "b": 6})
	counts("apportion_starts_total 4", `apportion_restarts_total{cause="exited"} 1`, `apportion_restarts_total{cause="moved"} 1`)
	b.stop()
	b.begin()
	counts("apportion_starts_total 0")
	b.submit(12, "c")
	b.holds(map[string]int{"a": 4, "b": 4, "c": 4})
	counts("apportion_starts_total 3", `apportion_restarts_total{cause="moved"} 2`)
}

// The page says of each server why it takes nothing new.
func TestStatesOnThePage(t *testing.T) {
	b := newBench(t)
	b.fake.change(func(v *controller.View) {
		v.Servers[0].Cordoned, v.Servers[1].Draining, v.Servers[2].Down = true, true, "its heartbeat is missing"
	})
	b.eventually("all is seen", func() bool {
		var states []string
		for _, s := range b.shown().Servers.Set {
			states = append(states, s.State)
		}
		return slices.Equal(states, []string{"cordoned", "draining", "its heartbeat is missing"})
	})
}

// What waits has a place in its queue and a time since when, and the page answers why, and what if.
func TestAskedOnThePage(t *testing.T) {
	b := newBench(t)
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.fake.change(func(v *controller.View) {
		for _, id := range []string{"late", "later"} {
			v.Jobs = append(v.Jobs, controller.Job{Application: alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: v.Jobs[0].Application.Demand, Min: 12, Max: 12}}})
		}
	})
	b.eventually("two wait", func() bool {
		s := b.shown()
		return len(s.Jobs.Set) == 3 && s.Jobs.Set[1].Place == 1 && s.Jobs.Set[2].Place == 2 && s.Jobs.Set[1].Since > 0 && s.Jobs.Set[1].Why != ""
	})
	if text := b.get("/ask?job=late").Body.String(); !strings.Contains(text, "late has 0 containers of 12 to 12") {
		t.Error(text)
	}
	if text := b.get("/ask?job=a&if").Body.String(); !strings.Contains(text, "If a had ended:\n  late: n1:4 n2:4 n3:4 instead of nothing") {
		t.Error(text)
	}
	if answer := b.get("/ask?job=nobody"); answer.Code != http.StatusNotFound {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// A handler without a token of users lets in nobody, also not whoever shows an empty one.
func TestNoToken(t *testing.T) {
	b := newBench(t)
	for _, header := range []string{"", "Bearer ", "Bearer x"} {
		request := httptest.NewRequest(http.MethodGet, "/state?token=", nil)
		request.Header.Set("Authorization", header)
		answer := httptest.NewRecorder()
		b.now().Handler("").ServeHTTP(answer, request)
		if h := answer.Header(); !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("a browser may frame it or tell its address: %v", h)
		}
		if answer.Code != http.StatusUnauthorized || strings.Contains(answer.Body.String(), "servers") {
			t.Errorf("%q: %d %s", header, answer.Code, answer.Body)
		}
	}
}
