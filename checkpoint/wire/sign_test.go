// This file plays those who listen, repeat, change and forge.

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// heard is a request as somebody sees it who listens.
type heard struct {
	method, path string
	header       http.Header
	body         []byte
}

// impostor listens where a master was, answers what it likes, and returns what it has heard.
func impostor(t *testing.T, answer string) (string, *[]heard) {
	var all []heard
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all = append(all, heard{r.Method, r.URL.Path, r.Header.Clone(), body})
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, &all
}

// repeat sends what was heard to somebody, changed.
func (h heard) repeat(t *testing.T, base string, change func(*heard)) int {
	t.Helper()
	h.header, h.body = h.header.Clone(), bytes.Clone(h.body)
	change(&h)
	r := must.Have(http.NewRequest(h.method, base+h.path, bytes.NewReader(h.body)))(t)
	r.Header = h.header
	response := must.Have(http.DefaultClient.Do(r))(t)
	defer response.Body.Close()
	return response.StatusCode
}

// aside is a client that knows and has what another does, and calls somebody else in another way.
func aside(client *Client, base string, ask *http.Client) *Client {
	return &Client{Base: base, HTTP: ask, line: client.line, challenge: client.challenge}
}

// hear has a question of a client go to an impostor, and returns it.
func hear(t *testing.T, client *Client, path string, question any) heard {
	t.Helper()
	base, all := impostor(t, `"all is well"`)
	var answer string
	if err := aside(client, base, nil).Call(t.Context(), path, question, &answer); !errors.Is(err, ErrUnsigned) || answer != "" {
		t.Errorf("an impostor is believed: %q, %v", answer, err)
	}
	if len(*all) != 1 {
		t.Fatalf("%d requests were heard", len(*all))
	}
	return (*all)[0]
}

// ask has a client call, so that it knows the challenge.
func ask(t *testing.T, client *Client) {
	t.Helper()
	must.Do(t, client.Call(t.Context(), "/ask", question{"hello"}, new(string)))
}

// Who listens in the place of a dead master learns no secret, and can say nothing but what was said, once.
func TestImpostor(t *testing.T) {
	client := start(t)
	ask(t, client)
	h := hear(t, client, "/ask", question{"hello"})
	said := fmt.Sprint(h) + string(h.body)
	for _, text := range []string{client.line.key.text(), secret.key.text()} {
		if strings.Contains(said, text) {
			t.Errorf("the request tells a secret: %s", said)
		}
	}
	for name, change := range map[string]func(*heard){
		"another caller":    func(h *heard) { h.header.Set(headerFrom, Party{User, "bob"}.String()) },
		"an agent":          func(h *heard) { h.header.Set(headerFrom, north.String()) },
		"a master":          func(h *heard) { h.header.Set(headerFrom, "master") },
		"nobody":            func(h *heard) { h.header.Del(headerFrom) },
		"no one in the end": func(h *heard) { h.header.Set(headerFrom, "user/zz") },
		"another nonce":     func(h *heard) { h.header.Set(headerNonce, strings.Repeat("0", 32)) },
		"another challenge": func(h *heard) { h.header.Set(headerChallenge, "1") },
		"another digest":    func(h *heard) { h.header.Set(headerDigest, digest(nil)) },
		"no signature":      func(h *heard) { h.header.Del(headerSignature) },
		"another callee":    func(h *heard) { h.header.Set(headerTo, north.String()) },
	} {
		if status := h.repeat(t, client.Base, change); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	same := func(*heard) {}
	if status := h.repeat(t, client.Base, same); status != http.StatusOK {
		t.Errorf("as it was: %d", status)
	}
	if status := h.repeat(t, client.Base, same); status != http.StatusUnauthorized {
		t.Errorf("again: %d", status)
	}
	h = hear(t, client, "/ask", question{"hello"})
	if status := h.repeat(t, client.Base, func(h *heard) { h.body = []byte(`{"Text":"bye"}`) }); status != http.StatusUnauthorized {
		t.Errorf("another body: %d", status)
	}
}

// text is a key as its file has it.
func (k Key) text() string { text, _ := k.MarshalText(); return string(text) }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// No call goes through a proxy that the environment names. The environment is read once by net/http, so that it must be there from the
// beginning of a process; the test asks for itself as well, through the proxy, to see that there is one.
func TestNoProxy(t *testing.T) {
	if os.Getenv("WIRE_TEST_PROXY") != "" {
		for _, client := range []*Client{secret.Client("http://call.invalid", north), secret.Credential(ann).Client("http://call.invalid")} {
			_ = client.Call(t.Context(), "/ask", question{}, new(string)) // nobody is there
		}
		response := must.Have(http.Get("http://test.invalid/ask"))(t)
		response.Body.Close()
		return
	}
	var heard []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard = append(heard, r.Host) }))
	defer proxy.Close()
	self := must.Have(os.Executable())(t)
	cmd := exec.Command(self, "-test.run", "^TestNoProxy$")
	cmd.Env = append(os.Environ(), "WIRE_TEST_PROXY=yes", "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=", "no_proxy=")
	if out, err := cmd.CombinedOutput(); err != nil || !slices.Equal(heard, []string{"test.invalid"}) {
		t.Errorf("the proxy was asked for %v; %v\n%s", heard, err, out)
	}
}

