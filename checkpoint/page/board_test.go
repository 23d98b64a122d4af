// This file tests what a board tells browsers: to whom, how much, and how long.

package page

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// get asks for an address, and returns status and text.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response := must.Have(http.Get(url))(t)
	defer response.Body.Close()
	text := must.Have(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(text)
}

// stream reads a stream of events.
type stream struct {
	lines *bufio.Scanner
	close func()
}

func (b *bench) watch(t *testing.T, until time.Time) *stream {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second) // what never comes is missed by then
	request := must.Have(http.NewRequestWithContext(ctx, http.MethodGet, b.server.URL+secret.Link("/events", until), nil))(t)
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%+v, %v", response, err)
	}
	s := &stream{bufio.NewScanner(response.Body), func() { stop(); response.Body.Close() }}
	s.lines.Buffer(nil, 1<<24)
	t.Cleanup(s.close)
	return s
}

// next returns the next event; false: the stream has ended.
func (s *stream) next() (event string, t told, ok bool) {
	for s.lines.Scan() {
		if name, is := strings.CutPrefix(s.lines.Text(), "event: "); is {
			event = name
		} else if data, is := strings.CutPrefix(s.lines.Text(), "data: "); is {
			return event, t, json.Unmarshal([]byte(data), &t) == nil
		}
	}
	return "", t, false
}

// Everything comes first, then what has changed and no more, and all messages together are what there is.
func TestStream(t *testing.T) {
	state, p, d := decided(t, 10, 14)
	b := serve(t, state, nil)
	b.board.Decided(NewDecision(1, time.Second, p, d, ""))
	s := b.watch(t, time.Now().Add(time.Hour))
	if event, all, ok := s.next(); !ok || event != "all" || all.Head == nil || len(all.Servers.Set) != 10 || len(*all.Jobs.Order) != 14 || len(all.Decisions) != 1 {
		t.Fatalf("%s %+v", event, all)
	}
	b.change(func(s *State) { s.Jobs[3].Step++; s.Clock++ })
	if event, patch, ok := s.next(); !ok || event != "patch" || patch.Head != nil || patch.Servers != nil || patch.Decisions != nil || patch.Jobs.Order != nil || len(patch.Jobs.Set) != 1 || patch.Clock != state.Clock+1 {
		t.Errorf("%s %+v", event, patch)
	}
	b.change(func(s *State) { s.Servers = s.Servers[:9] })
	if _, patch, ok := s.next(); !ok || len(*patch.Servers.Order) != 9 || len(patch.Servers.Set) != 0 || patch.Jobs != nil {
		t.Errorf("%+v", patch)
	}
	for n := range mostDecisions + 20 {
		b.board.Decided(Decision{At: float64(n)})
	}
	seen := int64(1)
	for seen < mostDecisions+21 {
		_, patch, ok := s.next()
		if !ok || len(patch.Decisions) == 0 {
			t.Fatalf("%+v", patch)
		}
		for _, d := range patch.Decisions {
			if d.Number <= seen {
				t.Errorf("decision %d after %d", d.Number, seen)
			}
			seen = d.Number
		}
	}
	if _, text := get(t, b.url); strings.Count(text, `"number":`) != mostDecisions || strings.Contains(text, `"number":21,`) || !strings.Contains(text, `"number":22,`) {
		t.Error("not the last hundred decisions")
	}
}

// A link opens its path and ends with its time; so does the stream.
func TestLinks(t *testing.T) {
	state, _, _ := decided(t, 2, 2)
	b := serve(t, state, func(context.Context, Question) (string, error) { return "because", nil })
	later := time.Now().Add(time.Hour)
	for path, want := range map[string]int{"/": 401, "/events": 401, "/ask?job=a": 401, secret.Link("/events", time.Now().Add(-time.Second)): 401,
		"/ask?" + strings.TrimPrefix(secret.Link("/", later), "/?") + "&job=a": 401, secret.Link("/ask", later) + "&job=a": 200, secret.Link("/ask", later): 400,
		secret.Link("/ask", later) + "&job=a&server=b": 400} {
		if status, text := get(t, b.server.URL+path); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	// What the page has for its stream ends with the page's own link.
	until := time.Now().Add(3 * time.Second).Truncate(time.Second)
	_, text := get(t, b.server.URL+secret.Link("/", until))
	if !strings.Contains(text, `data-events="events?sign=`) || !strings.Contains(text, fmt.Sprintf("until=%d", until.Unix())) {
		t.Error(text[:1000])
	}
	s := b.watch(t, until)
	for {
		if _, _, ok := s.next(); !ok {
			break
		}
	}
	if after := time.Since(until); after < -10*time.Millisecond || after > 10*time.Second {
		t.Errorf("the stream has ended %v after its link", after)
	}
}

// A browser that does not read is dropped, the others are told on, and nothing runs when all have gone.
func TestSlowBrowser(t *testing.T) {
	state, _, _ := decided(t, 2, 2)
	b := serve(t, state, nil)
	slow := must.Have(b.board.join())(t)
	s := b.watch(t, time.Now().Add(time.Hour))
	for n := range 3 * buffered {
		b.change(func(s *State) { s.Jobs[0].Step = int64(1000 + n) })
		for {
			_, m, ok := s.next()
			if !ok {
				t.Fatal("a browser that reads was dropped")
			}
			if m.Jobs != nil && len(m.Jobs.Set) == 1 && strings.Contains(string(m.Jobs.Set[0]), fmt.Sprintf(`"step":%d`, 1000+n)) {
				break
			}
		}
	}
	n := 0
	for range slow.tell { // closed: else this never ends
		n++
	}
	must.Equal(t, n, buffered, "messages were kept for a browser that reads none")
	s.close()
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		b.board.mu.Lock()
		over := b.board.shown == nil && len(b.board.watchers) == 0
		b.board.mu.Unlock()
		if over {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("it looks on when nobody watches; %d goroutines", runtime.NumGoroutine())
		}
	}
	for range mostWatchers {
		must.Have(b.board.join())(t)
	}
	if status, _ := get(t, b.server.URL+secret.Link("/events", time.Now().Add(time.Hour))); status != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d", status)
	}
}

