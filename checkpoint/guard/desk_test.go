// This file tests which runs a desk vouches for, and when it takes one for ended, by a clock of its own.

package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
)

func claim(attempt int64, life string) guard.Claim {
	return guard.Claim{ID: guard.ID{Job: "lr", Attempt: attempt, Server: "s1"}, Epoch: 3, Life: life,
		Clock: agent.Stamp{Boot: "b", At: time.Minute}}
}

// desk returns a desk of master 3 with a lease of 10 s and 2 s of slack, and its clock.
func desk() (*guard.Desk, *time.Time) {
	now := time.Unix(1000, 0)
	return guard.NewDesk(3, 10*time.Second, 2*time.Second, func() time.Time { return now }), &now
}

func TestDeskVouches(t *testing.T) {
	d, _ := desk()
	d.Admit("lr", 5)
	granted := func(c guard.Claim) {
		t.Helper()
		if g, err := d.Answer(c); err != nil || g.Fenced != "" || g.Heard != c.Clock || g.Length != 10*time.Second {
			t.Errorf("%+v: %+v, %v", c, g, err)
		}
	}
	fenced := func(c guard.Claim) {
		t.Helper()
		if g, err := d.Answer(c); err != nil || g.Fenced == "" || g.Length != 0 {
			t.Errorf("%+v: %+v, %v", c, g, err)
		}
	}
	unknown := func(c guard.Claim, what error) {
		t.Helper()
		if g, err := d.Answer(c); err == nil || what != nil && !errors.Is(err, what) || g != (guard.Grant{}) {
			t.Errorf("%+v: %+v, %v", c, g, err)
		}
	}
	granted(claim(5, "a"))
	granted(claim(5, "a"))
	fenced(claim(5, "b")) // another guard of the same run
	fenced(claim(4, "c"))
	unknown(claim(6, "d"), nil)
	newer := claim(5, "a")
	newer.Epoch = 4
	unknown(newer, checkpoint.ErrFenced)
	older := claim(5, "a")
	older.Epoch = 2 // a run outlives the master that has started it
	granted(older)
	unknown(guard.Claim{ID: guard.ID{Job: "x\x00"}}, nil)
	unknown(guard.Claim{ID: guard.ID{Job: "lr"}}, apportion.ErrRange)
	d.Fence("lr", 5)
	fenced(claim(5, "a"))
	d.Admit("lr", 5) // once fenced off, always
	fenced(claim(5, "a"))
	d.Admit("lr", 6)
	granted(claim(6, "d"))
	d.Admit("lr", 5)
	granted(claim(6, "d"))
}

// A run is over one length and the slack after it was last vouched for, or when its guard says so, and not before.
func TestDeskKnowsTheEnd(t *testing.T) {
	d, now := desk()
	d.Admit("lr", 5)
	id := claim(5, "a").ID
	at := func(passed time.Duration, want bool) {
		t.Helper()
		*now = now.Add(passed)
		if got := d.Over(id); got != want {
			t.Errorf("over %v, want %v", got, want)
		}
	}
	answer := func(c guard.Claim) {
		t.Helper()
		if _, err := d.Answer(c); err != nil {
			t.Fatal(err)
		}
	}
	at(12*time.Second, false) // a desk before this one may have vouched for it
	at(time.Millisecond, true)
	answer(claim(5, "a"))
	at(12*time.Second, false)
	answer(claim(5, "b")) // which is refused, and renews nothing
	at(time.Millisecond, true)
	answer(claim(5, "a"))
	d.Fence("lr", 5)
	at(11*time.Second, false)
	answer(claim(5, "a"))
	at(2*time.Second, true)
	d, now = desk()
	d.Admit("lr", 5)
	answer(claim(5, "a"))
	ended := claim(5, "a")
	ended.State.Ended = &guard.End{Code: 1}
	answer(ended)
	at(0, true)
	answer(claim(5, "a")) // a word from before, which comes late
	at(0, true)
	if seen, ok := d.Seen(id); !ok || seen.Claim.State.Ended.Code != 1 {
		t.Errorf("%+v", seen)
	}
}

// What is posted and is no claim of somebody who may claim is answered by what is wrong with it.
func TestHandler(t *testing.T) {
	d, _ := desk()
	d.Admit("lr", 5)
	h := d.Handler("secret")
	post := func(method, token, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	text, err := json.Marshal(claim(5, "a"))
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	for name, c := range map[string]struct {
		method, token, body string
		want                int
	}{
		"a claim":       {"POST", "secret", good, 200},
		"no token":      {"POST", "", good, 401},
		"another token": {"POST", "secrets", good, 401},
		"a question":    {"GET", "secret", good, 400},
		"no claim":      {"POST", "secret", "{", 400},
		"a long one":    {"POST", "secret", `{"job":"` + strings.Repeat("x", 1<<17) + `"}`, 400},
		"unknown":       {"POST", "secret", strings.Replace(good, `"attempt":5`, `"attempt":9`, 1), 409},
		"a new master":  {"POST", "secret", strings.Replace(good, `"epoch":3`, `"epoch":9`, 1), 409},
	} {
		if w := post(c.method, c.token, c.body); w.Code != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	var g guard.Grant
	if w := post("POST", "secret", good); json.Unmarshal(w.Body.Bytes(), &g) != nil || g.Length != 10*time.Second {
		t.Errorf("%s", w.Body)
	}
}

// An answer that is none renews nothing.
func TestHTTPRefusesNonsense(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"no JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("welcome")) },
		"a fault": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusBadGateway) },
	} {
		server := httptest.NewServer(answer)
		if g, err := (&guard.HTTP{URL: server.URL}).Renew(t.Context(), claim(5, "a")); err == nil {
			t.Errorf("%s: %+v", name, g)
		}
		server.Close()
	}
}

