// This file tests the keeper's program by what it is told, and the ends of what it has started.

package guard

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/internal/must"
)

// keeperOf is a keeper's program without a guard, the ends of its pipes that a guard has, and a decoder of its reports.
func keeperOf(t *testing.T, of *syscall.SysProcAttr) (*kept, *json.Decoder) {
	t.Helper()
	ordersRead, orders, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reports, reportsWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	self := must.Have(os.Executable())(t)
	cmd := exec.Command(self)
	cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = append(os.Environ(), "GUARD_TEST=keep"), []*os.File{ordersRead, reportsWrite}, of
	must.Do(t, errors.Join(cmd.Start(), ordersRead.Close(), reportsWrite.Close()))
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // by the kill
		must.Do(t, errors.Join(orders.Close(), reports.Close()))
	})
	return &kept{cmd: cmd, words: orders}, json.NewDecoder(reports)
}

// A keeper starts nothing when its lease is over by its own clock, though it was not when the order was written: it may have been stopped
// in between. The clock of another boot says nothing of a lease.
func TestLateKeeper(t *testing.T) {
	const lease = 300 * time.Millisecond
	for name, c := range map[string]struct {
		boot    string
		left    time.Duration
		stopped bool
		want    string
	}{
		"in time":      {agent.Uptime().Boot, time.Hour, false, ""},
		"over":         {agent.Uptime().Boot, -time.Second, false, errLate.Error()},
		"stopped":      {agent.Uptime().Boot, lease, true, errLate.Error()},
		"another boot": {"another", time.Hour, false, errLate.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			k, reports := keeperOf(t, watched())
			if c.stopped {
				must.Do(t, k.cmd.Process.Signal(syscall.SIGSTOP))
			}
			file := filepath.Join(t.TempDir(), "ran")
			give(t, k, order{Argv: []string{"touch", file}, word: word{Boot: c.boot, Until: agent.Uptime().At + c.left}})
			if c.stopped {
				time.Sleep(2 * lease)
				must.Do(t, k.cmd.Process.Signal(syscall.SIGCONT))
			}
			var first report
			must.Do(t, reports.Decode(&first))
			if first.Fault != c.want || first.Started != (c.want == "") {
				t.Errorf("it reports %+v, want the fault %q", first, c.want)
			}
			var last report
			if c.want == "" && (reports.Decode(&last) != nil || last.Ended == nil) {
				t.Errorf("it reports %+v, want the end", last)
			}
			if _, err := os.Stat(file); err == nil != (c.want == "") {
				t.Errorf("the trainer ran: %t", err == nil)
			}
		})
	}
}

func give(t *testing.T, k *kept, o order) {
	t.Helper()
	must.Do(t, json.NewEncoder(k.words).Encode(o))
}

// A lease never gets shorter by a word that comes late, nor longer by one with the clock of another boot.
func TestHear(t *testing.T) {
	k := keeper{boot: "b", until: time.Minute}
	for _, c := range []struct {
		word word
		want time.Duration
	}{
		{word{Boot: "b", Until: time.Hour}, time.Hour},
		{word{Boot: "b", Until: time.Second}, time.Hour},
		{word{Boot: "another", Until: 2 * time.Hour}, time.Hour},
	} {
		if why := k.hear(c.word, true); why != "" || k.until != c.want {
			t.Errorf("after %+v the lease goes until %v, want %v; %q", c.word, k.until, c.want, why)
		}
	}
}

// A process that is not listed when its parent goes is killed by the next look.
func TestForkInTheGap(t *testing.T) {
	child := exec.Command("sleep", "300")
	must.Do(t, child.Start())
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	looks := 0
	killFound(func() ([]int, error) {
		if looks++; looks == 2 {
			return []int{child.Process.Pid}, nil
		}
		return nil, nil
	})
	must.Equal(t, looks, 4, "looks: two that find nobody after the one that does")
	if looks < 2 {
		_ = child.Process.Kill() // it was not
	}
	<-ended
}

// What the freezer holds is killed at once, though there are always others: each process starts the next one and ends. It has no more than a
// thousand generations, the shell's limit, which is a second or more.
func TestFrost(t *testing.T) {
	below := filepath.Join("/sys/fs/cgroup/freezer", "guard-frost-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Skip("NOT TESTED, there is no freezer of version 1 here, or it is not allowed:", err)
	}
	runtime.LockOSThread()
	t.Cleanup(func() {
		must.Do(t, errors.Join(enter(filepath.Dir(below)), os.Remove(below)))
	})
	g := newCgroup(below)
	if g == nil {
		t.Fatal("no group can be made")
	}
	t.Cleanup(g.remove)
	// Those that stay are older, and are killed first: meanwhile the others go on, unless they are held.
	const many = 300
	cmd := exec.Command("sh", "-c", "next() { next & }; i=0; while [ $i -lt 300 ]; do sleep 300 & i=$((i+1)); done; for i in 1 2 3 4 5 6 7 8; do next; done; exec sleep 300")
	must.Do(t, g.start(cmd))
	lives := func() int {
		list := must.Have(os.ReadFile(filepath.Join(g.dir, "cgroup.procs")))(t)
		return strings.Count(string(list), "\n")
	}
	for limit := time.Now().Add(10 * time.Second); lives() < many+8 && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	g.kill()
	_ = cmd.Wait() // by the kill
	// They end when they thaw, a moment later; one that has got away goes on for longer.
	for limit := time.Now().Add(500 * time.Millisecond); lives() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d processes live on", lives())
		}
	}
}

// A keeper that has read nothing for so long that the pipe is full is killed, stopped as it is: its guard waits for nobody.
func TestFullPipe(t *testing.T) {
	k, _ := keeperOf(t, watched())
	must.Do(t, k.cmd.Process.Signal(syscall.SIGSTOP))
	// A pipe has room for 64 KiB, and one word is nearly that.
	give(t, k, order{Dir: strings.Repeat("x", 60_000)})
	limit := time.AfterFunc(30*time.Second, func() {
		t.Error("the guard waits for a keeper that reads nothing")
		k.kill()
	})
	defer limit.Stop()
	var status syscall.WaitStatus
	for pid := 0; pid == 0; pid, _ = syscall.Wait4(k.cmd.Process.Pid, &status, syscall.WNOHANG, nil) {
		k.say(word{Kill: Asked})
	}
	must.Equal(t, status.Signal(), syscall.SIGKILL, "it ended by")
}
