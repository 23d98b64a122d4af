//go:build linux

// This file tests trainers that run as a user of their own, below a guard that is root.

package guard_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/internal/must"
)

// stranger is a user that the system need not know.
var stranger = command.User{UID: 64001, GID: 64002, Groups: []uint32{64003}}

// newUserBench is a bench whose trainer is a stranger, who may write into own below its folder. It needs root.
func newUserBench(t *testing.T, length time.Duration) *bench {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root starts processes of another user")
	}
	b := newBench(t, length)
	// The folders of package testing are closed to others.
	b.dir = must.Have(os.MkdirTemp("", "guard-user-"))(t)
	t.Cleanup(func() { os.RemoveAll(b.dir) })
	own := filepath.Join(b.dir, "own")
	must.Do(t, errors.Join(os.Chmod(b.dir, 0o711), os.Mkdir(own, 0o700), os.Chown(own, int(stranger.UID), int(stranger.GID))))
	b.set.User, b.set.Request, b.set.Ack, b.set.Record = &stranger, filepath.Join(b.dir, "request"), filepath.Join(own, "ack"), filepath.Join(b.dir, "record.json")
	return b
}

// A trainer with a user of its own is that user and nothing else, cannot become more, and can neither end its guard nor read what that
// knows. It saves as any other does.
func TestUser(t *testing.T) {
	for _, host := range []bool{false, true} {
		t.Run(fmt.Sprintf("host-pid=%t", host), func(t *testing.T) { testUser(t, host) })
	}
}

func testUser(t *testing.T, host bool) {
	b := newUserBench(t, time.Minute)
	b.set.HostPID = host
	secret := filepath.Join(b.dir, "token")
	must.Do(t, os.WriteFile(secret, []byte("secret"), 0o600))
	b.start(`cd $DIR/own; trap : USR1
		{ echo $(id -u) $(id -g) $(id -G); grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status; } > who
		guard=$(awk '{print $4}' /proc/$PPID/stat); [ $guard -gt 0 ] || guard=$PPID # which has no number in the namespace
		try() { if "$@" > /dev/null 2>&1; then echo "$*" >> done; else echo "$1" >> refused; fi; }
		try kill -0 $PPID; try kill -9 $PPID; try kill -9 $guard; try cat $DIR/token; try cat $DIR/record.json
		try cat /proc/$PPID/environ; try cat /proc/$guard/environ; try ls /proc/$guard/fd; try ls $DIR; try touch $DIR/new
		try sh -c "echo 9 > /proc/$PPID/oom_score_adj"; echo x > /dev/stdout && touch output
		touch ready
		while ! [ -s $DIR/request ]; do sleep 0.02; done
		echo "{\"request\": $(cat $DIR/request), \"files\": [\"f\"]}" > new; mv new ack
		sleep 300`)
	id := guard.ID{Job: "lr", Attempt: 5, Server: "s1"}
	b.eventually("it listens", func() bool { _, err := os.Stat(filepath.Join(b.dir, "own", "ready")); return err == nil })
	number := b.desk.AskSave(id)
	b.eventually("the save is acknowledged", func() bool {
		seen, _ := b.desk.Seen(id)
		return seen.Claim.State.Checkpoint != nil && seen.Claim.State.Checkpoint.Request == number
	})
	text := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(b.dir, "own", name))
		return strings.Join(strings.Fields(string(text)), " ")
	}
	if got, want := text("who"), "64001 64002 64002 64003 NoNewPrivs: 1 CapEff: 0000000000000000"; got != want {
		t.Errorf("the trainer is %q, want %q", got, want)
	}
	must.Equal(t, text("done"), "", "the trainer could")
	must.Equal(t, len(strings.Fields(text("refused"))), 11, "things were refused", text("refused"))
	must.Have(os.Stat(filepath.Join(b.dir, "own", "output")))(t, "the trainer cannot open its output by name")
	b.desk.Fence("lr", 5)
	b.ends()
}

