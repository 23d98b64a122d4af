// This file checks calls to masters that are dead, going down, or do not want.

package cluster

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
)

// serveList has a place's master be a server that answers /list with this error, and tells how often it was
// asked. One that is going down has given up all requests.
func serveList(t *testing.T, p Place, goingDown bool, answer error) *atomic.Int64 {
	t.Helper()
	secret := must.Have(p.Secret())(t)
	asked := new(atomic.Int64)
	mux := http.NewServeMux()
	wire.Handle(mux, "/list", secret.Gate(), func(ctx context.Context, _ master.Nothing) (master.List, error) {
		asked.Add(1)
		return master.List{}, errors.Join(answer, ctx.Err())
	}, wire.User)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	if goingDown {
		cancel()
	}
	server := httptest.NewUnstartedServer(mux)
	server.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	server.Start()
	t.Cleanup(server.Close)
	must.Do(t, p.publish(server.URL))
	return asked
}

func list(t *testing.T, p Place, limit time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return Patiently(ctx, func(ctx context.Context) error { return p.Call(ctx, "/list", master.Nothing{}, &master.List{}) })
}

// A master that is going down is asked again until there is another one, whose word counts.
func TestPatiently(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer error // of the second master
	}{{"works", nil}, {"refuses", errors.New("own reason")}} {
		p := Place(t.TempDir())
		dying := serveList(t, p, true, nil)
		ended := make(chan error, 1)
		go func() { ended <- list(t, p, time.Minute) }()
		for limit := time.Now().Add(time.Minute); dying.Load() < 2; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("%s: the master that goes down was asked %d times: %v", test.name, dying.Load(), <-ended)
			}
		}
		asked := serveList(t, p, false, test.answer)
		if err := <-ended; (err == nil) != (test.answer == nil) || err != nil && !strings.Contains(err.Error(), "own reason") {
			t.Errorf("%s: %v", test.name, err)
		}
		must.Equal(t, asked.Load(), 1, test.name, "the second master was asked", "times")
	}
}

// What the command lines of the programs say, their flags understand.
func TestPrograms(t *testing.T) {
	p := Place(t.TempDir())
	want := apportion.Server{ID: "north", Capacity: apportion.Resources{4, 8}}
	programs := Programs(p, []apportion.Server{want}, []string{"-more", "a"}, []string{"-more", "b"})
	for i, subcommand := range []string{"master", "agent"} {
		var server apportion.Server
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		dir, more := Flag(flags, "elsewhere"), flags.String("more", "", "")
		ServerFlags(flags, &server)
		args := programs[i].Args
		must.Do(t, flags.Parse(args[1:]))
		if args[0] != subcommand || *dir != p || *more != string("ab"[i]) || flags.NArg() > 0 {
			t.Errorf("%v are understood as place %s, more %q", args, *dir, *more)
		}
		if i == 1 && (server.ID != want.ID || !slices.Equal(server.Capacity, want.Capacity) || programs[i].Name != want.ID) {
			t.Errorf("%v are understood as %+v", args, server)
		}
	}
}

func TestServerNeedsAName(t *testing.T) {
	if err := RunAgent(t.Context(), Place(t.TempDir()), AgentOptions{Server: apportion.Server{ID: "a\nb"}}, io.Discard); err == nil || !strings.Contains(err.Error(), "-name") {
		t.Errorf("a server without a good name: %v", err)
	}
}

// Two processes in one place are told of with what they said.
func TestTwice(t *testing.T) {
	p := Place(t.TempDir())
	must.Do(t, p.Twice("lr"))
	folder := filepath.Join(p.Shared(), "lr")
	must.Do(t, os.MkdirAll(folder, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(folder, TwiceFile), []byte("rank 3\n"), 0o600))
	if err := p.Twice("lr"); err == nil || !strings.HasPrefix(err.Error(), `job "lr": two processes`) || !strings.HasSuffix(err.Error(), ": rank 3") {
		t.Error(err)
	}
	must.Do(t, os.WriteFile(filepath.Join(p.Shared(), "file"), nil, 0o600))
	if err := p.Twice("file"); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a folder that cannot be read: %v", err)
	}
}

// Without a master it is the context that ends it, and the error says what was missing.
func TestPatienceEnds(t *testing.T) {
	p := Place(t.TempDir())
	if err := list(t, p, 100*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), URLFile) {
		t.Errorf("no master: %v", err)
	}
	serveList(t, p, true, nil)
	must.Err(t, list(t, p, 100*time.Millisecond), context.DeadlineExceeded, "a master that is going down for ever")
}
