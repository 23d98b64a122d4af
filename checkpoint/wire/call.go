// This file implements calls: JSON over HTTP, signed, with bodies of bounded size and time limits on both ends.

package wire

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

// MaxBytes bounds a body, in either direction.
const MaxBytes = 1 << 20

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
// anybody else gets 401, one that is not a single JSON value of the type Q 400; an error of serve is answered by 409 if it
// wraps checkpoint.ErrFenced and by 422 otherwise. Whatever fails while the server goes down is answered by 503: that says
// nothing of the request, and the next server may be asked. [Caller] tells serve who asks.
func Handler[Q, A any](g *Gate, serve func(context.Context, Q) (A, error), roles ...Role) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Nothing of a stranger's request is looked at but its length.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBytes))
		if err != nil {
			reply(w, nil, r, http.StatusBadRequest, fault{err.Error()})
			return
		}
		l, err := g.admit(r, body, roles)
		if err != nil {
			reply(w, l, r, http.StatusUnauthorized, fault{err.Error()})
			return
		}
		var question Q
		if err := decode(bytes.NewReader(body), &question); err != nil {
			reply(w, l, r, http.StatusBadRequest, fault{err.Error()})
			return
		}
		// The context is that of the connection and of the server: an order ends with whoever waits for its answer.
		answer, err := serve(context.WithValue(r.Context(), callerKey{}, l.from), question)
		switch {
		// This comes first: what serve says while it is cut off is no judgement of the request, not even that it is fenced.
		case err != nil && r.Context().Err() != nil:
			reply(w, l, r, http.StatusServiceUnavailable, fault{"the server is going down: " + err.Error()})
		case errors.Is(err, checkpoint.ErrFenced):
			reply(w, l, r, http.StatusConflict, fault{err.Error()})
		case err != nil:
			reply(w, l, r, http.StatusUnprocessableEntity, fault{err.Error()})
		default:
			reply(w, l, r, http.StatusOK, answer)
		}
	})
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
func reply(w http.ResponseWriter, l *line, r *http.Request, status int, value any) {
	// The whole answer is made before its first byte goes, for the signature stands in front of it.
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	if l != nil {
		w.Header().Set(headerSignature, l.ofAnswer(r.Header.Get(headerNonce), status, body))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever asked is gone
}

// Client calls one server. It is safe for concurrent use.
type Client struct {
	// Base is the server's address, "http://host:port".
	Base string
	// HTTP is what asks; nil: a client without a proxy.
	HTTP *http.Client

	line line
	now  func() time.Time
}

// Client returns a client by which a party calls a master.
func (c Credential) Client(base string) *Client {
	return &Client{Base: base, line: line{c.Cluster, c.Key, c.Party, Party{Role: Master}}, now: time.Now}
}

// Client returns a client by which a master calls a party.
func (s Secret) Client(base string, to Party) *Client {
	c := s.Credential(to)
	return &Client{Base: base, line: line{c.Cluster, c.Key, Party{Role: Master}, to}, now: time.Now}
}

// direct asks without the proxy that the environment may name, which could be a stranger's.
var direct = &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 4, IdleConnTimeout: idleLimit}}

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
	if len(body) > MaxBytes {
		return fmt.Errorf("%s%s: the question is longer than %d bytes", c.Base, path, MaxBytes)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	nonce := c.line.sign(request, body, c.now())
	client := c.HTTP
	if client == nil {
		client = direct
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	// A byte more than is allowed tells an answer that is too long from one that just fits.
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxBytes+1))
	if err != nil {
		return err
	}
	if len(data) > MaxBytes {
		return fmt.Errorf("%s%s: the answer is longer than %d bytes", c.Base, path, MaxBytes)
	}
	// Before this line nothing of the answer is believed, not even its status: whoever has the port may have sent it.
	if !hmac.Equal([]byte(response.Header.Get(headerSignature)), []byte(c.line.ofAnswer(nonce, response.StatusCode, data))) {
		return fmt.Errorf("%w: %s%s says %.100q (%d)", ErrUnsigned, c.Base, path, data, response.StatusCode)
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
