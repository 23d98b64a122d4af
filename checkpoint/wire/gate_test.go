// This file tests the pieces of a gate by themselves: parties, what a signature covers, and the nonces that are remembered.

package wire

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
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
		"nothing":       func(*line, *http.Request, *[]byte) {},
		"the cluster":   func(l *line, _ *http.Request, _ *[]byte) { l.cluster = "another" },
		"the key":       func(l *line, _ *http.Request, _ *[]byte) { l.key[31] ^= 1 },
		"the caller":    func(l *line, _ *http.Request, _ *[]byte) { l.from.Name = "bob" },
		"the callee":    func(l *line, _ *http.Request, _ *[]byte) { l.to = north },
		"the method":    func(_ *line, r *http.Request, _ *[]byte) { r.Method = http.MethodPut },
		"the path":      func(_ *line, r *http.Request, _ *[]byte) { r.URL.Path = "/ask/" },
		"the challenge": func(_ *line, r *http.Request, _ *[]byte) { r.Header.Set(headerChallenge, "8") },
		"the nonce":     func(_ *line, r *http.Request, _ *[]byte) { r.Header.Set(headerNonce, "8") },
		"the body":      func(_ *line, _ *http.Request, body *[]byte) { *body = append(*body, ' ') },
	} {
		l, body := base, []byte("{}")
		r := httptest.NewRequest(http.MethodPost, "http://host/ask", nil)
		r.Header.Set(headerChallenge, "7")
		r.Header.Set(headerNonce, "7")
		change(&l, r, &body)
		r.Header.Set(headerDigest, digest(body))
		signature := l.ofRequest(r)
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
				answers[base.ofAnswer(nonce, "a", status, []byte(body))] = true
				answers[base.ofAnswer(nonce, "b", status, []byte(body))] = true
			}
		}
	}
	must.Equal(t, len(answers), 16, "16 answers", "signatures")
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
	must.Equal(t, served, 2, "served", "times")
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
