// This file implements what a Board answers to browsers: the page, the stream of what changes, and answers to questions.

package page

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion"
)

//go:embed page.html
var layout string

//go:embed page.css
var style string

//go:embed page.js
var script string

// policy has a browser run and load nothing but this page's own script and style, ask nobody but the server that it came from, and show
// it inside of no other page. What users wrote is never part of the document, and this holds even if it were.
var policy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", hashOf(script), hashOf(style))

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

const (
	// linkLife is how long what the page reads is open to a browser that came without a link.
	linkLife = 24 * time.Hour
	// beat is the pause after which a stream without news says that it is there, and writeLimit how long a browser may take for a message.
	beat       = 15 * time.Second
	writeLimit = 10 * time.Second
	// askLimit is how long an answer may take, and how long a question waits for the one before.
	askLimit = 5 * time.Second
)

var errCrowded = errors.New("page: there are too many browsers that watch")

// until returns how long a request is let in; false: it is not.
func (b *Board) until(r *http.Request, allowed func(*http.Request) bool) (time.Time, bool) {
	now := time.Now()
	if allowed != nil && allowed(r) {
		return now.Add(linkLife), true
	}
	if !b.config.Secret.Opens(r.URL, now) {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(r.URL.Query().Get("until"), 10, 64)
	return time.Unix(seconds, 0), err == nil
}

// page answers with everything. It is complete before the first byte goes out, so that a fault can still be answered with its status.
func (b *Board) page(w http.ResponseWriter, _ *http.Request, until time.Time) {
	now, err := b.look()
	var all []byte
	if err == nil {
		all, _, err = now.since(nil)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	// Addresses are relative: the page may stand below a path of a proxy.
	link := func(path string) string {
		return html.EscapeString(strings.TrimPrefix(b.config.Secret.Link(path, until), "/"))
	}
	ask := link("/ask")
	if b.config.Ask == nil {
		ask = ""
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// JSON has no < in its texts, see package encoding/json, so that nothing in it ends the element that it stands in.
	_, _ = strings.NewReplacer("{{style}}", style, "{{script}}", script, "{{events}}", link("/events"), "{{ask}}", ask, "{{state}}", string(all)).
		WriteString(w, layout) // the browser is gone
}

// events answers with a stream of what changes, until the link is over or the browser is gone or too slow.
func (b *Board) events(w http.ResponseWriter, r *http.Request, until time.Time) {
	watcher, err := b.join()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer b.leave(watcher)
	conn := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for {
		text := ":\n\n" // a comment
		select {
		case <-r.Context().Done():
			return
		case <-over.C:
			return
		case <-alive.C:
		case m, open := <-watcher.tell:
			if !open {
				return
			}
			text = "event: " + m.event + "\ndata: " + string(m.data) + "\n\n" // JSON of one line
		}
		_ = conn.SetWriteDeadline(time.Now().Add(writeLimit))
		if _, err := w.Write([]byte(text)); err != nil || conn.Flush() != nil {
			return
		}
	}
}

// ask answers a question. They are answered one at a time, so that browsers take no more than one processor.
func (b *Board) ask(w http.ResponseWriter, r *http.Request, _ time.Time) {
	query := r.URL.Query()
	q := Question{Job: query.Get("job"), Server: query.Get("server"), If: query.Has("if")}
	if b.config.Ask == nil || (q.Job == "") == (q.Server == "") {
		http.Error(w, "ask about a job or a server", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askLimit)
	defer cancel()
	select {
	case b.asking <- struct{}{}:
		defer func() { <-b.asking }()
	case <-ctx.Done():
		http.Error(w, "others ask: try again", http.StatusServiceUnavailable)
		return
	}
	text, err := b.config.Ask(ctx, q)
	switch {
	case errors.Is(err, apportion.ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(text)) // the browser is gone
}
