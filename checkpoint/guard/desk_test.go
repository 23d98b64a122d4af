// This file tests which runs a desk vouches for, and when it takes one for ended, by a clock of its own.

package guard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/must"
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
		must.Have(d.Answer(c))(t)
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

// secret is that of the tests' cluster, and guards the credential of the guards of attempt 5 of job lr.
var (
	secret = readSecret("5ec7e7")
	guards = secret.Credential(guard.Party("lr", 5))
)

// readSecret returns a secret that other processes of the tests have as well.
func readSecret(digits string) (s wire.Secret) {
	if err := s.UnmarshalText([]byte(digits + strings.Repeat("0", 64-len(digits)))); err != nil {
		panic(err)
	}
	return s
}

// Claims that are signed by a guard of the cluster are answered, and nobody else's.
func TestHandler(t *testing.T) {
	d, _ := desk()
	d.Admit("lr", 5)
	server := httptest.NewServer(d.Handler(secret.Gate()))
	defer server.Close()
	newer := claim(5, "a")
	newer.Epoch = 9
	for name, c := range map[string]struct {
		credential wire.Credential
		claim      guard.Claim
		want       string
	}{
		"a claim":          {guards, claim(5, "a"), ""},
		"not signed":       {wire.Credential{}, claim(5, "a"), "401"},
		"another cluster":  {readSecret("bad").Credential(guards.Party), claim(5, "a"), "not signed by a party"},
		"an agent":         {secret.Credential(wire.Party{Role: wire.Agent, Name: "s1"}), claim(5, "a"), "not for the role"},
		"an unknown run":   {secret.Credential(guard.Party("lr", 9)), claim(9, "a"), "is not known here"},
		"another run's":    {guards, claim(9, "a"), "of another run"},
		"of a new master":  {guards, newer, checkpoint.ErrFenced.Error()},
		"a broken address": {guards, claim(5, "a"), "missing protocol scheme"},
	} {
		h := guard.HTTP{URL: server.URL, Credential: c.credential}
		if name == "a broken address" {
			h.URL = ":"
		}
		g, err := h.Renew(t.Context(), c.claim)
		if err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil && (g.Length != 10*time.Second || g.Heard != c.claim.Clock) {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// Whoever listens in the place of a desk learns nothing with which he could claim or vouch, and is not believed.
func TestListenerInThePlaceOfADesk(t *testing.T) {
	var heard []*http.Request
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = append(heard, r)
		_ = json.NewEncoder(w).Encode(guard.Grant{Heard: claim(5, "a").Clock, Length: time.Hour})
	}))
	defer stranger.Close()
	if g, err := (&guard.HTTP{URL: stranger.URL + "/lease", Credential: guards}).Renew(t.Context(), claim(5, "a")); !errors.Is(err, wire.ErrUnsigned) {
		t.Errorf("a stranger vouches: %+v, %v", g, err)
	}
	key := must.Have(guards.Key.MarshalText())(t)
	must.Equal(t, len(heard), 1)
	if shown := fmt.Sprint(heard[0].Header); strings.Contains(shown, string(key)) || heard[0].Header.Get("Authorization") != "" {
		t.Errorf("the claim shows %s", shown)
	}
	// What was heard cannot be said once more, or to the desk on another path.
	d, _ := desk()
	d.Admit("lr", 5)
	server := httptest.NewServer(d.Handler(secret.Gate()))
	defer server.Close()
	again := must.Have(http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/other", strings.NewReader("{}")))(t)
	again.Header = heard[0].Header
	response := must.Have(http.DefaultClient.Do(again))(t)
	defer response.Body.Close()
	must.Equal(t, response.StatusCode, http.StatusUnauthorized, "what was heard opens the desk")
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

// What the environment says of a run, and what is wrong with it.
func TestFromEnvironment(t *testing.T) {
	env := map[string]string{"APPORTION_JOB": "lr", "APPORTION_ATTEMPT": "5", "APPORTION_SERVER": "s1", "APPORTION_EPOCH": "3", "APPORTION_SAVE_ACK": "/ack"}
	lookup := func(name string) string { return env[name] }
	var c guard.Config
	must.Do(t, c.FromEnvironment(lookup))
	want := guard.Config{ID: guard.ID{Job: "lr", Attempt: 5, Server: "s1"}, Epoch: 3, Acknowledgement: "/ack"}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v", c)
	}
	env["APPORTION_ATTEMPT"] = "five"
	must.Err(t, new(guard.Config).FromEnvironment(lookup), apportion.ErrRange)
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
	must.Equal(t, d.AskSave(first.ID), 1, "number")
	asks(first, 1)
	asks(second, 0) // another container of the run
	// A guard whose trainer has answered a desk before this one.
	first.State.Checkpoint = &command.Acknowledgement{Request: 8}
	asks(first, 1)
	must.Equal(t, d.AskSave(first.ID), 9, "number", "after 8")
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
	must.Have(d.Answer(claim(5, "a")))(t)
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
	must.Have(d.Answer(guard.Claim{ID: old, Epoch: 3, Life: "a", State: guard.State{Ended: &guard.End{}}}))(t)
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

// A master that was replaced renews nothing, whatever it believes of a run, and says so by the error that means that; one that
// cannot tell renews nothing either.
func TestDeskRequiresLead(t *testing.T) {
	d, now := desk()
	var leads error
	d.RequireLead(func() error { return leads })
	d.Admit("lr", 5)
	if g, err := d.Answer(claim(5, "a")); err != nil || g.Length == 0 {
		t.Errorf("%+v, %v", g, err)
	}
	granted, _ := d.Seen(claim(5, "a").ID)
	for _, leads = range []error{fmt.Errorf("replaced: %w", checkpoint.ErrFenced), errors.New("the disk is gone")} {
		*now = now.Add(time.Second)
		if g, err := d.Answer(claim(5, "a")); !errors.Is(err, leads) || g != (guard.Grant{}) {
			t.Errorf("%+v, %v", g, err)
		}
	}
	if seen, _ := d.Seen(claim(5, "a").ID); !seen.Granted.Equal(granted.Granted) {
		t.Errorf("granted at %v, and %v", granted.Granted, seen.Granted)
	}
	leads = nil
	if g, err := d.Answer(claim(5, "a")); err != nil || g.Length == 0 {
		t.Errorf("%+v, %v", g, err)
	}
}
