// This file checks that a state file is one run's at a time, and that no link leads a run elsewhere.

package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// faultOf is the one fault of an answer.
func faultOf(t *testing.T, code int, errs string) inputFault {
	t.Helper()
	var answer failure
	if err := json.Unmarshal([]byte(errs), &answer); err != nil || code != failed || len(answer.Faults) != 1 {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	return answer.Faults[0]
}

// Another run holds the state: the second one is refused and changes nothing, and goes on when the first has gone.
func TestStateIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	text := workloadText(t, 1, true)
	release, free, err := lockFile(path + ".lock")
	if err != nil || !free {
		t.Fatal(free, err)
	}
	code, _, errs := stated(t, path, text)
	if fault := faultOf(t, code, errs); fault.Field != "lock" || !strings.Contains(fault.Problem+fault.Detail, "another run holds it") {
		t.Errorf("%+v", fault)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the refused run has written: %v", err)
	}
	release()
	if code, _, errs := stated(t, path, text); code != answered {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, err := os.Lstat(path + ".lock"); !os.IsNotExist(err) {
		t.Errorf("a lock is left over: %v", err)
	}
}

// Many take the lock and let go of it, which removes the file: never do two have it.
func TestLockOfRemovedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	var held sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				release, free, err := lockFile(name)
				if err != nil {
					t.Error(err)
					return
				}
				if !free {
					continue
				}
				if !held.TryLock() {
					t.Error("two have the lock")
				} else {
					time.Sleep(10 * time.Microsecond)
					held.Unlock()
				}
				release()
			}
		})
	}
	all.Wait()
}

// A link in the place of the state, or of its lock, is not followed, and a pipe is not waited for.
func TestStateIsNoLink(t *testing.T) {
	text := workloadText(t, 1, true)
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "elsewhere")
	if code, _, errs := stated(t, elsewhere, text); code != answered {
		t.Fatal(errs)
	}
	before := contents(t, elsewhere)
	for _, name := range []string{"state", "other.lock"} {
		must.Do(t, os.Symlink(elsewhere, filepath.Join(dir, name)))
		code, _, errs := stated(t, filepath.Join(dir, strings.TrimSuffix(name, ".lock")), text)
		if code != failed || errs == "" {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	must.Equal(t, contents(t, elsewhere), before, "what a link leads to was changed")
}

// TestOneListens begins many services at once on the socket that one left behind which was killed: one listens, and the others say so. The
// next one after it listens again.
func TestOneListens(t *testing.T) {
	folder, err := os.MkdirTemp("", "serve") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "s")
	for range 50 {
		stale := must.Have(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
		stale.SetUnlinkOnClose(false)
		_ = stale.Close()
		const services = 8
		listeners := make(chan net.Listener, services)
		var begun sync.WaitGroup
		for range services {
			begun.Go(func() {
				l, err := listenUnix(path)
				if err == nil {
					listeners <- l
				} else if !strings.Contains(err.Error(), "another service") {
					t.Error(err)
				}
			})
		}
		begun.Wait()
		must.Equal(t, len(listeners), 1, "services listen on one socket")
		must.Do(t, (<-listeners).Close())
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Fatalf("it leaves %v, %v", left, err)
		}
	}
}
