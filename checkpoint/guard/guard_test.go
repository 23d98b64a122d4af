//go:build linux

// This file tests guards with real processes: whatever dies, stops or is cut off, nothing of a run outlives its lease.

package guard_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/internal/proc"
	"github.com/apportion/apportion/internal/must"
)

// role says in the environment of this test's program what it is.
const role = "GUARD_TEST"

func TestMain(m *testing.M) {
	// Programs with the race detector sleep for a second at their end, in which the kernel would kill a guard for its delay.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	// The trainer of some tests, whose environment is that of its guard.
	if os.Getenv(role) != "" && len(os.Args) == 4 && os.Args[1] == "log" {
		logMain(os.Args[2], os.Args[3])
		return
	}
	switch os.Getenv(role) {
	case "keep":
		guard.Keep()
	case "guard":
		os.Exit(guardMain())
	case "agent":
		os.Exit(agentMain(os.Args[1]))
	case "flags":
		os.Exit(guard.Main(nil, os.Args[1:], os.Stderr))
	default:
		_ = flag.Set("test.parallel", "32") // tests side by side wait for leases to end; the flag is there
		os.Exit(m.Run())
	}
}

// settings are what a test wants of a guard in a process of its own.
type settings struct {
	URL, Record, Ack, Request, Script, Cgroup string
	Start, Grace, Every                       time.Duration
	Attempt                                   int64
	User                                      *command.User
	HostPID                                   bool
	Containment                               guard.Containment
}

// guardMain is a guard; its arguments are settings.
func guardMain() int {
	var s settings
	if err := json.Unmarshal([]byte(os.Args[1]), &s); err != nil {
		panic(err)
	}
	a := &guard.HTTP{URL: s.URL, Credential: secret.Credential(guard.Party("lr", s.Attempt))}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if s.Grace > 0 {
		ctx, cancel = notify(ctx)
		defer cancel()
	}
	if err := os.Setenv(role, "keep"); err != nil {
		panic(err)
	}
	argv := []string{"sh", "-c", s.Script}
	if s.Script == "" {
		argv = []string{"/nowhere/trainer"}
	}
	end, err := guard.Run(ctx, guard.Config{ID: guard.ID{Job: "lr", Attempt: s.Attempt, Server: "s1"}, Epoch: 3, Authority: a,
		Argv: argv, Start: s.Start, Grace: s.Grace, Save: syscall.SIGUSR1,
		Acknowledgement: s.Ack, Cgroup: s.Cgroup, Record: s.Record, Request: s.Request, Every: s.Every, User: s.User, HostPID: s.HostPID, Containment: s.Containment})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	if end.Why != "" || end.Signal != "" {
		return 98
	}
	return end.Code
}

// bench is a desk, and a guard in a process of its own.
type bench struct {
	t      *testing.T
	desk   *guard.Desk
	length time.Duration
	deaf   atomic.Bool // nothing is answered
	dir    string
	cmd    *exec.Cmd
	waited chan error
	set    settings
	// user is whom the guard runs as, and program what it is then, which that user can read; nil: as this test does, and this program.
	user    *syscall.Credential
	program string
	// said is what guard and keeper have said.
	said *os.File
}

func newBench(t *testing.T, length time.Duration) *bench { return newSlackBench(t, length, length/2) }

