// This file implements the calls between the programs of the in-house scheduler: JSON over HTTP with a
// bearer token, bodies of bounded size and time limits on both ends.

// Package wire carries the calls between the in-house scheduler's master, agents and command line.
package wire

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

// Limits of a call.
const (
	// MaxBytes bounds a body, in either direction.
	MaxBytes = 1 << 20
	// ReadLimit and IdleLimit are how long a server waits for a request and for the next one.
	ReadLimit = 10 * time.Second
	IdleLimit = 2 * time.Minute
)

// fault is the body of an answer that is not 200.
type fault struct {
	Error string `json:"error"`
}

// Handle answers POST requests to path with what serve returns. A request without the token gets 401,
// one that is not a single JSON value of the type Q 400; an error of serve is answered by 409 if it wraps
// checkpoint.ErrFenced and by 422 otherwise. Whatever fails while the server goes down is answered by
// 503: that says nothing of the request, and the next server may be asked.
func Handle[Q, A any](mux *http.ServeMux, path, token string, serve func(context.Context, Q) (A, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		if !Authorized(r, token) {
			reply(w, http.StatusUnauthorized, fault{"the bearer token is missing or wrong"})
			return
		}
		var question Q
		if err := decode(http.MaxBytesReader(w, r.Body, MaxBytes), &question); err != nil {
			reply(w, http.StatusBadRequest, fault{err.Error()})
			return
		}
		answer, err := serve(r.Context(), question)
		switch {
		case err != nil && r.Context().Err() != nil:
			reply(w, http.StatusServiceUnavailable, fault{"the server is going down: " + err.Error()})
		case errors.Is(err, checkpoint.ErrFenced):
			reply(w, http.StatusConflict, fault{err.Error()})
		case err != nil:
			reply(w, http.StatusUnprocessableEntity, fault{err.Error()})
		default:
			reply(w, http.StatusOK, answer)
		}
	})
}

// Authorized tells whether a request carries the token; an empty token is nobody's.
func Authorized(r *http.Request, token string) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// decode reads one JSON value without unknown fields and nothing after it.
func decode(body io.Reader, value any) error {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("request: more than one value")
	}
	return nil
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // whoever asked is gone
}

// Client calls one server.
type Client struct {
	// Base is the server's address, "http://host:port"; Token its bearer token.
	Base, Token string
}

// StatusError is an answer other than 200.
type StatusError struct {
	Status int
	Text   string
}

// Error returns what the server said.
func (e *StatusError) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Status) }

// Unwrap returns checkpoint.ErrFenced for an answer of that meaning.
func (e *StatusError) Unwrap() error {
	if e.Status == http.StatusConflict {
		return checkpoint.ErrFenced
	}
	return nil
}

// Refused reports whether err is an answer that the same request would get again. A server that is going
// down, and one that does not answer, have not refused anything.
func Refused(err error) bool {
	var answer *StatusError
	return errors.As(err, &answer) && answer.Status != http.StatusServiceUnavailable
}

// Call asks path and decodes the answer into answer. It ends with the context at the latest.
func (c *Client) Call(ctx context.Context, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxBytes+1))
	if err != nil {
		return err
	}
	if len(data) > MaxBytes {
		return fmt.Errorf("%s%s: the answer is longer than %d bytes", c.Base, path, MaxBytes)
	}
	if response.StatusCode != http.StatusOK {
		text := &fault{}
		if json.Unmarshal(data, text) != nil || text.Error == "" {
			text.Error = response.Status
		}
		return &StatusError{response.StatusCode, text.Error}
	}
	return json.Unmarshal(data, answer)
}

// Serve answers requests on the listener until the context ends, then closes every connection.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadTimeout: ReadLimit, IdleTimeout: IdleLimit,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