// The trainer of another user dies with its keeper, though its guard is stopped and cannot kill it: the kernel, which forgets whom a
// process dies with when its user changes, was told after that.
func TestUserDiesWithItsKeeper(t *testing.T) {
	b := newUserBench(t, time.Hour)
	b.set.HostPID = true
	b.start("exec sleep 300")
	b.runs(1)
	keeper := b.keeper()
	must.Do(t, errors.Join(b.cmd.Process.Signal(syscall.SIGSTOP), syscall.Kill(keeper, syscall.SIGKILL)))
	b.runs(0)
}

// The signal to save reaches a trainer of another user, and so does the end of its lease, whatever it has started.
func TestUserIsSignalled(t *testing.T) {
	b := newUserBench(t, 2*time.Second)
	b.start(`trap 'touch $DIR/own/heard' USR1; touch $DIR/own/ready; ` + family)
	there := func(name string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join(b.dir, "own", name)); return err == nil }
	}
	b.eventually("it listens", there("ready"))
	must.Do(t, b.cmd.Process.Signal(syscall.SIGUSR1))
	b.eventually("the signal is heard", there("heard"))
	b.deaf.Store(true)
	b.ends()
}

// An acknowledgement that is a link is not followed, though the guard could read what it names.
func TestUserLinksAnswer(t *testing.T) {
	b := newUserBench(t, time.Minute)
	must.Do(t, os.WriteFile(filepath.Join(b.dir, "token"), []byte(`{"request": 1, "files": ["secret"]}`), 0o600))
	b.start(`ln -s $DIR/token $DIR/own/ack; touch $DIR/own/ready; sleep 1`)
	b.ends()
	must.Have(os.Lstat(filepath.Join(b.dir, "own", "ready")))(t)
	if r, err := guard.ReadRecord(b.set.Record); err != nil || r.State.Checkpoint != nil {
		t.Errorf("%+v, %v", r.State.Checkpoint, err)
	}
}

// The command line names a user and makes the folder into which it answers; who cannot be had is refused, and never becomes root.
func TestUserFlag(t *testing.T) {
	for name, value := range map[string]string{"JOB": "lr", "ATTEMPT": "5", "SERVER": "s1", "EPOCH": "3"} {
		t.Setenv("APPORTION_"+name, value)
	}
	dir := t.TempDir()
	for _, bad := range []string{"0:0", "root", "0", "1000:0", "nobody-of-this-name", "1:nobody-of-this-name", "4294967295:1"} {
		var text strings.Builder
		if got := guard.Main(nil, []string{"-socket", filepath.Join(dir, "s"), "-dir", dir, "-user", bad, "sh"}, &text); got != 64 || !strings.Contains(text.String(), "-user") {
			t.Errorf("%s: %d, %s", bad, got, text.String())
		}
	}
	c := guard.Config{ID: guard.ID{Job: "lr", Attempt: 5, Server: "s1"}, Authority: &guard.HTTP{URL: "http://x"}, Argv: []string{"sh"}, User: &stranger}
	err := c.Validate()
	if os.Geteuid() != 0 {
		must.Err(t, err, fs.ErrPermission, "who is not root")
		return
	}
	if err != nil {
		t.Error(err)
	}
	c.User = &command.User{}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "UID") {
		t.Errorf("root: %v", err)
	}
	// -start 1ms: nobody answers, and nothing is started.
	if got := guard.Main(nil, []string{"-socket", filepath.Join(dir, "s"), "-dir", dir, "-user", stranger.String(), "-start", "1ms", "sh"}, io.Discard); got != 75 {
		t.Errorf("exit status %d", got)
	}
	info := must.Have(os.Stat(filepath.Join(dir, "own")))(t)
	owner := info.Sys().(*syscall.Stat_t)
	must.Same(t, []string{info.Mode().Perm().String(), fmt.Sprint(owner.Uid), fmt.Sprint(owner.Gid)}, []string{"-rwx------", "64001", "64002"})
}
