// This file plays those who listen, repeat, change and forge.

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
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
	must.Equal(t, len(*all), 1, "requests were heard")
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
		must.Equal(t, h.repeat(t, client.Base, change), http.StatusUnauthorized, name)
	}
	same := func(*heard) {}
	must.Equal(t, h.repeat(t, client.Base, same), http.StatusOK, "as it")
	must.Equal(t, h.repeat(t, client.Base, same), http.StatusUnauthorized, "again")
	h = hear(t, client, "/ask", question{"hello"})
	must.Equal(t, h.repeat(t, client.Base, func(h *heard) { h.body = []byte(`{"Text":"bye"}`) }), http.StatusUnauthorized, "another body")
}

// text is a key as its file has it.
func (k Key) text() string { text, _ := k.MarshalText(); return string(text) }

func serveAgent(t *testing.T, name string) (string, *agenttest.Server) {
	s := &agenttest.Server{ID: name}
	mux := http.NewServeMux()
	HandleAgent(mux, secret.Credential(Party{Agent, name}).Gate(), s)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, s
}

// An order with a huge epoch, which would fence off all masters to come, gets through from a master alone.
func TestHugeEpoch(t *testing.T) {
	base, _ := serveAgent(t, "north")
	order := agent.Order{Effect: checkpoint.Effect{ID: 1, Epoch: math.MaxInt64, Action: checkpoint.Stop, Job: "lr", Attempt: 1}}
	text := must.Have(json.Marshal(order))(t)
	attacks := map[string]*Client{
		"another cluster's master": NewSecret().Client(base, north),
		"a user":                   secret.Credential(ann).Client(base),
		"the agent itself":         secret.Credential(north).Client(base),
		"another agent":            secret.Credential(Party{Agent, "south"}).Client(base),
	}
	for name, client := range attacks {
		must.Err(t, client.Call(t.Context(), "/effect", order, &checkpoint.Reply{}), ErrUnsigned, name)
	}
	// The same order was said to another agent: it is not for this one.
	h := hear(t, secret.Client(base, Party{Agent, "south"}), "/effect", order)
	for _, to := range []Party{{Agent, "south"}, north} {
		must.Equal(t, h.repeat(t, base, func(h *heard) { h.header.Set(headerTo, to.String()) }), http.StatusUnauthorized, "an order for another agent")
	}
	response := must.Have(http.Post(base+"/effect", "application/json", bytes.NewReader(text)))(t)
	response.Body.Close()
	must.Equal(t, response.StatusCode, http.StatusUnauthorized, "nobody")
	later := &Remote{secret.Client(base, north)}
	reply, err := later.Do(t.Context(), agent.Order{Effect: checkpoint.Effect{ID: 2, Epoch: 1, Action: checkpoint.Stop, Job: "lr", Attempt: 1}})
	if err != nil || reply.Outcome == checkpoint.Fenced {
		t.Errorf("the true master afterwards: %+v, %v", reply, err)
	}
	must.Have(later.Status(t.Context(), agent.Question{Epoch: 1}))(t, "the true master's question")
}

// An answer to one question is none to another, nor with another status.
func TestForgedAnswer(t *testing.T) {
	client := start(t)
	var captured *http.Response
	var text []byte
	ask(t, client)
	tap := aside(client, client.Base, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if captured == nil {
			captured, text = response, body
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
		return response, err
	})})
	if err := tap.Call(t.Context(), "/ask", question{"fail"}, new(string)); !Refused(err) {
		t.Fatal(err)
	}
	for name, forge := range map[string]roundTrip{
		"of another question": func(*http.Request) (*http.Response, error) {
			forged := *captured
			forged.Body = io.NopCloser(bytes.NewReader(text))
			return &forged, nil
		},
		"with another status": func(r *http.Request) (*http.Response, error) {
			response, err := http.DefaultTransport.RoundTrip(r)
			if err == nil {
				response.StatusCode = http.StatusConflict
			}
			return response, err
		},
	} {
		tap.HTTP = &http.Client{Transport: forge}
		must.Err(t, tap.Call(t.Context(), "/ask", question{"fail"}, new(string)), ErrUnsigned, "an answer", name)
	}
}

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
	must.Equal(t, must.Have(ReadCredential(text))(t), c)
	for _, bad := range []string{"", "{}", `{"cluster":"x","party":{"role":"agent"}}`, strings.Replace(string(text), `"key":"`, `"key":"zz`, 1),
		strings.Replace(string(text), `"agent"`, `"master"`, 1)} {
		must.Fail(ReadCredential([]byte(bad)))(t, must.ErrAny, bad, "is a credential")
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
		must.Equal(t, must.Have(readParty(p.String()))(t), p)
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
		must.Equal(t, secret.Opens(address, now.Add(test.passed)), test.want, test.address, "after", test.passed)
	}
}

// closing is the body of an answer that counts how often it is closed.
type closing struct {
	io.Reader
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

// The body of an answer is closed, whatever is in it: the connection would stay open for ever.
func TestAnswersAreClosed(t *testing.T) {
	for what, body := range map[string]io.Reader{
		"nothing": strings.NewReader(""), "nonsense": strings.NewReader("no answer"), "too much": io.LimitReader(zeros{}, maxBytes+10),
		"broken off": io.MultiReader(strings.NewReader("{"), iotest.ErrReader(io.ErrUnexpectedEOF)),
	} {
		closed := 0
		client := secret.Credential(north).Client("http://nowhere")
		client.HTTP = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: closing{body, &closed}}, nil
		})}
		if err := client.Call(t.Context(), "/v1/anything", struct{}{}, &struct{}{}); err == nil || closed == 0 {
			t.Errorf("%s: closed %d times, %v", what, closed, err)
		}
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
