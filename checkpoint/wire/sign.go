// This file implements signatures: what is signed of a request and of an answer, and who may pass.

package wire

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Window is how far the time of a request may be from the callee's clock.
const Window = 2 * time.Minute

// The headers of a call.
const (
	headerFrom      = "Apportion-From"
	headerTo        = "Apportion-To"
	headerTime      = "Apportion-Time"
	headerNonce     = "Apportion-Nonce"
	headerSignature = "Apportion-Signature"
)

// digest is the SHA-256 of a body.
func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// line is what two parties sign with.
type line struct {
	cluster  string
	key      Key
	from, to Party
}

// sign signs a request and returns its nonce.
func (l *line) sign(r *http.Request, body []byte, now time.Time) string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // which never fails
	nonce := hex.EncodeToString(raw[:])
	r.Header.Set(headerFrom, l.from.String())
	r.Header.Set(headerTo, l.to.String())
	r.Header.Set(headerTime, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(headerNonce, nonce)
	r.Header.Set(headerSignature, hex.EncodeToString(l.ofRequest(r, body)))
	return nonce
}

// ofRequest is the signature of a request with its headers.
func (l *line) ofRequest(r *http.Request, body []byte) []byte {
	return l.key.mac("apportion request 1", l.cluster, l.from.String(), l.to.String(), r.Method, r.URL.EscapedPath(),
		r.Header.Get(headerTime), r.Header.Get(headerNonce), digest(body))
}

// ofAnswer is the signature of an answer to a request.
func (l *line) ofAnswer(nonce string, status int, body []byte) string {
	return hex.EncodeToString(l.key.mac("apportion answer 1", l.cluster, nonce, strconv.Itoa(status), digest(body)))
}

// Gate knows who may call. It is safe for concurrent use.
type Gate struct {
	self Party
	// lineOf returns what a caller signs with; false: it may not call here.
	lineOf func(from Party) (line, bool)
	now    func() time.Time

	mu sync.Mutex
	// seen are the nonces of requests that were let in, and until when they are of use.
	seen map[string]time.Time
	// swept is when those of no use were last forgotten.
	swept time.Time
}

// Gate returns the gate of a master: every party of its cluster may call it.
func (s Secret) Gate() *Gate {
	self := Party{Role: Master}
	return newGate(self, func(from Party) (line, bool) {
		c := s.Credential(from)
		return line{c.Cluster, c.Key, from, self}, from.Role != Master
	})
}

// Gate returns the gate of a party: its masters alone may call it.
func (c Credential) Gate() *Gate {
	return newGate(c.Party, func(from Party) (line, bool) {
		return line{c.Cluster, c.Key, from, c.Party}, from.Role == Master
	})
}

func newGate(self Party, lineOf func(Party) (line, bool)) *Gate {
	return &Gate{self: self, lineOf: lineOf, now: time.Now, seen: map[string]time.Time{}}
}

// errStranger: a request is not signed by somebody who may call here. It says no more: who is told why could try.
var errStranger = errors.New("the request is not signed by a party of this cluster, or not for this one")

// admit checks who has sent a request with a body, and returns what the answer is to be signed with.
func (g *Gate) admit(r *http.Request, body []byte, roles []Role) (*line, error) {
	from, err := readParty(r.Header.Get(headerFrom))
	if err != nil || r.Header.Get(headerTo) != g.self.String() {
		return nil, errStranger
	}
	// The key is computed from what the caller says that he is; the signature tells whether he has it.
	l, known := g.lineOf(from)
	signature, err := hex.DecodeString(r.Header.Get(headerSignature))
	if !known || err != nil || !hmac.Equal(signature, l.ofRequest(r, body)) {
		return nil, errStranger
	}
	// From here on it is somebody of the cluster, who is told what is wrong.
	seconds, err := strconv.ParseInt(r.Header.Get(headerTime), 10, 64)
	if err != nil {
		return &l, errors.New("the request has no time")
	}
	at, now := time.Unix(seconds, 0), g.now()
	if off := now.Sub(at); off.Abs() > Window {
		return &l, fmt.Errorf("the request is of %v, by the clock here it is %v: more than %v apart", at.UTC(), now.UTC(), Window)
	}
	if !g.fresh(r.Header.Get(headerNonce), at.Add(Window), now) {
		return &l, errors.New("the request was made before")
	}
	if !slices.Contains(roles, from.Role) {
		return &l, fmt.Errorf("this is not for the role %s", from.Role)
	}
	return &l, nil
}

// fresh notes a nonce and reports whether it is seen for the first time. Those of requests that are too old are forgotten.
func (g *Gate) fresh(nonce string, until, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	// O(nonces) four times in a window, and O(1) otherwise. A time far ahead was refused before, so that nothing stays long.
	if now.Sub(g.swept) > Window/4 {
		g.swept = now
		for old, end := range g.seen {
			if end.Before(now) {
				delete(g.seen, old)
			}
		}
	}
	_, known := g.seen[nonce]
	g.seen[nonce] = until
	return nonce != "" && !known
}

// callerKey is the key of a caller in a context.
type callerKey struct{}

// Caller returns who has made the request that a context belongs to.
func Caller(ctx context.Context) Party {
	p, _ := ctx.Value(callerKey{}).(Party)
	return p
}
