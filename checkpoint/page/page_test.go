// This file looks at the page in a real browser: at clusters of 10, 100 and 1,000 servers, in the hands of somebody with a mouse or with
// keys, and with names that are markup.

package page

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

var shots = flag.String("shots", "", "write pictures of the page into this folder; empty: none")

func problemOf(servers, jobs int) *alloc.Problem {
	random := rand.New(rand.NewPCG(1, 2))
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu", "cpu"}, Theta1: 1, Theta2: 1}
	total := apportion.Resources{int64(8 * servers), int64(64 * servers)}
	for i := range servers {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprintf("n%03d", i+1), Capacity: apportion.Resources{8, 64}, Labels: map[string]string{"rack": fmt.Sprintf("rack %c", 'A'+i*8/max(servers, 8))}})
	}
	for i, name := range []string{"vision", "speech", "research"} {
		q := drf.Queue{ID: name, Weight: float64(i + 1)}
		if i < 2 {
			q.Guarantee = apportion.Resources{total[0] / 4, total[1] / 8}
		}
		p.Queues = append(p.Queues, q)
	}
	for i := range jobs {
		queue := []string{"vision", "speech", "research"}[random.IntN(3)]
		least := 1 + random.Int64N(4)
		p.Applications = append(p.Applications, alloc.Application{ID: fmt.Sprintf("%s-%02d", []string{"resnet", "bert", "lstm", "gpt", "unet"}[random.IntN(5)], i+1), Weight: 1, Queue: queue,
			Form: alloc.Form{Demand: apportion.Resources{1 + random.Int64N(2), 4}, Min: least, Max: least * int64(1+random.IntN(8))}})
	}
	return p
}

// shown is a cluster that a test changes.
type shown struct {
	mu    sync.Mutex
	state State
}

func (s *shown) now() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied := s.state
	copied.Jobs = append([]Job(nil), s.state.Jobs...)
	copied.Servers = append([]Server(nil), s.state.Servers...)
	return copied
}

func (s *shown) change(how func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how(&s.state)
}

// bench is a page with a server.
type bench struct {
	*shown
	board  *Board
	server *httptest.Server
	url    string
}

var secret = wire.NewSecret()

func serve(t testing.TB, state State, ask func(context.Context, Question) (string, error)) *bench {
	t.Helper()
	b := &bench{shown: &shown{state: state}}
	b.board = New(Config{Secret: secret, Source: b.now, Ask: ask, Every: 20 * time.Millisecond})
	mux := http.NewServeMux()
	b.board.Handle(mux, nil)
	b.server = httptest.NewUnstartedServer(mux)
	// The limits of controllers, but shorter: a stream outlives them.
	limits := wire.Server(mux)
	b.server.Config.ReadTimeout, b.server.Config.IdleTimeout, b.server.Config.MaxHeaderBytes = 200*time.Millisecond, limits.IdleTimeout, limits.MaxHeaderBytes
	b.server.Start()
	t.Cleanup(func() {
		_ = b.server.Listener.Close() // browsers come again
		b.server.CloseClientConnections()
		b.server.Close()
	})
	b.url = b.server.URL + secret.Link("/", time.Now().Add(time.Hour))
	return b
}

// decided is the state after a decision.
func decided(t testing.TB, servers, jobs int) (State, *alloc.Problem, *alloc.Decision) {
	t.Helper()
	p := problemOf(servers, jobs)
	d := must.Have(alloc.Reallocate(t.Context(), p, nil))(t)
	s := State{Head: Head{Title: "Elastic jobs", Kinds: p.Kinds, Rate: 1, Wall: true, Summary: fmt.Sprintf("%d servers, %d jobs; %d wait", servers, jobs, len(d.Waiting))}, Clock: 1_700_000_000}
	for i := range p.Servers {
		s.Servers = append(s.Servers, Server{ID: p.Servers[i].ID, Capacity: p.Servers[i].Capacity, Rack: RackOf(p.Servers[i].Labels)})
	}
	for i := range p.Applications {
		j := Job{ID: p.Applications[i].ID, State: "running", On: d.Allocation[p.Applications[i].ID], Since: s.Clock - float64(60*i), Step: int64(100 * i), Attempt: 1}
		if len(j.On) == 0 {
			j.State, j.Step, j.Attempt = "waiting", 0, 0
			j.Early, j.Late = s.Clock+float64(600*(1+i%9)), s.Clock+float64(600*(1+i%9)+1200)
		}
		s.Jobs = append(s.Jobs, j)
	}
	s.Decided(p, d)
	return s, p, d
}

