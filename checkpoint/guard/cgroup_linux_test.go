// This file tests control groups of both versions on the kernel.

package guard_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/internal/proc"
	"github.com/apportion/apportion/internal/must"
)

// hierarchies are where control groups may be, and the file by which a group is ended.
var hierarchies = map[guard.Containment]struct {
	roots []string
	file  string
}{
	guard.ControlGroup: {[]string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}, "cgroup.kill"},
	guard.Freezer:      {[]string{"/sys/fs/cgroup/freezer"}, "freezer.state"},
}

// inCgroups runs a test with a folder of each version in which groups can be made; it skips those that cannot be had here.
func inCgroups(t *testing.T, test func(t *testing.T, held guard.Containment, below string)) {
	for held, h := range hierarchies {
		t.Run(string(held), func(t *testing.T) {
			for _, root := range h.roots {
				dir := filepath.Join(root, fmt.Sprintf("guard-test-%d", os.Getpid()))
				if os.Mkdir(dir, 0o755) != nil {
					continue
				}
				t.Cleanup(func() {
					// A process leaves its group a moment after its end, and a keeper's thread that of version 1.
					for limit := time.Now().Add(10 * time.Second); os.Remove(dir) != nil && time.Now().Before(limit); {
						time.Sleep(time.Millisecond)
					}
				})
				if _, err := os.Stat(filepath.Join(dir, h.file)); err == nil {
					test(t, held, dir)
					return
				}
			}
			t.Skip("NOT TESTED, it is not there or not allowed")
		})
	}
}

func made(t *testing.T, below string) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(below, "apportion-*"))
	must.Equal(t, len(found), 1, "groups", found)
	return found[0]
}

// With a control group all of a trainer is in it, and it is gone with the trainer, whoever of guard and keeper has ended that. So is what
// descends from neither, as a process that a daemon has started for the trainer.
func TestCgroup(t *testing.T) {
	for name, end := range map[string]func(b *bench){
		"by both":       func(b *bench) { b.desk.Fence("lr", 5) },
		"by the keeper": func(b *bench) { _ = b.cmd.Process.Kill() },
		"by the guard":  func(b *bench) { _ = syscall.Kill(b.keeper(), syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			inCgroups(t, func(t *testing.T, held guard.Containment, below string) {
				b := newBench(t, time.Minute)
				b.set.Cgroup, b.set.HostPID, b.set.Containment = below, true, held
				b.begins()
				if text := b.heldBy(); !strings.Contains(text, "held by: "+string(held)+"\n") {
					t.Error(text)
				}
				dir := made(t, below)
				for _, pid := range b.alive() {
					in, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
					// One that has ended meanwhile is in none any more.
					if _, lives := proc.Stat(pid); lives && !strings.Contains(string(in), filepath.Base(dir)) {
						t.Errorf("process %d is in %s", pid, in)
					}
				}
				foreign := exec.Command("sleep", "300")
				must.Do(t, foreign.Start())
				ended := time.AfterFunc(time.Minute, func() { _ = foreign.Process.Kill() })
				must.Do(t, os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(foreign.Process.Pid)), 0))
				end(b)
				b.ends()
				if _ = foreign.Wait(); !ended.Stop() {
					t.Error("what was put into the group lives on")
				}
				b.eventually("the group is gone", func() bool { _, err := os.Stat(dir); return err != nil })
			})
		})
	}
}

// A keeper that is killed while its group is frozen leaves that to the guard, which thaws what it kills: else it would never end.
func TestKeeperIsKilledInTheFrost(t *testing.T) {
	inCgroups(t, func(t *testing.T, held guard.Containment, below string) {
		if held != guard.Freezer {
			t.Skip("nothing is frozen")
		}
		b := newBench(t, time.Minute)
		b.set.Cgroup, b.set.HostPID = below, true
		b.begins()
		dir, keeper := made(t, below), b.keeper()
		state := filepath.Join(dir, "freezer.state")
		t.Cleanup(func() { _ = os.WriteFile(state, []byte("THAWED"), 0) })
		must.Do(t, errors.Join(syscall.Kill(keeper, syscall.SIGSTOP), os.WriteFile(state, []byte("FROZEN"), 0), syscall.Kill(keeper, syscall.SIGKILL)))
		b.ends()
		if _, err := os.Stat(dir); err == nil {
			t.Error("the group is still there")
		}
	})
}

// A folder in which no group can be made is gone without, and so is one of another hierarchy of version 1.
func TestNoCgroup(t *testing.T) {
	for name, below := range map[string]string{"a folder": t.TempDir(), "another hierarchy": "/sys/fs/cgroup/pids"} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(below); err != nil {
				t.Skip(err)
			}
			b := newBench(t, time.Minute)
			b.set.Cgroup, b.set.HostPID = below, true
			b.begins()
			if text := b.heldBy(); !strings.Contains(text, "held by: none\n") {
				t.Error(text)
			}
			b.desk.Fence("lr", 5)
			b.ends()
			if left, _ := filepath.Glob(filepath.Join(below, "apportion-*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