func newSlackBench(t *testing.T, length, slack time.Duration) *bench {
	b := &bench{t: t, length: length, dir: t.TempDir(), desk: guard.NewDesk(3, length, slack, nil)}
	b.desk.Admit("lr", 5)
	over := make(chan struct{})
	handler := b.desk.Handler(secret.Gate())
	server := httptest.NewServer(handlerFunc(func(w writer, r request) {
		if b.deaf.Load() {
			<-over
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { close(over); server.Close() })
	b.set = settings{URL: server.URL, Record: filepath.Join(b.dir, "record.json"), Ack: filepath.Join(b.dir, "ack"), Start: 10 * time.Second, Attempt: 5, Every: 50 * time.Millisecond}
	return b
}

func (b *bench) start(script string) {
	b.t.Helper()
	b.set.Script = script
	text := must.Have(json.Marshal(b.set))(b.t)
	self := must.Have(os.Executable())(b.t)
	b.cmd = exec.Command(cmp.Or(b.program, self), string(text))
	b.cmd.Env = append(os.Environ(), role+"=guard", "DIR="+b.dir, "MARK="+b.mark())
	b.said = must.Have(os.Create(filepath.Join(b.dir, "stderr")))(b.t)
	b.cmd.Stderr, b.cmd.SysProcAttr = b.said, &syscall.SysProcAttr{Credential: b.user}
	must.Do(b.t, errors.Join(b.cmd.Start(), b.said.Close()))
	b.waited = make(chan error, 1)
	go func() { b.waited <- b.cmd.Wait() }()
	b.t.Cleanup(b.clean)
}

// clean ends what the test has started, a keeper that is stopped as well.
func (b *bench) clean() {
	var below []int
	// A guard that was waited for has left nobody of its own.
	if b.cmd.Process.Signal(syscall.Signal(0)) == nil {
		below, _ = proc.Descendants(b.cmd.Process.Pid)
	}
	_ = b.cmd.Process.Kill() // it may have ended
	for _, pid := range append(below, b.alive()...) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// outlives waits until the run has been vouched for a whole lease after its first one, and checks that all of it lives.
func (b *bench) outlives() {
	b.t.Helper()
	granted := func() time.Time {
		seen, _ := b.desk.Seen(guard.ID{Job: "lr", Attempt: 5, Server: "s1"})
		return seen.Granted
	}
	first := granted()
	b.eventually("it is vouched for again and again", func() bool { return granted().Sub(first) > b.length })
	if n := len(b.alive()); n < familySize {
		b.t.Fatalf("%d processes are left while the lease is renewed", n)
	}
}

// mark is in the environment of every process that this test has started.
func (b *bench) mark() string { return "guard-test-" + filepath.Base(b.dir) + b.t.Name() }

// alive returns the processes of the trainer that live, whoever is their parent now.
func (b *bench) alive() []int {
	var found []int
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		pid, _ := strconv.Atoi(filepath.Base(folder))
		env, _ := os.ReadFile(folder + "/environ")
		line, _ := os.ReadFile(folder + "/cmdline")
		_, lives := proc.Stat(pid)
		argv := strings.Split(string(line), "\x00")
		ours := strings.Contains(string(line), ".test") && (len(argv) < 2 || argv[1] != "log")
		if lives && strings.Contains(string(env), "MARK="+b.mark()+"\x00") && !strings.Contains(string(env), role+"=guard") && !ours {
			found = append(found, pid)
		}
	}
	return found
}

// keeper returns the number of the keeper.
func (b *bench) keeper() int {
	b.t.Helper()
	found, _ := proc.Descendants(b.cmd.Process.Pid)
	for _, pid := range found {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.HasSuffix(string(line), "keep\x00") {
			return pid
		}
	}
	b.t.Fatal("there is no keeper")
	return 0
}

func (b *bench) eventually(what string, is func() bool) {
	b.t.Helper()
	for limit := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			b.t.Fatalf("never: %s", what)
		}
	}
}

// runs waits until so many processes of the trainer live.
func (b *bench) runs(n int) {
	b.t.Helper()
	b.eventually(fmt.Sprintf("%d processes live", n), func() bool { return len(b.alive()) == n })
}

// ends waits until none lives, and returns how the guard has ended.
func (b *bench) ends() int {
	b.t.Helper()
	b.runs(0)
	select {
	case err := <-b.waited:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		return 0
	case <-time.After(20 * time.Second):
		b.t.Fatal("the guard does not end")
		return 0
	}
}

// family is a trainer with a child, and a grandchild that has left the group, the session and its parent.
const family = `sleep 300 & (setsid sleep 300 &) ; while :; do sleep 0.05; done`

// familySize is how many processes it has, but for those that sleep for a moment.
const familySize = 3

func (b *bench) begins() {
	b.t.Helper()
	b.start(family)
	b.eventually("the family lives", func() bool { return len(b.alive()) >= familySize })
}

// A run that ends by itself is told, with its progress and its newest checkpoint, by the desk and by the record.
func TestRunEnds(t *testing.T) {
	b := newBench(t, 2*time.Second)
	b.start(`echo '{"request": 2, "step": 7, "files": ["f"]}' > $DIR/ack; echo '{"step": 9}'; exit 3`)
	must.Equal(t, b.ends(), 3, "exit status")
	r, err := guard.ReadRecord(b.set.Record)
	if err != nil || r.Job != "lr" || r.Attempt != 5 || r.Epoch != 3 || r.State.Progress.Step != 9 || r.State.Progress.Running ||
		r.State.Ended == nil || r.State.Ended.Code != 3 || r.State.Checkpoint == nil || r.State.Checkpoint.Request != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	seen, ok := b.desk.Seen(guard.ID{Job: "lr", Attempt: 5, Server: "s1"})
	if !ok || seen.Claim.State.Ended == nil || seen.Claim.State.Ended.Code != 3 || !b.desk.Over(seen.Claim.ID) {
		t.Errorf("%+v, %v", seen, ok)
	}
}

// How often a guard claims does not matter for what it hears, and for what it has to tell.
func TestNothingWaitsForTheNextClaim(t *testing.T) {
	b := newBench(t, 6*time.Hour)
	b.set.Every = time.Hour
	b.saves()
	b.desk.Fence("lr", 5)
	must.Err(t, <-b.waited, must.ErrAny, "the run was fenced off, and has ended well")
	if !b.desk.Over(guard.ID{Job: "lr", Attempt: 5, Server: "s1"}) {
		t.Error("the end was not told")
	}
}

// A save that is asked for reaches the trainer by its file and by the signal, and what it acknowledges reaches the desk.
func TestSaveIsAskedFor(t *testing.T) {
	newBench(t, time.Minute).saves()
}

func (b *bench) saves() {
	b.t.Helper()
	id := guard.ID{Job: "lr", Attempt: 5, Server: "s1"}
	b.set.Request = filepath.Join(b.dir, "request")
	b.start(`save() { echo "{\"request\": $(cat $DIR/request), \"files\": [\"f\"]}" > $DIR/new; mv $DIR/new $DIR/ack; }
		trap save USR1; touch $DIR/ready; while :; do sleep 0.02; done`)
	b.eventually("the trainer listens", func() bool { _, err := os.Stat(filepath.Join(b.dir, "ready")); return err == nil })
	b.eventually("its start was told", func() bool { seen, _ := b.desk.Seen(id); return seen.Claim.State.Started })
	for range 2 {
		number := b.desk.AskSave(id)
		b.eventually("the save is acknowledged", func() bool {
			seen, _ := b.desk.Seen(id)
			ack := seen.Claim.State.Checkpoint
			return ack != nil && ack.Request == number
		})
	}
}

// The keeper is there before anybody has vouched for the run, and starts nothing until then: it goes with a guard that is killed, and with one
// that gives up.
func TestKeeperWaits(t *testing.T) {
	for _, killed := range []bool{true, false} {
		b := newBench(t, time.Hour)
		b.deaf.Store(true)
		b.set.Start = time.Minute
		b.set.Grace = time.Hour // nobody is there to be waited for
		b.start("echo > $DIR/ran")
		var below []int
		b.eventually("the keeper waits", func() bool {
			below, _ = proc.Descendants(b.cmd.Process.Pid)
			return len(below) == 1
		})
		stop := syscall.SIGTERM
		if killed {
			stop = syscall.SIGKILL
		}
		must.Do(t, b.cmd.Process.Signal(stop))
		if code := b.ends(); !killed && code != 99 {
			t.Errorf("exit status %d", code)
		}
		b.eventually("the keeper is gone", func() bool { _, lives := proc.Stat(below[0]); return !lives })
		must.Fail(os.Stat(filepath.Join(b.dir, "ran")))(t, must.ErrAny, "the trainer was started")
	}
}

// The lease goes on for as long as somebody vouches for the run, and not longer.
func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4*time.Second)
	b.begins()
	b.outlives()
	b.deaf.Store(true)
	b.runs(0)
	must.Equal(t, b.ends(), 98, "exit status")
	if r, err := guard.ReadRecord(b.set.Record); err != nil || r.State.Ended == nil || r.State.Ended.Why != guard.LeaseOver {
		t.Errorf("%+v, %v", r, err)
	}
	b.eventually("the desk knows that it is over", func() bool { return b.desk.Over(guard.ID{Job: "lr", Attempt: 5, Server: "s1"}) })
}

