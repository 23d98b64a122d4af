// This file tests the pieces of a gate by themselves: parties, what a signature covers, and the nonces that are remembered.

package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What a header holds is a party in the one form in which it is written, or none.
func TestReadParty(t *testing.T) {
	for _, bad := range []string{"", "/", "agent", "Agent/00", "agent/0", "agent/zz", "master/", "master/00", " master", "robot/00", "user/00/00", "agent /00"} {
		if p, err := readParty(bad); err == nil {
			t.Errorf("%q is read as %v", bad, p)
		}
	}
	// A name with a line end would make two texts of one signature equal; in a header it has none.
	for _, name := range []string{"", "a", "a\nb", "a/b", "\x00", "größe", strings.Repeat("x", 1000)} {
		for _, role := range parties {
			p := Party{role, name}
			if got, err := readParty(p.String()); err != nil || got != p || strings.ContainsAny(p.String(), "\r\n") {
				t.Errorf("%q is read as %v, %v", p.String(), got, err)
			}
		}
	}
}

// A signature is of one request: whatever is changed, it is another one, and no two changes have the same.
func TestSignatureCoversAll(t *testing.T) {
	base := line{secret.Cluster(), secret.Credential(ann).Key, ann, Party{Role: Master}}
	made := map[string]string{}
	for what, change := range map[string]func(l *line, r *http.Request, body *[]byte){
		"nothing":     func(*line, *http.Request, *[]byte) {},
		"the cluster": func(l *line, _ *http.Request, _ *[]byte) { l.cluster = "another" },
		"the key":     func(l *line, _ *http.Request, _ *[]byte) { l.key[31] ^= 1 },
		"the caller":  func(l *line, _ *http.Request, _ *[]byte) { l.from.Name = "bob" },
		"the callee":  func(l *line, _ *http.Request, _ *[]byte) { l.to = north },
		"the method":  func(_ *line, r *http.Request, _ *[]byte) { r.Method = http.MethodPut },
		"the path":    func(_ *line, r *http.Request, _ *[]byte) { r.URL.Path = "/ask/" },
		"the time":    func(_ *line, r *http.Request, _ *[]byte) { r.Header.Set(headerTime, "8") },
		"the nonce":   func(_ *line, r *http.Request, _ *[]byte) { r.Header.Set(headerNonce, "8") },
		"the body":    func(_ *line, _ *http.Request, body *[]byte) { *body = append(*body, ' ') },
	} {
		l, body := base, []byte("{}")
		r := httptest.NewRequest(http.MethodPost, "http://host/ask", nil)
		r.Header.Set(headerTime, "7")
		r.Header.Set(headerNonce, "7")
		change(&l, r, &body)
		signature := string(l.ofRequest(r, body))
		if other, taken := made[signature]; taken {
			t.Errorf("to change %s and to change %s make one signature", what, other)
		}
		made[signature] = what
	}
	// An answer is of one question, with one status.
	answers := map[string]bool{}
	for _, nonce := range []string{"7", "8"} {
		for _, status := range []int{200, 409} {
			for _, body := range []string{"", "{}"} {
				answers[base.ofAnswer(nonce, status, []byte(body))] = true
			}
		}
	}
	if len(answers) != 8 {
		t.Errorf("8 answers have %d signatures", len(answers))
	}
}

// TestNonces: a nonce counts once as long as its request does, and what is remembered does not grow with the life of the gate.
func TestNonces(t *testing.T) {
	g := secret.Gate()
	start := time.Unix(1763836000, 0)
	most := 0
	for second := range 2000 {
		now := start.Add(time.Duration(second) * time.Second)
		nonce := fmt.Sprint(second)
		if !g.fresh(nonce, now.Add(Window), now) {
			t.Fatalf("nonce %s is not fresh", nonce)
		}
		// Of the same second, from the middle, and from the last in which the request counts.
		for _, age := range []int{0, 60, int(Window / time.Second)} {
			if second >= age && g.fresh(fmt.Sprint(second-age), now.Add(Window), now) {
				t.Fatalf("the nonce of %d s ago counts again", age)
			}
		}
		most = max(most, len(g.seen))
	}
	// A nonce that is tried again is kept for as long again, so that at most two windows and a sweep are there.
	if limit := int((2*Window + Window/2) / time.Second); most > limit {
		t.Errorf("%d nonces are remembered, want at most %d", most, limit)
	}
	if g.fresh("", start.Add(Window), start) {
		t.Error("no nonce is fresh")
	}
}

// A role that may not call a path is told so, by somebody who signs; the request has not been served.
func TestRoleIsRefused(t *testing.T) {
	served := 0
	server := httptest.NewServer(Handler(secret.Gate(), func(context.Context, question) (string, error) {
		served++
		return "", nil
	}, Agent, Guard))
	defer server.Close()
	for _, p := range []Party{north, {Guard, "g"}, ann} {
		err := secret.Credential(p).Client(server.URL).Call(t.Context(), "/", question{}, new(string))
		var status *StatusError
		if p.Role == User {
			if !errors.As(err, &status) || status.Status != http.StatusUnauthorized || !strings.Contains(status.Text, "role user") || !Refused(err) {
				t.Errorf("%v: %v", p, err)
			}
		} else if err != nil {
			t.Errorf("%v: %v", p, err)
		}
	}
	if served != 2 {
		t.Errorf("served %d times, want 2", served)
	}
}

// An answer that JSON cannot hold is a fault of the server, which it tells and signs.
func TestUnwritableAnswer(t *testing.T) {
	server := httptest.NewServer(Handler(secret.Gate(), func(context.Context, question) (any, error) { return make(chan int), nil }, User))
	defer server.Close()
	var status *StatusError
	err := secret.Credential(ann).Client(server.URL).Call(t.Context(), "/", question{}, new(string))
	if !errors.As(err, &status) || status.Status != http.StatusInternalServerError || status.Text != "the answer cannot be written" {
		t.Errorf("%v", err)
	}
}
