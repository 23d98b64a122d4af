// This file implements what a controller answers by HTTP: to people, to programs, and to guards.

package controller

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// linkLife is how long a link opens the page.
const linkLife = 24 * time.Hour

// Link returns the address of the page, without its host, by which a browser may read it and what it reads for a day: that and nothing else.
func (c *Controller) Link() string { return c.config.Secret.Link("/", time.Now().Add(linkLife)) }

// Handler answers requests:
//
//	GET /             a page for people, see page.Board.Handle
//	GET /events       what changes on it, as server-sent events
//	GET /ask          why, and what if: answers of the page, as text
//	GET /link         a Link
//	GET /state        a Report
//	GET /explain      why the jobs have what they have, as text
//	GET /decision     the newest decision with its problem, a Taken
//	GET /metrics      numbers, in the text format of Prometheus
//	GET /healthz      200: it answers
//	GET /readyz       200 if it has seen the cluster a moment ago, 503 with a reason if not
//	POST /lease       claims of guards, see guard.Desk.Handler
//
// The claims are signed by the guards of Config.Secret, see package wire. The two about its health ask for
// nothing. All others ask for the token of users, as a bearer token,
// and the page for that or a Link, which opens what the page reads as well; without a token nobody may look.
func (c *Controller) Handler(token string) http.Handler {
	mux := http.NewServeMux()
	// Without a token of users a link opens nothing either.
	if token != "" {
		c.board.Handle(mux, func(r *http.Request) bool { return allowed(r, token) })
	}
	handle(mux, "GET /link", token, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(c.Link() + "\n")) // whoever asked is gone
	})
	handle(mux, "GET /state", token, func(w http.ResponseWriter, _ *http.Request) { answer(w, c.Report()) })
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := c.ready(time.Now()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	handle(mux, "GET /metrics", token, c.metrics)
	handleDecision(mux, token, c.Last)
	// Claims have a gate of their own in place of the token: a guard must not be able to read what users may, nor a user
	// to vouch for a run.
	mux.Handle("POST /lease", c.fleet.Handler())
	return mux
}

// readyLooks is how many looks may fail in a row before the controller counts as blind, and readyAge how long that takes at least.
const (
	readyLooks = 3
	readyAge   = 30 * time.Second
)

// ready says why the controller cannot do its work; nil: it can.
func (c *Controller) ready(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch age := now.Sub(c.seenAt); {
	case c.seen == nil:
		return errors.New("the cluster was not seen yet")
	case age > max(readyAge, readyLooks*c.config.Idle):
		return fmt.Errorf("the cluster was seen %v ago", age.Round(time.Second))
	}
	return nil
}

// handle answers those who show the token.
func handle(mux *http.ServeMux, pattern, token string, answer http.HandlerFunc) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { guarded(w, r, allowed(r, token), answer) })
}

// guarded answers whoever is allowed in. No browser shows the answer inside of another page, or tells the next one its address.
func guarded(w http.ResponseWriter, r *http.Request, allowed bool, answer http.HandlerFunc) {
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	if !allowed {
		http.Error(w, "the token is missing or wrong, or the link is over", http.StatusUnauthorized)
		return
	}
	answer(w, r)
}

// policy has a browser load and run nothing of what is not the page.
const policy = "default-src 'none'; frame-ancestors 'none'"

// handleDecision answers with the newest decision, as JSON and in words. Controller and Advisor share it.
func handleDecision(mux *http.ServeMux, token string, last func() Taken) {
	handle(mux, "GET /decision", token, func(w http.ResponseWriter, _ *http.Request) { answer(w, last()) })
	handle(mux, "GET /explain", token, func(w http.ResponseWriter, _ *http.Request) {
		taken := last()
		text, err := taken.explain()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(text)) // whoever asked is gone
	})
}

// allowed reports whether a request shows the token, which never stands in an address: those are logged. Without a token nobody is let
// in, and the comparison takes equally long whatever is given, so that its time tells nothing of the token.
func allowed(r *http.Request, token string) bool {
	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

func answer(w http.ResponseWriter, value any) {
	// The text is complete before the first byte goes out, so that a fault can still be answered with its status.
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // whoever asked is gone
}
