// This file tests the address behind which controllers follow each other.

package managertest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// Whoever is in charge answers, and connections to the one before end.
func TestFront(t *testing.T) {
	f := newFront(t)
	client := http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	ask := func() string {
		response, err := client.Get("http://" + f.address())
		if err != nil {
			return ""
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body) // an error is another answer
		return string(text)
	}
	answers := func(text string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
		t.Cleanup(server.Close)
		return server.Listener.Addr().String()
	}
	first, second := answers("first"), answers("second")
	must.Equal(t, ask(), "", "nobody answers")
	for _, to := range []struct{ address, want string }{{first, "first"}, {first, "first"}, {second, "second"}, {first, "first"}} {
		f.turn(to.address)
		for range 3 {
			must.Equal(t, ask(), to.want, "answers")
		}
	}
	held := must.Have(net.Dial("tcp", f.address()))(t)
	defer held.Close()
	_, _ = fmt.Fprint(held, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // its answer says whether it was heard
	must.Have(held.Read(make([]byte, 1)))(t)
	f.turn(second)
	if _, err := io.Copy(io.Discard, held); err != nil {
		t.Logf("it has ended with %v", err)
	}
}
