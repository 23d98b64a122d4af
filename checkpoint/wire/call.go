// This file implements calls: JSON over HTTP, signed, with bodies of bounded size and time limits on both ends.

package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/apportion/apportion/checkpoint"
)

// maxBytes bounds a body, in either direction.
const maxBytes = 1 << 20

// What follows has no other protocol: a server that was not written in Go needs POST, JSON and the headers of the package's
// documentation.

// fault is the body of an answer that is not 200.
type fault struct {
	Error string `json:"error"`
}

// Handle answers POST requests to path as [Handler] does.
func Handle[Q, A any](mux *http.ServeMux, path string, g *Gate, serve func(context.Context, Q) (A, error), roles ...Role) {
	mux.Handle("POST "+path, Handler(g, serve, roles...))
}

// Handler answers requests with what serve returns, if one of the roles has made them, see [Gate]. A request of
// anybody else gets 401, and its body is not read; one that is signed for another challenge gets 421, and one that is not a
// single JSON value of the type Q 400; an error of serve is answered by 409 if it wraps checkpoint.ErrFenced and by 422
// otherwise. Whatever fails while the server goes down is answered by 503: that says nothing of the request, and the next
// server may be asked. [Caller] tells serve who asks.
func Handler[Q, A any](g *Gate, serve func(context.Context, Q) (A, error), roles ...Role) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l, err := g.admit(r, roles)
		if err != nil {
			g.refuse(w, l, r, err)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
		// Not even the refusal is signed: the headers may be overheard, and are of another body.
		if err != nil || digest(body) != r.Header.Get(headerDigest) {
			g.refuse(w, nil, r, errStranger)
			return
		}
		var question Q
		if err := decode(bytes.NewReader(body), &question); err != nil {
			g.reply(w, l, r, http.StatusBadRequest, fault{err.Error()})
			return
		}
		// The context is that of the connection and of the server: an order ends with whoever waits for its answer.
		answer, err := serve(context.WithValue(r.Context(), callerKey{}, l.from), question)
		switch {
		// This comes first: what serve says while it is cut off is no judgement of the request, not even that it is fenced.
		case err != nil && r.Context().Err() != nil:
			g.reply(w, l, r, http.StatusServiceUnavailable, fault{"the server is going down: " + err.Error()})
		case errors.Is(err, checkpoint.ErrFenced):
			g.reply(w, l, r, http.StatusConflict, fault{err.Error()})
		case err != nil:
			g.reply(w, l, r, http.StatusUnprocessableEntity, fault{err.Error()})
		default:
			g.reply(w, l, r, http.StatusOK, answer)
		}
	})
}

// refuse answers a request that is not let in.
func (g *Gate) refuse(w http.ResponseWriter, l *line, r *http.Request, err error) {
	if l == nil {
		// The rest of the body is not waited for.
		w.Header().Set("Connection", "close")
	} else {
		// A connection of the cluster is used again, which takes that the body was read.
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBytes)) // whatever it is
	}
	status := http.StatusUnauthorized
	if errors.Is(err, errStale) {
		status = http.StatusMisdirectedRequest
	}
	g.reply(w, l, r, status, fault{err.Error()})
}

// decode reads one JSON value without unknown fields and nothing after it.
func decode(body io.Reader, value any) error {
	// A field that is not known is one of a later version, or a slip of the pen: to pass over it would be to do something else
	// than was asked.
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

// reply answers a request, signed where there is somebody to sign for.
func (g *Gate) reply(w http.ResponseWriter, l *line, r *http.Request, status int, value any) {
	// The whole answer is made before its first byte goes, for the signature stands in front of it.
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	if l != nil {
		challenge := g.challenges.current()
		w.Header().Set(headerChallenge, challenge)
		w.Header().Set(headerSignature, l.ofAnswer(r.Header.Get(headerNonce), challenge, status, body))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever asked is gone
}

// Client calls one server. It is safe for concurrent use, and should be kept: the first call of each asks twice.
type Client struct {
	// Base is the server's address, "http://host:port", or "https://host:port" with an HTTP that knows its authority.
	Base string
	// HTTP is what asks; nil: a client without a proxy.
	HTTP *http.Client

	line line

	mu        sync.Mutex
	challenge string // the newest of the server
}

// Client returns a client by which a party calls a master.
func (c Credential) Client(base string) *Client {
	return &Client{Base: base, line: line{c.Cluster, c.Key, c.Party, Party{Role: Master}}}
}

// Client returns a client by which a master calls a party.
func (s Secret) Client(base string, to Party) *Client {
	c := s.Credential(to)
	return &Client{Base: base, line: line{c.Cluster, c.Key, Party{Role: Master}, to}}
}

// direct is what clients ask with that have no HTTP of their own.
var direct = HTTP(nil)

// ErrUnsigned: somebody has answered who is not of the cluster. That says nothing of the request.
var ErrUnsigned = errors.New("wire: the answer is not signed by who was called")

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
// down, one that has begun anew, and one that does not answer, have not refused anything.
func Refused(err error) bool {
	var answer *StatusError
	return errors.As(err, &answer) && answer.Status != http.StatusServiceUnavailable && answer.Status != http.StatusMisdirectedRequest
}

// Call asks path and decodes the answer into answer. It ends with the context at the latest.
func (c *Client) Call(ctx context.Context, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	if len(body) > maxBytes {
		return fmt.Errorf("%s%s: the question is longer than %d bytes", c.Base, path, maxBytes)
	}
	data, err := c.ask(ctx, path, body)
	// Nothing was done. The server is new to the client, or has a new challenge, which is known by now.
	var status *StatusError
	if errors.As(err, &status) && status.Status == http.StatusMisdirectedRequest {
		data, err = c.ask(ctx, path, body)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}

// ask sends a request once and returns the body of its answer.
func (c *Client) ask(ctx context.Context, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	c.mu.Lock()
	c.line.sign(request, body, c.challenge)
	c.mu.Unlock()
	client := cmp.Or(c.HTTP, direct)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	// A byte more than is allowed tells an answer that is too long from one that just fits.
	data, err := io.ReadAll(io.LimitReader(response.Body, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s%s: the answer is longer than %d bytes", c.Base, path, maxBytes)
	}
	return data, c.believe(request, response, data)
}

// believe returns an error unless an answer is one of the callee that grants the request, and keeps its challenge.
func (c *Client) believe(request *http.Request, response *http.Response, data []byte) error {
	// Before this nothing of the answer is believed, not even its status: whoever has the port may have sent it.
	challenge := response.Header.Get(headerChallenge)
	signature := c.line.ofAnswer(request.Header.Get(headerNonce), challenge, response.StatusCode, data)
	if !hmac.Equal([]byte(response.Header.Get(headerSignature)), []byte(signature)) {
		return fmt.Errorf("%w: %s says %.100q (%d)", ErrUnsigned, request.URL, data, response.StatusCode)
	}
	c.mu.Lock()
	c.challenge = challenge
	c.mu.Unlock()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	text := &fault{}
	if json.Unmarshal(data, text) != nil || text.Error == "" {
		text.Error = response.Status
	}
	return &StatusError{response.StatusCode, text.Error}
}
