// This file implements claims by HTTP.

package guard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/apportion/apportion/checkpoint/wire"
)

// maxBody bounds a claim and an answer, in bytes. A claim is largest with the list of files of a save in it.
const maxBody = 1 << 16

// HTTP asks a desk that answers at a URL, see [Desk.Handler].
type HTTP struct {
	// URL is where claims are posted to.
	URL string
	// Credential signs the claims, and tells by their signatures which answers are the desk's, see package wire: whoever
	// listens at the URL in the desk's place learns no secret, and vouches for nobody. Zero: nothing is signed, which is
	// right for a socket in a folder that is nobody else's.
	Credential wire.Credential
	// Client is what asks; nil: a client without a proxy, which must not be a stranger's.
	Client *http.Client

	mu sync.Mutex
	// signer is made at the first claim, and knows the desk's challenge then.
	signer *wire.Client
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
// Each call is one request, and calls may be made at the same time.
func (h *HTTP) Renew(ctx context.Context, c Claim) (Grant, error) {
	// On a socket the folder says who may listen, and a signature would add nothing.
	if h.Credential == (wire.Credential{}) {
		return h.post(ctx, c)
	}
	// The client of package wire signs the path beside the body, so that a claim cannot be posted again elsewhere.
	address, err := url.Parse(h.URL)
	if err != nil {
		return Grant{}, err
	}
	var grant Grant
	if err := h.signing(address).Call(ctx, cmp.Or(address.EscapedPath(), "/"), c, &grant); err != nil {
		return Grant{}, fmt.Errorf("guard: %w", err)
	}
	return grant, nil
}

// signing returns the client that signs claims, always the same.
func (h *HTTP) signing(address *url.URL) *wire.Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.signer == nil {
		h.signer = h.Credential.Client(address.Scheme + "://" + address.Host)
		h.signer.HTTP = h.Client
	}
	return h.signer
}

// post claims without a signature.
func (h *HTTP) post(ctx context.Context, c Claim) (Grant, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return Grant{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return Grant{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	// The default client would go through the proxy that the environment names.
	client := cmp.Or(h.Client, direct)
	response, err := client.Do(request)
	if err != nil {
		return Grant{}, err
	}
	defer response.Body.Close()
	// Whoever answers may send any amount; what is longer is cut and then no JSON.
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return Grant{}, err
	}
	// Every other status is an error of which the text is told, cut short: nothing is renewed by it.
	if response.StatusCode != http.StatusOK {
		return Grant{}, fmt.Errorf("guard: %s answers %s: %.200s", h.URL, response.Status, text)
	}
	var grant Grant
	if err := json.Unmarshal(text, &grant); err != nil {
		return Grant{}, fmt.Errorf("guard: %s: %w", h.URL, err)
	}
	return grant, nil
}

// Party is what the guards of one run are called, those of an attempt of a job: they share a credential, which signs no claim of
// any other run.
func Party(job string, attempt int64) wire.Party {
	// The number has no slash, and what follows the first one is the job, whatever its name.
	return wire.Party{Role: wire.Guard, Name: strconv.FormatInt(attempt, 10) + "/" + job}
}

// Handler answers claims that are posted and signed by a guard of the gate's cluster for its own run, see [Party], each once and
// as [Desk.Await] does; see package wire for what others get. One that is not granted because the desk does not know the run, or
// was replaced, is an error: the guard asks again. A run that is fenced off is answered by a grant that says so.
func (d *Desk) Handler(g *wire.Gate) http.Handler {
	return wire.Handler(g, func(ctx context.Context, c Claim) (Grant, error) {
		if wire.Caller(ctx) != Party(c.Job, c.Attempt) {
			return Grant{}, fmt.Errorf("guard: the claim is signed by a guard of another run than attempt %d of job %q", c.Attempt, c.Job)
		}
		return d.Await(ctx, c)
	}, wire.Guard)
}

// open answers every claim with what answer says, for a socket. One that is none gets 400, one that is not granted 409.
// Nobody is asked who he is: that is for the folder of the socket to say.
func open(answer func(Claim) (Grant, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c Claim
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&c); err != nil || r.Method != http.MethodPost {
			http.Error(w, "this is no claim", http.StatusBadRequest)
			return
		}
		grant, err := answer(c)
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(grant) // whoever asked is gone
	})
}