// The page draws clusters of three sizes, soon, and nothing of it is wider than the window.
func TestSizes(t *testing.T) {
	b := newBrowser(t)
	for _, servers := range []int{10, 100, 1000} {
		state, p, d := decided(t, servers, servers*2/3)
		bench := serve(t, state, nil)
		bench.board.Decided(NewDecision(state.Clock, 40*time.Millisecond, p, d, ""))
		b.open(bench.url, 1200, 900)
		if n := b.eval(`document.querySelectorAll(".server").length`); n != float64(servers) {
			t.Errorf("%v servers of %d", n, servers)
		}
		if wide := b.eval(`document.documentElement.scrollWidth`); wide.(float64) > 1200 {
			t.Errorf("%d servers are %v pixels wide", servers, wide)
		}
		first := b.eval(`performance.getEntriesByName("draw")[0].duration`)
		b.until(`document.getElementById("live").textContent === "live"`)
		bench.change(func(s *State) {
			s.Jobs[0].Step, s.Jobs[0].State = 4711, "saving"
		})
		b.until(`document.querySelector("[data-job='` + state.Jobs[0].ID + `']").textContent.includes("saving")`)
		t.Logf("%d servers, %d jobs: first drawn in %.1f ms, a change in %.1f ms, %v elements", servers, len(state.Jobs), first, b.eval(`performance.getEntriesByName("draw")[0].duration`), b.eval(`document.querySelectorAll("*").length`))
	}
}

// Pictures for the README, on request.
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("no -shots")
	}
	b := newBrowser(t)
	for _, one := range []struct {
		scheme                string
		servers, jobs, height int
	}{{"light", 100, 300, 1100}, {"dark", 1000, 900, 760}} {
		state, p, d := decided(t, one.servers, one.jobs)
		state.Servers[17].State, state.Servers[58].State = "draining", "its heartbeat is missing"
		bench := serve(t, state, nil)
		bench.board.Decided(NewDecision(state.Clock-30, 38*time.Millisecond, p, d, ""))
		b.scheme(one.scheme)
		b.open(bench.url, 1100, one.height)
		b.until(`document.getElementById("live").textContent === "live"`)
		b.eval(`document.querySelectorAll("#jobs th button")[1].click(); document.querySelectorAll("#jobs th button")[1].click()`) // what waits first
		b.shot(filepath.Join(*shots, one.scheme+".png"))
	}
}

// A job that waits says when it starts, by the clock of the browser, with its day where that is another; what the forecast does not reach
// is after its horizon.
func TestStarts(t *testing.T) {
	b := newBrowser(t)
	b.call("Emulation.setTimezoneOverride", map[string]any{"timezoneId": "UTC"}, nil)
	b.call("Emulation.setLocaleOverride", map[string]any{"locale": "en-GB"}, nil)
	s := State{Head: Head{Title: "jobs", Kinds: []string{"gpu"}, Rate: 1, Wall: true}, Clock: 1_700_000_000} // 14 November 2023, 22:13:20
	for _, j := range []Job{
		{ID: "soon", Early: s.Clock, Late: s.Clock + 600, Without: "other", Then: s.Clock + 60}, {ID: "sure", Early: s.Clock + 60, Late: s.Clock + 60},
		{ID: "tomorrow", Early: s.Clock + 60, Late: s.Clock + 7200}, {ID: "late", Early: s.Clock + 60}, {ID: "unknown"},
	} {
		j.State = "waiting"
		s.Jobs = append(s.Jobs, j)
	}
	b.open(serve(t, s, nil).url, 1200, 900)
	for job, want := range map[string]string{
		"soon": "starts between 22:13:20 and 22:23:20; without other it would be 22:14:20", "sure": "starts at 22:14:20",
		"tomorrow": "starts between 22:14:20 and 15/11/2023, 00:13:20", "late": "starts after 22:14:20", "unknown": "",
	} {
		if says := b.eval(`document.querySelector("[data-job=` + job + `] .why")?.textContent ?? ""`); says != want {
			t.Errorf("%s: %q, want %q", job, says, want)
		}
	}
	b.eval(`document.querySelector("[data-job=sure] button.name").click()`)
	if says := b.eval(`document.getElementById("detail").textContent`).(string); !strings.Contains(says, "starts at 22:14:20") {
		t.Errorf("the job alone: %q", says)
	}
}

