// This file tests what the kernel holds the processes of a run together by.

package guard_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/internal/must"
)

// asUser has the guard of a bench run as an ordinary user, which only root can.
func (b *bench) asUser() {
	b.t.Helper()
	if os.Geteuid() != 0 {
		b.t.Skip("only root starts a guard as another user")
	}
	// The folders of package testing, and of this program, are closed to others.
	dir := must.Have(os.MkdirTemp("", "guard-contain-"))(b.t)
	b.t.Cleanup(func() { os.RemoveAll(dir) })
	b.dir, b.program = dir, filepath.Join(dir, "guard.test")
	b.set.Record, b.user = filepath.Join(dir, "record.json"), &syscall.Credential{Uid: stranger.UID, Gid: stranger.GID}
	from := must.Have(os.Open("/proc/self/exe"))(b.t)
	defer from.Close()
	to, err := os.OpenFile(b.program, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close(), os.Chmod(b.program, 0o755), os.Chown(dir, int(stranger.UID), int(stranger.GID))); err != nil {
		b.t.Fatal(err)
	}
}

// heldBy waits until the keeper has said what holds the run, and returns all that was said.
func (b *bench) heldBy() (text string) {
	b.t.Helper()
	b.eventually("what holds the run is said", func() bool {
		all, _ := os.ReadFile(filepath.Join(b.dir, "stderr"))
		text = string(all)
		return strings.Contains(text, "held by: ")
	})
	return text
}

// isolated skips a test where the kernel, or what this test runs in, allows no namespace, and else demands one.
func (b *bench) isolated() {
	b.t.Helper()
	argv := []string{"--pid", "--mount", "--fork", "true"}
	if os.Geteuid() != 0 || b.user != nil {
		argv = append([]string{"--user"}, argv...)
	}
	probe := exec.Command("unshare", argv...)
	probe.SysProcAttr = &syscall.SysProcAttr{Credential: b.user}
	if err := probe.Run(); err != nil {
		b.t.Skip("no PID namespace may be made here:", err)
	}
	if text := b.heldBy(); !strings.Contains(text, "held by: namespace\n") {
		b.t.Fatal("one may be made here, and is not: " + text)
	}
}

// Guard and keeper are killed at once, and nothing of the trainer lives on: not the child, nor the grandchild that has left its session.
func TestBothAreKilled(t *testing.T) {
	for name, prepare := range map[string]func(b *bench){"as this user": func(*bench) {}, "as an ordinary user": (*bench).asUser} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, time.Hour)
			prepare(b)
			b.begins()
			b.isolated()
			keeper := b.keeper()
			// A guard that is stopped does nothing between the two.
			must.Do(t, errors.Join(b.cmd.Process.Signal(syscall.SIGSTOP), syscall.Kill(keeper, syscall.SIGKILL), b.cmd.Process.Kill()))
			b.runs(0)
		})
	}
}

// In the namespace the trainer is the user that it was, with no more rights; its numbers are those of /proc there, mounts are its own, and
// init waits for the processes that have lost their parents.
func TestInside(t *testing.T) {
	for name, prepare := range map[string]func(b *bench){"as this user": func(*bench) {}, "as an ordinary user": (*bench).asUser} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, time.Hour)
			prepare(b)
			b.start(`exec > $DIR/inside 2>&1
				id -u; echo $PPID; [ -d /proc/$$/fd ] && echo fd; sh -c 'read pid rest < /proc/self/stat; [ $pid = $$ ] && echo self'
				ls -d /proc/[0-9]* 2> /dev/null | grep -c . | awk '{print ($1 < 9) ? "alone" : $1}'
				for i in 1 2 3 4 5; do (sh -c "sleep 0.02 &") ; done
				while ls -d /proc/[0-9]* 2> /dev/null | grep -c . | awk '{exit $1 < 9}'; do sleep 0.05; done
				sleep 0.2; cat /proc/[0-9]*/stat 2> /dev/null | grep -c ' Z '
				[ $(id -u) = 0 ] || grep CapEff /proc/self/status`)
			b.isolated()
			if code := b.ends(); code > 1 {
				t.Errorf("exit status %d", code)
			}
			text, err := os.ReadFile(filepath.Join(b.dir, "inside"))
			want := "0 1 fd self alone 0"
			if b.user != nil {
				want = "64001 1 fd self alone 0 CapEff: 0000000000000000"
			} else if os.Geteuid() != 0 {
				t.Skip("the user is not known")
			}
			if got := strings.Join(strings.Fields(string(text)), " "); err != nil || got != want {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
			if info, err := os.Stat("/proc/self"); err != nil || !info.IsDir() {
				t.Errorf("the /proc of this test: %v", err)
			}
		})
	}
}

// Less than what is required is refused before anything is started, and said.
func TestRequiredContainment(t *testing.T) {
	for _, c := range []struct {
		host    bool
		require guard.Containment
		starts  bool
	}{{true, guard.Watched, true}, {true, guard.ControlGroup, false}, {true, guard.Namespace, false}, {false, guard.Watched, true}} {
		b := newBench(t, time.Minute)
		b.set.HostPID, b.set.Containment = c.host, c.require
		b.start("touch $DIR/started")
		code := b.ends()
		if _, err := os.Stat(filepath.Join(b.dir, "started")); (err == nil) != c.starts || (code == 0) != c.starts {
			t.Errorf("%+v: exit status %d, started: %t", c, code, err == nil)
		}
		if text := b.heldBy(); !c.starts && !strings.Contains(text, "held by none, and "+string(c.require)+" is required") {
			t.Errorf("%+v: %s", c, text)
		}
	}
	b := newBench(t, time.Minute)
	b.start("exit 0")
	b.isolated()
	b.ends()
	b = newBench(t, time.Minute)
	b.set.Containment = guard.Namespace
	b.start("exit 0")
	must.Equal(t, b.ends(), 0, "exit status", "in a namespace")
}
