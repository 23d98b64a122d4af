// This file tests every combination of nothing, a stop and an end of agent, guard and keeper: no run outlives what its master waits for.

package guard_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/internal/proc"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// The lease of the matrix, and how much longer its masters wait: more than the kernel's timer, on a machine that does other things.
const (
	matrixLease = 3 * time.Second
	matrixSlack = 3 * time.Second
)

// monotonic is CLOCK_MONOTONIC, which all processes of the machine share.
func monotonic() time.Duration {
	var now syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&now)), 0) // the clock is there
	return time.Duration(now.Nano())
}

// logMain is a trainer that writes down in a file, again and again, that it lives: it, and a child whose parent has ended, in a session of
// its own. generation counts down from 2.
func logMain(file, generation string) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	next := map[string]string{"2": "1", "1": "0"}[generation]
	if next != "" {
		child := exec.Command(self, "log", file, next)
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			panic(err)
		}
	}
	if generation == "1" {
		return
	}
	log, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	for ; ; time.Sleep(10 * time.Millisecond) {
		fmt.Fprintln(log, generation, int64(monotonic()))
	}
}

// lastLogged returns when the trainer, "2", and its child, "0", last wrote down that they live.
func lastLogged(t *testing.T, file string) (last map[string]time.Duration) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	last = map[string]time.Duration{}
	for line := range bytes.Lines(text) {
		who, when, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if at, err := strconv.ParseInt(when, 10, 64); err == nil { // the last line may be half written
			last[who] = max(last[who], time.Duration(at))
		}
	}
	return last
}

// hosted is an agent that vouches for one run and has started it.
type hosted struct {
	mu    sync.Mutex
	until time.Duration // of its lease, by monotonic
}

func (h *hosted) Vouch(string, int64) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until - monotonic(), nil
}

// agentMain is the agent of a server in a folder. Its master's words are the lines of its input: each is the master's clock, from which the
// lease counts. It prints a line when nothing of its run lives any more.
func agentMain(dir string) int {
	// Some agents gather orphans (PR_SET_CHILD_SUBREAPER): those of a guard are no orphans for the kernel then, which would wake them.
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, 36, 1, 0, 0, 0, 0)
	h := &hosted{}
	heard := make(chan struct{}, 1)
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			at, _ := strconv.ParseInt(lines.Text(), 10, 64)
			h.mu.Lock()
			h.until = max(h.until, time.Duration(at)+matrixLease)
			h.mu.Unlock()
			select {
			case heard <- struct{}{}:
			default:
			}
		}
	}()
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		panic(err)
	}
	go func() { _ = http.Serve(listener, guard.Vouching(h)) }()
	self, _ := os.Executable()
	argv := append([]string{self, "-socket", filepath.Join(dir, "s")}, strings.Fields(os.Getenv("FLAGS"))...)
	r, err := command.New(command.Commands{Start: []string{self, "log", filepath.Join(dir, "log"), "2"}, Work: filepath.Join(dir, "work")},
		&command.Options{Guard: argv, Env: []string{role + "=flags", "MARK=" + os.Getenv("MARK")}})
	if err != nil {
		panic(err)
	}
	<-heard
	run, ctx := runner.Run{Job: "lr", Attempt: 1, Containers: []string{"here"}, Dir: filepath.Join(dir, "run")}, context.Background()
	if err := r.Resume(ctx, run); err != nil {
		panic(err)
	}
	for {
		time.Sleep(20 * time.Millisecond)
		if p, err := r.Progress(ctx, run); err == nil && !p.Running {
			break
		}
	}
	if err := r.Stop(ctx, run); err != nil {
		panic(err)
	}
	fmt.Println("over")
	select {}
}

// faults are what may become of a process: nothing, a stop, or its end.
var faults = map[rune]syscall.Signal{'-': 0, 'S': syscall.SIGSTOP, 'K': syscall.SIGKILL}

// below returns the guard below an agent, and the guard's keeper; 0 where there is none any more.
func below(agent int) (guard, keeper int) {
	found, _ := proc.Descendants(agent)
	for _, pid := range found {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(text), "\x00-socket\x00") {
			guard = pid
		}
		if strings.HasSuffix(string(text), "\x00keep\x00") {
			keeper = pid
		}
	}
	return guard, keeper
}

// attempts is how often a combination is tried on a machine that is so busy that the lease ends before anything is done to anybody.
const attempts = 5

// TestMatrix has the master wait as it does: for as long as it hears its agent until that says that the run is over, and else for the
// lease and the slack. By the trainer's own log nothing lives then. With -host-pid, where the kernel holds nothing, keeper and guard must
// not both be killed.
func TestMatrix(t *testing.T) {
	for _, flags := range []string{"", "-host-pid"} {
		for _, what := range combinations(3) {
			if what == "---" || flags != "" && what[1:] == "KK" || testing.Short() && (flags != "" || !strings.HasPrefix(what, "S")) {
				continue
			}
			t.Run(what+flags, func(t *testing.T) {
				t.Parallel()
				for n := 1; !matrix(t, []rune(what), flags); n++ {
					if n == attempts {
						t.Fatal("the run ends before anything is done to anybody")
					}
				}
			})
		}
	}
}

