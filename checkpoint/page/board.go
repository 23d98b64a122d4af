// This file implements Board: one goroutine asks for states while somebody watches, and tells every browser what has changed.

package page

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint/wire"
)

// Config says what a Board shows.
type Config struct {
	// Secret signs the links that browsers come with; required.
	Secret wire.Secret
	// Source returns the cluster now; required. It is called by one goroutine at a time while somebody watches, and must not call the
	// Board.
	Source func() State
	// Ask answers questions, as Answer does; nil: none is.
	Ask func(context.Context, Question) (string, error)
	// Every is the pause between two states; 0: a second.
	Every time.Duration
}

// defaultEvery is short against what people wait for, and long against what it takes to look at a thousand jobs.
const defaultEvery = time.Second

const (
	// mostDecisions is how many are remembered.
	mostDecisions = 100
	// mostWatchers bounds what browsers cost; each has a goroutine and a buffer.
	mostWatchers = 100
	// buffered is how many messages a browser may be behind.
	buffered = 8
)

// Board is a page that browsers watch. Its methods are safe for concurrent use.
type Board struct {
	config Config
	// asking holds the one question that is being answered.
	asking chan struct{}

	// history guards decisions, apart from mu: an owner may tell of a decision while it is asked for a State.
	history   sync.Mutex
	decisions []Decision

	// mu guards what follows. shown is what all watchers have been told, or are about to read in their buffers; nil: there are none,
	// and no goroutine.
	mu       sync.Mutex
	watchers map[*watcher]bool
	shown    *frame
}

// watcher is a browser. tell is closed where it was too slow.
type watcher struct{ tell chan message }

// message is an event of the stream.
type message struct {
	event string
	data  []byte
}

// New returns a board.
func New(config Config) *Board {
	config.Every = cmp.Or(config.Every, defaultEvery)
	return &Board{config: config, asking: make(chan struct{}, 1), watchers: map[*watcher]bool{}}
}

// Decided adds a decision to those that the page shows, the last hundred.
func (b *Board) Decided(d Decision) {
	b.history.Lock()
	defer b.history.Unlock()
	d.Number = 1
	if n := len(b.decisions); n > 0 {
		d.Number = b.decisions[n-1].Number + 1
	}
	b.decisions = append(b.decisions, d)
	b.decisions = slices.Clone(b.decisions[max(0, len(b.decisions)-mostDecisions):]) // a frame may hold the list before
}

func (b *Board) look() (*frame, error) {
	state := b.config.Source()
	b.history.Lock()
	defer b.history.Unlock()
	return newFrame(&state, b.decisions)
}

// join begins to watch: the first message has everything.
func (b *Board) join() (*watcher, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.watchers) >= mostWatchers {
		return nil, errCrowded
	}
	if b.shown == nil {
		first, err := b.look()
		if err != nil {
			return nil, err
		}
		b.shown = first
		go b.run()
	}
	all, _, err := b.shown.since(nil)
	if err != nil {
		return nil, err
	}
	w := &watcher{tell: make(chan message, buffered)}
	w.tell <- message{"all", all}
	b.watchers[w] = true
	return w, nil
}

func (b *Board) leave(w *watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.watchers, w)
}

func (b *Board) run() {
	for {
		time.Sleep(b.config.Every)
		b.mu.Lock()
		if len(b.watchers) == 0 {
			b.shown = nil
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		// It may take a while, and browsers come and go meanwhile.
		next, err := b.look()
		if err != nil {
			continue // a state that cannot be written, which an owner's test finds; the next one may be
		}
		b.mu.Lock()
		patch, changed, err := next.since(b.shown)
		if err == nil && changed {
			b.shown = next
			b.tell(message{"patch", patch})
		}
		b.mu.Unlock()
	}
}

// tell puts a message into all buffers. A browser whose buffer is full loses its stream, and begins again when it can.
func (b *Board) tell(m message) {
	for w := range b.watchers {
		select {
		case w.tell <- m:
		default:
			close(w.tell)
			delete(b.watchers, w)
		}
	}
}

// Handle adds the page to a mux: GET /{$}, the page; GET /events, a stream of what changes; and GET /ask, answers. A request is let in
// by a link of the secret to its path, which the page has for the two others until its own is over, or where allowed says so; nil: never.
func (b *Board) Handle(mux *http.ServeMux, allowed func(*http.Request) bool) {
	for pattern, answer := range map[string]func(http.ResponseWriter, *http.Request, time.Time){
		"GET /{$}": b.page, "GET /events": b.events, "GET /ask": b.ask,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", policy)
			w.Header().Set("Referrer-Policy", "no-referrer")
			w.Header().Set("Cache-Control", "no-store")
			until, open := b.until(r, allowed)
			if !open {
				http.Error(w, "the token is missing or wrong, or the link is over", http.StatusUnauthorized)
				return
			}
			answer(w, r, until)
		})
	}
}
