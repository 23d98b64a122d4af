// This file checks calls over a real connection: what gets through, and what does not.

package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

type question struct{ Text string }

// The secret and the parties of the cluster here.
var (
	secret = NewSecret()
	ann    = Party{User, "ann"}
	north  = Party{Agent, "north"}
)

// start serves one path that answers by the text of the question and returns a client for it.
func start(t *testing.T) *Client {
	t.Helper()
	mux := http.NewServeMux()
	Handle(mux, "/ask", secret.Gate(), func(ctx context.Context, q question) (string, error) {
		switch q.Text {
		case "fenced":
			return "", fmt.Errorf("attempt 3: %w", checkpoint.ErrFenced)
		case "fail":
			return "", errors.New("cannot")
		case "wait":
			<-ctx.Done()
			return "", ctx.Err()
		case "long":
			return strings.Repeat("x", maxBytes), nil
		}
		return Caller(ctx).Name + " said " + q.Text, nil
	}, User)
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { served <- Serve(ctx, listener, mux) }()
	t.Cleanup(func() {
		cancel()
		must.Do(t, <-served)
	})
	return secret.Credential(ann).Client("http://" + listener.Addr().String())
}

func TestCall(t *testing.T) {
	client := start(t)
	var answer string
	if err := client.Call(t.Context(), "/ask", question{"hello"}, &answer); err != nil || answer != "ann said hello" {
		t.Errorf("%q, %v", answer, err)
	}
	for _, test := range []struct {
		name     string
		question any
		status   int
		fenced   bool
	}{
		{"unknown field", map[string]int{"text": 1, "more": 2}, 400, false},
		{"wrong type", []int{1}, 400, false},
		{"fenced", question{"fenced"}, 409, true},
		{"error", question{"fail"}, 422, false},
	} {
		err := client.Call(t.Context(), "/ask", test.question, &answer)
		var status *StatusError
		if !errors.As(err, &status) || status.Status != test.status || errors.Is(err, checkpoint.ErrFenced) != test.fenced {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	// Who answers this does not know who asks.
	if err := client.Call(t.Context(), "/other", question{}, &answer); !errors.Is(err, ErrUnsigned) || Refused(err) {
		t.Errorf("an unknown path: %v", err)
	}
	if err := client.Call(t.Context(), "/ask", question{strings.Repeat("x", maxBytes)}, &answer); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("long question: %v", err)
	}
	if err := client.Call(t.Context(), "/ask", question{"long"}, &answer); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("long answer: %v", err)
	}
	must.Err(t, client.Call(t.Context(), "/ask", func() {}, &answer), must.ErrAny, "no error for a question that is not JSON")
}

// What fails because the server goes down is no refusal; what works is answered all the same.
func TestGoingDown(t *testing.T) {
	mux := http.NewServeMux()
	gate := secret.Gate()
	Handle(mux, "/fail", gate, func(ctx context.Context, _ question) (string, error) { return "", ctx.Err() }, User)
	Handle(mux, "/fenced", gate, func(context.Context, question) (string, error) { return "", checkpoint.ErrFenced }, User)
	Handle(mux, "/work", gate, func(context.Context, question) (string, error) { return "done", nil }, User)
	down, cancel := context.WithCancel(t.Context())
	cancel()
	server := httptest.NewUnstartedServer(mux)
	server.Config.BaseContext = func(net.Listener) context.Context { return down }
	server.Start()
	defer server.Close()
	client := secret.Credential(ann).Client(server.URL)
	var answer string
	for _, path := range []string{"/fail", "/fenced"} {
		err := client.Call(t.Context(), path, question{}, &answer)
		var status *StatusError
		if !errors.As(err, &status) || status.Status != http.StatusServiceUnavailable || !strings.Contains(status.Text, "going down") || Refused(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := client.Call(t.Context(), "/work", question{}, &answer); err != nil || answer != "done" {
		t.Errorf("%q, %v", answer, err)
	}
}

func TestCallEndsWithContext(t *testing.T) {
	client := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	must.Err(t, client.Call(ctx, "/ask", question{"wait"}, nil), context.DeadlineExceeded)
}

func TestBodies(t *testing.T) {
	client := start(t)
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{"Text":"a"} {"Text":"b"}`, "more than one", 400},
		{`{"Text":"a","More":1}`, "unknown field", 400},
		{`{"Text":"` + strings.Repeat("a", maxBytes) + `"}`, errStranger.Error(), 401},
	} {
		testBody(t, client, []byte(c.body), c.status, c.want)
	}
}

func testBody(t *testing.T, client *Client, body []byte, status int, want string) {
	t.Helper()
	request := must.Have(http.NewRequest(http.MethodPost, client.Base+"/ask", bytes.NewReader(body)))(t)
	ask(t, client)
	client.line.sign(request, body, client.challenge)
	response := must.Have(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode != status || !strings.Contains(string(text), want) {
		t.Errorf("%.30s: %d %s", body, response.StatusCode, text)
	}
}
