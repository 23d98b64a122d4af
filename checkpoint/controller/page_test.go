// This file tests the page of a controller and what else it answers, whatever users call their jobs.

package controller_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
)

// get asks a controller for something by the token of a user.
func (b *bench) get(path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.Header.Set("Authorization", "Bearer user")
	b.now().Handler("user").ServeHTTP(answer, request)
	return answer
}

// Names that mean something to a pattern, a path, a page or a format are names: their jobs run, and the page shows each as it
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
	page := b.get("/")
	if page.Code != http.StatusOK || page.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(page.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("%d %v", page.Code, page.Header())
	}
	text := page.Body.String()
	for _, name := range append(names, "<u>", "its <max> is no number", "<i>[", "</td>gone", "Room is made for <p>lain, which waits") {
		if !strings.Contains(html.UnescapeString(text), name) {
			t.Errorf("%q is not on the page", name)
		}
	}
	for _, raw := range []string{"<b>", "<script", "<u>", "<max>", "<i>", "</td>gone", "<p>lain"} {
		if strings.Contains(text, raw) {
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

// Each row has its containers in the columns of their servers, and the metrics count what is there.
func TestNumbersOnThePage(t *testing.T) {
	b := newBench(t)
	b.submit(6, "a", "b")
	b.holds(map[string]int{"a": 6, "b": 6})
	// The page and the numbers are those of one moment if nothing has moved in between.
	var report controller.Report
	var text, metrics string
	b.eventually("nothing moves", func() bool {
		before := b.held()
		report = b.now().Report()
		text, metrics = b.get("/").Body.String(), b.get("/metrics").Body.String()
		return fmt.Sprint(before) == "map[a:6 b:6]" && fmt.Sprint(b.now().Report().Jobs) == fmt.Sprint(report.Jobs)
	})
	for _, j := range report.Jobs {
		held := map[string]int{}
		for _, server := range j.Job.Containers {
			held[server]++
		}
		cells := ""
		for _, server := range []string{"n1", "n2", "n3"} {
			if cells += `<td class="n">`; held[server] > 0 {
				cells += fmt.Sprint(held[server])
			}
			cells += "</td>"
		}
		if row := text[strings.Index(text, "<td>"+j.Job.Name+"</td>"):]; !strings.Contains(row[:strings.Index(row, "</tr>")], cells) {
			t.Errorf("%s has %v, and its row is %s", j.Job.Name, held, row[:strings.Index(row, "</tr>")])
		}
	}
	for _, want := range []string{`apportion_jobs{phase="running"} 2`, "apportion_servers 3", "apportion_servers_silent 0", "apportion_containers 12", "apportion_starts_total 2",
		"apportion_objective 1", "apportion_gap 0", "apportion_decision_seconds "} {
		if !strings.Contains(metrics, want+"\n") && want != "apportion_decision_seconds " || !strings.Contains(metrics, want) {
			t.Errorf("no %q:\n%s", want, metrics)
		}
	}
	// Every number has its two lines before it, as the format asks.
	for _, line := range strings.Split(strings.TrimSpace(metrics), "\n") {
		if name, _, _ := strings.Cut(line, " "); !strings.HasPrefix(line, "#") {
			name, _, _ = strings.Cut(name, "{")
			if !strings.Contains(metrics, "# HELP "+name+" ") || !strings.Contains(metrics, "# TYPE "+name+" "+kindOf(name)+"\n") {
				t.Errorf("nobody says what %s is", name)
			}
		}
	}
}

// kindOf is what Prometheus is to take a number for: what ends in _total only ever rises.
func kindOf(name string) string {
	if strings.HasSuffix(name, "_total") {
		return "counter"
	}
	return "gauge"
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
		text := b.get("/").Body.String()
		return strings.Contains(text, "<td>cordoned</td>") && strings.Contains(text, "<td>draining</td>") && strings.Contains(text, "its heartbeat is missing")
	})
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
