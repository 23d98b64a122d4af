//go:build linux

// This file tests what is read of processes against processes that the test has started.

package proc_test

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/proc"
	"github.com/apportion/apportion/internal/must"
)

func TestStat(t *testing.T) {
	self, ok := proc.Stat(os.Getpid())
	if !ok || self.Parent != os.Getppid() || self.Start == 0 {
		t.Errorf("%+v, %v", self, ok)
	}
	if s, ok := proc.Stat(1 << 30); ok {
		t.Errorf("a process that is not there: %+v", s)
	}
	dead := exec.Command("true")
	must.Do(t, dead.Start())
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, ok := proc.Stat(dead.Process.Pid); !ok {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("a process that has ended, and was not waited for, counts as alive")
		}
	}
	must.Do(t, dead.Wait())
}

func TestDescendants(t *testing.T) {
	// The shell has a child and a grandchild, and prints the number of the latter.
	cmd := exec.Command("sh", "-c", `sh -c 'sleep 60 & echo $!; wait' & wait`)
	out := must.Have(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	text := make([]byte, 32)
	n := must.Have(out.Read(text))(t)
	grandchild := must.Have(strconv.Atoi(strings.TrimSpace(string(text[:n]))))(t)
	found, err := proc.Descendants(os.Getpid())
	if err != nil || !slices.Contains(found, cmd.Process.Pid) || !slices.Contains(found, grandchild) || slices.Contains(found, os.Getpid()) {
		t.Errorf("%v of %d lacks %d or %d: %v", found, os.Getpid(), cmd.Process.Pid, grandchild, err)
	}
	below, err := proc.Descendants(cmd.Process.Pid)
	if err != nil || len(below) != 2 || slices.Contains(below, cmd.Process.Pid) {
		t.Errorf("%v of %d, want two: %v", below, cmd.Process.Pid, err)
	}
	for _, pid := range found {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	_ = cmd.Wait()
}

// Read returns all of a file behind what the buffer holds, however long it is, and uses the buffer again.
func TestRead(t *testing.T) {
	long := strings.Repeat("a long environment ", 2000)
	child := exec.Command("sleep", "60")
	child.Env = []string{"FIRST=1", "LONG=" + long}
	must.Do(t, child.Start())
	t.Cleanup(func() { child.Process.Kill(); child.Wait() })
	name := "/proc/" + strconv.Itoa(child.Process.Pid) + "/environ"
	want := "begin FIRST=1\x00LONG=" + long + "\x00"
	buffer := []byte("begin ")
	// A program that has only just begun has no environment yet.
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if got, err := proc.Read(name, nil); err != nil || len(got) > 0 {
			break
		}
	}
	for range 2 {
		got := must.Have(proc.Read(name, buffer[:len("begin ")]))(t)
		must.Equal(t, string(got), want, len(got), "bytes", len(want), got)
		buffer = got
	}
	if grown := testing.AllocsPerRun(20, func() { _, _ = proc.Read(name, buffer[:0]) }); grown > 3 {
		t.Errorf("%v allocations with a buffer that is long enough", grown)
	}
	if _, err := proc.Read("/proc/1073741824/environ", nil); !os.IsNotExist(err) {
		t.Errorf("of a process that is not there: %v", err)
	}
	must.Fail(proc.Read("/proc", nil))(t, must.ErrAny, "a folder was read")
}