// A run that is fenced off ends at once.
func TestFenced(t *testing.T) {
	b := newBench(t, time.Hour) // which is not waited for
	b.begins()
	b.desk.Fence("lr", 5)
	b.ends()
	if r, err := guard.ReadRecord(b.set.Record); err != nil || r.State.Ended == nil || r.State.Ended.Why != guard.Fenced {
		t.Errorf("%+v, %v", r, err)
	}
}

// Whoever of guard and keeper is killed, the other one kills what is left.
func TestGuardIsKilled(t *testing.T) {
	b := newBench(t, time.Hour)
	b.begins()
	must.Do(t, b.cmd.Process.Kill())
	b.ends()
}

// A guard that is stopped when nothing of its run lives any more comes to its end all the same: others wait for it.
func TestStoppedAtItsEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, time.Hour)
	b.begins()
	b.deaf.Store(true) // its last words take a while
	must.Do(t, syscall.Kill(b.keeper(), syscall.SIGKILL))
	b.eventually("the end is on record", func() bool {
		r, err := guard.ReadRecord(b.set.Record)
		return err == nil && r.State.Ended != nil
	})
	must.Do(t, b.cmd.Process.Signal(syscall.SIGSTOP))
	b.ends()
}

func TestKeeperIsKilled(t *testing.T) {
	b := newBench(t, time.Hour)
	b.begins()
	must.Do(t, syscall.Kill(b.keeper(), syscall.SIGKILL))
	b.ends()
	if r, err := guard.ReadRecord(b.set.Record); err != nil || r.State.Ended == nil || r.State.Ended.Why != guard.KeeperGone {
		t.Errorf("%+v, %v", r, err)
	}
}

