// This file implements signatures: what is signed of a request and of an answer, and who may pass.

package wire

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// The headers of a call.
const (
	headerFrom      = "Apportion-From"
	headerTo        = "Apportion-To"
	headerChallenge = "Apportion-Challenge"
	headerNonce     = "Apportion-Nonce"
	headerDigest    = "Apportion-Digest"
	headerSignature = "Apportion-Signature"
)

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

func (l *line) sign(r *http.Request, body []byte, challenge string) {
	r.Header.Set(headerFrom, l.from.String())
	r.Header.Set(headerTo, l.to.String())
	r.Header.Set(headerChallenge, challenge)
	r.Header.Set(headerNonce, draw().String())
	r.Header.Set(headerDigest, digest(body))
	r.Header.Set(headerSignature, l.ofRequest(r))
}

func (l *line) ofRequest(r *http.Request) string {
	return hex.EncodeToString(l.key.mac("apportion request 2", l.cluster, l.from.String(), l.to.String(), r.Method, r.URL.EscapedPath(),
		r.Header.Get(headerChallenge), r.Header.Get(headerNonce), r.Header.Get(headerDigest)))
}

// ofAnswer is the signature of an answer to a request, with the challenge for the next one.
func (l *line) ofAnswer(nonce, challenge string, status int, body []byte) string {
	return hex.EncodeToString(l.key.mac("apportion answer 2", l.cluster, nonce, challenge, strconv.Itoa(status), digest(body)))
}

// Gate knows who may call. Each gate has challenges of its own, so that what was said to one counts at no other. It is safe for
// concurrent use.
type Gate struct {
	self Party
	// lineOf returns what a caller signs with; false: it may not call here.
	lineOf     func(from Party) (line, bool)
	challenges challenges
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
	// The difference of two readings in one process is of the monotonic clock, which steps of the time of day leave alone.
	began := time.Now()
	g := &Gate{self: self, lineOf: lineOf}
	g.challenges.since = func() time.Duration { return time.Since(began) }
	return g
}

// errStranger: a request is not signed by a party that may call here. It says no more: an answer that tells why would help to try.
var errStranger = errors.New("the request is not signed by a party of this cluster, or not for this one")

// admit checks by its headers alone who has sent a request, and returns what the answer is to be signed with; nil: nothing.
func (g *Gate) admit(r *http.Request, roles []Role) (*line, error) {
	from, err := readParty(r.Header.Get(headerFrom))
	if err != nil || r.Header.Get(headerTo) != g.self.String() {
		return nil, errStranger
	}
	// The key is computed from what the caller says that he is; the signature tells whether he has it.
	l, known := g.lineOf(from)
	if !known || !hmac.Equal([]byte(r.Header.Get(headerSignature)), []byte(l.ofRequest(r))) {
		return nil, errStranger
	}
	// From here on it is somebody of the cluster, who is told what is wrong.
	var n nonce
	if size, err := hex.Decode(n[:], []byte(r.Header.Get(headerNonce))); err != nil || size != len(n) {
		return &l, errors.New("the request has no nonce")
	}
	if err := g.challenges.take(r.Header.Get(headerChallenge), n); err != nil {
		return &l, err
	}
	if !slices.Contains(roles, from.Role) {
		return &l, fmt.Errorf("this is not for the role %s", from.Role)
	}
	return &l, nil
}

type callerKey struct{}

// Caller returns who has made the request that a context belongs to.
func Caller(ctx context.Context) Party {
	p, _ := ctx.Value(callerKey{}).(Party)
	return p
}