// Secrets are printed by no verb, survive their files, and are what their names say.
func TestKeys(t *testing.T) {
	c := secret.Credential(north)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if text := fmt.Sprintf(verb+verb+verb, c, secret, c.Key); strings.Contains(text, c.Key.text()[:8]) || strings.Contains(text, secret.key.text()[:8]) ||
			strings.Contains(text, fmt.Sprint(c.Key[0])+" "+fmt.Sprint(c.Key[1])) {
			t.Errorf("%s prints %s", verb, text)
		}
	}
	text := must.Have(json.Marshal(c))(t)
	if again, err := ReadCredential(text); err != nil || again != c {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "{}", `{"cluster":"x","party":{"role":"agent"}}`, strings.Replace(string(text), `"key":"`, `"key":"zz`, 1),
		strings.Replace(string(text), `"agent"`, `"master"`, 1)} {
		if _, err := ReadCredential([]byte(bad)); err == nil {
			t.Errorf("%s is a credential", bad)
		}
	}
	var again Secret
	written, _ := secret.MarshalText()
	if err := again.UnmarshalText(written); err != nil || again != secret || again.Cluster() != secret.Cluster() {
		t.Errorf("%v", err)
	}
	others := map[Key]bool{c.Key: true, secret.key: true}
	for _, p := range []Party{ann, {Agent, "ann"}, {User, "north"}, {Agent, ""}, {User, "ann/"}} {
		if k := secret.Credential(p).Key; others[k] {
			t.Errorf("%v has the key of another", p)
		} else {
			others[k] = true
		}
	}
	for _, p := range []Party{ann, north, {Role: Master}, {User, "a/b\n"}} {
		if got, err := readParty(p.String()); err != nil || got != p {
			t.Errorf("%v: %v, %v", p, got, err)
		}
	}
}

func TestLink(t *testing.T) {
	now := time.Unix(1763836000, 0)
	link := secret.Link("/page", now.Add(time.Hour))
	for _, test := range []struct {
		address string
		passed  time.Duration
		want    bool
	}{
		{link, 0, true}, {link, time.Hour, true}, {link, time.Hour + time.Second, false},
		{strings.Replace(link, "/page", "/other", 1), 0, false},
		{strings.Replace(link, "until=17", "until=27", 1), 0, false},
		{strings.Replace(link, "sign=", "sign=00", 1), 0, false},
		{"/page", 0, false},
		{NewSecret().Link("/page", now.Add(time.Hour)), 0, false},
	} {
		address := must.Have(url.Parse(test.address))(t)
		if got := secret.Opens(address, now.Add(test.passed)); got != test.want {
			t.Errorf("%s after %v: %v", test.address, test.passed, got)
		}
	}
}
