// This file tests how a controller is made from its Config.

package controller

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// made is a controller that is not run.
func made(t *testing.T, lease time.Duration, options *driver.Options) *Controller {
	t.Helper()
	machine, records, err := journal.Open(vfstest.NewMem(), checkpoint.Config{Kinds: apportion.Kinds{"gpu"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = records.Close() })
	c, err := New(Config{Cluster: &told{}, Machine: machine, Journal: records, Store: &storetest.MemStore{}, Dir: t.TempDir(), Shared: t.TempDir(), Secret: wire.NewSecret(),
		Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}}, Lease: lease, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// After the grace nothing lives on a server that gives no answer: it was not reached for as long as ten questions or a fifth of the
// lease take, whatever is longer, then its leases have run out, a tenth later where its clock is slow, and two seconds go into
// the killing.
func TestGraceFollowsRhythms(t *testing.T) {
	for _, c := range []struct{ lease, poll, want time.Duration }{
		{10 * time.Second, 100 * time.Millisecond, 2*time.Second + 10*time.Second + time.Second + slack},
		{10 * time.Second, time.Second, 10*time.Second + 10*time.Second + time.Second + slack},
		{0, 0, max(10*driver.DefaultPoll, 6*time.Second) + DefaultLease + 3*time.Second + slack},
	} {
		must.Equal(t, made(t, c.lease, &driver.Options{Poll: c.poll}).fleet.Grace(), c.want, "lease", c.lease, "poll", c.poll)
	}
	if got, want := made(t, 0, nil).fleet.Grace(), made(t, 0, &driver.Options{}).fleet.Grace(); got != want {
		t.Errorf("%v without options, %v with none set", got, want)
	}
}

// The caller's options stay the caller's, and a controller that has just been made knows nothing.
func TestNewKnowsNothing(t *testing.T) {
	theirs := func(string) json.RawMessage { return json.RawMessage(`"theirs"`) }
	options := driver.Options{Spec: theirs}
	c := made(t, 0, &options)
	must.Equal(t, string(options.Spec("a")), `"theirs"`, "the caller's options have become")
	must.Err(t, c.ready(time.Now()), must.ErrAny, "it is ready before its first look")
	c.see(&View{})
	for age, ready := range map[time.Duration]bool{0: true, readyAge - time.Second: true, readyAge + time.Second: false} {
		if err := c.ready(time.Now().Add(age)); (err == nil) != ready {
			t.Errorf("%v after a look: %v", age, err)
		}
	}
	c = made(t, 0, &options)
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		answer := httptest.NewRecorder()
		c.Handler("user").ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		must.Equal(t, answer.Code, want, path, "without a token")
	}
	if c.View() != nil || c.Last().Decision != nil || len(c.State().Jobs) != 0 {
		t.Errorf("%v, %+v, %+v", c.View(), c.Last(), c.State())
	}
	must.Err(t, c.up("n1"), must.ErrAny, "a server is up that nobody has seen")
}
