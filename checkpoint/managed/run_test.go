package managed

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/must"
)

// forgetful is a manager that keeps no record of what it was asked for, and misses all of it.
type forgetful struct {
	during func() error
	again  []bool
}

func (*forgetful) User(json.RawMessage) (*command.User, error) { return nil, nil }

func (m *forgetful) Start(_ context.Context, t Task) error {
	m.again = append(m.again, t.Again)
	return m.during()
}

func (*forgetful) Stop(context.Context, string, int64, string) (bool, error) { return false, nil }

func (*forgetful) Trouble(context.Context, string, int64, Part) (string, bool, error) {
	return "it is missing", false, nil
}

// A run is asked for once, by all servers and masters together; a call that may have come through is repeated as such. What is missing
// is trouble when it was asked for: neither before that nor meanwhile.
func TestAskedOnce(t *testing.T) {
	m, dir, shared := &forgetful{}, t.TempDir(), t.TempDir()
	lr := runner.Run{Job: "lr", Attempt: 1, Containers: []string{"n1", "n2"}, Dir: filepath.Join(shared, "1")}
	master := func(epoch int64) *Fleet {
		f := must.Have(NewFleet(Config{Manager: m, Store: &storetest.MemStore{}, Dir: dir, Shared: shared, Epoch: epoch, Secret: wire.NewSecret(),
			Lease: time.Second, Slack: time.Second, Window: time.Second}, nil))(t)
		return f
	}
	f := master(1)
	trouble := func(want string) {
		t.Helper()
		if got, _, err := f.trouble(t.Context(), lr.Job, lr.Attempt, lr.Dir, Part{"n1", 0, 1}); got != want || err != nil {
			t.Errorf("the trouble is %q, %v, want %q", got, err, want)
		}
	}
	lost := errors.New("nobody knows whether it came through")
	start := func(fault error, want ...bool) {
		t.Helper()
		m.during = func() error { trouble(""); return fault }
		if err := f.start(t.Context(), &Task{Run: lr, Credential: filepath.Join(shared, "credential")}); !errors.Is(err, fault) || !slices.Equal(m.again, want) {
			t.Errorf("%v; started again: %v, want %v", err, m.again, want)
		}
		trouble("it is missing")
	}
	trouble("")
	start(lost, false)
	start(nil, false, true)
	start(nil, false, true)
	f = master(2)
	start(nil, false, true, true)
	must.Do(t, f.Forget(lr.Job))
	trouble("")
	start(nil, false, true, true, false)
	lr.Attempt, lr.Dir = 2, filepath.Join(shared, "2")
	trouble("")
	start(nil, false, true, true, false, false)
}