// A word that a stopped keeper does not hear ends the run all the same, long before its lease would.
func TestStoppedKeeperIsFenced(t *testing.T) {
	b := newBench(t, time.Hour)
	b.begins()
	must.Do(t, syscall.Kill(b.keeper(), syscall.SIGSTOP))
	b.desk.Fence("lr", 5)
	b.ends()
	if r, err := guard.ReadRecord(b.set.Record); err != nil || r.State.Ended == nil || r.State.Ended.Why != guard.Fenced {
		t.Errorf("%+v, %v", r, err)
	}
}

// A guard that comes late starts nothing: its attempt is over, another has its run, or nobody answers.
func TestLateStart(t *testing.T) {
	for name, prepare := range map[string]func(b *bench){
		"fenced off":    func(b *bench) { b.desk.Fence("lr", 5) },
		"a later one":   func(b *bench) { b.desk.Admit("lr", 6) },
		"not admitted":  func(b *bench) { b.set.Attempt = 6 },
		"nobody there":  func(b *bench) { b.deaf.Store(true) },
		"another guard": func(b *bench) { b.start(`exit 0`); b.ends() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 2*time.Second)
			b.set.Start = time.Second
			prepare(b)
			b.start(`touch $DIR/started`)
			must.Equal(t, b.ends(), 99, "exit status")
			must.Fail(os.Stat(filepath.Join(b.dir, "started")))(t, must.ErrAny, "it was started")
		})
	}
}

// A trainer that cannot be started was not started: nobody is told that it was.
func TestNoSuchTrainer(t *testing.T) {
	b := newBench(t, 2*time.Second)
	b.start("")
	must.Equal(t, b.ends(), 99, "exit status")
	if seen, _ := b.desk.Seen(guard.ID{Job: "lr", Attempt: 5, Server: "s1"}); seen.Claim.Life == "" || seen.Claim.State.Started {
		t.Errorf("the desk has heard %+v", seen.Claim)
	}
}

// The signal to save is passed on, and SIGTERM is, with SIGKILL behind it.
func TestSignals(t *testing.T) {
	b := newBench(t, time.Minute)
	b.set.Grace = 3 * time.Second
	b.start(`trap 'touch $DIR/saved' USR1; trap 'touch $DIR/asked' TERM; touch $DIR/ready; while :; do sleep 0.02; done`)
	there := func(name string) {
		b.eventually(name, func() bool { _, err := os.Stat(filepath.Join(b.dir, name)); return err == nil })
	}
	there("ready")
	must.Do(t, b.cmd.Process.Signal(syscall.SIGUSR1))
	there("saved")
	must.Do(t, b.cmd.Process.Signal(syscall.SIGTERM))
	there("asked")
	b.ends()
	if r, err := guard.ReadRecord(b.set.Record); err != nil || r.State.Ended == nil || r.State.Ended.Why != guard.Asked {
		t.Errorf("%+v, %v", r, err)
	}
}
