// This file implements challenges: by them a request counts once, at the callee for which it was signed, without a clock that
// anybody sets.

package wire

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"time"
)

// A challenge is given out until it has let in maxNonces requests or is a turn old, and counts until it is two turns old
// or the next one but one is given out.
const (
	maxNonces = 4096
	turn      = time.Minute
)

var (
	// errStale: a request is signed for another gate, or for this one too long ago.
	errStale = errors.New("the request is not signed for what is asked for here now")
	errAgain = errors.New("the request was made before")
)

// nonce tells the requests apart that are signed for one challenge.
type nonce [16]byte

func draw() (n nonce) {
	_, _ = rand.Read(n[:]) // which never fails
	return n
}

func (n nonce) String() string { return hex.EncodeToString(n[:]) }

// challenge is what a gate has asked for, and which requests it has let in by it.
type challenge struct {
	text  string
	began time.Duration
	seen  map[nonce]bool
}

// challenges are the one that a gate gives out and the one before. Together they remember 2 * maxNonces requests at most.
type challenges struct {
	// since is how long the gate has been there.
	since func() time.Duration

	mu          sync.Mutex
	now, before challenge
}

func (c *challenges) current() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change()
	return c.now.text
}

// change draws another challenge if it is time. c.mu is held.
func (c *challenges) change() {
	at := c.since()
	if c.now.text == "" || at-c.now.began > turn || len(c.now.seen) >= maxNonces {
		c.now, c.before = challenge{draw().String(), at, map[nonce]bool{}}, c.now
	}
}

// take notes a request that is signed for a challenge: errStale if that one does not count, errAgain if the request has been let in
// already.
func (c *challenges) take(text string, n nonce) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change()
	for _, known := range []*challenge{&c.now, &c.before} {
		switch {
		// The first challenge has none before it.
		case text == "" || known.text != text || c.since()-known.began > 2*turn:
		case known.seen[n]:
			return errAgain
		case len(known.seen) < maxNonces:
			known.seen[n] = true
			return nil
		}
	}
	return errStale
}