// What is asked about a decision is answered by it: why, and what if, which says all that would change.
func TestAnswer(t *testing.T) {
	_, p, d := decided(t, 4, 12)
	var waits, runs string
	for i := range p.Applications {
		if id := p.Applications[i].ID; d.Allocation.Containers(id) == 0 {
			waits = id
		} else {
			runs = id
		}
	}
	if waits == "" {
		t.Fatal("nobody waits")
	}
	before, _ := json.Marshal([]any{p, d})
	for want, q := range map[string]Question{
		waits + " has 0 containers of ":  {Job: waits},
		runs + " has ":                   {Job: runs},
		"If " + runs + " had ended:\n  ": {Job: runs, If: true},
		"If n001 were drained:\n  ":      {Server: "n001", If: true},
	} {
		text, err := Answer(t.Context(), p, d, q)
		if err != nil || !strings.HasPrefix(text, want) {
			t.Errorf("%+v: %q, %v", q, text, err)
		}
		if n := strings.Count(text, "of the cluster, and deserves"); n > 1 || n > 0 != (q == Question{Job: runs}) {
			t.Errorf("%+v: %d shares in %s", q, n, text)
		}
		if q.Server != "" {
			for line := range strings.Lines(text) {
				if to, _, _ := strings.Cut(line, "instead"); strings.Contains(to, q.Server+":") {
					t.Errorf("a drained server has containers: %s", line)
				}
			}
		}
	}
	if after, _ := json.Marshal([]any{p, d}); string(after) != string(before) {
		t.Error("problem or decision were changed")
	}
	for _, q := range []Question{{Job: "nobody"}, {Server: "nowhere"}} {
		must.Fail(Answer(t.Context(), p, d, q))(t, apportion.ErrUnknown, q)
	}
	for _, undecided := range []*alloc.Problem{nil, p} {
		if text, err := Answer(t.Context(), undecided, nil, Question{Job: waits}); err != nil || text == "" {
			t.Errorf("%q, %v", text, err)
		}
	}
	must.Equal(t, PlacesText(map[string]int64{"n2": 1, "n1": 4, "n3": 0}), "n1:4 n2:1")
}

// On the job that a drain leaves where it is the page says what keeps it there, in its list and where it is asked.
func TestStaying(t *testing.T) {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Servers: []apportion.Server{{ID: "n", Capacity: apportion.Resources{1}, Cordoned: true}, {ID: "m", Capacity: apportion.Resources{1}}},
		Applications: []alloc.Application{{ID: "a", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 1}}}, Previous: alloc.Allocation{"a": {"n": 1}}}
	d := must.Have(alloc.Reallocate(t.Context(), p, nil))(t)
	s := State{Jobs: []Job{{ID: "a", On: map[string]int64{"n": 1}}}}
	s.Decided(p, d)
	const want = `it stays on "n", which is cordoned. Its move costs 1: the adjustment budget (theta2) is 0, used 0. It would leave with theta2=1`
	if text, err := Answer(t.Context(), p, d, Question{Job: "a"}); s.Jobs[0].Why != want || err != nil || !strings.Contains(text, "to be emptied: "+want+".\n") {
		t.Errorf("%q, %q, %v", s.Jobs[0].Why, text, err)
	}
}

// Of a guarantee that is not used as much is lent as others use.
func TestQueues(t *testing.T) {
	state, p, d := decided(t, 10, 14)
	total := make([]int64, 2)
	for i, q := range state.Queues {
		for k := range q.Used {
			total[k] += q.Used[k]
		}
		for k := range q.Guarantee {
			used, guaranteed := d.Queues[i].Used[k], d.Queues[i].Guarantee[k]
			if q.Borrowed[k] != max(0, used-guaranteed) || q.Lent[k] > max(0, guaranteed-used) || q.Lent[k] < 0 {
				t.Errorf("%+v", q)
			}
		}
	}
	free := unused(p, d)
	for k := range total {
		must.Equal(t, total[k]+free[k], []int64{80, 640}[k], "kind", k, total[k], "used and", free[k], "free")
	}
	// One queue has half guaranteed and asks for nothing: what the other has beyond what is free is lent.
	q := p.Queues
	p.Applications, p.Previous = p.Applications[:1], nil
	p.Applications[0].Queue, p.Applications[0].Min, p.Applications[0].Max, p.Applications[0].Demand = q[2].ID, 80, 80, apportion.Resources{1, 1}
	d = must.Have(alloc.Reallocate(t.Context(), p, nil))(t)
	if list := queuesOf(p, d); list[0].Lent[0] != 20 || list[1].Lent[0] != 20 || list[0].Lent[1] != 0 || list[2].Used[0] != 80 {
		t.Errorf("%+v", list)
	}
}
