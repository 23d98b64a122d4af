// This file implements claims by HTTP.

package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"crypto/subtle"

	"github.com/apportion/apportion/checkpoint"
)

// maxBody bounds a claim and an answer, in bytes.
const maxBody = 1 << 16

// HTTP asks a desk that answers at a URL, see [Desk.Handler].
type HTTP struct {
	// URL is where claims are posted to.
	URL string
	// Token is the bearer token that the desk asks for; empty: none.
	Token string
	// Client is what asks; nil: a client without a proxy, which must not be a stranger's.
	Client *http.Client
}

// direct asks without the proxy that the environment may name.
var direct = &http.Client{Transport: &http.Transport{Proxy: nil}}

var _ Authority = (*HTTP)(nil)

// NewSocket returns an authority that is asked by HTTP through a Unix socket, at its path. Whoever cannot look into the
// folder of the socket cannot answer in its place, and nobody can on a port that is free; so there is no token.
func NewSocket(path string) *HTTP {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &HTTP{URL: "http://guard/claim", Client: &http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// Renew implements Authority.
func (h *HTTP) Renew(ctx context.Context, c Claim) (Grant, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return Grant{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return Grant{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if h.Token != "" {
		request.Header.Set("Authorization", "Bearer "+h.Token)
	}
	client := h.Client
	if client == nil {
		client = direct
	}
	response, err := client.Do(request)
	if err != nil {
		return Grant{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return Grant{}, err
	}
	if response.StatusCode != http.StatusOK {
		return Grant{}, fmt.Errorf("guard: %s answers %s: %.200s", h.URL, response.Status, text)
	}
	var grant Grant
	if err := json.Unmarshal(text, &grant); err != nil {
		return Grant{}, fmt.Errorf("guard: %s: %w", h.URL, err)
	}
	return grant, nil
}

// Handler answers claims that are posted. One without the token gets 401, one that is none 400, one that is not granted
// because the desk does not know the run, or was replaced, 409: the guard asks again. A run that is fenced off is
// answered by a grant that says so.
func (d *Desk) Handler(token string) http.Handler { return handler(token, d.Answer) }

// handler answers claims with what answer says.
func handler(token string, answer func(Claim) (Grant, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			http.Error(w, "the bearer token is missing or wrong", http.StatusUnauthorized)
			return
		}
		var c Claim
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&c); err != nil || r.Method != http.MethodPost {
			http.Error(w, "this is no claim", http.StatusBadRequest)
			return
		}
		grant, err := answer(c)
		if err != nil {
			text := err.Error()
			if errors.Is(err, checkpoint.ErrFenced) {
				text = "another desk has taken over"
			}
			http.Error(w, text, http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(grant) // whoever asked is gone
	})
}
