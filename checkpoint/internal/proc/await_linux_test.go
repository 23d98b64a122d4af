// This file tests waiting for processes that are nobody's children, and what tells processes of one number apart.

package proc_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/proc"
	"github.com/apportion/apportion/internal/must"
)

// grandchild starts a process through a shell that has ended, so that it is no child of this one.
func grandchild(t *testing.T) int {
	t.Helper()
	out := must.Have(exec.Command("sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!").Output())(t)
	pid := must.Have(strconv.Atoi(strings.TrimSpace(string(out))))(t)
	t.Cleanup(func() { kill(pid) })
	return pid
}

func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // it may have ended
	}
}

func lives(pid int) func() bool {
	return func() bool { _, ok := proc.Stat(pid); return ok }
}

// The end of a process wakes whoever waits, and nothing else does before the context.
func TestAwait(t *testing.T) {
	pid := grandchild(t)
	ended := make(chan error, 1)
	asked := make(chan struct{}, 8)
	go func() {
		ended <- proc.Await(context.Background(), pid, func() bool { asked <- struct{}{}; return lives(pid)() })
	}()
	<-asked // it waits, or is about to
	select {
	case err := <-ended:
		t.Fatalf("it has ended: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	kill(pid)
	select {
	case err := <-ended:
		if _, ok := proc.Stat(pid); err != nil || ok {
			t.Errorf("%v, and alive is %v", err, ok)
		}
	case <-time.After(time.Minute):
		t.Fatal("nobody was woken by the end")
	}
	if n := len(asked); n > 3 {
		t.Errorf("it was asked %d times more: that is no wait", n)
	}
}

func TestAwaitWhatIsNotWaitedFor(t *testing.T) {
	pid := grandchild(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	must.Err(t, proc.Await(ctx, pid, lives(pid)), context.DeadlineExceeded, "the context has ended, and the process has")
	must.Err(t, proc.Await(ctx, pid, lives(pid)), context.DeadlineExceeded, "the context had ended before")
	// The number is another's by now.
	must.Do(t, proc.Await(t.Context(), pid, func() bool { return false }), "of a process that is not meant")
	kill(pid)
	for limit := time.Now().Add(time.Minute); lives(pid)(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("it does not end")
		}
	}
	must.Do(t, proc.Await(t.Context(), pid, lives(pid)), "after its end")
	must.Do(t, proc.Await(t.Context(), 1<<30, lives(1<<30)), "of a process that never")
	for _, none := range []int{0, -1} {
		must.Err(t, proc.Await(t.Context(), none, lives(none)), must.ErrAny, none, "stands for no process")
	}
}

func TestIdentity(t *testing.T) {
	self, ok := proc.Identity(os.Getpid())
	again, _ := proc.Identity(os.Getpid())
	parent, there := proc.Identity(os.Getppid())
	if !ok || !there || self != again || self == parent {
		t.Errorf("%d, %d and the parent's %d", self, again, parent)
	}
	if id, ok := proc.Identity(1 << 30); ok {
		t.Errorf("a process that is not there: %d", id)
	}
}