// A curve fills its box, and nothing of it is outside.
func TestCurve(t *testing.T) {
	b := newBrowser(t)
	s := State{Head: Head{Title: "jobs", Kinds: []string{"gpu"}, Rate: 1}, Jobs: []Job{{ID: "a", State: "running", Loss: "0.125", Curve: "0,60.0 160,30.0 320,0.0"}}}
	b.open(serve(t, s, nil).url, 1200, 900)
	const margins = `(() => {
		const line = document.querySelector("[data-job=a] polyline"), box = line.closest("svg").getBoundingClientRect(), own = line.getBoundingClientRect()
		return [own.left - box.left, own.top - box.top, box.right - own.right, box.bottom - own.bottom].map(n => n >= -1 && n < 8).join() + line.closest("td").textContent
	})()`
	must.Equal(t, b.eval(margins), "true,true,true,true0.125", "left, top, right, bottom are narrow margins, and the loss")
}

// Names that are markup are shown as they are, and a browser obeys none of them.
func TestNames(t *testing.T) {
	names := []string{`<img src=x onerror="document.title='owned'">`, `"><script>document.title='owned'</script>`, "</script><script>document.title='owned'</script>", "{{state}}", "{{script}}", "&lt;b&gt;", "a/b", "..", "%s", "\u2028", "é", "__proto__", "constructor"}
	state := State{Head: Head{Title: "<b>", Summary: "<i>", Fault: "<u>", Notes: []string{"<s>"}, Kinds: []string{"<gpu>"}, Rate: 1}}
	for i, name := range names {
		state.Servers = append(state.Servers, Server{ID: "s" + name, Rack: name, State: name, Capacity: []int64{4}})
		state.Jobs = append(state.Jobs, Job{ID: name, State: name, Queue: name, Why: name, On: map[string]int64{"s" + name: int64(1 + i%4)}, Demand: []int64{1}, Share: 0.1, Fair: 0.2, Loss: name, Curve: name})
		state.Queues = append(state.Queues, Queue{ID: name, Parent: name, Used: []int64{1}})
	}
	b := newBrowser(t)
	asked := make(chan Question, 10)
	bench := serve(t, state, func(_ context.Context, q Question) (string, error) { asked <- q; return "because <b>" + q.Job, nil })
	bench.board.Decided(Decision{Fault: names[0], Status: names[1], Changes: []Change{{Job: names[0], To: names[1], Why: names[2]}}})
	b.open(bench.url, 1200, 900)
	b.until(`document.getElementById("live").textContent === "live"`)
	for i, name := range names {
		quoted := fmt.Sprintf("%q", name)
		must.Equal(t, b.eval(`[...document.querySelectorAll("#jobs button.name")].map(e => e.textContent).includes(`+quoted+`)`), true, "job", name, "is not there")
		if label := b.eval(fmt.Sprintf(`document.querySelectorAll(".server")[%d].getAttribute("aria-label")`, i)); !strings.Contains(label.(string), name+": ") {
			t.Errorf("server of %q says %q", name, label)
		}
		b.eval(fmt.Sprintf(`[...document.querySelectorAll("#jobs button.name")][%d].click()`, i))
		if q := <-asked; q.Job != name || q.If {
			t.Errorf("%q is asked about as %+v", name, q)
		}
		b.until(`document.getElementById("answer").textContent === "because <b>" + ` + quoted + `.trimEnd()`)
		b.eval(`document.getElementById("close").click()`)
	}
	must.Equal(t, b.eval(`document.querySelectorAll("img, main script, main b > *, i > *, u, s, dialog b").length`), 0.0, "elements that users wrote")
	must.Equal(t, b.eval(`document.title`), "<b>", "title")
}