// combinations returns all words of n faults.
func combinations(n int) []string {
	if n == 0 {
		return []string{""}
	}
	var all []string
	for _, rest := range combinations(n - 1) {
		for _, fault := range "-SK" {
			all = append(all, rest+string(fault))
		}
	}
	return all
}

// matrix has the three letters come over agent, guard and keeper, the last of them first. It is false where the run had ended before.
func matrix(t *testing.T, letters []rune, flags string) bool {
	b := &bench{t: t, dir: t.TempDir()}
	self := must.Have(os.Executable())(t)
	agent := exec.Command(self, b.dir)
	agent.Env = append(os.Environ(), role+"=agent", "FLAGS="+flags, "MARK="+b.mark())
	agent.Stderr = os.Stderr
	words := must.Have(agent.StdinPipe())(t)
	says := must.Have(agent.StdoutPipe())(t)
	b.cmd = agent
	must.Do(t, agent.Start())
	t.Cleanup(b.clean)
	m := &master{words: words, stop: make(chan struct{}), stopped: make(chan struct{}), over: make(chan time.Duration, 1)}
	go m.renew()
	go m.hear(says)
	file := filepath.Join(b.dir, "log")
	b.eventually("the trainer and its child live, or the run has ended", func() bool { return len(m.over) > 0 || len(lastLogged(t, file)) == 2 })
	guardPID, keeperPID := below(agent.Process.Pid)
	if guardPID == 0 || keeperPID == 0 {
		return false
	}
	// The keeper comes before the guard, which would take it along. A guard that is stopped when the agent dies gets SIGHUP.
	if errors.Join(syscall.Kill(keeperPID, faults[letters[2]]), syscall.Kill(guardPID, faults[letters[1]]), agent.Process.Signal(faults[letters[0]])) != nil {
		return false
	}
	// The agent vouches, and its guard goes on, or is woken by the kernel: the run may go on.
	if what := string(letters); what == "--S" || what == "-SS" && flags != "" {
		return true
	}
	free := time.Duration(0)
	if letters[0] == '-' {
		select {
		case free = <-m.over:
		case <-time.After(time.Minute):
			t.Fatal("the agent never says that the run is over")
		}
	} else {
		close(m.stop)
		<-m.stopped
		free = m.last + matrixLease + matrixSlack
		b.eventually("nothing of the run lives", func() bool { return len(b.alive()) == 0 })
	}
	for who, last := range lastLogged(t, file) {
		if last > free {
			t.Errorf("process %s of the trainer lived %v after its master had begun the next attempt", who, last-free)
		}
	}
	return true
}

// master renews the lease of an agent.
type master struct {
	words         interface{ Write([]byte) (int, error) }
	stop, stopped chan struct{}
	last          time.Duration // when it last did
	over          chan time.Duration
}

// renew says so until it is stopped. An agent that is gone hears nothing.
func (m *master) renew() {
	defer close(m.stopped)
	for {
		m.last = monotonic()
		_, _ = fmt.Fprintln(m.words, int64(m.last))
		select {
		case <-m.stop:
			return
		case <-time.After(matrixLease / 5):
		}
	}
}

// hear waits for the one word of the agent.
func (m *master) hear(says interface{ Read([]byte) (int, error) }) {
	if bufio.NewScanner(says).Scan() {
		m.over <- monotonic()
	}
}

// TestMatrixOfMaster is the same where the agent is part of the master, as for a cluster manager, and guards are cut off from it.
func TestMatrixOfMaster(t *testing.T) {
	for _, host := range []bool{false, true} {
		for _, what := range combinations(2) {
			if host && what == "KK" {
				continue
			}
			t.Run(fmt.Sprintf("%s,host-pid=%t", what, host), func(t *testing.T) {
				t.Parallel()
				b := newSlackBench(t, matrixLease, matrixSlack)
				b.set.HostPID = host
				b.parted([]rune(what))
			})
		}
	}
}

// parted has the two letters come over guard and keeper, which nobody answers any more.
func (b *bench) parted(letters []rune) {
	self := must.Have(os.Executable())(b.t)
	file := filepath.Join(b.dir, "log")
	b.start("exec " + self + " log " + file + " 2")
	b.eventually("the trainer and its child live", func() bool { return len(lastLogged(b.t, file)) == 2 })
	keeper := b.keeper()
	b.deaf.Store(true)
	must.Do(b.t, errors.Join(syscall.Kill(keeper, faults[letters[1]]), b.cmd.Process.Signal(faults[letters[0]])))
	var free time.Duration
	b.eventually("the run is over", func() bool {
		free = monotonic()
		return b.desk.Over(guard.ID{Job: "lr", Attempt: 5, Server: "s1"})
	})
	b.eventually("nothing of it lives", func() bool { return len(b.alive()) == 0 })
	for who, last := range lastLogged(b.t, file) {
		if last > free {
			b.t.Errorf("process %s of the trainer lived %v after the desk had called it over", who, last-free)
		}
	}
}
