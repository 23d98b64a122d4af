// This file plays those who say again what was said: to the same gate, after its restart, and at another one.

package wire

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// serveAsk serves one path by a gate and counts what gets through.
func serveAsk(t *testing.T, g *Gate) (base string, served *int) {
	served = new(int)
	mux := http.NewServeMux()
	Handle(mux, "/ask", g, func(context.Context, question) (string, error) { *served++; return "", nil }, User)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, served
}

// What was said to a master counts there once, and nowhere else: neither at another master nor at the one that is started in its
// place, which has another gate of the same secret.
func TestReplay(t *testing.T) {
	base, served := serveAsk(t, secret.Gate())
	client := secret.Credential(ann).Client(base)
	ask(t, client)
	heard, same := hear(t, client, "/ask", question{"cancel"}), func(*heard) {}
	if status := heard.repeat(t, base, same); status != http.StatusOK || *served != 2 {
		t.Fatalf("as it was: %d, served %d", status, *served)
	}
	must.Equal(t, heard.repeat(t, base, same), http.StatusUnauthorized, "again")
	another, reached := serveAsk(t, secret.Gate())
	if status := heard.repeat(t, another, same); status != http.StatusMisdirectedRequest || *reached != 0 {
		t.Errorf("after a restart, or at another master: %d, served %d times", status, *reached)
	}
	// The client itself is answered there at once, by signing anew.
	client.Base = another
	ask(t, client)
	if *served != 2 || *reached != 1 {
		t.Errorf("served %d times there and %d times here, want 2 and 1", *served, *reached)
	}
	// With a challenge that nobody gives out nothing was refused for good.
	client.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		r.URL.Host = strings.TrimPrefix(base, "http://")
		base, another = another, base
		return http.DefaultTransport.RoundTrip(r)
	})}
	var status *StatusError
	if err := client.Call(t.Context(), "/ask", question{}, new(string)); !errors.As(err, &status) || status.Status != http.StatusMisdirectedRequest || Refused(err) {
		t.Errorf("two masters by turns: %v", err)
	}
}

// A request counts for as long as its challenge, and what is remembered does not grow with the life of a gate.
func TestChallenges(t *testing.T) {
	now := time.Duration(0)
	c := challenges{since: func() time.Duration { return now }}
	first := c.current()
	early, late := draw(), draw()
	for _, step := range []struct {
		at        time.Duration
		challenge string
		nonce     nonce
		want      error
	}{
		{0, "", early, errStale}, {0, "another", early, errStale}, {0, first, early, nil}, {0, first, early, errAgain},
		{turn + 1, first, early, errAgain}, {turn + 1, first, late, nil}, {2 * turn, first, late, errAgain},
		{2*turn + 1, first, draw(), errStale}, {2*turn + 1, first, early, errStale}, {20 * turn, first, early, errStale},
	} {
		now = step.at
		must.Err(t, c.take(step.challenge, step.nonce), step.want, "after", now)
	}
	given := map[string]bool{}
	for range 3*maxNonces + 1 {
		given[c.current()] = true
		must.Do(t, c.take(c.current(), draw()))
		if n := len(c.now.seen) + len(c.before.seen); n > 2*maxNonces {
			t.Fatalf("%d nonces are remembered, want at most %d", n, 2*maxNonces)
		}
	}
	// A challenge that is not given out any more lets in no more than another.
	old := c.current()
	now += turn + 1
	for range maxNonces - len(c.now.seen) {
		must.Do(t, c.take(old, draw()))
	}
	if err := c.take(old, draw()); !errors.Is(err, errStale) || old == c.current() {
		t.Errorf("the challenge before lets in more than %d: %v", maxNonces, err)
	}
	must.Equal(t, len(given), 4, "challenges for three times and one more of what one lets in")
}