// What changes is on the page soon, without its being loaded again; keys alone are enough to ask.
func TestHands(t *testing.T) {
	state, p, d := decided(t, 10, 14)
	b := newBrowser(t)
	bench := serve(t, state, func(ctx context.Context, q Question) (string, error) { return Answer(ctx, p, d, q) })
	b.open(bench.url, 1200, 900)
	b.eval(`window.same = true`)
	b.until(`document.getElementById("live").textContent === "live"`)
	// Longer than the server's limit for reading a request.
	time.Sleep(400 * time.Millisecond)
	gone := state.Jobs[0].ID
	bench.change(func(s *State) { s.Jobs = s.Jobs[1:]; s.Servers[0].State = "draining"; s.Jobs[3].Why = "it is told" })
	bench.board.Decided(NewDecision(state.Clock, time.Millisecond, p, d, ""))
	b.until(`!document.querySelector("[data-job='` + gone + `']") && document.querySelector(".server").classList.contains("off") && document.body.textContent.includes("it is told")`)
	b.until(`document.querySelectorAll("#decisions > li").length === 1`)
	// Tab from the top: the first stop is one server, and the next is the filter.
	b.press("Tab", 9)
	for _, key := range []string{"ArrowRight", "ArrowRight", "ArrowLeft"} {
		b.press(key, map[string]int{"ArrowRight": 39, "ArrowLeft": 37}[key])
	}
	must.Equal(t, b.eval(`document.activeElement.dataset.server`), "n002", "the keys lead to")
	b.press("Enter", 13)
	b.until(`document.getElementById("detail").open`)
	b.eval(`document.getElementById("ask-if").click()`)
	b.until(`/^If n002 were drained:/.test(document.getElementById("answer").textContent)`)
	b.press("Escape", 27)
	b.until(`!document.getElementById("detail").open`)
	b.press("Tab", 9)
	must.Equal(t, b.eval(`document.activeElement.id`), "filter", "the next stop")
	b.eval(`document.getElementById("filter").value = "vision"; document.getElementById("filter").dispatchEvent(new Event("input"))`)
	must.Equal(t, b.eval(`[...document.querySelectorAll("#jobs tbody tr")].filter(tr => !tr.textContent.includes("vision")).length`), 0.0, "rows of others")
	b.eval(`document.querySelector("#jobs th button").click()`)
	sorted := `(() => { const all = [...document.querySelectorAll("#jobs button.name")].map(e => e.textContent); return all.length > 1 && all.every((x, i) => i === 0 || all[i - 1] <= x); })()`
	if b.eval(sorted) != true || b.eval(`document.querySelector("#jobs th").getAttribute("aria-sort")`) != "ascending" {
		t.Error("a click on a head does not sort")
	}
	must.Equal(t, b.eval(`window.same`), true, "the page was loaded again")
	// Each control has a name, whatever it is read by.
	if bare := b.eval(`[...document.querySelectorAll("button, input")].filter(e => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).length`); bare != 0.0 {
		t.Errorf("%v controls have no name", bare)
	}
}

// Text stands out from what is behind it by 4.5 to 1, in light and in dark, as WCAG 2.2 (1.4.3) asks.
func TestContrast(t *testing.T) {
	b := newBrowser(t)
	state, p, d := decided(t, 10, 30)
	state.Fault = "a fault"
	bench := serve(t, state, nil)
	bench.board.Decided(NewDecision(state.Clock, time.Millisecond, p, d, "a fault"))
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		b.open(bench.url, 1200, 900)
		worst := b.eval(`(() => {
			const rgb = (text) => text.match(/[0-9.]+/g).map(Number);
			const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
			const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
			let worst = [21, ""];
			for (const e of document.querySelectorAll("body *")) {
				if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
				const [a, z] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
				const ratio = (a + 0.05) / (z + 0.05);
				if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 200)];
			}
			return worst;
		})()`).([]any)
		t.Logf("%s: %.2f at %v", scheme, worst[0], worst[1])
		if worst[0].(float64) < 4.5 {
			t.Errorf("%s: a contrast of %.2f: %v", scheme, worst[0], worst[1])
		}
	}
}