// The answer in a folder is one to this guard, and the same claim is answered once.
func TestFilesOfAnother(t *testing.T) {
	d, _ := desk()
	d.Admit("lr", 5)
	dir := t.TempDir()
	f := &guard.Files{Dir: dir}
	if g, err := f.Renew(t.Context(), claim(5, "a")); err == nil {
		t.Fatalf("nobody has answered: %+v", g)
	}
	if err := os.WriteFile(filepath.Join(dir, "stray.claim"), []byte(`{"job":"lr","attempt":5,"server":"s1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	look := func() { // once: the context has ended
		ctx, cancel := contextThatEnded()
		defer cancel()
		if err := d.AnswerFiles(ctx, dir, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	look()
	if g, err := f.Renew(t.Context(), claim(5, "a")); err != nil || g.Heard != claim(5, "a").Clock || g.Length != 10*time.Second {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := f.Renew(t.Context(), claim(5, "b")); err == nil {
		t.Errorf("the answer to another guard: %+v", g)
	}
}

// A claim that lies in the folder is answered once: its guard may be dead.
func TestFilesAnswersOnce(t *testing.T) {
	d := guard.NewDesk(3, 50*time.Millisecond, 0, nil)
	d.Admit("lr", 5)
	f := &guard.Files{Dir: t.TempDir()}
	_, _ = f.Renew(t.Context(), claim(5, "a")) // nobody has answered yet
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := d.AnswerFiles(ctx, f.Dir, 5*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if seen, ok := d.Seen(claim(5, "a").ID); !ok || seen.Granted.IsZero() || !d.Over(seen.Claim.ID) {
		t.Errorf("%+v, %v: an old claim renews the lease again and again", seen, ok)
	}
}

// What the environment says of a run, and what is wrong with it.
func TestFromEnvironment(t *testing.T) {
	env := map[string]string{"APPORTION_JOB": "lr", "APPORTION_ATTEMPT": "5", "APPORTION_SERVER": "s1", "APPORTION_EPOCH": "3", "APPORTION_SAVE_ACK": "/ack"}
	lookup := func(name string) string { return env[name] }
	var c guard.Config
	if err := c.FromEnvironment(lookup); err != nil {
		t.Fatal(err)
	}
	want := guard.Config{ID: guard.ID{Job: "lr", Attempt: 5, Server: "s1"}, Epoch: 3, Acknowledgement: "/ack"}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v", c)
	}
	env["APPORTION_ATTEMPT"] = "five"
	if err := new(guard.Config).FromEnvironment(lookup); !errors.Is(err, apportion.ErrRange) {
		t.Errorf("%v", err)
	}
	bad := guard.Config{ID: c.ID, Argv: []string{""}, Start: -1, Grace: -1}
	var faults apportion.Faults
	if err := bad.Validate(); !errors.As(err, &faults) || len(faults) != 4 {
		t.Errorf("%v", err)
	}
}

// A run is asked to save by its next grant, and the numbers go on from what it has acknowledged.
func TestDeskAsksForSaves(t *testing.T) {
	d, _ := desk()
	d.Admit("lr", 5)
	first, second := claim(5, "a"), claim(5, "b")
	second.Rank = 1
	asks := func(c guard.Claim, want int64) {
		t.Helper()
		if g, err := d.Answer(c); err != nil || g.Fenced != "" || g.Save != want {
			t.Errorf("%+v: %+v, %v, want save %d", c.ID, g, err, want)
		}
	}
	asks(first, 0)
	if n := d.AskSave(first.ID); n != 1 {
		t.Errorf("number %d", n)
	}
	asks(first, 1)
	asks(second, 0) // another container of the run
	// A guard whose trainer has answered a desk before this one.
	first.State.Checkpoint = &command.Acknowledgement{Request: 8}
	asks(first, 1)
	if n := d.AskSave(first.ID); n != 9 {
		t.Errorf("number %d after 8", n)
	}
	asks(first, 9)
	d.Fence("lr", 5)
	if g, err := d.Answer(first); err != nil || g.Fenced == "" || g.Save != 0 {
		t.Errorf("fenced off: %+v, %v", g, err)
	}
}

// What was known of a job that is forgotten is not held against another of its name.
func TestDeskForgets(t *testing.T) {
	d, _ := desk()
	d.Begin("lr", 5)
	if _, err := d.Answer(claim(5, "a")); err != nil {
		t.Fatal(err)
	}
	d.AskSave(claim(5, "a").ID)
	d.Fence("lr", 5)
	d.Forget("lr")
	if _, known := d.Seen(claim(5, "a").ID); known {
		t.Error("a run is still known")
	}
	d.Begin("lr", 1)
	if !d.Over(claim(1, "a").ID) {
		t.Error("an attempt that was never granted is not over")
	}
	if g, err := d.Answer(claim(1, "b")); err != nil || g.Fenced != "" || g.Save != 0 {
		t.Errorf("%+v, %v", g, err)
	}
	d.Admit("lr", 5)
	if g, err := d.Answer(claim(5, "b")); err != nil || g.Fenced != "" || g.Save != 0 {
		t.Errorf("%+v, %v", g, err)
	}
}

// An attempt that a desk has begun is over until it was granted; of one from before, another desk may have vouched.
func TestDeskBegins(t *testing.T) {
	d, now := desk()
	d.Admit("old", 5)
	d.Begin("old", 5) // a Resume that is asked for again
	d.Begin("new", 5)
	old, begun := guard.ID{Job: "old", Attempt: 5, Server: "s1"}, guard.ID{Job: "new", Attempt: 5, Server: "s1"}
	if d.Over(old) || !d.Over(begun) {
		t.Errorf("over: %v, %v, want false, true", d.Over(old), d.Over(begun))
	}
	c := claim(5, "a")
	c.Job = "new"
	if g, err := d.Answer(c); err != nil || g.Fenced != "" {
		t.Fatalf("%+v, %v", g, err)
	}
	if d.Over(begun) {
		t.Error("it was granted and is over")
	}
	d.Begin("new", 6)
	if !d.Over(guard.ID{Job: "new", Attempt: 6, Server: "s1"}) || d.AllOver(guard.ID{Job: "new", Attempt: 6, Server: "s1"}, []int{0}) {
		t.Error("attempt 5 lives, and 6 has not begun")
	}
	*now = now.Add(13 * time.Second)
	if !d.AllOver(guard.ID{Job: "new", Attempt: 6, Server: "s1"}, []int{0, 1}) || !d.AllOver(old, []int{0}) {
		t.Error("the lease is over")
	}
}

// A run is lost when it was vouched for, by whatever desk, and nothing is heard for a lease; not while it starts, nor when it
// has said how it ended.
func TestDeskLosesRuns(t *testing.T) {
	d, now := desk()
	d.Admit("old", 5)
	d.Begin("new", 5)
	old, begun := guard.ID{Job: "old", Attempt: 5, Server: "s1"}, guard.ID{Job: "new", Attempt: 5, Server: "s1"}
	lost := func(wantOld, wantNew bool) {
		t.Helper()
		if d.Lost(old) != wantOld || d.Lost(begun) != wantNew {
			t.Errorf("lost: %v, %v, want %v, %v", d.Lost(old), d.Lost(begun), wantOld, wantNew)
		}
	}
	lost(false, false)
	*now = now.Add(13 * time.Second)
	lost(true, false)
	for _, id := range []guard.ID{old, begun} {
		if g, err := d.Answer(guard.Claim{ID: id, Epoch: 3, Life: "a"}); err != nil || g.Fenced != "" {
			t.Fatalf("%+v, %v", g, err)
		}
	}
	lost(false, false)
	*now = now.Add(13 * time.Second)
	lost(true, true)
	if _, err := d.Answer(guard.Claim{ID: old, Epoch: 3, Life: "a", State: guard.State{Ended: &guard.End{}}}); err != nil {
		t.Fatal(err)
	}
	lost(false, true)
}

// Of an attempt that ran before this desk began, guards go on and none is started any more.
func TestDeskRefusesLateStarts(t *testing.T) {
	d, _ := desk()
	d.AdmitStarted("lr", 5)
	late, old := claim(5, "new"), claim(5, "old")
	late.Rank, old.State.Started = 1, true
	if g, err := d.Answer(late); err != nil || g.Fenced == "" {
		t.Errorf("a late start: %+v, %v", g, err)
	}
	if g, err := d.Answer(old); err != nil || g.Fenced != "" {
		t.Errorf("one that runs: %+v, %v", g, err)
	}
	d.Begin("lr", 6)
	next := claim(6, "next")
	if g, err := d.Answer(next); err != nil || g.Fenced != "" {
		t.Errorf("the next attempt: %+v, %v", g, err)
	}
}

// A desk that must reach servers vouches for nobody on a server that it has not reached, whoever claims.
func TestDeskRequiresReach(t *testing.T) {
	d, now := desk()
	d.RequireReach(3 * time.Second)
	d.Admit("lr", 5)
	granted := func() bool { g, err := d.Answer(claim(5, "a")); return err == nil && g.Fenced == "" }
	if granted() {
		t.Error("the server was never reached")
	}
	d.Reached("s2")
	if granted() {
		t.Error("another server was reached")
	}
	d.Reached("s1")
	*now = now.Add(3 * time.Second)
	if !granted() {
		t.Error("the server was reached")
	}
	*now = now.Add(time.Second)
	if granted() {
		t.Error("the server was not reached in the window")
	}
}
